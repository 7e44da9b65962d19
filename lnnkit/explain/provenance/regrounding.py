"""Assembles one instance of a formula with a row for every entity of its quantifiers' sorts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np

from lnnkit.check.program import ENTITY
from lnnkit.explain.provenance.instance_view import Inner, InstanceView
from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.join.instances.grounding import Grounding
from lnnkit.store.atoms import FALSE, TRUE, UNKNOWN


def assemble(
    grounding: Grounding, formula: Formula, bindings: Mapping[int, int], free: Set[int] = frozenset()
) -> InstanceView:
    """The instance for these entities of the formula's free variables (a reserved id stands for any entity). Equalities
    of ``free`` variables are unknown."""
    columns: list[dict[int, np.ndarray]] = [{v: np.array([bindings[v]], np.int32) for v in formula.blocks[0].variables}]
    inner: list[Inner] = []
    for block in formula.blocks[1:]:
        above = columns[block.parent]
        count = len(next(iter(above.values()))) if above else 1
        parent, ids = np.arange(count), above
        for variable in block.bound:
            own = _members(grounding, formula.sorts[variable])
            parent = np.repeat(parent, len(own))
            ids = {v: np.repeat(column, len(own)) for v, column in ids.items()}
            ids[variable] = np.tile(own, len(parent) // max(len(own), 1))
        columns.append(ids)
        stranger = np.zeros(len(parent), bool)
        for variable in block.bound:
            stranger |= ids[variable] == grounding.domain.stranger
        inner.append(Inner(parent, stranger, stranger, ids))
    rows = {
        index: _rows(grounding, neuron.kind, neuron.source, neuron.arguments, columns[neuron.block], free)
        for index, neuron in enumerate(formula.neurons)
        if neuron.kind in (LEAF, "same")
    }
    return InstanceView(formula, bindings, rows, tuple(inner))


def _members(grounding: Grounding, sort: str) -> np.ndarray:
    own = grounding.domain.sorts[sort]
    return np.append(own, grounding.domain.stranger) if sort in grounding.domain.open_sorts else own


def _rows(
    grounding: Grounding,
    kind: str,
    source: str,
    arguments: Sequence[int | str],
    ids: Mapping[int, np.ndarray],
    free: Set[int],
) -> np.ndarray:
    """The atom rows behind a leaf or an equality."""
    length = len(next(iter(ids.values()))) if ids else 1
    domain = grounding.domain
    columns = [ids[a] if isinstance(a, int) else np.full(length, domain.index[a], np.int32) for a in arguments]
    if kind == "same":
        equal = np.where(columns[0] == columns[1], TRUE, FALSE)
        unsure = (columns[0] >= domain.generic) & (columns[1] >= domain.generic)
        if any(argument in free for argument in arguments):
            unsure[:] = True
        if domain.lacks((ENTITY, ENTITY), arguments):
            unsure |= (columns[0] == domain.stranger) ^ (columns[1] == domain.stranger)
        return np.where(unsure & (arguments[0] != arguments[1]), UNKNOWN, equal)
    table = grounding.atoms.tables[source]
    found = grounding.atoms.find(table, [c.astype(np.int32) for c in columns], length)
    if table.predictable:
        return found
    stranger = np.zeros(length, bool)
    for column in columns:
        stranger |= column == domain.stranger
    return np.where(stranger, UNKNOWN, found)
