"""Each mistake is pointed at, once; and the line that follows its hint runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import lnnkit
from tests.mistakes.eighty import FILES, IN_FILES, MISTAKES, PRELUDE, Mistake
from tests.mistakes.forty_more import FORTY_MORE
from tests.mistakes.fourth_sixty import FOURTH_SIXTY
from tests.mistakes.third_forty import THIRD_FORTY
from tests.mistakes.trying import findings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("eighty")
    for name, text in {**FILES, "total.csv": "account,amount\na1,12\n"}.items():
        (base / name).parent.mkdir(exist_ok=True)
        (base / name).write_text(text)
    return base


def shown(mistake: Mistake) -> str:
    return mistake.wrong.replace("⟦", "").replace("⟧", "").replace("\n", " / ")


def mended(mistake: Mistake, folder: Path) -> None:
    """The hint's text stands in the mended program, which has no error, and runs."""
    assert mistake.advice or mistake.said in mistake.right
    lnnkit.loads(PRELUDE + mistake.right + "\n", folder).infer()  # which raises what is wrong


def test_there_are_eighty_and_forty_more() -> None:
    assert len({mistake.wrong for mistake in (*MISTAKES, *IN_FILES)}) >= 80
    assert len({mistake.wrong for mistake in FORTY_MORE} - {mistake.wrong for mistake in MISTAKES}) >= 40
    known = {mistake.wrong for mistake in (*MISTAKES, *FORTY_MORE)}
    assert len({mistake.wrong for mistake in THIRD_FORTY} - known) >= 40
    known |= {mistake.wrong for mistake in THIRD_FORTY}
    assert len({mistake.wrong for mistake in FOURTH_SIXTY} - known) >= 60


@pytest.mark.parametrize(
    "mistake", [pytest.param(each, id=shown(each)) for each in (*MISTAKES, *FORTY_MORE, *THIRD_FORTY, *FOURTH_SIXTY)]
)
def test_a_mistake_is_pointed_at_and_mended_by_its_hint(mistake: Mistake, folder: Path) -> None:
    text = PRELUDE + mistake.wrong + "\n"
    start, end = text.index("⟦"), text.index("⟧") - 1
    text = text.replace("⟦", "").replace("⟧", "")
    found = findings(text, folder)
    told = "\n".join(each.render() for each in found)
    assert len(found) == 1, told
    (finding,) = found
    assert finding.span is not None
    assert (finding.line, finding.column) == (
        text.count("\n", 0, start) + 1,
        start - text.rfind("\n", 0, start),
    ), told
    assert finding.span.text == text[start:end], told
    assert mistake.said in finding.hint, told
    mended(mistake, folder)


@pytest.mark.parametrize("mistake", [pytest.param(each, id=shown(each)) for each in IN_FILES])
def test_a_mistake_in_a_file_is_reported_at_its_row(mistake: Mistake, folder: Path) -> None:
    found = findings(PRELUDE + mistake.wrong + "\n", folder)
    told = "\n".join(each.render() for each in found)
    assert found and found[0].row is not None, told
    assert mistake.said in found[0].hint, told
    mended(mistake, folder)
