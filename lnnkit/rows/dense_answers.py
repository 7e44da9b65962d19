"""The answers of a dense program at its fixpoint: bounds for every row, those at their default too."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.answers.atomic_queries import differ
from lnnkit.engine.response.respond import constant, entering
from lnnkit.engine.start.implied_comparisons import met
from lnnkit.flags import all_set, any_set, where_set
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
        value, default, apart = _beside_default(query, strip)
        if all_set(apart):
            return RowBounds(*value)
        return RowBounds(torch.where(apart, value.lower, default.lower), torch.where(apart, value.upper, default.upper))


def differing_rows(query: DenseQuery, strip: Strip) -> tuple[Tensor | None, Bounds]:
    """The rows whose bounds differ from the query's default by more than the tolerance (None: all), with their
    bounds."""
    with torch.no_grad():
        value, _, apart = _beside_default(query, strip)
        if all_set(apart):
            return None, value
        rows = where_set(apart)
        return rows, Bounds(*(each.index_select(0, rows) for each in value))


def _beside_default(query: DenseQuery, strip: Strip) -> tuple[Bounds, Bounds, Tensor]:
    """The query's bounds, its default, and in which rows they differ."""
    value = _value(query, strip)
    default = Bounds(*(torch.tensor(end, dtype=value.lower.dtype).expand_as(value.lower) for end in query.default))
    value = value if query.atom is not None and strip.column(query.atom).sound else _narrowed(value)
    if query.negated:
        value, default = complement(value), complement(default)
    return value, default, differ(value, default)


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
