"""The truth of comparisons that the numbers of each row imply."""

from __future__ import annotations

import numpy as np

from lnnkit.arrays import where_set
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import Interval, point
from lnnkit.rows.dense.dense_program import DenseRule
from lnnkit.rows.dense.dense_state import Coded, Strip

_UNKNOWN = 2  # the code beside those of false and true


def implied_truth(rule: DenseRule, strip: Strip) -> Coded | Bounds:
    """The truth of a comparison that its numbers imply; unknown where too few are known. That of a crisp one is
    coded, unless a term has no single value."""
    comparison, formula = rule.comparison, rule.formula
    assert comparison is not None
    columns = {leaf: strip.column(rule.tables[leaf]) for leaf in formula.neurons[formula.top].operands}
    singles = [column.single for column in columns.values()]
    values = [value for value, _ in singles]
    gaps = [missing for _, missing in singles if missing is not None]
    unknown = np.logical_or.reduce(gaps) if gaps else None
    rows, implied = np.empty(0, np.int64), Interval(np.empty(0), np.empty(0))
    if unknown is not None:  # the known numbers may suffice
        known = {leaf: column.known for leaf, column in columns.items()}
        enough = [np.logical_and.reduce([known[leaf] for leaf in leaves]) for leaves in rule.informing]
        rows = where_set(np.logical_or.reduce([np.zeros_like(unknown), *enough]) & unknown)
        if len(rows):
            ends = [(column.lower.take(rows), column.upper.take(rows)) for column in columns.values()]
            implied = comparison.truth([Interval(*pair) for pair in ends])
    flags = comparison.holds(values)
    if flags is not None:
        codes = np.ascontiguousarray(flags).view(np.uint8)
        if unknown is not None:
            codes = np.where(unknown, np.uint8(_UNKNOWN), codes)
            codes[rows] = np.where(implied.lower < implied.upper, float(_UNKNOWN), implied.lower).astype(np.uint8)
        return Coded(codes, np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0]))
    truth = comparison.truth([point(value) for value in values])
    if unknown is None:
        return Bounds(*truth)
    lower, upper = np.where(unknown, 0.0, truth.lower), np.where(unknown, 1.0, truth.upper)
    lower[rows], upper[rows] = implied
    return Bounds(lower, upper)
