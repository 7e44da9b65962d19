"""Names of texts, and one list of names for several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import concatenated, numbers, ranked
from lnnkit.data.cells.whole import drawn, united
from lnnkit.data.names import Names, is_many

_LOOKED_UP = 1000
"""Up to this many texts are looked up one by one in a list that may have them all; more are ranked with it."""


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
    return names, places if ranks is None else places.take(ranks)


def shared_names(lists: Sequence[Names]) -> tuple[Names, list[np.ndarray]]:
    """The names of several lists, and for each list the ranks (int32) of its names among them."""
    if not is_many(sum(map(len, lists))) and any(len(held.texts) for held in lists):
        names = Names.of(set[str]().union(*(held.python for held in lists)))
        place = {name: rank for rank, name in enumerate(names)}
        return names, [np.fromiter(map(place.__getitem__, held.python), np.int32, len(held)) for held in lists]
    values, fronts = united([held.numbers for held in lists])
    texts, rests = _shared_texts([held.texts_in_arrow for held in lists])
    ranks = [np.append(front, rest + np.int32(len(values))) for front, rest in zip(fronts, rests, strict=True)]
    return Names(texts, values), ranks


def _shared_texts(lists: Sequence[pa.StringArray]) -> tuple[pa.StringArray, list[np.ndarray]]:
    """All texts of ascending lists, ascending, and for each list the ranks of its texts."""
    largest = max(lists, key=len)
    places = list[np.ndarray]()
    for texts in lists:
        if (place := _ranks_in(largest, texts)) is None:
            ranks, values = ranked(concatenated(lists))
            return values, np.split(ranks, np.cumsum(list(map(len, lists)))[:-1])
        places.append(place)
    return largest, places


def _ranks_in(largest: pa.StringArray, texts: pa.StringArray) -> np.ndarray | None:
    """The ranks of some texts in a list that has them all; None if it does not, or is not worth a look."""
    if texts is largest or texts.equals(largest):
        return np.arange(len(texts), dtype=np.int32)
    if len(texts) > _LOOKED_UP:
        return None
    known = Names(largest)
    places = [known.find(text) for text in cast("list[str]", texts.to_pylist())]
    return None if None in places else np.array(places, np.int32)
