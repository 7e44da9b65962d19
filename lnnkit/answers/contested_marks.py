"""The bounds that make an answer contested: those that rest on a contradiction, and those of the atoms in a reported
one, materialised or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lnnkit.engine.contested import Contested, Doubted, contested
from lnnkit.engine.inference_run import Run
from lnnkit.engine.planning.compiling import whole_neuron
from lnnkit.engine.start.impossible_comparisons import everywhere
from lnnkit.formula.unfolding import Formula, unfold
from lnnkit.graph.lifted import NUMBER
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.store.relations import Relations
from lnnkit.store.row_arrays import Array
from lnnkit.store.tuple_set import TupleSet


class NamedAtoms(NamedTuple):
    """Atoms of one table that a contradiction names: a column of ids for each argument; None stands for any entity,
    that of a quantified variable."""

    source: str
    columns: Sequence[Array | None]
    length: int

    def among(self, columns: Sequence[Array], length: int, radix: int) -> Array:
        """(length,) which tuples are named."""
        places = [place for place, column in enumerate(self.columns) if column is not None]
        if not places:
            return np.full(length, self.length > 0)
        named = TupleSet(len(places), radix)
        named.add([column for column in self.columns if column is not None], self.length)
        return named.find([columns[place] for place in places], length) >= 0


@dataclass(frozen=True)
class Marks:
    """``contested``: the bounds that make an answer contested. ``named``: the atoms of the reported contradictions, of
    which some may have no row."""

    contested: Contested
    named: Sequence[NamedAtoms]

    @cached_property
    def doubts(self) -> tuple[Doubted, Doubted]:
        """The bounds with contested ones unknown, and at their defaults."""
        unknown = self.contested.doubted()
        return unknown, unknown.by_default()

    def unlisted(self, atoms: Relations, source: str, columns: Sequence[Array], rows: Array) -> Array:
        """(n,) which of these atoms of a relation have no row and are named; ``rows`` are theirs, or reserved."""
        named = np.zeros(len(rows), bool)
        absent = np.flatnonzero(rows < 0)
        for group in self.named if absent.size else ():
            if group.source == source:
                named[absent] |= group.among([column.take(absent) for column in columns], absent.size, atoms.radix)
        return named


def marked(run: Run) -> Marks | None:
    """What makes answers contested; None without contradictions."""
    named = [group for group in _named_groups(run) if group.length]
    if not named and not run.state.crossed:
        return None
    atoms = run.grounding.atoms
    tables = [(atoms.tables[group.source], group) for group in named]
    among = ((table, group.among(table.tuples.columns, len(table), atoms.radix)) for table, group in tables)
    return Marks(contested(run).marked((table, np.flatnonzero(flags)) for table, flags in among), named)


def _named_groups(run: Run) -> Iterator[NamedAtoms]:
    """The atoms in arrested instances, in arrested shared neurons, and in comparisons that no entity can satisfy. Atoms
    that are arrested themselves are marked already."""
    yield from _of_neurons(run)
    yield from _of_all(run)
    for arrested in run.progress.arrested:
        for formula, _, entities in run.grounding.assignments(arrested.shape, arrested.rows):
            ids = entities()
            assert formula.root is not None
            whole = unfold(run.plan.lifted, formula.root, through_shared=True)
            yield from _named(run, whole, ids, len(ids[0]) if ids else 1)
        yield from _beneath_quantifiers(run, arrested.shape, arrested.rows)


def _of_neurons(run: Run) -> Iterator[NamedAtoms]:
    observed = set(run.plan.observers.values())
    for table in run.state.crossed:
        if table.name in observed or _is_atom(run, table.name):
            continue
        rows = table.crossed.rows.values
        whole = whole_neuron(run.plan.lifted, table.name)
        yield from _named(run, whole, [column.take(rows) for column in table.tuples.columns], len(rows))


def _of_all(run: Run) -> Iterator[NamedAtoms]:
    """The numbers of comparisons that no entity can satisfy."""
    for clash in everywhere(run):
        for name in sorted(clash.numbers):
            if _is_atom(run, name):
                yield NamedAtoms(name, [None] * len(run.grounding.atoms.tables[name].sorts), 1)


def _named(run: Run, whole: Formula, ids: Sequence[Array], length: int) -> Iterator[NamedAtoms]:
    """The atoms that instances of a formula name; ``ids`` has a column for each of the free variables. An atom below a
    quantifier is named by the entities that it takes from outside the quantifier."""
    index, free = run.grounding.domain.index, set(whole.blocks[0].variables)
    for leaf in whole.leaves:
        neuron = whole.neurons[leaf]
        if not _is_atom(run, neuron.source):
            continue
        columns = [
            np.full(length, index[argument], np.int32)
            if isinstance(argument, str)
            else ids[argument].astype(np.int32)
            if argument in free
            else None
            for argument in neuron.arguments
        ]
        if not columns or any(column is not None for column in columns):
            yield NamedAtoms(neuron.source, columns, length)


def _beneath_quantifiers(run: Run, number: int, rows: Array) -> Iterator[NamedAtoms]:
    """The atoms in the inner rows of instances whose rows are read together."""
    grounding = run.grounding
    block = grounding.shapes[number].blocks[0]
    members = block.member.take(rows)
    for one in np.unique(members).tolist():
        member = grounding.members[grounding.shapes[number].members[one]]
        if not isinstance(member, GroupRule):
            continue
        instances = member.assembled(block.local.take(rows[members == one]))
        for leaf in member.formula.leaves:
            neuron = member.formula.neurons[leaf]
            grouping = instances.groupings[neuron.block]
            if grouping is not None and _is_atom(run, neuron.source):
                named = np.flatnonzero(~grouping.virtual)
                columns = [column.take(named) for column in instances.arguments(leaf, grounding.domain)]
                yield NamedAtoms(neuron.source, columns, len(named))


def _is_atom(run: Run, source: str) -> bool:
    return run.plan.lifted.graph.nodes.get(source, {}).get("kind") in ("predicate", NUMBER)
