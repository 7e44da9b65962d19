"""Literals over the columns of a table, and their truth in each row: thresholds of numbers, crisp or soft, and
values of categories.

A soft threshold is true to a degree, the sigmoid of the margin over its scale, as in ``(age(X) >= 40){scale: 12}``.
A number with a gradual effect takes one of these instead of a staircase of crisp ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf

import numpy as np

Conjunction = tuple[tuple[int, bool], ...]  # pairs of a literal's index and its sign

_THRESHOLDS = 16  # literals of one column at most
_VALUES = 50  # literals of one category at most
_LEAST = 2  # rows for which a literal must be true, and for which it must be false
_GRADED = 5  # distinct values from which a number has soft thresholds
_TAILS = (0.05, 0.95)  # quantiles that define a number's range
_CENTRES = (0.1, 0.3, 0.5, 0.7, 0.9)  # quantiles at which thresholds are placed
_SCALES = (3, 12)  # widths, as shares of the range


@dataclass(frozen=True, slots=True)
class TableColumn:
    """``values``: float64 with nan where unknown, or, for a category, texts with None where unknown. ``kind`` is the
    kind of the numbers: truth values 0 and 1, or dates and durations in days, dates since 1970-01-01."""

    name: str
    values: np.ndarray
    kind: OneOf["number", "truth", "date", "duration"] = "number"

    def of(self, values: np.ndarray) -> TableColumn:
        """The same column with other values."""
        return replace(self, values=values)

    @property
    def numeric(self) -> bool:
        return self.values.dtype.kind == "f"


def known_texts(values: np.ndarray) -> np.ndarray:
    """(n,) a mask of the texts that are not None."""
    return np.array([value is not None for value in values.tolist()], dtype=bool)


@dataclass(frozen=True, slots=True)
class Literal:
    """``column >= threshold``, soft if it has a ``scale``, or ``column = value``. ``share`` is its mean truth over the
    rows where it is known."""

    column: int
    threshold: float | None
    value: str | None
    share: float
    scale: float | None = None

    def holds(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) its truth, or the share where it is unknown."""
        values = columns[self.column].values
        if self.threshold is None:
            found = (values == self.value).astype(np.float64)
            unknown = ~known_texts(values)
        else:
            found = _reached(values, self.threshold, self.scale)
            unknown = np.isnan(values)
        found[unknown] = self.share
        return found


def _reached(values: np.ndarray, threshold: float, scale: float | None) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        if scale is None:
            return (values >= threshold).astype(np.float64)
        return 1 / (1 + np.exp(-np.clip((values - threshold) / scale, -700, 700)))


def literals(columns: Sequence[TableColumn]) -> list[Literal]:
    """All informative crisp literals: thresholds at each column's quantiles, halfway between neighbouring values, and
    values of categories."""
    found: list[Literal] = []
    for place, column in enumerate(columns):
        if column.numeric:
            known = column.values[~np.isnan(column.values)]
            for threshold in _thresholds(known):
                found.append(Literal(place, threshold, None, float((known >= threshold).mean())))
        else:
            known = column.values[known_texts(column.values)]
            values, counts = np.unique(known.astype(str), return_counts=True) if len(known) else ([], [])
            if len(values) == 2:  # the other value is its negation
                values, counts = values[:1], counts[:1]
            often = np.sort(np.argsort(-np.asarray(counts), kind="stable")[:_VALUES])
            for value, count in ((values[at], counts[at]) for at in often.tolist()):
                if _LEAST <= count <= len(known) - _LEAST:
                    found.append(Literal(place, None, str(value), float(count / len(known))))
    return found


def soft_literals(columns: Sequence[TableColumn]) -> list[Literal]:
    """Soft thresholds for the numbers with many values: one at the median with the scale of the whole range, which is
    almost linear there, and steeper ones at quantiles."""
    found: list[Literal] = []
    for place, column in enumerate(columns):
        every = column.values[np.isfinite(column.values)] if column.numeric else np.zeros(0)
        if len(np.unique(every)) < _GRADED:
            continue
        known = _varied(every)
        low, high = np.quantile(known, _TAILS)
        for parts, quantiles in ((1, (0.5,)), *((parts, _CENTRES) for parts in _SCALES)):
            scale = float(f"{(high - low) / parts:.2g}")
            if not 0 < scale < math.inf:
                continue
            digits = -math.floor(math.log10(scale / 2)) + (parts == 1)
            for centre in sorted({round(float(each), digits) for each in np.quantile(known, quantiles)}):
                found.append(Literal(place, centre, None, float(_reached(every, centre, scale).mean()), scale))
    return found


def _varied(known: np.ndarray) -> np.ndarray:
    """The values without the most frequent one, if that would take most of the quantiles."""
    values, counts = np.unique(known, return_counts=True)
    return known[known != values[counts.argmax()]] if 2 * counts.max() > len(known) else known


def _thresholds(known: np.ndarray) -> list[float]:
    values = np.unique(known)
    if len(values) < 2:
        return []
    cuts = (values[1:] + values[:-1]) / 2
    if len(cuts) > _THRESHOLDS:
        ordered = np.sort(known)
        wanted = ordered[(np.arange(1, _THRESHOLDS + 1) * len(ordered)) // (_THRESHOLDS + 1)]
        cuts = cuts[np.unique(np.clip(np.searchsorted(values, wanted) - 1, 0, len(cuts) - 1))]
    return [_short(float(cut), values) for cut in cuts]


def _short(cut: float, values: np.ndarray) -> float:
    """A threshold between the same neighbouring values, with as few digits as possible."""
    place = int(np.searchsorted(values, cut))
    low, high = float(values[place - 1]), float(values[place])
    for digits in range(-6, 16):
        shorter = round(cut, digits)
        if low < shorter <= high:
            return float(shorter)
    return cut


def truths(
    found: Sequence[Literal], columns: Sequence[TableColumn], dtype: type[np.floating] = np.float32
) -> np.ndarray:
    """(n, m) the truth of literals in each row, in single precision by default."""
    rows = len(columns[0].values) if columns else 0
    result = np.empty((rows, len(found)), dtype)
    for place, literal in enumerate(found):
        result[:, place] = literal.holds(columns)
    return result


def holds(conjunction: Conjunction, known: np.ndarray) -> np.ndarray:
    """(n,) the truth of a conjunction, from that of the literals (n, m)."""
    result = np.ones(len(known), known.dtype)
    for number, wanted in conjunction:
        result = result * (known[:, number] if wanted else 1 - known[:, number])
    return result
