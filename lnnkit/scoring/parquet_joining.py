"""Concatenates Parquet files without decoding them: row groups keep their bytes, and one footer describes all.

A footer is a struct of Thrift's compact protocol (apache/thrift, ``doc/specs/thrift-compact-protocol.md``). Its bytes
are kept but for the fields that hold offsets in the file (apache/parquet-format, ``parquet.thrift``), since they move
with the row groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

MAGIC = b"PAR1"
# Bytes copied at a time, through one buffer: 440 MB take 0.09 CPU s, and 0.4 s with new memory for each piece.
_PIECE = 1 << 20

_FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _STRUCT = 2, 3, 6, 7, 8, 9, 12  # types; that of true is 1

_ROWS, _GROUPS = 3, 4  # fields of FileMetaData
_COLUMNS, _ORDINAL = 1, 7  # fields of RowGroup
_CHUNK = 3  # of ColumnChunk: its ColumnMetaData
# The offsets among the fields: of RowGroup; of ColumnChunk, its own and those of its indexes; of ColumnMetaData, those
# of data, index and dictionary pages, and of a Bloom filter
_GROUP_OFFSETS, _CHUNK_OFFSETS, _PAGE_OFFSETS = (5,), (2, 4, 6), (9, 10, 11, 14)

Fields = dict[int, tuple[int, bytes]]  # the fields of a struct by number, ascending: type, and encoded value


@dataclass
class JoinedParquet:
    """A Parquet file that is written by joining others of one schema to ``sink``."""

    sink: IO[bytes]
    _first: Fields = field(default_factory=dict)
    _groups: list[bytes] = field(default_factory=list)
    _rows: int = 0
    _end: int = len(MAGIC)

    def append(self, path: Path) -> None:
        """Append the row groups of a file."""
        with path.open("rb") as source:
            size = source.seek(0, 2)
            source.seek(size - 8)
            start = size - 8 - int.from_bytes(source.read(4), "little")
            source.seek(start)
            footer, _ = _fields(source.read(size - 8 - start), 0)
            if not self._first:
                self.sink.write(MAGIC)
                self._first = footer
            source.seek(len(MAGIC))
            left, piece = start - len(MAGIC), memoryview(bytearray(_PIECE))
            while left:
                count = source.readinto(piece[: min(left, _PIECE)])
                if not count:
                    raise OSError(5, "a part was truncated while it was being joined", str(path))
                self.sink.write(piece[:count])
                left -= count
        self._rows += _signed(footer[_ROWS][1])
        self._groups += [_moved_group(group, self._end - len(MAGIC)) for group in _structs(footer[_GROUPS][1])]
        self._end += start - len(MAGIC)

    def close(self) -> None:
        """Write the footer."""
        footer = _struct(self._first, {_ROWS: _zigzag(self._rows), _GROUPS: _list(self._groups)})
        self.sink.write(footer + len(footer).to_bytes(4, "little") + MAGIC)


def _moved_group(group: Fields, by: int) -> bytes:
    """A row group moved ``by`` bytes. Its ordinal, which only gives the order, is left out."""
    group.pop(_ORDINAL, None)
    chunks = [_moved_chunk(chunk, by) for chunk in _structs(group[_COLUMNS][1])]
    return _struct(group, {_COLUMNS: _list(chunks), **_moved(group, _GROUP_OFFSETS, by)})


def _moved_chunk(chunk: Fields, by: int) -> bytes:
    pages, _ = _fields(chunk[_CHUNK][1], 0)
    metadata = _struct(pages, _moved(pages, _PAGE_OFFSETS, by))
    return _struct(chunk, {_CHUNK: metadata, **_moved(chunk, _CHUNK_OFFSETS, by)})


def _moved(fields: Fields, numbers: tuple[int, ...], by: int) -> dict[int, bytes]:
    """The offsets among the fields, moved; an offset of 0 means that there is none."""
    offsets = {number: _signed(fields[number][1]) for number in numbers if number in fields}
    return {number: _zigzag(offset + by) for number, offset in offsets.items() if offset}


# --- the compact protocol ---------------------------------------------------------------------------------------------


def _fields(data: bytes, at: int) -> tuple[Fields, int]:
    """The fields of a struct, and where it ends."""
    fields: Fields = {}
    number = 0
    while head := data[at]:
        kind, step, start = head & 15, head >> 4, at + 1
        if not step:  # the number itself follows
            start = _varint(data, at + 1)[1]
            number = _signed(data[at + 1 : start])
        number += step
        at = start if kind <= _FALSE else _end(data, start, kind)
        fields[number] = kind, data[start:at]
    return fields, at + 1


def _end(data: bytes, at: int, kind: int) -> int:
    """Where a value ends; footers hold no sets and no maps."""
    if kind <= _BYTE:
        return at + 1
    if kind <= _I64:
        return _varint(data, at)[1]
    if kind == _DOUBLE:
        return at + 8
    if kind == _BINARY:
        length, start = _varint(data, at)
        return start + length
    if kind == _LIST:
        count, inner, at = _items(data, at)
        for _ in range(count):
            at = _end(data, at, inner)
        return at
    if kind == _STRUCT:
        return _fields(data, at)[1]
    raise ValueError(f"no type {kind} in the footer of a Parquet file")


def _items(data: bytes, at: int) -> tuple[int, int, int]:
    """The number of values of a list, their type, and where they begin."""
    head = data[at]
    count, start = (head >> 4, at + 1) if head >> 4 < 15 else _varint(data, at + 1)
    return count, head & 15, start


def _structs(data: bytes) -> Iterator[Fields]:
    """The structs of a list."""
    count, _, at = _items(data, 0)
    for _ in range(count):
        fields, at = _fields(data, at)
        yield fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number without sign, and where it ends."""
    number = shift = 0
    while (byte := data[at]) > 127:
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
    return number | byte << shift, at + 1


def _signed(data: bytes) -> int:
    number, _ = _varint(data, 0)
    return (number >> 1) ^ -(number & 1)


def _struct(fields: Fields, changed: Mapping[int, bytes]) -> bytes:
    """A struct of these fields, some with other values."""
    encoded, before = bytearray(), 0
    for number, (kind, value) in fields.items():
        step = number - before
        encoded += bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + _zigzag(number)
        encoded += changed.get(number, value)
        before = number
    return bytes(encoded) + b"\0"


def _list(structs: list[bytes]) -> bytes:
    count = len(structs)
    head = bytes([count << 4 | _STRUCT]) if count < 15 else bytes([15 << 4 | _STRUCT]) + _unsigned(count)
    return head + b"".join(structs)


def _zigzag(value: int) -> bytes:
    """A number that is not negative, as one with a sign."""
    return _unsigned(value << 1)


def _unsigned(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
