"""A type of table files that lnnkit does not have works by its `Format` and its reader: loads, drafts, streams."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import lnnkit
from lnnkit.data.files import FORMATS, Format, RawTable
from lnnkit.data.grid import Sheet
from lnnkit.data.readers.frames import READERS, arrow_sheet
from lnnkit.draft.drafting import copy_name, draft, keys_of, with_ids
from lnnkit.draft.survey import survey
from lnnkit.scoring.row_streams import RowStream, sheets

BARS = Format("psv", "|")
STREAM = Format("arrows", what="an Arrow stream", encoded=False)


def open_stream(raw: RawTable) -> Sheet:
    return arrow_sheet(pa.ipc.open_stream(raw.data).read_all(), f'"{raw.path}"', raw.format)


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with tables of two more types, which are known while a test runs."""
    monkeypatch.setitem(FORMATS, ".psv", BARS)
    monkeypatch.setitem(FORMATS, ".arrows", STREAM)
    monkeypatch.setitem(READERS, "arrows", open_stream)
    (tmp_path / "people.psv").write_text("id|age\nanna|34\nbob|27.0\n")
    table = pa.table({"height": [1.5, 1.5, 1.75], "weight": [60.5, 60.5, None]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    (tmp_path / "sizes.arrows").write_bytes(sink.getvalue().to_pybytes())
    return tmp_path


def test_loads(added: Path) -> None:
    kb = lnnkit.loads('number age(who)\nload age from "people.psv"\n', added)
    (answer,) = kb.ask("age(bob)")
    assert answer.lower == 27
    with pytest.raises(lnnkit.Error) as problem:
        lnnkit.loads('number h(x)\nload h from "sizes.arrows" (1, height) delimiter ";" encoding "latin-1"\n', added)
    assert "is an Arrow stream: it has no encoding" in str(problem.value)


def test_a_draft_of_a_copy_with_ids(added: Path) -> None:
    surveyed = survey(added / "sizes.arrows")
    assert not keys_of(surveyed)
    copy = added / copy_name(surveyed.path)
    copy.write_bytes(with_ids(surveyed))
    text = draft([survey(copy), survey(added / "people.psv")], [copy.name, "people.psv"])
    assert 'load weight from "sizes.ids.parquet" (id, weight)' in text
    assert 'load age from "people.psv" (id, age)' in text


def test_a_stream(added: Path) -> None:
    for name, rows in (("people.psv", [2, 3]), ("sizes.arrows", [1, 2, 3])):
        (unit,) = RowStream(added / name).units()
        ((sheet, _),) = sheets(unit)
        assert sheet.read([0]).rows.tolist() == rows
