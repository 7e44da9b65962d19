"""The facts enter the state."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.ground.atoms import Atoms
from lnnkit.ground.layout import Given
from lnnkit.infer.state import State
from lnnkit.logic.bounds import Bounds


def enter_facts(atoms: Atoms, state: State, given: Sequence[Given]) -> None:
    """Materialise the facts: facts about one atom meet; where they cross, the atom is arrested from the start.

    The atoms of a predicate stand in the order of their entities' ids, whatever order the facts came in.
    """
    state.extend(atoms)
    predicates: dict[str, list[Given]] = {}
    for facts in given:
        if len(facts):
            predicates.setdefault(facts.predicate, []).append(facts)
    for predicate, parts in sorted(predicates.items()):
        table = atoms.tables[predicate]
        columns, bounds = _distinct(_joined(parts), _bounds(parts, state.dtype))
        rows = atoms.load(table, columns, *bounds)
        state.load(atoms, bounds)
        atoms.enlist(state.arrest(rows, bounds))


def _cat(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts))


def _bounds(parts: Sequence[Given], dtype: torch.dtype) -> Bounds:
    return Bounds(_cat([part.lower for part in parts]).to(dtype), _cat([part.upper for part in parts]).to(dtype))


def _joined(parts: Sequence[Given]) -> list[Tensor]:
    return [_cat([part.columns[place] for part in parts]) for place in range(len(parts[0].columns))]


def _distinct(columns: list[Tensor], bounds: Bounds) -> tuple[list[Tensor], Bounds]:
    """Each tuple once, in order, with what all facts say of it."""
    lower, upper = bounds
    if not columns:
        return columns, Bounds(lower.max()[None], upper.min()[None])
    if not _in_order(columns):
        order = torch.argsort(columns[-1], stable=True)
        for column in reversed(columns[:-1]):
            order = order.index_select(0, torch.argsort(column.index_select(0, order), stable=True))
        columns = [column.index_select(0, order) for column in columns]
        lower, upper = lower.index_select(0, order), upper.index_select(0, order)
    new = torch.ones(len(lower), dtype=torch.bool)
    new[1:] = torch.stack([column[1:] != column[:-1] for column in columns]).any(0)
    if bool(new.all()):
        return columns, Bounds(lower, upper)
    first = new.nonzero().squeeze(1)
    group = new.cumsum(0) - 1
    return [column.index_select(0, first) for column in columns], Bounds(
        lower.index_select(0, first).scatter_reduce_(0, group, lower, "amax"),
        upper.index_select(0, first).scatter_reduce_(0, group, upper, "amin"),
    )


def _in_order(columns: Sequence[Tensor]) -> bool:
    """Whether tuples stand in lexicographic order, repeated ones together."""
    tied: Tensor | None = None
    for column in columns:
        before, after = column[:-1], column[1:]
        if bool((before > after if tied is None else tied & (before > after)).any()):
            return False
        tied = before == after if tied is None else tied & (before == after)
    return True
