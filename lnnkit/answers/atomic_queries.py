"""Queries that ask for the atoms of one predicate or number: they are there already, nothing is joined."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.engine.contested import Flags, defaulted, doubted
from lnnkit.engine.start.prepared import Prepared
from lnnkit.flags import any_set
from lnnkit.graph.lifted import NUMBER, LiftedGraph, Root
from lnnkit.logic.bounds import Bounds, tolerance


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Bindings of a query's variables, among them all that differ from its default, with their bounds."""

    columns: tuple[Tensor, ...]
    value: Bounds
    default: Bounds
    contested: Tensor


def atomic(prepared: Prepared, flags: Flags, lifted: LiftedGraph, root: Root) -> Evaluated | None:
    """The atoms of ``P(X, Y)``; None where the query is none such, or has an entity or a variable twice among its
    arguments."""
    node, arguments = root.reference.node, root.reference.arguments
    if lifted.graph.nodes[node]["kind"] not in ("predicate", NUMBER) or not 0 < len(arguments) == len(root.variables):
        return None  # each variable stands somewhere, so as many arguments are these, each once
    state, atoms = prepared.state, prepared.grounding.atoms
    table = atoms.tables[node]
    places = {argument: place for place, argument in enumerate(arguments)}
    columns = tuple(torch.from_numpy(table.tuples.columns[places[variable]]) for variable in range(len(arguments)))
    rows = table.rows
    value = state.bounds(rows)
    contested = torch.zeros(len(rows), dtype=torch.bool)
    if any(any_set(flagged) for flagged in flags):
        for other in (doubted(state, flags), defaulted(state, flags, atoms)):
            contested |= differ(value, other.bounds(rows))
    low, high = prepared.shared.untold.get(node, table.default)
    default = Bounds(*(torch.tensor(end, dtype=state.dtype).expand(len(rows)) for end in (low, high)))
    return Evaluated(columns, value, default, contested)


def differ(one: Bounds, other: Bounds) -> Tensor:
    """Where either end differs by more than the tolerance."""
    eps = tolerance(one.lower.dtype)
    return ((one.lower - other.lower).abs() > eps) | ((one.upper - other.upper).abs() > eps)
