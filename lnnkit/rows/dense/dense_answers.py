"""The answers of a dense program at its fixpoint: bounds for every row, including rows at their default."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lnnkit.arrays import DOUBLE, any_set
from lnnkit.engine.response.respond import constant, entering
from lnnkit.engine.start.query_needs import met
from lnnkit.formula.passes import upward
from lnnkit.logic.bounds import Bounds, complement, tolerance
from lnnkit.rows.dense.dense_program import DenseQuery, Pair
from lnnkit.rows.dense.dense_state import Strip
from lnnkit.store.columns.row_arrays import Array


@dataclass(frozen=True, slots=True)
class RowBounds:
    """The bounds of one query, (n,) each, by row. ``setters``, if requested, are the numbers of the statements that set
    each end: -1 for none. If there are ``places``, int32 (n,), each row's bounds are at its place. ``contradicted``, if
    setters are requested, marks the rows that a contradiction speaks of, (n,) too."""

    lower: Array
    upper: Array
    setters: tuple[Array, Array] | None = None
    places: Array | None = None
    contradicted: Array | None = None

    def __len__(self) -> int:
        return len(self.lower if self.places is None else self.places)


def answer_rows(query: DenseQuery, strip: Strip) -> RowBounds:
    """The query's bounds in each row of the strip; rows within the tolerance of its default have the default, as a
    knowledge base omits them from its answers."""
    value, default, apart = _beside_default(query, strip)
    if apart.all():
        return RowBounds(*value)
    lower, upper = (end for end in value)
    low, high = default
    if (apart | (lower == low) & (upper == high)).all():
        return RowBounds(*value)
    flags = apart
    return RowBounds(np.where(flags, value.lower, low), np.where(flags, value.upper, high))


def differing_rows(query: DenseQuery, strip: Strip) -> tuple[Array | None, Bounds]:
    """The rows whose bounds differ from the query's default by more than the tolerance (None: all), with their
    bounds."""
    value, _, apart = _beside_default(query, strip)
    if apart.all():
        return None, value
    rows = apart.nonzero()[0]
    return rows, Bounds(*(each.take(rows) for each in value))


def _beside_default(query: DenseQuery, strip: Strip) -> tuple[Bounds, Pair, np.ndarray]:
    """The query's bounds, its default, and a mask of rows that differ by more than the tolerance."""
    value, default = _value(query, strip), query.default
    if query.atom is None or not strip.column(query.atom).sound:
        value = _narrowed(value)
    if query.negated:
        value, default = complement(value), _complemented(default)
    least = tolerance(value.lower.dtype)
    (lower, upper), (low, high) = (end for end in value), default
    with np.errstate(invalid="ignore"):  # inf - inf
        return value, default, (np.abs(lower - low) > least) | (np.abs(upper - high) > least)


def _complemented(pair: Pair) -> Pair:
    found = complement(Bounds(*(np.array(end, dtype=np.float64) for end in pair)))
    return found.lower.item(), found.upper.item()


def _narrowed(value: Bounds) -> Bounds:
    """Bounds with ends that rounding made cross swapped."""
    crossed = value.lower > value.upper
    if not any_set(crossed):
        return value
    narrow = crossed & ~(value.lower > value.upper + tolerance(value.lower.dtype))
    if not any_set(narrow):
        return value
    return Bounds(np.where(narrow, value.upper, value.lower), np.where(narrow, value.lower, value.upper))


def _value(query: DenseQuery, strip: Strip) -> Bounds:
    formula = query.formula
    if query.atom is not None:
        value = strip.column(query.atom).shown
    else:

        def read(index: int) -> Bounds:
            if formula.neurons[index].fixed:
                return constant(query.shape, index, strip.length, DOUBLE)
            return strip.column(query.columns[index]).bounds

        value = upward(formula, entering(read, formula), (None,))[formula.top]
        value = Bounds(np.broadcast_to(value.lower, strip.length), np.broadcast_to(value.upper, strip.length))
    for name in query.heard:
        known = strip.column(name).shown
        value = Bounds(np.maximum(value.lower, known.lower), np.minimum(value.upper, known.upper))
    if not query.kin.relatives:
        return value
    return met(value, query.kin, [strip.column(each.reference.node).bounds for each in query.kin.relatives])
