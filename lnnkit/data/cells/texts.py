"""Columns as entities: distinct names in order and, for each row, the index of its name; texts that are whole numbers
(see `lnnkit.data.names.whole`) are read as numbers, and distinct ones found fast."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, called, concatenated, mask, nulls, numbers, one, ranked, text_buffers, view
from lnnkit.data.cells.text_values import TextValues, composed, in_bulk, is_missing, right, text_values
from lnnkit.data.names import WHOLE, Names, is_many, whole

EXACT = 2.0**53
"""From here on float64 skips whole numbers."""
# Measured by `python -m benchmarks.load_constants`: 300,000 rows take 235 CPU ms with a `_SPREAD` of 1, 179 with 4, 177
# with 16.
_SPREAD = 4  # distinct numbers are found by direct addressing if their range is at most this many times their count


class WholeValues(NamedTuple):
    """Whole numbers (int32 or int64), and for each row the index of its number (int32; -1 in a gap); None: row by
    row."""

    values: np.ndarray
    codes: np.ndarray | None = None


def integers(column: Column) -> WholeValues | None:
    """The values of a column of integers that fit 64 bits with a sign; None for any other."""
    if isinstance(column, list) or not pa.types.is_integer(column.type) or column.type == pa.uint64():
        return None
    held = one(column.cast(pa.int64()))
    values = view(held, np.int64)
    if not held.null_count:
        return WholeValues(values)
    known = ~nulls(held)
    return WholeValues(values[known], np.where(known, np.cumsum(known, dtype=np.int32) - np.int32(1), np.int32(-1)))


def are_floats(column: Column) -> bool:
    """Whether a column holds floats, or decimals with a fraction, and gaps."""
    if isinstance(column, list):
        floats = all(isinstance(value, float) or is_missing(value) for value in column)
        return floats and any(isinstance(value, float) for value in column)
    return pa.types.is_floating(column.type) or (pa.types.is_decimal(column.type) and column.type.scale > 0)


def whole_floats(column: Column) -> Column:
    """Floats, or decimals, that are all whole (as pandas writes integers with gaps) as integers, and nan as a gap; any
    other column unchanged, and so are floats too large to tell whole numbers apart."""
    if not are_floats(column):
        return column
    if isinstance(column, list):
        values = np.array([np.nan if is_missing(value) else value for value in column], np.float64)
    else:
        held = one(column)
        values = np.where(nulls(held), np.nan, view(held.cast(pa.float64()), np.float64))
    gaps = np.isnan(values)
    filled = np.where(gaps, 0.0, values)
    if gaps.all() or (np.abs(filled) >= EXACT).any() or (filled != np.round(filled)).any():
        return column
    return numbers(filled, known=~gaps)


def all_whole(column: pa.Array | pa.ChunkedArray) -> np.ndarray | None:
    """The numbers of a column of strings or binary that contains only whole numbers, as a new array: int32 if all fit,
    otherwise int64. None for any other column."""
    values = np.empty(len(column), np.int32)
    start = 0
    for chunk in getattr(column, "chunks", [column]):
        numbers = _read(chunk)
        if numbers is None:
            return None
        if values.dtype == np.int32 and (numbers.min(initial=0) < -(2**31) or numbers.max(initial=0) >= 2**31):
            values = values.astype(np.int64)
        values[start : start + len(numbers)] = numbers
        start += len(numbers)
    return values


def _read(texts: pa.Array) -> np.ndarray | None:
    """The values of texts that are whole numbers; None if any text is not.

    Arrow parses whole numbers, and a few other spellings: those with letters (``0x1F``), and those that begin with a
    needless zero (``-0``, ``007``).
    """
    if texts.null_count:
        return None
    strings = texts.view(pa.string()) if pa.types.is_binary(texts.type) else texts
    offsets, data = text_buffers(strings)
    if data[int(offsets[0]) : int(offsets[-1])].max(initial=0) > ord("9"):
        return None
    try:
        numbers = view(strings.cast(pa.int64()), np.int64)
    except pa.ArrowInvalid:
        return None
    short = np.flatnonzero(data.take(offsets[:-1]) <= ord("0"))  # these begin with a zero or a minus
    begin, end = offsets[short], offsets[short + 1]
    zero = data[begin + (data[begin] == ord("-"))] == ord("0")
    return None if (zero & (end - begin > 1)).any() else numbers


def united(several: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The distinct numbers of several arrays, ascending (int64), and the ranks (int32) of the numbers of each."""
    ends = [end for array in several if len(array) for end in (int(array.min()), int(array.max()))]
    low, high = min(ends, default=0), max(ends, default=-1)
    if high - low > _SPREAD * sum(map(len, several)):
        places, distinct = ranked(numbers(np.concatenate([array.astype(np.int64, copy=False) for array in several])))
        return view(distinct, np.int64), np.split(places, np.cumsum(list(map(len, several)))[:-1])
    seen = np.zeros(high - low + 1, bool)
    for array in several:
        seen[np.subtract(array, low, dtype=np.int64)] = True
    rank = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(seen) + low, [rank.take(np.subtract(array, low, dtype=np.int64)) for array in several]


