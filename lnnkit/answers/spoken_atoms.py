"""The bounds that make an answer contested: those that rest on a contradiction, and those of the atoms in a reported
one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from lnnkit.engine.contested import Flags
from lnnkit.engine.inference import Fixpoint
from lnnkit.formula.unfolding import Formula, unfold
from lnnkit.graph.lifted import NUMBER
from lnnkit.join.instances.unrolled import unroll
from lnnkit.store.columns.arrays import Array


def marked(fixpoint: Fixpoint) -> Flags:
    """A flag an atom row, for its lower and its upper side. Atoms that have no row are not marked."""
    if not fixpoint.progress.arrested:
        return fixpoint.contested  # the others are arrested themselves
    lower, upper = (flags.clone() for flags in fixpoint.contested)
    local = fixpoint.prepared.grounding.atoms.local
    for rows in _spoken(fixpoint):
        own = torch.from_numpy(rows[local(rows) >= 0].astype(np.int64))
        lower[own] = upper[own] = True
    return lower, upper


def _spoken(fixpoint: Fixpoint) -> Iterator[Array]:
    """The atom rows behind the leaves of arrested instances."""
    prepared, graph = fixpoint.prepared, fixpoint.prepared.lifted.graph
    for found in fixpoint.progress.arrested:
        for formula, _, ids in prepared.grounding.assignments(found.batch, found.rows):
            yield from _named(fixpoint, formula, ids)
        batch = prepared.grounding.batches[found.batch]
        if len(batch.blocks) == 1:
            continue
        unrolled = unroll(batch, torch.unique(torch.from_numpy(found.rows).long()))
        for block, rows in list(zip(batch.blocks, unrolled.rows, strict=True))[1:]:
            for leaf, column in block.columns.items():
                source = batch.formula.neurons[leaf].source if leaf >= 0 else ""
                if graph.nodes.get(source, {}).get("kind") in ("predicate", NUMBER):
                    yield column.values.take(rows.numpy())


def _named(fixpoint: Fixpoint, formula: Formula, ids: list[Array]) -> Iterator[Array]:
    """The atoms that the instances name, with what stands within shared formulas; ``ids`` has a column for each of the
    free variables."""
    prepared = fixpoint.prepared
    atoms, index = prepared.grounding.atoms, prepared.grounding.domain.index
    length = len(ids[0]) if ids else 1
    whole = formula
    if formula.root is not None and formula.auxiliary is None:
        whole = unfold(prepared.lifted, formula.root, through_shared=True)
    for leaf in whole.leaves:
        neuron = whole.neurons[leaf]
        if neuron.block or prepared.lifted.graph.nodes.get(neuron.source, {}).get("kind") not in ("predicate", NUMBER):
            continue
        columns = [
            ids[argument].astype(np.int32) if isinstance(argument, int) else np.full(length, index[argument], np.int32)
            for argument in neuron.arguments
        ]
        yield atoms.find(atoms.tables[neuron.source], columns, length)
