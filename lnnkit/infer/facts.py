"""The facts enter the state."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.flags import all_set, any_set, where_set
from lnnkit.ground.atoms import Atoms
from lnnkit.ground.growing import spelled_out
from lnnkit.ground.layout import Given
from lnnkit.infer.state import State
from lnnkit.logic.bounds import Bounds


def enter_facts(atoms: Atoms, state: State, given: Sequence[Given]) -> None:
    """Materialise the facts: facts about one atom meet; where they cross, the atom is arrested from the start."""
    rows = len(atoms) + sum(map(len, given))
    atoms.room(2 * rows)
    state.extend(atoms)
    state.room(2 * rows)
    for facts in given:
        if len(facts):
            columns, bounds = _distinct(facts, state.dtype)
            rows = atoms.load(atoms.tables[facts.predicate], columns, *bounds)
            state.load(atoms, bounds)
            if any_set(bounds.lower > bounds.upper):
                atoms.enlist(state.arrest(spelled_out(rows), bounds))


def _distinct(facts: Given, dtype: torch.dtype) -> tuple[Sequence[Tensor], Bounds]:
    """Each tuple once, with what all facts say of it; equal ones follow one another."""
    columns, lower, upper = facts.columns, facts.lower.to(dtype), facts.upper.to(dtype)
    if not columns:
        return columns, Bounds(lower.max()[None], upper.min()[None])
    new = torch.ones(len(lower), dtype=torch.bool)
    rest = new[1:]
    torch.ne(columns[0][1:], columns[0][:-1], out=rest)
    for column in columns[1:]:
        rest |= column[1:] != column[:-1]
    if all_set(new):
        return columns, Bounds(lower, upper)
    first = where_set(new)
    group = new.cumsum(0) - 1
    return [column.index_select(0, first) for column in columns], Bounds(
        lower.index_select(0, first).scatter_reduce_(0, group, lower, "amax"),
        upper.index_select(0, first).scatter_reduce_(0, group, upper, "amin"),
    )
