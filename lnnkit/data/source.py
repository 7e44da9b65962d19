"""Reads the file of a ``load`` statement into bytes: its format, its compression, and what is wrong if it has
neither; and how a fault of a table is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lnnkit.syntax.printer import format_string
from lnnkit.syntax.span import Span

Format = Literal["csv", "tsv", "parquet", "jsonl"]

FORMATS: dict[str, Format] = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "tsv"}
FORMATS |= {".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}

_CONVERTED = {
    ".xlsx .xls .xlsm .ods": "pd.read_excel({})",
    ".json": "pd.read_json({})",
    ".xml": "pd.read_xml({})",
    ".feather .arrow": "pd.read_feather({})",
    ".ttl .nt .n3 .rdf .owl .jsonld": 'pd.DataFrame(rdflib.Graph().parse({}), columns=["s", "p", "o"])',
}
"""Files of other programs, by their suffixes: how pandas, or rdflib, reads one."""
_SQL = re.compile(r"(?:.*/)?\s*(?:select|with|from)\s", re.IGNORECASE)
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_FETCHED = re.compile(r"(?:^|/)(?:https?|ftp|s3|gs):/")


@dataclass(frozen=True, slots=True)
class DataFault:
    """What is wrong with one row; it becomes a diagnostic when the faults of the file are listed."""

    code: str
    message: str
    hint: str = ""


class Unreadable(Exception):
    """The table as a whole cannot be read; ``span`` is the part of the statement that is at fault, if one is."""

    def __init__(self, code: str, message: str, hint: str = "", span: Span | None = None) -> None:
        super().__init__(message)
        self.fault = DataFault(code, message, hint)
        self.span = span


@dataclass(frozen=True, slots=True)
class RawTable:
    """The decompressed bytes of a table file."""

    path: Path
    format: Format
    data: bytes


def format_of(path: Path) -> tuple[Format, str | None]:
    """The format and the compression by the last suffixes of the name, in any case. Raises ``Unreadable``."""
    suffix, compression = _endings(path)
    kind = FORMATS.get(suffix)
    if kind is None:
        hint = f"a table's name ends in one of {' '.join(FORMATS)}; each may be compressed as {' '.join(COMPRESSIONS)}"
        for ends, reading in _CONVERTED.items():
            if path.suffix.lower() in ends.split():
                frame = reading.format(format_string(path.name))
                saved = format_string(f"{path.stem}.csv")
                hint = f"write it as a CSV, in pandas: `{frame}.to_csv({saved}, index=False)`"
        if path.suffix.lower() in (".duckdb", ".ddb", ".db"):
            hint = f'write `database "{path.name}" table "NAME"`'
        raise Unreadable("unknown-format", f'"{path.name}" is not a table that can be read', hint)
    return kind, compression


def is_table(path: Path) -> bool:
    """Whether the suffix is one that only tables have; a ``.txt`` or ``.tab`` may be a program."""
    suffix, _ = _endings(path)
    return suffix in FORMATS and suffix not in (".txt", ".tab")


def _endings(path: Path) -> tuple[str, str | None]:
    """The suffix of a name before that of a compression, and the compression."""
    *others, last = ("", "", *(suffix.lower() for suffix in path.suffixes))
    return (others[-1], COMPRESSIONS[last]) if last in COMPRESSIONS else (last, None)


def nearest_file(path: Path) -> str:
    """A hint about what exists instead: the folder that is missing, or the file with the most similar name."""
    if _FETCHED.search(path.as_posix()):
        return "URLs are not fetched: save the file and give its path"
    if _SQL.match(path.as_posix()):
        return 'a query is written with the word: `from query "select ..."`'
    slashed = Path(str(path).replace("\\", "/").replace("\t", "/t").replace("\n", "/n"))  # `\t` is an escape
    if slashed != path and slashed.is_file():
        return f'write "{slashed}": a path takes `/`'
    if not path.parent.is_dir():
        return f'there is no folder "{path.parent}"; paths are relative to the .lnn file'
    near = nearest_name(path)
    return f'did you mean "{near}"?' if near else "paths are relative to the .lnn file"


def nearest_name(path: Path) -> str | None:
    """The file in the same folder with the most similar name."""
    import difflib

    def likeness(left: str, right: str) -> float:
        return difflib.SequenceMatcher(None, left.casefold(), right.casefold()).ratio()

    # the endings of tables are alike, so they decide only between names that are alike without them
    near = [name for name in names_beside(path) if likeness(Path(name).stem, path.stem) >= 0.6]
    return max(near, key=lambda name: likeness(name, path.name), default=None)


def names_beside(path: Path) -> list[str]:
    """The files of a folder, sorted; empty if they cannot be listed."""
    try:
        return sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    except OSError:
        return []


def read_source(path: Path) -> RawTable:
    """The decompressed bytes of the file; raises ``Unreadable`` if it is missing, a folder, not permitted, damaged or
    empty."""
    data = read_bytes(path)
    kind, compression = format_of(path)
    if compression and data:
        data = _unpacked(path, data, compression)
    if not data:
        raise Unreadable("empty-file", f'"{path}" is empty')
    return RawTable(path, kind, data)


def in_utf8(raw: RawTable, encoding: str) -> RawTable:
    """A text file in an ``encoding`` that Python knows, as UTF-8. Raises ``Unreadable``."""
    if raw.format == "parquet":
        message = f'"{raw.path}" is a Parquet file: it has no encoding'
        raise Unreadable("bad-encoding", message, "take `encoding` out")
    try:
        return replace(raw, data=raw.data.decode(encoding).encode())
    except UnicodeError as error:
        raise Unreadable("bad-encoding", f'"{raw.path}" is not {encoding}: {error}', "name another encoding") from None


def read_bytes(path: Path, hint: Callable[[Path], str] = nearest_file) -> bytes:
    """The bytes of the file; raises ``Unreadable``. ``hint`` is the advice for a missing file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise Unreadable("missing-file", f'no file "{path}"', hint(path)) from None
    except IsADirectoryError:
        raise Unreadable("unreadable-file", f'"{path}" is a folder, not a file') from None
    except OSError as error:
        raise Unreadable("unreadable-file", f'"{path}" cannot be read: {error.strerror or error}') from None
    except ValueError as error:  # a null character in the path
        raise Unreadable("missing-file", f"no file {str(path)!r}: {error}") from None


def _unpacked(path: Path, data: bytes, compression: str) -> bytes:
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(pa.BufferReader(data), compression) as stream:
            return stream.read()
    except (OSError, ValueError, NotImplementedError) as error:
        message = f'"{path}" cannot be decompressed as {compression}: {error}'
        raise Unreadable("unreadable-file", message, "it may be damaged or cut short") from None
