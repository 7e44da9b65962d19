"""CSV and TSV texts: what is a row, on which line, and what is verbatim."""

from __future__ import annotations

import csv
import gzip
import io
import random
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lnnkit.data.grid import Load
from lnnkit.data.load import read_table
from lnnkit.data.readers.delimited import TextLayout, record_lines
from tests.blocks import at_length
from tests.data.reading import STATEMENT, Read, Reader, statement


def test_columns_by_position_and_lines(read: Reader) -> None:
    got = read("name,friend\nanna,bob\nbob,cleo\n")
    assert got.facts == [("anna", "bob", 1.0, 1.0), ("bob", "cleo", 1.0, 1.0)]
    assert got.rows == [2, 3]
    assert not got.diagnostics


def test_text_is_verbatim(read: Reader) -> None:
    got = read("a,b\n007,1e3\nNA,null\nNaN,1.50\n true,x \n", arity=2)
    assert got.keys == [("007", "1e3"), ("NA", "null"), ("NaN", "1.50"), (" true", "x ")]
    assert got.found == [("outer-blanks", 5), ("outer-blanks", 5)]
    assert {d.severity for d in got.diagnostics} == {"warning"}


def test_nfc_joins_spellings(read: Reader) -> None:
    got = read("a\ncafe\u0301\ncaf\u00e9\n", arity=1)
    assert got.keys == [("caf\u00e9",), ("caf\u00e9",)]
    assert got.table is not None
    assert list(got.table.names) == ["caf\u00e9"]


def test_quotes_and_line_breaks_in_csv(read: Reader) -> None:
    got = read('a,b\n"x, y","say ""hi"""\n"two\nlines",5" pipe\n\n"",z\nlast,one\n')
    assert got.keys == [("x, y", 'say "hi"'), ("two\nlines", '5" pipe'), ("last", "one")]
    assert got.rows == [2, 3, 7]
    assert got.found == [("bad-row", 6)]


def test_tsv_has_no_quoting(read: Reader) -> None:
    got = read('a\tb\n"x\ty"\n"z"\tw\n', name="f.tsv")
    assert got.keys == [('"x', 'y"'), ('"z"', "w")]
    assert got.rows == [2, 3]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "END"])
def test_line_ends_and_blank_lines(read: Reader, end: str, last: str) -> None:
    lines = ["", "a,b", "c,d", "", "", "e,f", '"g', 'h",i', "", "j,k"]
    got = read(end.join(lines) + last.replace("END", end + end))
    assert got.keys == [("c", "d"), ("e", "f"), (f"g{end}h", "i"), ("j", "k")]
    assert got.rows == [3, 6, 7, 10]


def test_byte_order_mark_and_no_header(read: Reader) -> None:
    assert read(b"\xef\xbb\xbfa,b\nc,d\n", ("a", "b")).keys == [("c", "d")]
    assert read(b"\xef\xbb\xbfa,b\nc,d\n", header=False).keys == [("a", "b"), ("c", "d")]


def test_undecodable_bytes_spoil_only_their_row(read: Reader) -> None:
    got = read(b"a,b\nc,d\n\xe9t\xe9,x\ne,\xc3\xa9\n")
    assert got.keys == [("c", "d"), ("e", "\u00e9")]
    assert got.found == [("bad-row", 3)]
    assert "UTF-8" in got.only().message


def test_ragged_rows(read: Reader) -> None:
    got = read("a,b\nc,d\n\ne\nf,g\nh,i,j\n")
    assert got.keys == [("c", "d"), ("f", "g")]
    assert got.rows == [2, 5]
    assert got.found == [("bad-row", 4), ("bad-row", 6)]


def test_ragged_rows_keep_their_lines_across_blocks(read: Reader) -> None:
    padded = "v" * 5000  # 900 rows make 4 MB, which are read in several blocks
    lines = [f"k{i}" if i % 50 == 7 else "" if i % 31 == 3 else f"k{i},{padded}{i}" for i in range(900)]
    got = read("\n".join(["a,b", *lines]))
    expected = [i + 2 for i, line in enumerate(lines) if "," in line]
    assert got.rows == expected
    assert [key for (key, _) in got.keys] == [f"k{row - 2}" for row in expected]
    ragged = [i + 2 for i, line in enumerate(lines) if line and "," not in line]
    assert [row for _, row in got.found] == [*ragged[:5], None]
    assert f"and {len(ragged) - 5} more rows" in got.diagnostics[-1].message


def test_a_row_longer_than_a_block(read: Reader) -> None:
    long = "x" * 3_000_000
    assert read(f'a,b\n{long},b\n"{long}\n",c\n').keys == [(long, "b"), (f"{long}\n", "c")]


