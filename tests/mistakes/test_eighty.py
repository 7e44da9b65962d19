"""Each mistake is pointed at, once; and the line that follows its hint runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lnnkit
from lnnkit.syntax.fault import FORMS
from lnnkit.syntax.parse import parse
from tests.mistakes.eighty import FILES, GENERAL, IN_FILES, MISTAKES, PRELUDE, Mistake
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


@pytest.mark.parametrize("mistake", [pytest.param(each, id=shown(each)) for each in MISTAKES])
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


@pytest.mark.parametrize("wrong", GENERAL)
def test_other_mistakes_have_a_place_what_was_expected_there_and_the_form_of_the_statement(wrong: str) -> None:
    (finding,) = parse(wrong.replace("⟦", "").replace("⟧", ""))[1]
    start, end = wrong.index("⟦"), wrong.index("⟧") - 1
    assert finding.code == "syntax" and finding.span is not None
    assert (finding.span.start, finding.span.end) == (start, end), finding.render()
    assert f"unexpected `{wrong[start + 1 : end + 1]}`" in finding.message and ": expected " in finding.message
    assert f"`{wrong.split()[0]} " in finding.hint


@pytest.mark.parametrize("form", FORMS.values())
def test_the_form_of_a_statement_is_one(form: str) -> None:
    statements = re.findall("`([^`]+)`", form)
    assert statements and [parse(each)[1] for each in statements] == [[]] * len(statements)
