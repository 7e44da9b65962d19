"""Hot-deck imputation: missing cells are filled from several similar rows (Andridge and Little 2010).

Rows are compared by Gower's distance (1971): over the columns known in both, the mean of the difference divided by the
column's range, or of 0 or 1 for equal or different categories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.learn.induction.table_literals import TableColumn, missing

NEAREST = 100  # donors for each row
_BEYOND = 1.05  # weights reach 0 at this multiple of the farthest donor's distance
_DONORS = 2000
_CHUNK = 256  # rows compared at a time
_TAILS = (0.05, 0.95)  # quantiles that define a number's range


@dataclass(frozen=True, slots=True)
class Donors:
    """A sample of the training rows. ``ranges`` has the range of each number, and 1 for a category."""

    columns: tuple[TableColumn, ...]
    ranges: tuple[float, ...]

    @property
    def count(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def alike(self, columns: Sequence[TableColumn]) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) the donors nearest to each row, at most `NEAREST`, and their weights, which sum to 1: the tricube of
        the distance relative to the farthest (Cleveland 1979)."""
        coded = [_coded(own, other) for own, other in zip(self.columns, columns, strict=True)]
        rows, nearest = len(columns[0].values), min(NEAREST, self.count)
        found, shares = np.empty((rows, nearest), np.int64), np.empty((rows, nearest))
        for start in range(0, rows, _CHUNK):
            distance = self._distance([(own, other[start : start + _CHUNK]) for own, other in coded])
            part = np.argpartition(distance, nearest - 1, axis=1)[:, :nearest]
            found[start : start + _CHUNK] = part
            apart = np.take_along_axis(distance, part, axis=1).astype(np.float64)
            reach = _BEYOND * np.maximum(apart.max(axis=1, keepdims=True, initial=0.0), 1e-9)
            shares[start : start + _CHUNK] = (1 - (apart / reach) ** 3) ** 3
        return found, shares / shares.sum(axis=1, keepdims=True)

    def _distance(self, coded: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Gower's distance of each row to each donor, (rows, donors)."""
        total = np.zeros((len(coded[0][1]), self.count), np.float32)
        known = np.full_like(total, 1e-6)
        for column, width, (own, other) in zip(self.columns, self.ranges, coded, strict=True):
            if column.numeric:
                apart = np.minimum(np.abs(other[:, None] - own[None]) / np.float32(width), 1.0)
            else:
                apart = (other[:, None] != own[None]).astype(np.float32)
            both = ~np.isnan(other)[:, None] & ~np.isnan(own)[None]
            total += np.where(both, apart, 0.0)
            known += both
        return total / known

    def filled(self, columns: Sequence[TableColumn], chosen: np.ndarray) -> list[TableColumn]:
        """The rows with missing cells filled from donors (n,), one for each row; unknown where the donor's cell is
        missing too."""
        found: list[TableColumn] = []
        for own, other in zip(self.columns, columns, strict=True):
            unknown = missing(other)
            values = other.values.copy()
            values[unknown] = own.values[chosen[unknown]]
            found.append(other.of(values))
        return found


def donors(columns: Sequence[TableColumn], rng: np.random.Generator) -> Donors:
    """Donors for rows of such columns."""
    rows = len(columns[0].values) if columns else 0
    some = np.sort(rng.permutation(rows)[:_DONORS])
    kept = tuple(each.of(each.values[some]) for each in columns)
    return Donors(kept, tuple(_range(each) for each in kept))


def expected(
    truth: Callable[[Sequence[TableColumn]], np.ndarray], columns: Sequence[TableColumn], gaps: np.ndarray, own: Donors
) -> np.ndarray:
    """(n,) the truth of each row; for rows with ``gaps`` (n,) the mean over the donors that fill them."""
    found = truth(columns)
    rows = np.flatnonzero(gaps)
    if len(rows) and own.count:
        part = [each.of(each.values[rows]) for each in columns]
        nearest, shares = own.alike(part)
        found[rows] = 0.0
        for place in range(nearest.shape[1]):
            found[rows] += shares[:, place] * truth(own.filled(part, nearest[:, place]))
    return found


def _range(column: TableColumn) -> float:
    known = column.values[~np.isnan(column.values)] if column.numeric else np.zeros(0)
    if not len(known):
        return 1.0
    low, high = np.quantile(known, _TAILS)
    return float(high - low) or float(known.max() - known.min()) or 1.0


def _coded(own: TableColumn, other: TableColumn) -> tuple[np.ndarray, np.ndarray]:
    """The cells of donors and of rows as numbers, NaN where unknown. Categories become codes; all categories without a
    donor share one."""
    if own.numeric:
        return own.values.astype(np.float32), other.values.astype(np.float32)
    numbers = {text: place for place, text in enumerate(sorted({text for text in own.values if text is not None}))}
    return tuple(  # pyright: ignore[reportReturnType]  # of two
        np.array([np.nan if text is None else numbers.get(text, -1) for text in each.values.tolist()], np.float32)
        for each in (own, other)
    )
