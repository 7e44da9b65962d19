"""Files that are read: tables as bytes, with their format, their compression, and how a fault of a table is told; the
text of programs; and model files. Files are written completely or not at all.

A model file has the text of a program and its exact learned values, in one safetensors file. The metadata hold
``lnnkit`` (the version of the format) and ``program`` (the text, with rounded values); each parameter has a float64
tensor under its name."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.printer import format_string

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Format:
    """A type of table files. The cells of those with a ``delimiter`` are texts; the columns of others have types. A
    reader of `lnnkit.data.readers.frames.READERS` opens these, and messages say that such a file is ``what``.
    ``encoded``: it is text in an encoding."""

    name: str
    delimiter: str = ""
    what: str = ""
    encoded: bool = True


_CSV, _TSV = Format("csv", ","), Format("tsv", "\t")
_PARQUET = Format("parquet", "", "a Parquet file", encoded=False)
_JSON_LINES = Format("jsonl", "", "of JSON lines")
FORMATS = {".csv": _CSV, ".tsv": _TSV, ".tab": _TSV, ".txt": _TSV}
FORMATS |= {".parquet": _PARQUET, ".pq": _PARQUET, ".jsonl": _JSON_LINES, ".ndjson": _JSON_LINES}
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


class Unreadable(Exception):
    """The table as a whole cannot be read, for a ``fault``; its span is the part of the statement that is at fault."""

    def __init__(self, code: str, message: str, hint: str = "", span: Span | None = None) -> None:
        super().__init__(message)
        self.fault = Diagnostic(code, message, hint, span)


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
    if not raw.format.encoded:
        message = f'"{raw.path}" is {raw.format.what}: it has no encoding'
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


SUFFIX = ".safetensors"
_VERSION = "1"
_RETURN = re.compile(r"\r(?!\n)")


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` is neither a file nor a folder, but a pipe or a device, as ``/dev/stdout`` is."""
    place = Path(path)  # not resolved: what stands for a pipe in /proc names nothing
    return place.exists() and not place.is_file() and not place.is_dir()


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write ``content`` (text as UTF-8, line ends unchanged) to ``path`` in one step: a reader, or a crash, sees either
    the old file or the new one. A replaced file keeps its mode; for a link its target is replaced. Anything but a
    regular file (a pipe, ``/dev/stdout``) is written in place. Raises ``OSError`` as ``open`` does."""
    data = content.encode() if isinstance(content, str) else content
    target = Path(path if is_special(path) else os.path.realpath(path))
    partial = target
    if target.is_file() or not target.exists():
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(13, "the file is write-protected", str(target))
        partial = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    with moved(Path(path), partial, target, binary=True) as file:
        file.write(data)


@contextmanager
def moved(path: Path, partial: Path, target: Path, *, binary: bool) -> Iterator[IO[Any]]:
    """A file that replaces the ``target`` in one step once complete, and keeps its mode; after an exception it is
    removed. If both are one path, it is written in place. An ``OSError`` names the ``path``."""
    try:
        with naming(path):
            file = partial.open("wb") if binary else partial.open("w", encoding="utf-8", newline="")
        try:
            yield file
        except BaseException:
            with suppress(OSError):
                file.close()
            raise
        with naming(path):
            file.close()
            if partial != target:
                if target.exists():
                    partial.chmod(target.stat().st_mode & 0o7777)
                partial.replace(target)
    finally:
        if partial != target:
            partial.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An ``OSError`` within names the path."""
    try:
        yield
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from None


def read_program(path: Path) -> tuple[str | None, list[Diagnostic]]:
    """The text of a ``.lnn`` file (UTF-8, with or without a byte order mark), or the text in a model file; or what is
    wrong with it."""

    def failed(code: str, message: str, hint: str = "", row: int | None = None) -> tuple[None, list[Diagnostic]]:
        return None, [Diagnostic(code, message, hint, file=str(path), row=row)]

    if is_model(path) and path.is_file():
        try:
            return read_text(path), []
        except (NoModel, OSError) as problem:
            message = f'"{path}" cannot be read: {getattr(problem, "strerror", None) or problem}'
            return failed("no-model", message, "name a file that `lnnkit train` or `save` wrote")
    if is_table(path) and path.is_file():
        hint = f"read it in a .lnn file beside it: `load P from {format_string(path.name)}`"
        return failed("table-as-program", f'"{path}" is a table, not a program', hint)
    try:
        data = read_bytes(path, nearest_program)
    except Unreadable as problem:
        return None, [replace(problem.fault, file=str(path))]
    if data[:2] in UTF16_MARKS:
        return failed("unreadable-file", f'"{path}" is UTF-16, not UTF-8', "save it as UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return in_lines(data.decode()), []
    except UnicodeDecodeError as error:
        before = data[: error.start]
        row = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode()) + 1
        message = f"byte 0x{data[error.start]:02x} in column {column} is not UTF-8"
        return failed("not-utf8", message, "save the file as UTF-8", row)


def in_lines(text: str) -> str:
    """The text with every lone carriage return replaced by a line feed."""
    return _RETURN.sub("\n", text)


def nearest_program(path: Path) -> str:
    """A hint for a missing program whose path was given by the caller, not written in another program."""
    folder = path.parent
    where = "" if path.is_absolute() else f'; the path is relative to the working folder, "{Path.cwd()}"'
    if not folder.is_dir():
        return f'there is no folder "{folder}"{where}'
    if near := nearest_name(path):
        return f'did you mean "{folder / near}"?'
    programs = [name for name in names_beside(path) if name.endswith(".lnn")]
    shown = ", ".join([*programs[:5], *(["..."] if len(programs) > 5 else [])]) or "no .lnn file"
    return f'the folder "{folder}" holds {shown}{where}'


# --- model files -----------------------------------------------------------------------------------------------------


class NoModel(ValueError):
    """The file is not a model file of this version; the message says what it is."""


def is_model(path: Path) -> bool:
    """Whether a path names a model file."""
    return path.suffix == SUFFIX


def model_bytes(text: str, values: Mapping[str, float]) -> bytes:
    """The content of a model file."""
    import numpy as np

    tensors = {name: np.array(value, np.float64) for name, value in values.items()}
    return tensor_bytes(tensors, {"lnnkit": _VERSION, "program": text})


def tensor_bytes(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """The content of a safetensors file, equal for equal arguments: safetensors itself orders metadata at random."""
    from safetensors.numpy import save

    content = save(tensors, metadata)
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps({**json.loads(content[8:start]), "__metadata__": metadata}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[start:]


def read_text(path: Path) -> str:
    """The text in a model file. Raises `NoModel` and ``OSError``."""
    with _opened(path) as file:
        meta = file.metadata() or {}
    if "program" not in meta:
        raise NoModel("it holds no program")
    if meta.get("lnnkit") != _VERSION:
        raise NoModel(f"its format is version {meta.get('lnnkit')}, not {_VERSION}")
    return meta["program"]


def read_values(path: Path) -> dict[str, float]:
    """The values in a model file, by their names. Raises `NoModel` and ``OSError``."""
    with _opened(path) as file:
        return {name: float(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118  # no mapping


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    from safetensors import SafetensorError, safe_open

    path.open("rb").close()  # raises the `OSError` of a file that cannot be read
    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except (SafetensorError, TypeError, ValueError) as problem:
        raise NoModel("it is not a safetensors file of single numbers") from problem
