"""Columns as entities: distinct names in order and, for each row, the index of its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, concatenated, one, ranked, strings, text_buffers, view
from lnnkit.data.cells.encode import Piece, cleaned, encoded, renumbered
from lnnkit.data.cells.whole import ascending, drawn, gapless, united
from lnnkit.data.column import EntityColumn
from lnnkit.data.names import Names, is_many, some_of

_WHOLE_FLOAT = re.compile(r"(0|-?[1-9][0-9]*)\.0+")
_EXACT_DIGITS = 15  # float64 tells all numbers of so many digits apart


@dataclass(frozen=True, slots=True)
class Texts:
    """``codes`` (int32) index ``names``; -1 for an empty or null cell. ``faults`` gives by code the reason why a value
    is not an entity; such codes come after all names. ``sharing`` columns, without gaps or faults, together use all
    names; it is 0 if that is not known."""

    codes: np.ndarray
    names: Names
    faults: dict[int, str] = field(default_factory=dict)
    sharing: int = 0

    def fault(self, row: int) -> str | None:
        """Why the row has no entity; None if it has one."""
        code = int(self.codes[row])
        return "is empty" if code < 0 else self.faults.get(code)

    def wrong(self) -> np.ndarray:
        """A mask of the rows whose value is not an entity."""
        mask = self.codes < 0
        return mask | (self.codes >= len(self.names)) if self.faults else mask

    def used(self) -> np.ndarray:
        """The indices of the names that occur, ascending."""
        mask = np.zeros(len(self.names) + len(self.faults) + 1, bool)  # the last entry is for -1
        mask[self.codes] = True
        return np.flatnonzero(mask[: len(self.names)])

    def by_name(self, values: np.ndarray) -> np.ndarray:
        """The value of each row's name; 0 or False where there is none."""
        return np.append(values, np.zeros(len(self.faults) + 1, values.dtype)).take(
            self.codes
        )  # the last one is for -1

    def equal(self, text: str) -> np.ndarray:
        """A mask of the rows that equal ``text``; empty and null cells equal the empty text."""
        if not text:
            return self.codes < 0
        place = self.names.find(text)
        return np.zeros(len(self.codes), bool) if place is None else self.codes == place


def texts_of(column: Column, title: str) -> Texts:
    """The texts of a column: texts in NFC, integers and integral decimals in decimal notation, booleans as ``true`` and
    ``false``, days as ``2024-01-15``. Raises ``Unreadable`` for any other type: a float, a time or a decimal fraction
    has several spellings, so it would become several entities."""
    return texts_together([(column, title)])[0]


def texts_together(columns: Sequence[tuple[Column, str]], known: Names | None = None) -> list[Texts]:
    """As `texts_of`, for several columns of one length, each with its title; all share their ``names``. One column that
    has the ``known`` names of another table, each once and in order, shares them."""
    if known is not None and len(columns) == 1 and _has_all(columns[0][0], known):
        return [Texts(known.ranks, known, {}, 1)]
    pieces = [cleaned(piece) for piece in encoded(columns)]
    sharing = len(columns) if all(piece.used for piece in pieces) else 0
    placed: dict[int, Texts] = {}
    for piece, texts in zip(pieces, _united(pieces), strict=True):
        for place, codes in zip(piece.columns, np.split(texts.codes, len(piece.columns)), strict=True):
            placed[place] = Texts(codes, texts.names, texts.faults, sharing)
    return [placed[place] for place in range(len(columns))]


def without_fractions(texts: Texts) -> Texts:
    """The texts with ``7.0`` read as ``7``, if each is a whole number in one of these spellings, as those of pandas are
    where a column has gaps; otherwise unchanged."""
    names, count = texts.names, len(texts.names.numbers)
    spelled = texts.used()
    spelled = spelled[spelled >= count]
    if texts.faults or not len(spelled):
        return texts
    numbers: list[int] = []
    for place in spelled.tolist():
        match = _WHOLE_FLOAT.fullmatch(names[place])
        if match is None or len(match[1]) > _EXACT_DIGITS:
            return texts
        numbers.append(int(match[1]))
    distinct, places = np.unique(np.array(numbers, np.int64), return_inverse=True)
    merged, (old, other) = united([names.numbers_in_numpy, distinct])
    codes = np.full(len(names) + 1, -1, np.int32)  # the last one is for -1
    codes[:count], codes[spelled] = old, other[places]
    return Texts(codes.take(texts.codes), Names(strings([]), merged), {})


