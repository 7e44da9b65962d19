"""Tables of any kind as columns of numbers and categories, and literals over them with their truth in each row.

Literals are thresholds of numbers, crisp or soft, and values of categories. A soft threshold is true to a degree, the
sigmoid of the margin over its scale, as in ``(age(X) >= 40){scale: 12}``: for a gradual effect, instead of a staircase
of crisp ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, timedelta
from itertools import combinations
from typing import Any
from typing import Literal as OneOf

import numpy as np
import pyarrow as pa
from sklearn.tree import DecisionTreeClassifier

_MICROSECONDS = 86_400_000_000  # microseconds of a day
_KINDS: dict[OneOf["truth", "number", "date", "duration"], tuple[type, ...]] = {
    "truth": (bool, np.bool_),
    "number": (int, float, np.number),
    "date": (date, np.datetime64),
    "duration": (timedelta, np.timedelta64),
}
"""The types of the cells of a column of objects, by the kind of their numbers; those of a category are any others."""


def columns_of(table: Any) -> list[TableColumn]:
    """The columns of a data frame or an Arrow table, by name, or of a two-dimensional array (``x0``, ``x1``, ...).
    Dates and durations are converted to days. A column that holds neither numbers nor truth values is a category, by
    its text."""
    if hasattr(table, "__arrow_c_stream__") and not hasattr(table, "iloc"):  # Arrow, polars, DuckDB
        arrow = pa.table(table)
        return [_column(name, _cells(cells)) for name, cells in zip(arrow.column_names, arrow.columns, strict=True)]
    if hasattr(table, "columns"):
        return [_column(str(name), table[name]) for name in table.columns]
    array = np.asarray(table)
    return [_column(f"x{place}", array[:, place]) for place in range(array.shape[1])]


def _cells(column: pa.ChunkedArray) -> np.ndarray:
    kind = column.type
    if pa.types.is_dictionary(kind):  # to_numpy loses gaps, and not all kinds can be cast or decoded
        return np.array(column.to_pylist(), object)
    return (column.cast(pa.float64()) if pa.types.is_decimal(kind) else column).to_numpy()


def _column(name: str, values: Any) -> TableColumn:
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind in "bfiu":
        return TableColumn(name, np.asarray(values, dtype=np.float64), "truth" if kind == "b" else "number")
    if kind in "mM":
        return _days(name, values, "date" if kind == "M" else "duration")
    cells = [None if value is None or value != value or str(value) == "<NA>" else value for value in values]
    known = [value for value in cells if value is not None]
    kinds = (kind for kind, types in _KINDS.items() if known and all(isinstance(value, types) for value in known))
    kind = next(kinds, None)
    if kind in ("truth", "number"):
        return TableColumn(name, np.array([np.nan if value is None else float(value) for value in cells]), kind)
    if kind == "date" or kind == "duration":
        return _days(name, cells, kind)
    return TableColumn(name, np.array([None if value is None else str(value) for value in cells], object))


def _days(name: str, values: Any, kind: OneOf["date", "duration"]) -> TableColumn:
    """Dates as days since 1970-01-01, durations as days; those with a time zone by universal time."""
    if kind == "date" and getattr(getattr(values, "dt", None), "tz", None) is not None:
        values = values.dt.tz_convert(None)
    if isinstance(values, list):
        zoned = [getattr(value, "tzinfo", None) is not None for value in values]
        pairs = zip(values, zoned, strict=True)
        values = [value.astimezone(UTC).replace(tzinfo=None) if at else value for value, at in pairs]
    times = np.asarray(values).astype("datetime64[us]" if kind == "date" else "timedelta64[us]")
    numbers = times.astype(np.int64) / _MICROSECONDS
    numbers[np.isnat(times)] = np.nan
    return TableColumn(name, numbers, kind)


def in_order(
    columns: Sequence[TableColumn], codes: np.ndarray, weight: np.ndarray
) -> tuple[list[TableColumn], np.ndarray, np.ndarray]:
    """The rows in a canonical order that does not depend on their source; rows of integral weight are repeated, other
    weights scaled to a mean of 1, rows of weight 0 dropped."""
    keys = [codes]
    for column in columns:
        texts = [] if column.numeric else ["" if value is None else f"={value}" for value in column.values.tolist()]
        keys.append(column.values if column.numeric else np.array(texts))
    order = np.lexsort(keys)
    order = order[weight[order] > 0]
    if (weight % 1).any():
        shares = weight[order] / weight[order].mean()
    else:
        order = np.repeat(order, weight[order].astype(int))
        shares = np.ones(len(order))
    return [column.of(column.values[order]) for column in columns], codes[order], shares


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

    @property
    def missing(self) -> np.ndarray:
        """(n,) a mask of missing cells."""
        return np.isnan(self.values) if self.numeric else np.asarray(self.values == None, bool)  # noqa: E711  # each

    def without_rows(self) -> TableColumn:
        """The column without its rows; a category keeps its values."""
        texts = [] if self.numeric else sorted({text for text in self.values.tolist() if text is not None})
        return self.of(np.zeros(0) if self.numeric else np.array(texts, object))

    def as_fitted(self, fitted: TableColumn) -> TableColumn:
        """The column, for prediction, converted to the kind of ``fitted`` in training. Raises ``ValueError`` if it
        cannot."""
        gaps = self.missing
        if (self.numeric, self.kind) == (fitted.numeric, fitted.kind):
            return self
        if gaps.all():
            return fitted.of(np.full(len(gaps), np.nan) if fitted.numeric else np.full(len(gaps), None, object))
        kinds = (self.kind, fitted.kind) if self.numeric and fitted.numeric else None
        truths = kinds == ("number", "truth") and set(np.unique(self.values[~gaps])) <= {0.0, 1.0}
        if truths or kinds == ("truth", "number"):
            return fitted.of(self.values)
        if not fitted.numeric and self.kind == "number":
            known = zip(self.values.tolist(), gaps, strict=True)
            texts = [None if gap else str(int(value) if value.is_integer() else value) for value, gap in known]
            return fitted.of(np.array(texts, object))
        words = {"number": "numbers", "truth": "truth values", "date": "dates", "duration": "durations"}
        before, now = (words[of.kind] if of.numeric else "texts" for of in (fitted, self))
        raise ValueError(f"column {self.name!r} held {before} in fit, and holds {now} here")


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
        return np.logical_or.reduce([columns[place].missing for place in self.columns])

    def certain(self, wanted: bool, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) where the crisp literal is known to hold, or, if not ``wanted``, to fail."""
        return ((self.holds(columns) >= 0.5) == wanted) & ~self.unknown(columns)


