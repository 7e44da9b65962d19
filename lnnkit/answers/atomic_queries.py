"""Queries for the atoms of one predicate or number, which are read from its table without a join."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.engine.contested import Flags, in_doubt
from lnnkit.engine.start.prepared import Prepared
from lnnkit.graph.lifted import NUMBER, LiftedGraph, Root
from lnnkit.logic.bounds import Bounds, tolerance


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Bindings of a query's variables with their bounds; they include all that differ from the query's default."""

    columns: tuple[Tensor, ...]
    value: Bounds
    default: Bounds
    contested: Tensor


def atomic(prepared: Prepared, flags: Flags | None, lifted: LiftedGraph, root: Root) -> Evaluated | None:
    """The atoms of ``P(X, Y)``; None if the query is of another form, or has a constant or a repeated variable."""
    node, arguments = root.reference.node, root.reference.arguments
    if lifted.graph.nodes[node]["kind"] not in ("predicate", NUMBER) or not 0 < len(arguments) == len(root.variables):
        return None  # Every variable occurs, so an equal number of arguments means that each occurs once.
    state, table = prepared.state, prepared.grounding.atoms.tables[node]
    places = {argument: place for place, argument in enumerate(arguments)}
    columns = tuple(torch.from_numpy(table.tuples.columns[places[variable]]) for variable in range(len(arguments)))
    rows = torch.from_numpy(table.rows)
    value = state.bounds(rows)
    contested = torch.zeros(len(rows), dtype=torch.bool)
    if flags is not None:
        contested |= about(flags, rows)
        for other in in_doubt(state, flags, rows, table.default):
            contested |= differ(value, other)
    low, high = prepared.shared.untold.get(node, table.default)
    default = Bounds(*(torch.tensor(end, dtype=state.dtype).expand(len(rows)) for end in (low, high)))
    return Evaluated(columns, value, default, contested)


def about(flags: Flags, rows: Tensor) -> Tensor:
    """A mask of rows whose atoms are contested, whatever their bounds."""
    return flags[0].index_select(0, rows) & flags[1].index_select(0, rows)


def differ(one: Bounds, other: Bounds) -> Tensor:
    """A mask of rows where either end differs by more than the tolerance."""
    eps = tolerance(one.lower.dtype)
    return ((one.lower - other.lower).abs() > eps) | ((one.upper - other.upper).abs() > eps)
