"""Piecewise shifts: maps between numberings in which consecutive numbers mostly stay consecutive."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from lnnkit.store.columns.row_arrays import Array, Growing


class Runs:
    """Maps the numbers from 0 on by pieces: within each, the image is the number plus a shift. Each piece has a
    ``label``."""

    __slots__ = ("_begins", "_labels", "_length", "_pieces", "_shifts", "_starts")

    def __init__(self) -> None:
        self._starts = Growing(np.int32)
        self._shifts = Growing(np.int32)
        self._labels = Growing(np.int32)
        self._begins: list[int] = []
        self._pieces: list[tuple[int, int]] = []  # the shift and the label of each piece
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, count: int, image: int, label: int = 0) -> None:
        """Map the next ``count`` numbers to ``image``, ``image + 1``, ..."""
        pieces, piece = self._pieces, (image - self._length, label)
        if count and (not pieces or piece != pieces[-1]):
            self._begins.append(self._length)
            pieces.append(piece)
            self._starts.extend(1, self._length)
            self._shifts.extend(1, piece[0])
            self._labels.extend(1, label)
        self._length += count

    def at(self, number: int) -> tuple[int, int]:
        """The image of one number, and its label."""
        shift, label = self._pieces[bisect_right(self._begins, number) - 1]
        return number + shift, label

    def alike(self, start: int, stop: int) -> tuple[int, int] | None:
        """The image and the label of ``start``, if the numbers up to ``stop`` have consecutive images and the same
        label."""
        place = bisect_right(self._begins, start)
        if place < len(self._begins) and self._begins[place] < stop:
            return None
        shift, label = self._pieces[place - 1]
        return start + shift, label

    def pieces(self, start: int) -> list[tuple[int, int, int, int]]:
        """The pieces of the numbers from ``start`` on: the first number of each, the one after the last, the image of
        the first, and the label."""
        if start >= self._length:
            return []
        place = bisect_right(self._begins, start) - 1
        begins = [start, *self._begins[place + 1 :], self._length]
        return [
            (begin, stop, begin + shift, label)
            for begin, stop, (shift, label) in zip(begins, begins[1:], self._pieces[place:], strict=False)
        ]

    @property
    def shift(self) -> int | None:
        """The shift, if all numbers have the same."""
        return self._pieces[0][0] if len(self._pieces) == 1 else None

    def image(self, numbers: Array) -> Array:
        """(n,) int32, the images of numbers."""
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
        """(n,) int32, the labels of numbers; a single entry if all have the same label. ``numbers`` is not empty."""
        piece = self._piece(numbers)
        assert piece is not None
        return self._pieces[piece][1] if isinstance(piece, int) else self._labels.values.take(piece)

    @property
    def run(self) -> range | None:
        """The images of all numbers as a range, if they are consecutive."""
        if len(self._pieces) > 1:
            return None
        start = self._pieces[0][0] if self._pieces else 0
        return range(start, start + self._length)

    def images(self) -> Array:
        """(length,) int32, the images of all numbers."""
        ends = np.array([*self._begins[1:], self._length] if self._begins else [], dtype=np.int32)
        counts = ends - self._starts.values
        shifts = self._shifts.values.repeat(counts)
        shifts += np.arange(self._length, dtype=np.int32)
        return shifts

    def _piece(self, numbers: Array) -> int | Array | None:
        """The piece of each number, or the single piece that contains all of them."""
        if not numbers.size:
            return None
        if len(self._begins) == 1:
            return 0
        one = bisect_right(self._begins, int(numbers.min())) - 1
        if one == bisect_right(self._begins, int(numbers.max())) - 1:
            return one
        return self._starts.values.searchsorted(numbers.astype(np.int32, copy=False), side="right") - 1