Conjunction = tuple[tuple[TableLiteral, bool], ...]  # literals and their signs


def _reached(values: np.ndarray, threshold: np.ndarray | float, scale: float | None) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        if scale is None:
            return (values >= threshold).astype(np.float64)
        return 1 / (1 + np.exp(-np.clip((values - threshold) / scale, -700, 700)))


def literals(table: LabelledTable) -> list[TableLiteral]:
    """The informative crisp literals: thresholds at quantiles, values of categories, comparisons of two columns."""
    crisp: list[TableLiteral] = []
    for place, column in enumerate(table.columns):
        known = column.values[~column.missing]
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
    graded = [place for place, column in enumerate(table.columns) if column.numeric]
    if not graded:
        return []
    ranks = np.full((len(table.positive), len(graded)), np.nan, np.float32)  # a tree has single precision
    values: list[np.ndarray] = []
    for at, column in enumerate(table.columns[place] for place in graded):
        known = ~column.missing
        distinct, ranks[known, at] = np.unique(column.values[known], return_inverse=True)
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
    for one, two in combinations(graded, 2):
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
        values, counts = np.unique(every, return_counts=True)
        if len(values) < _GRADED:
            continue
        # Without the most frequent value, if that would take most of the quantiles
        known = every[every != values[counts.argmax()]] if 2 * counts.max() > len(every) else every
        low, high = np.quantile(known, _TAILS)
        for parts, quantiles in ((1, (0.5,)), *((parts, _CENTRES) for parts in _SCALES)):
            scale = float(f"{(high - low) / parts:.2g}")
            if not 0 < scale < math.inf:
                continue
            digits = -math.floor(math.log10(scale / 2)) + (parts == 1)
            for centre in sorted({round(float(quantile), digits) for quantile in np.quantile(known, quantiles)}):
                soft.append(TableLiteral(place, centre, None, float(_reached(every, centre, scale).mean()), scale))
    return soft


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
