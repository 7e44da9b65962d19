"""The facts enter the state."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.engine.bounds_state import State
from lnnkit.flags import all_set, any_set, where_set
from lnnkit.logic.bounds import Bounds
from lnnkit.store.alike import alike
from lnnkit.store.atoms import Atoms
from lnnkit.store.growing import spelled_out
from lnnkit.store.layout import Given


def enter_facts(atoms: Atoms, state: State, given: Sequence[Given]) -> None:
    """Materialise the facts: facts about one atom meet; where they cross, the atom is arrested from the start."""
    rows = len(atoms) + sum(map(len, given))
    atoms.room(2 * rows)
    state.extend(atoms)
    state.room(2 * rows)
    tuples = _Tuples(())
    for facts in given:
        if len(facts):
            if len(facts.columns) != len(tuples.columns) or not all(map(alike, facts.columns, tuples.columns)):
                tuples = _Tuples(facts.columns)
            columns, bounds = tuples.met(facts, state.dtype)
            rows = atoms.load(atoms.tables[facts.predicate], columns, *bounds)
            state.load(atoms, bounds)
            if any_set(bounds.lower > bounds.upper):
                atoms.enlist(state.arrest(spelled_out(rows), bounds))


class _Tuples:
    """The tuples of facts; equal ones follow one another. Many tables may have the same."""

    def __init__(self, columns: Sequence[Tensor]) -> None:
        self.columns = columns
        self._first: Tensor | None = None  # where each stands first; None if none stands twice
        self._new = torch.empty(0, dtype=torch.bool)  # which stand there first
        if columns:
            new = torch.ones(len(columns[0]), dtype=torch.bool)
            rest = new[1:]
            torch.ne(columns[0][1:], columns[0][:-1], out=rest)
            for column in columns[1:]:
                rest |= column[1:] != column[:-1]
            if not all_set(new):
                self._first, self._new = where_set(new), new

    def met(self, facts: Given, dtype: torch.dtype) -> tuple[Sequence[Tensor], Bounds]:
        """Each tuple once, with what all facts say of it."""
        lower, upper = facts.lower.to(dtype), facts.upper.to(dtype)
        if not self.columns:
            return self.columns, Bounds(lower.max()[None], upper.min()[None])
        first = self._first
        if first is None:
            return facts.columns, Bounds(lower, upper)
        if lower.stride(0) == upper.stride(0) == 0:  # all facts say the same
            columns = [column.index_select(0, first) for column in facts.columns]
            return columns, Bounds(lower[: len(first)], upper[: len(first)])
        group = self._new.cumsum(0) - 1  # the number of each
        return [column.index_select(0, first) for column in facts.columns], Bounds(
            lower.index_select(0, first).scatter_reduce_(0, group, lower, "amax"),
            upper.index_select(0, first).scatter_reduce_(0, group, upper, "amin"),
        )
