"""The bounds that make an answer contested: those that rest on a contradiction, and those of the atoms in a reported
one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch

from lnnkit.engine.contested import Flags
from lnnkit.engine.inference import Fixpoint
from lnnkit.engine.start.shared_neurons import neuron_root
from lnnkit.formula.unfolding import Formula, Neuron, unfold
from lnnkit.graph.lifted import NUMBER
from lnnkit.join.instances.unrolled import unroll
from lnnkit.store.columns.arrays import Array


class _Spoken(NamedTuple):
    """Atoms of one predicate or number: their rows, and their ids where they are known."""

    source: str
    columns: Sequence[Array] | None
    rows: Array


def marked(fixpoint: Fixpoint) -> Flags:
    """A flag an atom row, for its lower and its upper side. Atoms that have no row are not marked."""
    if not speaks(fixpoint):
        return fixpoint.contested
    lower, upper = (flags.clone() for flags in fixpoint.contested)
    local = fixpoint.prepared.grounding.atoms.local
    for _, _, rows in _spoken(fixpoint):
        own = torch.from_numpy(rows[local(rows) >= 0].astype(np.int64))
        lower[own] = upper[own] = True
    return lower, upper


def speaks(fixpoint: Fixpoint) -> bool:
    """Whether a contradiction is reported."""
    return bool(fixpoint.progress.arrested) or len(fixpoint.prepared.state.crossed) > 0


def speaks_unlisted(fixpoint: Fixpoint, leaves: Collection[Neuron]) -> bool:
    """Whether a reported contradiction may speak of an atom that has no row and is one of a query's ``leaves``, or an
    instance of one. Atoms beneath a quantifier are read by their rows, and have none to be looked for."""
    local = fixpoint.prepared.grounding.atoms.local
    for source, columns, rows in _spoken(fixpoint):
        if columns is None:
            continue
        absent = local(rows) < 0
        for leaf in leaves if absent.any() else ():
            if leaf.source == source and (absent & _instances(fixpoint, leaf, columns)).any():
                return True
    return False


def _instances(fixpoint: Fixpoint, leaf: Neuron, columns: Sequence[Array]) -> Array | bool:
    """Which tuples are instances of a leaf."""
    index = fixpoint.prepared.grounding.domain.index
    alike: Array | bool = True
    for argument, column in zip(leaf.arguments, columns, strict=True):
        if isinstance(argument, str):
            alike = alike & (column == index[argument])
    return alike


def _spoken(fixpoint: Fixpoint) -> Iterator[_Spoken]:
    """The atoms behind the leaves of arrested instances and of arrested shared neurons; atoms that are arrested are
    marked already."""
    prepared, graph = fixpoint.prepared, fixpoint.prepared.lifted.graph
    atoms, crossed = prepared.grounding.atoms, prepared.state.crossed
    for table, mine in atoms.by_table(crossed.rows.values):
        if graph.nodes[table.name]["kind"] in ("predicate", NUMBER) or table.name in prepared.observers.values():
            continue
        local = atoms.local(crossed.rows.values if mine is None else crossed.rows.values.take(mine))
        whole = unfold(prepared.lifted, neuron_root(prepared.lifted, table.name), through_shared=True)
        yield from _named(fixpoint, whole, [column.take(local) for column in table.tuples.columns])
    for found in fixpoint.progress.arrested:
        for formula, _, ids in prepared.grounding.assignments(found.batch, found.rows):
            whole = formula
            if formula.root is not None and formula.auxiliary is None:
                whole = unfold(prepared.lifted, formula.root, through_shared=True)
            yield from _named(fixpoint, whole, ids)
        batch = prepared.grounding.batches[found.batch]
        if len(batch.blocks) == 1:
            continue
        unrolled = unroll(batch, torch.unique(torch.from_numpy(found.rows).long()))
        for block, rows in list(zip(batch.blocks, unrolled.rows, strict=True))[1:]:
            for leaf, column in block.columns.items():
                source = batch.formula.neurons[leaf].source if leaf >= 0 else ""
                if graph.nodes.get(source, {}).get("kind") in ("predicate", NUMBER):
                    yield _Spoken(source, None, column.values.take(rows.numpy()))


def _named(fixpoint: Fixpoint, whole: Formula, ids: list[Array]) -> Iterator[_Spoken]:
    """The atoms that instances of a formula name; ``ids`` has a column for each of the free variables."""
    prepared = fixpoint.prepared
    atoms, index = prepared.grounding.atoms, prepared.grounding.domain.index
    length = len(ids[0]) if ids else 1
    for leaf in whole.leaves:
        neuron = whole.neurons[leaf]
        if neuron.block or prepared.lifted.graph.nodes.get(neuron.source, {}).get("kind") not in ("predicate", NUMBER):
            continue
        columns = [
            ids[argument].astype(np.int32) if isinstance(argument, int) else np.full(length, index[argument], np.int32)
            for argument in neuron.arguments
        ]
        yield _Spoken(neuron.source, columns, atoms.find(atoms.tables[neuron.source], columns, length))
