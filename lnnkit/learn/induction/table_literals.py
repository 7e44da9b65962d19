"""Literals over the columns of a table, and their truth in each row: thresholds of numbers, crisp or soft, and values
of categories. A soft threshold is true to a degree, the sigmoid of the margin over its scale, as in ``(age(X) >=
40){scale: 12}``: for a gradual effect, instead of a staircase of crisp ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf

import numpy as np
from sklearn.tree import DecisionTreeClassifier

UNIT = 255  # truth 1 where truths are whole numbers

_THRESHOLDS = 16  # literals of one column at most
_VALUES = 50  # literals of one category at most
_LEAVES = 32  # of the tree that proposes thresholds
_COMPARED = 4000  # rows on which columns are compared with each other
_APART = 0.02  # share of rows on either side of such a comparison
_EARNED = 4.0  # times the decrease in impurity that chance gives it
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


@dataclass(frozen=True, slots=True)
class LabelledTable:
    """The ``columns`` of n rows, which of these are ``positive`` (n,), and what each counts: ``weight`` (n,)."""

    columns: Sequence[TableColumn]
    positive: np.ndarray
    weight: np.ndarray

    def at(self, rows: np.ndarray) -> LabelledTable:
        kept = [column.of(column.values[rows]) for column in self.columns]
        return LabelledTable(kept, self.positive[rows], self.weight[rows])

    def sample(self, most: int) -> LabelledTable:
        """Evenly spread rows, at most this many."""
        step = -(-len(self.positive) // most)
        return self if step == 1 else self.at(np.arange(0, len(self.positive), step))

    @property
    def signed(self) -> np.ndarray:
        """(n,) the weight of positive rows, less that of the others."""
        return np.where(self.positive, self.weight, -self.weight)

    def right(self, true: np.ndarray) -> float:
        """The weight of the rows that are ``true`` (n,) and positive, or neither."""
        return float(self.weight @ (true == self.positive))


def missing(column: TableColumn) -> np.ndarray:
    """(n,) a mask of missing cells."""
    return np.isnan(column.values) if column.numeric else np.asarray(column.values == None, bool)  # noqa: E711  # each


@dataclass(frozen=True, slots=True)
class TableLiteral:
    """``column >= threshold``, soft if it has a ``scale``, ``column = value``, or ``column >= other``, another column.
    ``share`` is its mean truth over the rows where it is known."""

    column: int
    threshold: float | None
    value: str | None
    share: float
    scale: float | None = None
    other: int | None = None

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column,) if self.other is None else (self.column, self.other)

    def holds(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) its truth, or the share where it is unknown."""
        values = columns[self.column].values
        if self.other is not None:
            truth = _reached(values, columns[self.other].values, None)
        elif self.threshold is None:
            truth = (values == self.value).astype(np.float64)
        else:
            truth = _reached(values, self.threshold, self.scale)
        truth[self.unknown(columns)] = self.share
        return truth

    def unknown(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) a mask of the rows where a cell that it reads is missing."""
        return np.logical_or.reduce([missing(columns[place]) for place in self.columns])


Conjunction = tuple[tuple[TableLiteral, bool], ...]  # literals and their signs


def certain(literal: TableLiteral, wanted: bool, columns: Sequence[TableColumn]) -> np.ndarray:
    """(n,) where a crisp literal is known to hold, or, if not ``wanted``, to fail."""
    return ((literal.holds(columns) >= 0.5) == wanted) & ~literal.unknown(columns)


def _reached(values: np.ndarray, threshold: np.ndarray | float, scale: float | None) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        if scale is None:
            return (values >= threshold).astype(np.float64)
        return 1 / (1 + np.exp(-np.clip((values - threshold) / scale, -700, 700)))


def literals(table: LabelledTable) -> list[TableLiteral]:
    """The informative crisp literals: thresholds at quantiles, values of categories, comparisons of two columns."""
    crisp: list[TableLiteral] = []
    for place, column in enumerate(table.columns):
        known = column.values[~missing(column)]
        if column.numeric:
            for threshold in _thresholds(known):
                crisp.append(TableLiteral(place, threshold, None, float((known >= threshold).mean())))
        else:
            values, counts = np.unique(known.astype(str), return_counts=True) if len(known) else ([], [])
            if len(values) == 2:  # the other value is its negation
                values, counts = values[:1], counts[:1]
            often = np.sort(np.argsort(-np.asarray(counts), kind="stable")[:_VALUES])
            for value, count in ((values[at], counts[at]) for at in often.tolist()):
                if _LEAST <= count <= len(known) - _LEAST:
                    crisp.append(TableLiteral(place, None, str(value), float(count / len(known))))
    return [*crisp, *compared_columns(table)]


def split_literals(table: LabelledTable) -> list[TableLiteral]:
    """Thresholds where a decision tree splits the numbers, to the row."""
    columns = table.columns
    graded = [place for place, column in enumerate(columns) if column.numeric]
    if not graded:
        return []
    ranks = np.full((len(table.positive), len(graded)), np.nan, np.float32)  # a tree has single precision
    values: list[np.ndarray] = []
    for at, place in enumerate(graded):
        known = ~missing(columns[place])
        distinct, ranks[known, at] = np.unique(columns[place].values[known], return_inverse=True)
        values.append(distinct)
    tree = DecisionTreeClassifier(max_leaf_nodes=_LEAVES, random_state=0).fit(ranks, table.positive, table.weight).tree_
    inner = (tree.children_left >= 0) & np.isfinite(tree.threshold)
    cuts = {(int(at), math.ceil(cut)) for at, cut in zip(tree.feature[inner], tree.threshold[inner], strict=True)}
    splits: list[TableLiteral] = []
    for at, cut in sorted(cuts):
        if 0 < cut < len(values[at]):
            share = float(np.mean(ranks[~np.isnan(ranks[:, at]), at] >= cut))
            splits.append(TableLiteral(graded[at], short_cut(values[at], cut), None, share))
    return splits


def compared_columns(table: LabelledTable) -> list[TableLiteral]:
    """Comparisons of two columns of one kind that tell the classes apart better than a tree of depth 2 over both."""
    comparisons: list[TableLiteral] = []
    graded = [place for place, column in enumerate(table.columns) if column.numeric and column.kind != "truth"]
    some = np.arange(len(table.positive))[:: max(1, len(table.positive) // _COMPARED)]
    table = table.at(some[: 4 * _COMPARED])
    for at, one in enumerate(graded):
        for two in graded[at + 1 :]:
            if table.columns[one].kind != table.columns[two].kind:
                continue
            pair = np.stack([table.columns[one].values, table.columns[two].values], axis=1)
            known = ~np.isnan(pair).any(axis=1)
            pair, answers = pair[known], (table.positive[known], table.weight[known])
            more = pair[:, 0] >= pair[:, 1]
            if len(pair) < 4 * _LEAST or not _APART <= more.mean() <= 1 - _APART:
                continue
            gain = _explained(more[:, None], *answers)
            ranks = np.unique(pair, return_inverse=True)[1].reshape(pair.shape)  # a tree has single precision
            # the first condition is for what chance gives
            if gain >= _EARNED / len(pair) and gain > _explained(ranks, *answers) + 1e-9:
                comparisons.append(TableLiteral(one, None, None, float(more.mean()), other=two))
    return comparisons


def _explained(values: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> float:
    """The decrease in Gini impurity by a tree of depth 2 over values (n, m)."""
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(values, positive, weight).tree_
    shares = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    return float(tree.impurity[0] - (shares * tree.impurity)[tree.children_left < 0].sum())


def soft_literals(columns: Sequence[TableColumn]) -> list[TableLiteral]:
    """Soft thresholds of numbers with many values: one as wide as the range, steeper ones at quantiles."""
    soft: list[TableLiteral] = []
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
            for centre in sorted({round(float(quantile), digits) for quantile in np.quantile(known, quantiles)}):
                soft.append(TableLiteral(place, centre, None, float(_reached(every, centre, scale).mean()), scale))
    return soft


def _varied(known: np.ndarray) -> np.ndarray:
    """The values without the most frequent one, if that would take most of the quantiles."""
    values, counts = np.unique(known, return_counts=True)
    return known[known != values[counts.argmax()]] if 2 * counts.max() > len(known) else known


def _thresholds(known: np.ndarray) -> list[float]:
    values = np.unique(known)
    if len(values) < 2:
        return []
    cuts = np.arange(1, len(values))  # each below the value of this number
    if len(cuts) > _THRESHOLDS:
        ordered = np.sort(known)
        wanted = ordered[(np.arange(1, _THRESHOLDS + 1) * len(ordered)) // (_THRESHOLDS + 1)]
        cuts = np.unique(np.clip(np.searchsorted(values, wanted), 1, len(values) - 1))
    return [short_cut(values, int(place)) for place in cuts]


def short_cut(values: np.ndarray, place: int) -> float:
    """A threshold between the ordered ``values`` at ``place - 1`` and ``place``, with as few digits as possible."""
    low, high = float(values[place - 1]), float(values[place])
    cut = low / 2 + high / 2
    for digits in range(-6, 16):
        for shorter in (round(cut, digits), round(cut + 0.5 * 10.0**-digits, digits)):
            if low < shorter <= high:
                return float(shorter)
    return cut if low < cut else high


def truths(literals: Sequence[TableLiteral], columns: Sequence[TableColumn]) -> np.ndarray:
    """(n, m) the truth of literals in each row, in units of 1 / ``UNIT``: an eighth of the memory."""
    truth = np.empty((len(columns[0].values) if columns else 0, len(literals)), np.uint8)
    for place, literal in enumerate(literals):
        truth[:, place] = np.round(literal.holds(columns) * UNIT)
    return truth


def holds(conjunction: Conjunction, columns: Sequence[TableColumn]) -> np.ndarray:
    """(n,) the truth of a conjunction in each row: the product of that of its literals."""
    truth = np.ones(len(columns[0].values) if columns else 0)
    for literal, wanted in conjunction:
        truth *= literal.holds(columns) if wanted else 1 - literal.holds(columns)
    return truth
