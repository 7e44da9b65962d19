"""What instances say of one leaf, apart from a sweep and open to derivatives: in a round, and in a completion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lnnkit.engine.bounds_state import State
from lnnkit.engine.response.respond import constant
from lnnkit.engine.response.sweep import View
from lnnkit.formula.passes import Grouping, downward, least_heads, upward
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.logic.bounds import Bounds, enter, ordered

Read = Callable[[int], Bounds]


class Leaves:
    """Reads the leaves of a view as a sweep does, and keeps the tensors that it read for derivatives. ``unknown`` is a
    leaf and a side of it that are read as unknown: what is then said of them does not repeat what was known."""

    def __init__(self, view: View, state: State, given: Tensor, unknown: tuple[int, int] | None) -> None:
        self._view = view
        self._state = state
        self._given = given
        self._unknown = unknown
        self.read: list[tuple[Tensor, Tensor, Tensor]] = []  # atom rows, lower and upper ends

    def __call__(self, index: int) -> Bounds:
        formula = self._view.batch.formula
        if index != AUXILIARY and formula.neurons[index].fixed:
            length = self._view.length(formula.neurons[index].block)
            return constant(self._view.batch, index, length, self._state.dtype)
        rows = self._view.column(index)
        lower, upper = self._state.view(rows)
        if torch.is_grad_enabled():
            lower.requires_grad_()
            upper.requires_grad_()
        self.read.append((rows, lower, upper))
        if self._unknown == (index, 0):
            lower = torch.zeros_like(lower)
        if self._unknown == (index, 1):
            upper = torch.ones_like(upper)
        bounds = enter(Bounds(lower, upper))
        if index in formula.heads:
            given = self._given.index_select(0, rows)
            return Bounds(torch.where(given, bounds.lower, 0.0), torch.where(given, bounds.upper, 1.0))
        return bounds


def told(formula: Formula, read: Read, groupings: Sequence[Grouping | None], leaf: int) -> Bounds:
    """What instances say of a leaf in a round: up, meet, down."""
    values = upward(formula, read, groupings)
    up = values[formula.top]
    if formula.auxiliary is None:
        given = Bounds(torch.full_like(up.lower, formula.lower), torch.full_like(up.upper, formula.upper))
    else:
        given = read(AUXILIARY)
    root = ordered(torch.maximum(up.lower, given.lower), torch.minimum(up.upper, given.upper))
    if leaf == AUXILIARY:
        return root
    return downward(formula, values, root, groupings)[0][leaf]


def completed(formula: Formula, read: Read, groupings: Sequence[Grouping | None], leaf: int) -> Bounds:
    """What defining statements ask of a head while its predicate is completed: at either end of their antecedent."""
    values = upward(formula, read, groupings)
    antecedent = values[formula.neurons[formula.top].operands[0]]
    return Bounds(
        least_heads(formula, antecedent.lower, values, 0.0)[leaf],
        least_heads(formula, antecedent.upper, values, 1.0)[leaf],
    )