def test_an_unclosed_quote_is_an_error_at_its_line(read: Reader) -> None:
    got = read('a,b\nc,d\n\n5" x,"e\nf,g\nh,i\n')
    assert got.keys == [("c", "d")]
    assert got.found == [("bad-row", 4)]
    assert "never closes" in got.only().message
    assert read('a,b\nc,d\ne,"f\n').found == [("bad-row", 3)]
    assert read('a,"b\nc,d\n').errors == [("unreadable-file", None)]


def test_text_behind_a_closing_quote_is_an_error(read: Reader) -> None:
    got = read('a,b\n"Bob" Smith,x\n"Bob",y\n')
    assert got.keys == [("Bob", "y")]
    assert got.found == [("bad-row", 2)]


@pytest.mark.parametrize("count", at_length([40, 300], plain=1))
def test_quotes_are_read_as_by_a_strict_reader(count: int) -> None:
    """Python's strict reader refuses the texts that are refused here, and splits the others the same."""

    @settings(max_examples=count, deadline=None)
    @given(
        st.text('ab",,\n\n"\r', min_size=1, max_size=40), st.sampled_from([48, 1 << 20]), st.sampled_from([0, 1 << 30])
    )
    @example('""b,a', 48, 0)
    @example('"a,"b,c', 48, 0)
    def check(text: str, block: int, large: int) -> None:
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setattr("lnnkit.data.readers.delimited.BLOCK", block)
            patch.setattr("lnnkit.data.readers.delimited.LARGE", large)
            Path(folder, "f.csv").write_bytes(b"h,k\n" + text.encode())
            got = Read(*read_table(Load("P", 2, False, statement("f.csv", (1, 2)), Path(folder), STATEMENT)))
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        except csv.Error:
            assert got.errors
        else:
            assert got.keys == [tuple(row) for row in rows if len(row) == 2 and all(row)]

    check()


def test_utf16_empty_and_header_only(read: Reader) -> None:
    assert read("a,b\nc,d\n".encode("utf-16")).errors == [("unreadable-file", None)]
    assert read("").errors == [("empty-file", None)]
    assert read("\n\n").errors == [("empty-file", None)]
    got = read("a,b\n")
    assert got.keys == []
    assert got.found == [("no-rows", None)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_byte_that_is_not_utf8_is_on_the_line_that_an_editor_shows(read: Reader, end: bytes) -> None:
    got = read(end.join([b"a,b", b"c,d", b"e,f,g", b"\xff,h", b""]))
    assert "line 4 of" in got.only().message


def test_a_header_that_looks_like_a_row_is_doubted(read: Reader) -> None:
    assert read("anna,bob\nbob,anna\nanna,bob\n").found == [("doubtful-header", 1)]
    assert read("anna,34\nbob,27\n", arity=1, numeric=True).found == [("doubtful-header", 1)]
    assert read("anna,34\nbob,27\n", arity=1, numeric=True, header=False).found == []


@pytest.mark.parametrize("name", ["f.csv.gz", "f.CSV.GZ"])
def test_packed_files(read: Reader, name: str) -> None:
    packed = gzip.compress(b"a,b\nc,d\n")
    assert read(packed, name=name).keys == [("c", "d")]
    assert read(packed[:-6], name=name).errors == [("unreadable-file", None)]
    assert read(b"a,b\nc,d\n", name=name).errors == [("unreadable-file", None)]


@pytest.mark.parametrize("suffix", ["bz2", "zst", "lz4", "br"])
def test_other_packings(read: Reader, suffix: str) -> None:
    import pyarrow as pa

    codec = {"zst": "zstd", "br": "brotli"}.get(suffix, suffix)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(b"a\tb\nc\td\n")
    assert read(sink.getvalue().to_pybytes(), name=f"f.tsv.{suffix}").keys == [("c", "d")]


CELL = st.text(
    st.sampled_from("ab0\",\n\r\t \u00e9e\u0301\u65e5\U0001f600;'#\\") | st.characters(codec="utf-8"), max_size=6
)


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


@pytest.mark.parametrize("count", at_length([25, 200], plain=1))
def test_any_csv_reads_back_verbatim(count: int) -> None:
    """RFC 4180 as a writer states it (Python's leaves a carriage return bare), and an editor's count of lines."""

    @settings(max_examples=count, deadline=None)
    @given(
        rows=st.lists(st.tuples(CELL.filter(bool), CELL.filter(bool)), min_size=1, max_size=8),
        end=st.sampled_from(["\n", "\r\n", "\r"]),
        every=st.booleans(),
        blank=st.booleans(),
        large=st.sampled_from([0, 1 << 20]),
    )
    @example(rows=[('"', "\n"), ("\r", '""')], end="\n", every=False, blank=True, large=0)
    def check(rows: list[tuple[str, str]], end: str, every: bool, blank: bool, large: int) -> None:
        import unicodedata

        text, lines = "a,b" + end, []
        for row in rows:
            text += end if blank else ""
            lines.append(1 + text.count("\n") + text.count("\r") - text.count("\r\n"))
            text += ",".join(quoted(cell) if every or set(cell) & set('",\r\n') else cell for cell in row) + end
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setattr("lnnkit.data.readers.delimited.LARGE", large)
            Path(folder, "f.csv").write_bytes(text.encode())
            got = Read(*read_table(Load("P", 2, False, statement("f.csv", ("a", "b")), Path(folder), STATEMENT)))
        assert got.keys == [tuple(unicodedata.normalize("NFC", cell) for cell in row) for row in rows]
        assert got.rows == lines
        assert not got.errors

    check()


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=60) | st.text('ab",\n\r\t0.', max_size=40).map(str.encode), st.sampled_from(["csv", "tsv"]))
def test_no_bytes_crash_the_reader(data: bytes, suffix: str) -> None:
    """Whatever the bytes, the answer is a table or diagnostics, and rows are in order."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"f.{suffix}").write_bytes(data)
        got = Read(*read_table(Load("P", 1, False, statement(f"f.{suffix}", (1,)), Path(folder), STATEMENT)))
    assert got.table is not None or got.errors
    if got.table is not None:
        assert got.rows == sorted(set(got.rows))


def test_real_triples(real_data: Path) -> None:
    """LUBM's names hold quotes; README gives the number of rows; the 1 MB file is read in its plain split."""
    path = real_data / "lubm" / "abox.tsv"
    plain = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(plain) == 8519
    table = statement(path.name, (1, 3), {2: "name"}, header=False)
    got = Read(*read_table(Load("name", 2, False, table, path.parent, STATEMENT)))
    assert got.keys == [(s, o) for s, p, o in plain if p == "name"]
    assert got.keys[0][1] == '"University0"'
    assert got.rows == [line for line, row in enumerate(plain, 1) if row[1] == "name"]
    assert not got.diagnostics


