"""Literals over the columns of a table: thresholds of numbers, values of categories; what each row says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_THRESHOLDS = 16  # of one column at most
_LEAST = 2  # rows for which a literal holds, and for which it does not


@dataclass(frozen=True, slots=True)
class TableColumn:
    """``values``: float64 with nan where unknown, or, for a category, texts with None where unknown."""

    name: str
    values: np.ndarray

    @property
    def numeric(self) -> bool:
        return self.values.dtype.kind == "f"


def known_texts(values: np.ndarray) -> np.ndarray:
    """(n,) which texts of a category are not None."""
    return np.array([value is not None for value in values.tolist()], dtype=bool)


@dataclass(frozen=True, slots=True)
class Literal:
    """``column >= threshold``, or ``column = value``; ``share`` is the share of the rows known for which it holds."""

    column: int
    threshold: float | None
    value: str | None
    share: float

    def holds(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) 1, 0, or the share where it is unknown."""
        values = columns[self.column].values
        if self.threshold is not None:
            with np.errstate(invalid="ignore"):
                found = (values >= self.threshold).astype(np.float64)
            unknown = np.isnan(values)
        else:
            found = (values == self.value).astype(np.float64)
            unknown = ~known_texts(values)
        found[unknown] = self.share
        return found


def literals(columns: Sequence[TableColumn]) -> list[Literal]:
    """All that tell rows apart: each column's quantiles, halfway between neighbouring values, and its categories."""
    found: list[Literal] = []
    for place, column in enumerate(columns):
        if column.numeric:
            known = column.values[~np.isnan(column.values)]
            for threshold in _thresholds(known):
                found.append(Literal(place, threshold, None, float((known >= threshold).mean())))
        else:
            known = column.values[known_texts(column.values)]
            values, counts = np.unique(known.astype(str), return_counts=True) if len(known) else ([], [])
            if len(values) == 2:  # the other is its negation
                values, counts = values[:1], counts[:1]
            for value, count in zip(values, counts, strict=True):
                if _LEAST <= count <= len(known) - _LEAST:
                    found.append(Literal(place, None, str(value), float(count / len(known))))
    return found


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
    """A threshold between the same values with as few digits as do."""
    place = int(np.searchsorted(values, cut))
    low, high = float(values[place - 1]), float(values[place])
    for digits in range(-6, 16):
        shorter = round(cut, digits)
        if low < shorter <= high:
            return float(shorter)
    return cut


def truths(found: Sequence[Literal], columns: Sequence[TableColumn]) -> np.ndarray:
    """(n, m) what the rows say of literals, in single precision."""
    rows = len(columns[0].values) if columns else 0
    result = np.empty((rows, len(found)), np.float32)
    for place, literal in enumerate(found):
        result[:, place] = literal.holds(columns)
    return result
