"""The answers of a dense program at its fixpoint: bounds for every row, including rows at their default."""

from __future__ import annotations

import numpy as np

from lnnkit.arrays import DOUBLE, any_set
from lnnkit.engine.planning.asked import met
from lnnkit.engine.response.respond import constant, entering
from lnnkit.formula.passes import upward
from lnnkit.logic.bounds import Bounds, complement, tolerance
from lnnkit.rows.dense.dense_program import DenseQuery
from lnnkit.rows.dense.dense_state import Strip


def answer_rows(query: DenseQuery, strip: Strip) -> Bounds:
    """The query's bounds in each row of the strip, (n,) each; rows within the tolerance of its default have the
    default, as a knowledge base omits them from its answers."""
    value = _value(query, strip)
    if query.atom is None or not strip.column(query.atom).sound:
        value = _narrowed(value)
    if query.negated:
        value = complement(value)
    least = tolerance(value.lower.dtype)
    low, high = query.default
    with np.errstate(invalid="ignore"):  # inf - inf
        apart = (np.abs(value.lower - low) > least) | (np.abs(value.upper - high) > least)
    if apart.all():
        return value
    return Bounds(np.where(apart, value.lower, low), np.where(apart, value.upper, high))


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
                return constant(query.shape.formula, index, strip.length, DOUBLE)
            return strip.column(query.columns[index]).bounds

        value = upward(formula, entering(read, formula), (None,))[formula.top]
        value = Bounds(np.broadcast_to(value.lower, strip.length), np.broadcast_to(value.upper, strip.length))
    for name in query.subsuming:
        known = strip.column(name).shown
        value = Bounds(np.maximum(value.lower, known.lower), np.minimum(value.upper, known.upper))
    known = [strip.column(comparison.reference.node).bounds for comparison in query.related.comparisons]
    return met(value, query.related, known) if known else value
