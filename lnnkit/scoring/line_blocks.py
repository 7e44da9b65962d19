"""A text file in blocks of whole records, each with the number of its first line; compressed files are unpacked on the
way. Memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnnkit.data.source import nearest_name
from lnnkit.data.table_fault import Unreadable

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 24  # bytes of a block, or more where a record is longer
_LONGEST = 1 << 30


def blocks(path: Path, compression: str | None, *, header: bool, quoting: bool) -> Iterator[tuple[bytes, bytes, int]]:
    """The ``header`` line (empty if there is none), and lines behind it with the number of the first. A line break
    within quotes ends no record where values may be quoted (``quoting``). Raises `Unreadable`."""
    import pyarrow as pa

    top, rest, line = b"", b"", 1
    begun = not header
    try:
        with _opened(path, compression) as stream:
            while more := stream.read(BLOCK):
                rest += more
                if line == 1 and not top:
                    rest = rest.removeprefix(b"\xef\xbb\xbf")
                if not begun:
                    lead = len(rest) - len(rest.lstrip(b"\r\n"))
                    end = _end(rest, quoting=quoting, least=lead + 1, first=True)
                    if end == 0:
                        _check_length(path, rest)
                        continue
                    top, rest, begun = rest[:end], rest[end:], True
                    line += top.count(b"\n")
                end = _end(rest, quoting=quoting)
                if end == 0:
                    _check_length(path, rest)
                    continue
                text, rest = rest[:end], rest[end:]
                yield top, text, line
                line += text.count(b"\n")
    except FileNotFoundError:
        raise missing(path) from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unreadable("unreadable-file", f'"{path}" cannot be read: {error}') from None
    if not begun:
        top, rest = rest, b""
        if not top.strip():
            raise Unreadable("empty-file", f'"{path}" is empty')
        yield top + b"\n", b"", line + 1
    elif rest:
        yield top, rest, line


def missing(path: Path) -> Unreadable:
    """The fault of a stream that is not there."""
    near = nearest_name(path) if path.parent.is_dir() else None
    hint = f'did you mean "{path.parent / near}"?' if near else "the path of a stream starts from the working folder"
    return Unreadable("missing-file", f'no file "{path}"', hint)


def _opened(path: Path, compression: str | None) -> Any:
    import pyarrow as pa

    raw: pa.NativeFile = pa.OSFile(str(path), "rb")
    return pa.CompressedInputStream(raw, compression) if compression else raw


def _end(text: bytes, *, quoting: bool, least: int = 0, first: bool = False) -> int:
    """Where the last (or the ``first``) whole record ends; 0 where none does."""
    if not quoting or b'"' not in text:
        return (text.find(b"\n", least) if first else text.rfind(b"\n")) + 1
    import numpy as np

    codes = np.frombuffer(text, np.uint8)
    breaks = np.flatnonzero(codes == ord("\n"))
    within = np.searchsorted(np.flatnonzero(codes == ord('"')), breaks) % 2 == 1
    ends = breaks[~within & (breaks >= least)]
    return int(ends[0 if first else -1]) + 1 if len(ends) else 0


def _check_length(path: Path, text: bytes) -> None:
    if len(text) > _LONGEST:
        message = f'"{path}" has a row of more than {_LONGEST:,} bytes'
        raise Unreadable("unreadable-file", message, "look for a quote that opens a value and never closes")
