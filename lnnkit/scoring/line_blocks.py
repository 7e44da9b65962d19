"""A text file in blocks of whole records, each with the number of its first line; compressed files are unpacked on the
way. Memory does not grow with the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnnkit.data.readers.delimited import Text, TextLayout, breaks, doubtful, record
from lnnkit.data.source import Unreadable, nearest_name

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 24  # bytes of a block, or more where a record is longer
_LONGEST = 1 << 30
_LINE = re.compile(rb"[^\r\n]*+")


def blocks(
    path: Path, compression: str | None, *, header: bool, layout: TextLayout, size: int = BLOCK
) -> Iterator[tuple[bytes, bytes, int]]:
    """Blocks of about ``size`` bytes: the first line of the file, some whole records, and the line number of the first
    of these. The first line is not among the records if it is the ``header``. A line break within a quoted value does
    not end a record. Raises `Unreadable`."""
    import pyarrow as pa

    top, rest, line = b"", b"", 1
    begun = False
    try:
        with _opened(path, compression) as stream:
            while more := stream.read(max(size, len(rest))):  # twice as much where a record is longer
                rest += more
                if line == 1 and not top:
                    rest = rest.removeprefix(b"\xef\xbb\xbf")
                if not begun:
                    lead = len(rest) - len(rest.lstrip(b"\r\n"))
                    end = _walked(rest, layout, lead, first=True)
                    if end == 0:
                        _check_length(path, rest)
                        continue
                    top, begun = rest[:end], True
                    if header:
                        rest = rest[end:]
                        line += breaks(Text(top, 0))
                end = _end(rest, layout)
                if end == 0:
                    _check_length(path, rest)
                    continue
                text, rest = rest[:end], rest[end:]
                yield top, text, line
                line += breaks(Text(text, 0))
    except FileNotFoundError:
        raise missing(path) from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unreadable("unreadable-file", f'"{path}" cannot be read: {error}') from None
    if not begun:
        if not rest.strip(b"\r\n"):
            raise Unreadable("empty-file", f'"{path}" is empty')
        yield rest + b"\n", b"" if header else rest, line + header
    elif rest:
        yield top, rest, line


def missing(path: Path) -> Unreadable:
    """The fault of a missing stream."""
    near = nearest_name(path) if path.parent.is_dir() else None
    hint = f'did you mean "{path.parent / near}"?' if near else "the path of a stream starts from the working folder"
    return Unreadable("missing-file", f'no file "{path}"', hint)


def _opened(path: Path, compression: str | None) -> Any:
    import pyarrow as pa

    raw: pa.NativeFile = pa.OSFile(str(path), "rb")
    return pa.CompressedInputStream(raw, compression) if compression else raw


def _end(text: bytes, layout: TextLayout) -> int:
    """Where the last whole record ends; 0 where none does."""
    import numpy as np

    if not layout.quoting or b'"' not in text:
        stop = text.rfind(b"\n") + 1
        return stop or text.rfind(b"\r", 0, max(len(text) - 1, 0)) + 1  # a last one may be half of a line break
    codes = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(codes == ord("\n"))
    within = np.searchsorted(np.flatnonzero(codes == ord('"')), ends) % 2 == 1
    ends = ends[~within]
    end = int(ends[-1]) + 1 if len(ends) else 0
    if end and not doubtful(Text(text[:end], 0), ord(layout.delimiter)):
        return end
    return _walked(text, layout)  # a quote may be part of a value here, so counting quotes decides nothing


def _walked(text: bytes, layout: TextLayout, place: int = 0, *, first: bool = False) -> int:
    """Where the last (or the ``first``) whole record after ``place`` ends, found record by record."""
    pattern = record(layout.delimiter) if layout.quoting else _LINE
    end = 0
    while place < len(text):
        match = pattern.match(text, place)
        assert match is not None  # also matches the empty text
        stop = match.end()
        opened = layout.quoting and (match["open1"] is not None or match["open2"] is not None)
        # the last byte may be half of a line break, or of a quote that is written twice
        if opened or stop >= len(text) - (text[-1:] == b"\r"):
            break
        end = place = stop + (2 if text[stop : stop + 2] == b"\r\n" else 1)
        if first:
            break
    return end


def _check_length(path: Path, text: bytes) -> None:
    if len(text) > _LONGEST:
        message = f'"{path}" has a row of more than {_LONGEST:,} bytes'
        raise Unreadable("unreadable-file", message, "look for a quote that opens a value and never closes")