def drawn(texts: pa.StringArray) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the whole numbers among distinct texts in ascending order (in the order of their values), and the
    values, ascending."""
    from pyarrow.compute import MatchSubstringOptions

    # a whole number begins with a byte from `-` to `9`
    low, high = (bisect_left(range(len(texts)), mark, key=lambda place: texts[place].as_py()) for mark in "-:")
    among = texts.slice(low, high - low)
    alike = called("match_substring_regex", among, options=MatchSubstringOptions(f"^(?:{WHOLE.pattern})$"))
    places, held = np.flatnonzero(mask(alike)) + low, among.filter(alike)
    numbers = all_whole(held)
    if numbers is None:  # some have too many digits
        read = [whole(text) for text in cast("list[str]", held.to_pylist())]
        places = places[[number is not None for number in read]]
        numbers = np.array([number for number in read if number is not None], np.int64)
    order = np.argsort(numbers)
    return places.take(order), numbers.take(order).astype(np.int64)


_WHOLE_FLOAT = re.compile(r"(0|-?[1-9][0-9]*)\.0+")
_LOOKED_UP = 1000
"""Up to this many names are looked up one by one among others; more are ranked with these. Among a million, 1,000 take
36 ms, 52 ms together; 16,000 take 0.76 s and 0.45 s."""
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


def texts_of(column: Column, title: str) -> Texts:
    """The entities of a column; as `text_values`, in NFC."""
    return texts_together([(column, title)])[0]


def texts_together(columns: Sequence[tuple[Column, str]], known: Names | None = None) -> list[Texts]:
    """As `texts_of`, for several columns of one length, each with its title; all share their ``names``. One column that
    has the ``known`` names of another table, each once and in order, shares them."""
    if known is not None and len(columns) == 1 and not len(known.texts):
        whole = integers(columns[0][0])
        if whole is not None and whole.codes is None and np.array_equal(whole.values, known.numbers):
            return [Texts(known.ranks, known, {}, 1)]
    read = [_values_of(column, title) for column, title in columns]
    spelled = [texts for texts in read if isinstance(texts, TextValues)]
    distinct, fronts = united([whole.values for whole in read if isinstance(whole, WholeValues)])
    names, faults, rests = Names((), distinct), dict[int, str](), list[np.ndarray]()
    if spelled:
        names, faults, (front, *rests) = _named(spelled, names)
        fronts = [renumbered(ranks, front) for ranks in fronts]
    ranks = {WholeValues: iter(fronts), TextValues: iter(rests)}
    sharing = len(columns) if all(part.codes is None for part in read) else 0
    return [Texts(renumbered(part.codes, next(ranks[type(part)])), names, faults, sharing) for part in read]


def _values_of(column: Column, title: str) -> WholeValues | TextValues:
    column = whole_floats(in_bulk(column)) if len(column) else []
    if (whole := integers(column)) is not None:
        return whole
    texts = text_values(column, title)
    numbers = all_whole(texts.values) if is_many(len(texts.values)) and not texts.faults else None
    return texts if numbers is None else WholeValues(numbers, texts.codes)


def _named(several: Sequence[TextValues], wholes: Names) -> tuple[Names, dict[int, str], list[np.ndarray]]:
    """The names of some texts and of ``wholes``, the faults of texts, and the codes of the wholes and, one array
    after another, of the values."""
    parts = [texts.values for texts in several]
    if len(parts) > 1:
        parts = [part if pa.types.is_binary(part.type) else part.cast(pa.binary()) for part in parts]
    values = concatenated(parts)
    starts = np.cumsum([0, *(len(texts.values) for texts in several)])
    faults = {
        int(start) + place: fault
        for start, texts in zip(starts, several, strict=False)
        for place, fault in texts.faults.items()
    }
    ranks = None
    if is_many(len(values)) and not faults:
        ranks, values = ranked(values)
    texts = right(values)
    ordered = ranks is not None and texts is not None
    if texts is None:
        texts, wrong = composed(values)
        faults |= wrong
    names, place = distinct_names(texts, ordered=ordered)
    front = np.empty(0, np.int32)
    if len(wholes):
        names, (front, behind) = shared_names([wholes, names])
        place = renumbered(place, behind)
    reasons = dict(enumerate(dict.fromkeys(faults.values()), start=len(names)))
    code = {reason: number for number, reason in reasons.items()}  # faults with one reason, which quotes them, are one
    place[list(faults)] = [code[reason] for reason in faults.values()]
    return names, reasons, [front, *np.split(renumbered(ranks, place), starts[1:-1])]


def renumbered(codes: np.ndarray | None, place: np.ndarray) -> np.ndarray:
    """The new codes (int32) of old ones, by ``place``; -1 stays. None stands for the codes from 0 in order."""
    if codes is None:
        return place
    if np.array_equal(place, np.arange(len(place))):
        return codes
    return np.append(place, np.int32(-1)).take(codes)


def without_fractions(texts: Texts) -> Texts:
    """The texts with ``7.0`` read as ``7``, if each is a whole number in one of these spellings, as those of pandas are
    where a column has gaps; otherwise unchanged."""
    names, count = texts.names, len(texts.names.numbers)
    if not len(names.texts):
        return texts
    used = np.zeros(len(names) + len(texts.faults) + 1, bool)  # the last entry is for -1
    used[texts.codes] = True
    spelled = np.flatnonzero(used[count:-1]) + count
    if not len(spelled) or spelled[-1] >= len(names):
        return texts
    values = list[int]()
    for place in spelled.tolist():
        match = _WHOLE_FLOAT.fullmatch(names[place])
        if match is None or len(match[1]) > _EXACT_DIGITS:
            return texts
        values.append(int(match[1]))
    distinct, (ranks,) = united([np.append(names.numbers, np.array(values, np.int64))])
    place = np.full(len(names), -1, np.int32)
    place[:count], place[spelled] = ranks[:count], ranks[count:]
    return Texts(renumbered(texts.codes, place), Names((), distinct))


def reunited(several: Sequence[Texts]) -> list[Texts]:
    """The same texts, made to share their names."""
    if all(texts.names is several[0].names for texts in several):
        return list(several)
    names, places = shared_names([texts.names for texts in several])
    united = list[Texts]()
    for texts, place in zip(several, places, strict=True):
        faults = dict(enumerate(texts.faults.values(), start=len(names)))
        codes = renumbered(texts.codes, np.append(place, np.array(list(faults), np.int32)))
        united.append(Texts(codes, names, faults))
    return united


def outer_blanks(names: Names) -> np.ndarray:
    """The indices of names that begin or end with a space, tab or line break."""
    offsets, data = text_buffers(names.texts_in_arrow)
    if not (data <= ord(" ")).any():
        return np.empty(0, np.int64)
    filled = np.flatnonzero(np.diff(offsets) > 0)
    blank = np.zeros(256, bool)
    blank[[9, 10, 13, 32]] = True
    return filled[blank[data[offsets[filled]]] | blank[data[offsets[filled + 1] - 1]]] + len(names.numbers)


# --- one list of names for several ----------------------------------------------------------------------------------


def distinct_names(texts: pa.StringArray, *, ordered: bool = False) -> tuple[Names, np.ndarray]:
    """The names among texts in NFC, and the rank (int32) of each text among them, -1 for an empty one. ``ordered``
    texts are distinct and ascending."""
    if not is_many(len(texts)):
        held = cast("list[str]", texts.to_pylist())
        names = Names.of(text for text in held if text)
        place = {name: rank for rank, name in enumerate(names)}
        return names, np.array([place.get(text, -1) for text in held], np.int32)
    ranks, distinct = (None, texts) if ordered else ranked(texts)
    spelled, values = drawn(distinct)
    rest = np.ones(len(distinct), bool)
    rest[spelled] = False
    rest[:1] &= not len(distinct) or distinct[0].as_py() != ""
    places = np.full(len(distinct), -1, np.int32)
    places[spelled] = np.arange(len(values), dtype=np.int32)
    places[rest] = np.arange(len(values), len(values) + np.count_nonzero(rest), dtype=np.int32)
    names = Names(distinct if rest.all() else distinct.take(numbers(np.flatnonzero(rest))), values)
    return names, renumbered(ranks, places)


def shared_names(lists: Sequence[Names]) -> tuple[Names, list[np.ndarray]]:
    """The names of several lists, and for each list the ranks (int32) of its names among them."""
    if not is_many(sum(map(len, lists))) and any(len(held.texts) for held in lists):
        names = Names.of(set[str]().union(*(held.python for held in lists)))
        place = {name: rank for rank, name in enumerate(names)}
        return names, [np.fromiter(map(place.__getitem__, held.python), np.int32, len(held)) for held in lists]
    values, fronts = united([held.numbers for held in lists])
    spelled = [held.texts_in_arrow for held in lists]
    texts = max(spelled, key=len)
    rests = [ranks for some in spelled if (ranks := _ranks_in(texts, some)) is not None]
    if len(rests) < len(spelled):
        places, texts = ranked(concatenated(spelled))
        rests = np.split(places, np.cumsum(list(map(len, spelled)))[:-1])
    ranks = [np.append(front, rest + np.int32(len(values))) for front, rest in zip(fronts, rests, strict=True)]
    return Names(texts, values), ranks


def _ranks_in(largest: pa.StringArray, texts: pa.StringArray) -> np.ndarray | None:
    """The ranks of some texts in a list that has them all; None if it does not, or is not worth a look."""
    if texts is largest or texts.equals(largest):
        return np.arange(len(texts), dtype=np.int32)
    places = ranks_among(Names(largest), Names(texts)) if len(texts) <= _LOOKED_UP else np.array([-1])
    return None if (places < 0).any() else places


def ranks_among(names: Names, others: Names) -> np.ndarray:
    """The ranks (int32) of some other names among ``names``, -1 for one that is none of them."""
    if len(others) <= _LOOKED_UP:
        ranks = (names.find(text) for text in others)
        return np.array([-1 if rank is None else rank for rank in ranks], np.int32)
    every, (place, places) = shared_names([names, others])
    rank = np.full(len(every), -1, np.int32)
    rank[place] = names.ranks
    return rank.take(places)
