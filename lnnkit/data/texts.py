"""Columns as entities: distinct NFC texts in sorted order and, for each row, which one stands there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from lnnkit.data.arrow import concatenated, int32s, strings, text_buffers
from lnnkit.data.clean import cleaned
from lnnkit.data.encode import SMALL, Piece, encoded
from lnnkit.data.names import Names
from lnnkit.data.ranked import ranked, taken

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from lnnkit.data.arrow import Column


@dataclass(frozen=True, slots=True)
class Texts:
    """``codes`` (int32) indexes ``values``, distinct and sorted texts; -1 where the cell is empty or null. ``faults``
    says by code why a value is no entity; its text is then meaningless, and it stands behind all others."""

    codes: np.ndarray
    values: pa.StringArray
    faults: dict[int, str] = field(default_factory=dict)

    def fault(self, row: int) -> str | None:
        """Why the row holds no entity, if so."""
        code = int(self.codes[row])
        return "is empty" if code < 0 else self.faults.get(code)

    def wrong(self) -> np.ndarray:
        """The rows that hold no entity."""
        import numpy as np

        mask = self.codes < 0
        return mask | np.isin(self.codes, list(self.faults)) if self.faults else mask

    def equal(self, text: str) -> np.ndarray:
        """The rows that hold ``text``; the empty text is that of empty and null cells."""
        import numpy as np

        if not text:
            return self.codes < 0
        if len(self.values) <= SMALL:
            found = [code for code, value in enumerate(self.values.to_pylist()) if value == text]
        else:  # not by Arrow's search, which would import pandas
            place = bisect_left(Names(self.values), text, hi=len(self.values) - len(self.faults))
            found = [place] if place < len(self.values) and self.values[place].as_py() == text else []
        found = [code for code in found if code not in self.faults]
        return self.codes == found[0] if found else np.zeros(len(self.codes), bool)


def texts_of(column: Column, title: str) -> Texts:
    """Texts as they are under NFC, integers and decimals without a fraction in decimal, booleans as ``true`` and
    ``false``, days as ``2024-01-15``. ``Unreadable`` for any other type: a float, a time or a decimal fraction has
    several spellings, so as an entity it would be several."""
    return texts_together([(column, title)])[0]


def texts_together(columns: Sequence[tuple[Column, str]]) -> list[Texts]:
    """As `texts_of`, for several columns of one length, each with its title; all share their ``values``."""
    pieces = [cleaned(piece) for piece in encoded(columns)]
    united = _united(pieces)
    if len(pieces) == len(columns):
        return united
    codes, size = united[0].codes, len(columns[0][0])  # all columns were encoded in one piece
    return [
        Texts(codes[place * size : (place + 1) * size], united[0].values, united[0].faults)
        for place in range(len(columns))
    ]


def reunited(several: Sequence[Texts]) -> list[Texts]:
    """The same texts with one array of values."""
    if all(texts.values is several[0].values for texts in several):
        return list(several)
    return _united([Piece(texts.codes, texts.values, texts.faults) for texts in several])


def _united(pieces: Sequence[Piece]) -> list[Texts]:
    """The pieces with one array of values: what is right, sorted, then what is faulty."""
    import numpy as np

    if len(pieces) == 1 and pieces[0].ordered:
        return [Texts(pieces[0].codes, pieces[0].values, pieces[0].faults)]
    places, values = _ranked([piece.values for piece in pieces])
    faults: dict[int, str] = {}
    if any(piece.faults for piece in pieces):
        places = [place.copy() for place in places]
        for piece, place in zip(pieces, places, strict=True):
            for code, fault in piece.faults.items():
                place[code] = len(values) + len(faults)
                faults[len(values) + len(faults)] = fault
        values = concatenated([values, strings([""] * len(faults))])
    return [
        Texts(np.append(place, np.int32(-1)).take(piece.codes), values, faults)
        for piece, place in zip(pieces, places, strict=True)
    ]


def _ranked(several: Sequence[pa.StringArray]) -> tuple[list[np.ndarray], pa.StringArray]:
    """For each array, the places of its texts among all distinct ones, and these, sorted."""
    import numpy as np

    sizes = [len(values) for values in several]
    if sum(sizes) > SMALL:
        codes, distinct = ranked(concatenated(several))
        return np.split(codes, np.cumsum(sizes)[:-1]), distinct
    held = [cast("list[str]", values.to_pylist()) for values in several]
    names = sorted(set[str]().union(*held))
    index = {name: place for place, name in enumerate(names)}
    return [np.fromiter(map(index.__getitem__, texts), np.int32, len(texts)) for texts in held], strings(names)


def outer_blanks(texts: Texts) -> np.ndarray:
    """The codes of values that begin or end in a space, tab or line break."""
    import numpy as np

    offsets, data = text_buffers(texts.values)
    if not (data <= ord(" ")).any():
        return np.empty(0, np.int64)
    filled = np.flatnonzero(np.diff(offsets) > 0)
    blank = np.zeros(256, bool)
    blank[[9, 10, 13, 32]] = True
    return filled[blank[data[offsets[filled]]] | blank[data[offsets[filled + 1] - 1]]]


def compacted(several: Sequence[Texts], keep: np.ndarray | None) -> tuple[pa.DictionaryArray, ...]:
    """The kept rows of columns that share their values, as dictionary-encoded arrays that share one dictionary: what
    they use, and nothing else."""
    import numpy as np
    import pyarrow as pa

    if not several:
        return ()
    columns = [texts.codes if keep is None else texts.codes[keep] for texts in several]
    values = several[0].values
    used = np.zeros(len(values), bool)
    for codes in columns:
        used[codes] = True
    if not used.all():
        place = np.cumsum(used, dtype=np.int32) - np.int32(1)
        columns = [place.take(codes) for codes in columns]
        chosen = np.flatnonzero(used)
        if len(values) <= SMALL:
            held = cast("list[str]", values.to_pylist())
            values = strings([held[code] for code in chosen.tolist()])
        else:
            values = taken(values, chosen)
    return tuple(pa.DictionaryArray.from_arrays(int32s(codes), values) for codes in columns)