def _has_all(column: Column, names: Names) -> bool:
    """Whether a column consists of all whole numbers that are names, in order."""
    if len(names.texts) or len(column) != len(names) or isinstance(column, list) or column.null_count:
        return False
    if column.type != pa.int64():
        return False
    values, numbers = view(one(column), np.int64), names.numbers_in_numpy
    if not len(values) or not gapless(numbers):
        return np.array_equal(values, numbers)
    return bool(values[0] == numbers[0] and values[-1] == numbers[-1]) and ascending(values)  # reads one of the two


def reunited(several: Sequence[Texts]) -> list[Texts]:
    """The same texts, made to share their names."""
    if all(texts.names is several[0].names for texts in several):
        return list(several)
    return _united([_piece(texts) for texts in several])


def _piece(texts: Texts) -> Piece:
    names, values = texts.names, texts.names.texts_in_arrow
    if texts.faults:
        values = concatenated([values, strings([""] * len(texts.faults))])
    return Piece(texts.codes, values, texts.faults, ordered=not texts.faults, numbers=names.numbers_in_numpy)


def _united(pieces: Sequence[Piece]) -> list[Texts]:
    """The pieces, made to share their names; faulty values come after the names."""
    shared = pieces[0].numbers
    if shared is not None and all(piece.numbers is shared and not len(piece.values) for piece in pieces):
        names = Names(strings([]), shared)
        return [Texts(piece.codes, names, {}) for piece in pieces]
    none = np.empty(0, np.int64)
    arrays = {id(piece.numbers): none if piece.numbers is None else piece.numbers for piece in pieces}
    values = pieces[0].values
    if all(piece.ordered and (piece.values is values or piece.values.equals(values)) for piece in pieces):
        ranks = [np.arange(len(values), dtype=np.int32)] * len(pieces)
    else:
        ranks, values = _ranked([piece.values for piece in pieces])
    spelled, numbers = drawn(values)
    numbers, (*places, spots) = united([*arrays.values(), numbers])
    first = dict(zip(arrays, places, strict=True))
    rest = np.ones(len(values), bool)
    rest[spelled] = False
    among = np.cumsum(rest, dtype=np.int32) + np.int32(len(numbers) - 1)
    among[spelled] = spots
    values = some_of(values, np.flatnonzero(rest))
    names = Names(values, numbers)
    texts: list[Texts] = []
    for piece, rank in zip(pieces, ranks, strict=True):
        place = np.concatenate([first[id(piece.numbers)], among.take(rank)])
        faults = {len(names) + number: fault for number, fault in enumerate(piece.faults.values())}
        place[list(piece.faults)] = list(faults)
        same = (place == np.arange(len(place))).all()
        texts.append(Texts(piece.codes if same else renumbered(piece.codes, place), names, faults))
    return texts


def _ranked(several: Sequence[pa.StringArray]) -> tuple[list[np.ndarray], pa.StringArray]:
    """For each array the ranks of its texts among all distinct ones, and these, sorted."""
    sizes = [len(values) for values in several]
    if is_many(sum(sizes)):
        codes, distinct = ranked(concatenated(several))
        return np.split(codes, np.cumsum(sizes)[:-1]), distinct
    held = [cast("list[str]", values.to_pylist()) for values in several]
    names = sorted(set[str]().union(*held))
    index = {name: place for place, name in enumerate(names)}
    return [np.fromiter(map(index.__getitem__, texts), np.int32, len(texts)) for texts in held], strings(names)


def outer_blanks(names: Names) -> np.ndarray:
    """The indices of names that begin or end with a space, tab or line break."""
    offsets, data = text_buffers(names.texts_in_arrow)
    if not (data <= ord(" ")).any():
        return np.empty(0, np.int64)
    filled = np.flatnonzero(np.diff(offsets) > 0)
    blank = np.zeros(256, bool)
    blank[[9, 10, 13, 32]] = True
    return filled[blank[data[offsets[filled]]] | blank[data[offsets[filled + 1] - 1]]] + len(names.numbers)


def compacted(several: Sequence[Texts], keep: np.ndarray | None) -> tuple[EntityColumn, ...]:
    """The kept rows of columns that share their names, with the names reduced to those in use."""
    if not several:
        return ()
    names = several[0].names
    if keep is None and len({id(texts.codes) for texts in several}) == several[0].sharing:
        return tuple(EntityColumn(texts.codes, names) for texts in several)
    columns = [texts.codes if keep is None else texts.codes[keep] for texts in several]
    used = np.zeros(len(names), bool)
    for codes in columns:
        used[codes] = True
    if not used.all():
        place = np.cumsum(used, dtype=np.int32) - np.int32(1)
        columns = [place.take(codes) for codes in columns]
        names = names.some(used)
    return tuple(EntityColumn(codes, names) for codes in columns)