def test_real_leading_zeros(real_data: Path) -> None:
    path = real_data / "kg" / "wn18rr" / "train.txt"
    plain = [tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()]
    got = Read(*read_table(Load("triple", 3, False, statement(path.name, header=False), path.parent, STATEMENT)))
    assert got.keys == plain
    assert got.keys[0][0] == "00260881"


@pytest.mark.parametrize(
    ("content", "name", "message", "hint"),
    [
        ("a,b\nc\n", "f.csv", "this row has 1 column, the first one 2", "every comma"),
        ("a,b\nc,d,e\n", "f.csv", "this row has 3 columns, the first one 2", "quoted"),
        ("a\tb\nc\n", "f.tsv", "this row has 1 column, the first one 2", "every tab"),
        ("a\tb\nc\td\te\n", "f.tsv", "this row has 3 columns, the first one 2", "a tab"),
    ],
)
def test_the_message_for_a_ragged_row(read: Reader, content: str, name: str, message: str, hint: str) -> None:
    found = read(content, name=name).only()
    assert found.message == message
    assert hint in found.hint


def test_each_record_starts_on_its_line() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        text, records, line = "", [], 1
        for _ in range(rng.randrange(1, 12)):
            if rng.random() < 0.2:
                text, line = text + rng.choice(["\n", "\r\n"]), line + 1  # a blank line
                continue
            cells, breaks = [], 0
            for _ in range(rng.randrange(1, 4)):
                parts = [rng.choice(["a", '""', ",", "\n", "\r\n", "x y", "\r"]) for _ in range(rng.randrange(4))]
                quoted = rng.random() < 0.6
                cell = f'"{"".join(parts)}"' if quoted else rng.choice(["b", "b c", "7"])
                breaks += len(re.findall("\r\n|\r|\n", cell))
                cells.append(cell)
            records.append(line)
            text, line = text + ",".join(cells) + rng.choice(["\n", "\r\n"]), line + 1 + breaks
        found = record_lines(text.encode(), len(records), 1, TextLayout(",", quoting=True))
        assert found is not None, f"seed {seed}"
        assert (found[0].tolist(), found[1]) == (records, {}), f"seed {seed}"
