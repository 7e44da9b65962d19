"""Numberings that keep to each other for long: from each start on, a number's image is the number plus a shift."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from lnnkit.store.columns.arrays import Array
from lnnkit.store.columns.growing import Growing


class Runs:
    """Maps the numbers from 0 on, piece by piece; each piece bears a ``label``."""

    __slots__ = ("_begins", "_labels", "_length", "_pieces", "_shifts", "_starts")

    def __init__(self) -> None:
        self._starts = Growing(np.int32)
        self._shifts = Growing(np.int32)
        self._labels = Growing(np.int32)
        self._begins: list[int] = []
        self._pieces: list[tuple[int, int]] = []  # the shift and the label
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, count: int, image: int, label: int = 0) -> None:
        """The next ``count`` numbers map to ``image`` and what follows it."""
        pieces, piece = self._pieces, (image - self._length, label)
        if count and (not pieces or piece != pieces[-1]):
            self._begins.append(self._length)
            pieces.append(piece)
            self._starts.extend(1, self._length)
            self._shifts.extend(1, piece[0])
            self._labels.extend(1, label)
        self._length += count

    def at(self, number: int) -> tuple[int, int]:
        """What one number maps to, and its label."""
        shift, label = self._pieces[bisect_right(self._begins, number) - 1]
        return number + shift, label

    def alike(self, start: int, stop: int) -> tuple[int, int] | None:
        """What the first of some numbers that follow one another maps to, and its label, if the others follow it and
        have the same."""
        place = bisect_right(self._begins, start)
        if place < len(self._begins) and self._begins[place] < stop:
            return None
        shift, label = self._pieces[place - 1]
        return start + shift, label

    @property
    def shift(self) -> int | None:
        """What is added to every number, if it is the same to all."""
        return self._pieces[0][0] if len(self._pieces) == 1 else None

    def image(self, numbers: Array) -> Array:
        """(n,) int32, what numbers map to."""
        if len(self._pieces) == 1:
            return np.add(numbers, self._pieces[0][0], dtype=np.int32, casting="same_kind")
        piece = self._piece(numbers)
        if piece is None:
            return numbers.astype(np.int32, copy=False)
        if isinstance(piece, int):
            shift, _ = self._pieces[piece]
            return numbers.astype(np.int32, copy=False) + np.int32(shift)
        return numbers.astype(np.int32, copy=False) + self._shifts.values.take(piece)

    def labels(self, numbers: Array) -> int | Array:
        """(n,) int32, the labels of numbers; one where all have the same. There is one number at least."""
        piece = self._piece(numbers)
        assert piece is not None
        return self._pieces[piece][1] if isinstance(piece, int) else self._labels.values.take(piece)

    @property
    def run(self) -> range | None:
        """What all numbers map to, if it follows one another."""
        if len(self._pieces) > 1:
            return None
        start = self._pieces[0][0] if self._pieces else 0
        return range(start, start + self._length)

    def images(self) -> Array:
        """(length,) int32, what all numbers map to."""
        ends = np.array([*self._begins[1:], self._length] if self._begins else [], dtype=np.int32)
        counts = ends - self._starts.values
        shifts = self._shifts.values.repeat(counts)
        shifts += np.arange(self._length, dtype=np.int32)
        return shifts

    def _piece(self, numbers: Array) -> int | Array | None:
        """The piece of each number, or the one that all lie in."""
        if not numbers.size:
            return None
        if len(self._begins) == 1:
            return 0
        one = bisect_right(self._begins, int(numbers.min())) - 1
        if one == bisect_right(self._begins, int(numbers.max())) - 1:
            return one
        return self._starts.values.searchsorted(numbers.astype(np.int32, copy=False), side="right") - 1
