"""Encoded texts as entities: empty texts become gaps, all are normalised to NFC, and those that are not UTF-8 are
recorded."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import filled, nulls, strings, text_buffers
from lnnkit.data.cells.encode import Piece


def cleaned(piece: Piece) -> Piece:
    """The piece with valid strings as its values. Texts are checked one by one only if not all are valid."""
    if piece.numbers is not None:
        return piece
    codes, values = piece.codes, piece.values
    if values.null_count:
        gaps = np.flatnonzero(nulls(values))
        codes = _mapped(codes, gaps, np.full(len(gaps), -1), len(values))
        values = filled(values)
    if not pa.types.is_string(values.type):
        values = values.view(pa.string())
    offsets, data = text_buffers(values)
    empty = np.flatnonzero(offsets[1:] == offsets[:-1])
    empty = empty[~np.isin(empty, list(piece.faults))] if piece.faults else empty
    if len(empty):
        codes = _mapped(codes, empty, np.full(len(empty), -1), len(values))
    piece = replace(piece, codes=codes, values=values)
    data = data[int(offsets[0]) : int(offsets[-1])]
    return piece if int(data.max(initial=0)) < 128 or _right(values, data) else _composed(piece)


def _right(values: pa.StringArray, data: np.ndarray) -> bool:
    """Whether each text is UTF-8 in NFC. All texts are checked as one sequence of bytes: if that is valid, so is each
    part."""
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return unicodedata.is_normalized("NFC", data.tobytes().decode())


def _composed(piece: Piece) -> Piece:
    """The distinct texts in NFC, or recorded as faulty, one by one."""
    texts, first, moved = [], {}, {}
    faults = dict(piece.faults)
    changed = False
    for code, raw in enumerate(piece.values.view(pa.binary()).to_pylist()):
        assert isinstance(raw, bytes)
        try:
            read = raw.decode()
        except UnicodeDecodeError as error:
            faults[code] = f"is not UTF-8: byte 0x{raw[error.start]:02x} in {raw[:40].decode(errors='replace')!r}"
            texts.append("")
            continue
        text = unicodedata.normalize("NFC", read)
        changed = changed or text != read
        texts.append(text)
        if code not in faults and first.setdefault(text, code) != code:
            moved[code] = first[text]
    if not changed and len(faults) == len(piece.faults) and not moved:
        return piece
    codes = _mapped(piece.codes, np.array(list(moved)), np.array(list(moved.values())), len(texts))
    return Piece(codes, strings(texts), faults, columns=piece.columns)


def _mapped(codes: np.ndarray, moved: np.ndarray, to: np.ndarray, size: int) -> np.ndarray:
    """The codes, with those in ``moved`` replaced by those in ``to``."""
    if not len(moved):
        return codes
    table = np.append(np.arange(size, dtype=np.int32), np.int32(-1))  # the last entry answers for -1
    table[moved] = to
    return table.take(codes)
