"""The answers of a dense program at its fixpoint: bounds for every row, those at their default too."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.answers.atomic_queries import differ
from lnnkit.engine.response.respond import constant, entering
from lnnkit.engine.start.implied_comparisons import met
from lnnkit.flags import all_set, any_set
from lnnkit.formula.passes import upward
from lnnkit.logic.bounds import Bounds, complement, tolerance
from lnnkit.rows.dense_program import DenseQuery
from lnnkit.rows.dense_state import Strip


@dataclass(frozen=True, slots=True)
class RowBounds:
    """The bounds of one query, (n,) each: a row an answer. ``setters``, if they were asked for, number the statements
    that set each end: -1 where none did. If there are ``places``, int32 (n,), the row of each is at its place."""

    lower: Tensor
    upper: Tensor
    setters: tuple[Tensor, Tensor] | None = None
    places: Tensor | None = None

    def __len__(self) -> int:
        return len(self.lower if self.places is None else self.places)


def answer_rows(query: DenseQuery, strip: Strip) -> RowBounds:
    """The query's bounds in each row of the strip; rows that differ from its default by no more than the tolerance have
    the default, as they are left out of the answers of a knowledge base."""
    with torch.no_grad():
        value = _value(query, strip)
        low, high = query.default
        default = Bounds(torch.full_like(value.lower, low), torch.full_like(value.upper, high))
        value = _narrowed(value)
        if query.negated:
            value, default = complement(value), complement(default)
        apart = differ(value, default)
        if all_set(apart):
            return RowBounds(*value)
        return RowBounds(torch.where(apart, value.lower, default.lower), torch.where(apart, value.upper, default.upper))


def _narrowed(value: Bounds) -> Bounds:
    """Bounds that rounding has made cross, in order."""
    narrow = (value.lower > value.upper) & (value.lower <= value.upper + tolerance(value.lower.dtype))
    if not any_set(narrow):
        return value
    return Bounds(torch.where(narrow, value.upper, value.lower), torch.where(narrow, value.lower, value.upper))


def _value(query: DenseQuery, strip: Strip) -> Bounds:
    formula = query.formula
    if query.atom is not None:
        value = strip.column(query.atom).shown
    else:

        def read(index: int) -> Bounds:
            if formula.neurons[index].fixed:
                return constant(query.shape, index, strip.length, torch.float64)
            return strip.column(formula.neurons[index].source).bounds

        value = upward(formula, entering(read, formula), (None,))[formula.top]
        value = Bounds(value.lower.expand(strip.length), value.upper.expand(strip.length))
    for name in query.heard:
        known = strip.column(name).shown
        value = Bounds(torch.maximum(value.lower, known.lower), torch.minimum(value.upper, known.upper))
    if not query.kin.relatives:
        return value
    return met(value, query.kin, [strip.column(each.reference.node).bounds for each in query.kin.relatives])
