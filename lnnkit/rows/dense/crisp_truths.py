"""The initial truth of crisp comparisons as codes: true, false or unknown."""

from __future__ import annotations

import numpy as np

from lnnkit.arrays import any_set, where_set
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.numeric import Interval, point
from lnnkit.rows.dense.dense_program import DenseRule
from lnnkit.rows.dense.dense_state import Coded, Column, Strip
from lnnkit.store.columns.row_arrays import Array

_UNKNOWN = 2


def first_truth(rule: DenseRule, strip: Strip) -> Coded | None:
    """The truth of a comparison from its numbers alone, before anything else is known of it; None if that needs
    intervals: it is soft, a number has two bounds, or a term is undefined in some row."""
    comparison, formula = rule.comparison, rule.formula
    operands = formula.neurons[formula.top].operands
    columns = [strip.column(rule.tables[leaf]) for leaf in operands]
    if comparison is None or not columns:
        return None
    told = [_single(column) for column in columns]
    values = [each[0] for each in told if each is not None]
    if len(values) < len(columns):
        return None
    flags = comparison.holds(values)
    if flags is None:
        return None
    gaps = {
        leaf: each[1] for leaf, each in zip(operands, told, strict=True) if each is not None and each[1] is not None
    }
    if gaps:
        unknown = _any(list(gaps.values()))
        codes = (flags & ~unknown).view(np.uint8) + unknown.view(np.uint8) * _UNKNOWN
        _partly_known(rule, columns, gaps, unknown, codes)
    else:
        codes = np.ascontiguousarray(flags).view(np.uint8)
    low, high = rule.shape.modes[AUXILIARY]
    lower, upper = [0.0, 1.0 if low else 0.0, 0.0], [0.0 if high else 1.0, 1.0, 1.0]
    return Coded(codes, *(np.array(ends, dtype=np.float64) for ends in (lower, upper)))


def _single(column: Column) -> tuple[Array, Array | None] | None:
    """Single values, and a mask of missing ones."""
    if column.numbers is not None:
        return column.numbers.values, column.numbers.missing
    return (column.lower, None) if column.coded is None and column.lower is column.upper else None


def _any(flags: list[Array]) -> Array:
    found = flags[0]
    for each in flags[1:]:
        found = found | each
    return found


def _partly_known(rule: DenseRule, columns: list[Column], gaps: dict[int, Array], unknown: Array, codes: Array) -> None:
    """Write the truth of rows whose known numbers may suffice."""
    comparison, leaves = rule.comparison, {*rule.formula.leaves}
    assert comparison is not None
    enough: Array | None = None
    for own in rule.informing:
        if own == leaves:  # these rows have no missing number
            continue
        lacking = [gaps[leaf] for leaf in own if leaf in gaps]
        here = ~_any(lacking) & unknown if lacking else unknown
        enough = here if enough is None else enough | here
    if enough is None or not any_set(enough):
        return
    rows = where_set(enough)
    inputs: list[Interval] = []
    for column in columns:
        lower = column.lower.take(rows)
        inputs.append(point(lower) if column.upper is column.lower else Interval(lower, column.upper.take(rows)))
    lower, upper = comparison.truth(inputs)
    codes[rows] = np.where(lower < upper, float(_UNKNOWN), lower).astype(np.uint8)
