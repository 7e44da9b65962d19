"""Concatenates Parquet files without decoding them: row groups keep their bytes, and one footer describes all.

A footer is a struct of Thrift's compact protocol (apache/thrift, ``doc/specs/thrift-compact-protocol.md``). It is read
as numbered fields; only those that hold offsets in the file are interpreted (apache/parquet-format,
``parquet.thrift``), since they move with the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

MAGIC = b"PAR1"
# Bytes copied at a time, through one buffer: 440 MB take 0.09 CPU s, and 0.4 s with new memory for each piece.
_PIECE = 1 << 20

_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 11, 12

Fields = dict[int, tuple[int, Any]]  # the fields of a struct by number: type and value

_ROWS, _GROUPS = 3, 4  # fields of FileMetaData
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7  # fields of RowGroup
_CHUNK_OFFSET, _CHUNK, _OFFSET_INDEX, _COLUMN_INDEX = 2, 3, 4, 6  # fields of ColumnChunk
_PAGES = (9, 10, 11, 14)  # fields of ColumnMetaData: offsets of data, index and dictionary pages, and a Bloom filter


@dataclass
class JoinedParquet:
    """A Parquet file that is written by joining others of one schema to ``sink``."""

    sink: IO[bytes]
    _first: Fields | None = None
    _groups: list[bytes] = field(default_factory=list)
    _rows: int = 0
    _end: int = 0

    def append(self, path: Path) -> None:
        """Append the row groups of a file."""
        with path.open("rb") as source:
            size = source.seek(0, 2)
            source.seek(size - 8)
            length = int.from_bytes(source.read(4), "little")
            start = size - 8 - length
            source.seek(start)
            footer = _Reader(source.read(length)).struct()
            if self._first is None:
                self.sink.write(MAGIC)
                self._first, self._end = footer, len(MAGIC)
            moved = self._end - len(MAGIC)
            source.seek(len(MAGIC))
            left, piece = start - len(MAGIC), memoryview(bytearray(_PIECE))
            while left:
                count = source.readinto(piece[: min(left, _PIECE)])
                if not count:
                    raise OSError(5, "a part was truncated while it was being joined", str(path))
                self.sink.write(piece[:count])
                left -= count
        self._end += start - len(MAGIC)
        self._rows += footer[_ROWS][1]
        for group in footer[_GROUPS][1][1]:
            self._groups.append(_written(_STRUCT, _shifted(group, moved)))

    def close(self) -> None:
        """Write the footer."""
        assert self._first is not None
        fields = dict(self._first)
        fields[_ROWS] = (_I64, self._rows)
        groups = _list_header(_STRUCT, len(self._groups)) + b"".join(self._groups)
        footer = _struct(fields, {_GROUPS: groups})
        self.sink.write(footer + len(footer).to_bytes(4, "little") + MAGIC)


def _shifted(group: Fields, by: int) -> Fields:
    """A row group moved ``by`` bytes. Its ordinal, which only gives the order, is left out."""
    found = _moved(group, (_GROUP_OFFSET,), by)
    found.pop(_ORDINAL, None)
    kind, chunks = found[_COLUMNS][1]
    shifted: list[Fields] = []
    for chunk in chunks:
        own = _moved(chunk, (_CHUNK_OFFSET, _OFFSET_INDEX, _COLUMN_INDEX), by)
        if _CHUNK in own:
            own[_CHUNK] = (_STRUCT, _moved(own[_CHUNK][1], _PAGES, by))
        shifted.append(own)
    found[_COLUMNS] = (_LIST, (kind, shifted))
    return found


def _moved(fields: Fields, places: tuple[int, ...], by: int) -> Fields:
    """The fields with the offsets at ``places`` moved; an offset of 0 means that there is none."""
    found = dict(fields)
    for place in places:
        if place in found and found[place][1]:
            found[place] = (found[place][0], found[place][1] + by)
    return found


class _Reader:
    """Reads values of the compact protocol."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def struct(self) -> Fields:
        found: Fields = {}
        number = 0
        while head := self._byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._signed()
            found[number] = (kind, kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind))
        return found

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind <= _I64:
            return self._signed()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return head & 15, [self._value(head & 15) for _ in range(count)]
        if kind == _MAP:
            count = self._varint()
            kinds = self._byte() if count else 0
            return kinds, [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(count)]
        if kind == _STRUCT:
            return self.struct()
        raise ValueError(f"no type {kind} in the compact protocol")

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7

    def _signed(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)


def _struct(fields: Fields, made: dict[int, bytes] | None = None) -> bytes:
    """The bytes of a struct; fields in ``made`` are encoded already."""
    found, before = bytearray(), 0
    for number, (kind, value) in sorted(fields.items()):
        own = (_TRUE if value else _FALSE) if kind in (_TRUE, _FALSE) else kind
        step = number - before
        found += bytes([step << 4 | own]) if 0 < step < 16 else bytes([own]) + _varint(_zigzag(number))
        before = number
        if made and number in made:
            found += made[number]
        elif kind not in (_TRUE, _FALSE):
            found += _written(kind, value)
    return bytes(found) + b"\0"


def _written(kind: int, value: Any) -> bytes:
    if kind in (_TRUE, _FALSE, _BYTE):
        return bytes([value])
    if kind <= _I64:
        return _varint(_zigzag(value))
    if kind == _DOUBLE:
        return value
    if kind == _BINARY:
        return _varint(len(value)) + value
    if kind in (_LIST, _SET):
        return _list_header(value[0], len(value[1])) + b"".join(_written(value[0], each) for each in value[1])
    if kind == _MAP:
        kinds, pairs = value
        found = _varint(len(pairs)) + (bytes([kinds]) if pairs else b"")
        return found + b"".join(_written(kinds >> 4, key) + _written(kinds & 15, own) for key, own in pairs)
    return _struct(value)


def _list_header(kind: int, count: int) -> bytes:
    return bytes([count << 4 | kind]) if count < 15 else bytes([15 << 4 | kind]) + _varint(count)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
