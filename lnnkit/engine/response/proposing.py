"""What instances say goes to the inbox of their round: the atoms behind their leaves are found, made where they are not
there, and asked whether they take a bound; instances that cannot be satisfied are arrested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from lnnkit.analysis.relevance import ALL, LISTED
from lnnkit.engine.merge import Proposals
from lnnkit.engine.moves import Round
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import DEFAULT, RESERVED, Relation
from lnnkit.store.row_arrays import Array, Growing, first_places, spelled_out
from lnnkit.store.tuple_set import TupleSet
from lnnkit.trail.events import Arrested

# (n,) the rows of a leaf's atoms; `DEFAULT` for one that is not materialised
Rows = Callable[[int], Array]


class Arrests:
    """A growing set of assignments of a formula's free variables: rows of its quantifiers are arrested together. If an
    atom names all variables, its row represents the assignment once it is materialised."""

    def __init__(self, rule: DeltaRule) -> None:
        self.naming = _naming(rule.formula)
        self._variables = rule.formula.original.blocks[0].variables
        self._set = TupleSet(len(self._variables), rule.radix)
        self._flags = Growing(np.bool_, (False,) * RESERVED)
        self._flagged = 0
        self.any = False

    def __len__(self) -> int:
        return self._flagged + len(self._set)

    def add(self, bindings: Bindings, positions: Array, rows: Rows) -> Array:
        """Arrest the instances at ``positions``, whose atoms ``rows`` gives; returns those that were not arrested
        before, without repetition."""
        self.any = True
        if self.naming is None:
            return self._add(bindings, positions)
        named = rows(self.naming)
        absent = named == DEFAULT
        known = self.flags(bindings.at(positions), lambda _: named)
        new = np.flatnonzero(~(known | absent))
        flagged = named.take(new)
        if len(flagged):
            size = int(flagged.max()) + 1
            first = first_places(flagged, size)
            if first is not None:
                new, flagged = new.take(first), flagged.take(first)
            self._flags.reach(size)
            self._flags.put(flagged, True)
            self._flagged += len(flagged)
        if not absent.any():
            return new
        strangers = np.flatnonzero(absent)
        fresh = self._add(bindings, positions.take(strangers))
        return np.sort(np.concatenate([new, strangers.take(fresh)]))

    def flags(self, bindings: Bindings, rows: Rows) -> Array:
        """Which instances are arrested."""
        return self.holds(lambda: [bindings.column(v) for v in self._variables], bindings.length, rows)

    def holds(self, columns: Callable[[], Sequence[Array]], length: int, rows: Rows) -> Array:
        """Which assignments are arrested."""
        arrested = np.zeros(length, dtype=bool)
        if self._flagged:
            assert self.naming is not None
            named = rows(self.naming)
            self._flags.reach(int(named.max(initial=-1)) + 1)
            arrested = self._flags.take(named)
        if len(self._set):
            arrested = arrested | (self._set.find(columns(), length) >= 0)
        return arrested

    def _add(self, bindings: Bindings, positions: Array) -> Array:
        added = bindings.at(positions)
        return self._set.add([added.column(v) for v in self._variables], added.length)[1]


def _naming(formula: Formula) -> int | None:
    """A leaf that names all free variables."""
    wanted = {*formula.original.blocks[0].variables}
    for leaf in formula.leaves:
        neuron = formula.original.neurons[leaf]
        if neuron.kind == LEAF and neuron.block == 0 and leaf not in formula.heads and wanted <= {*neuron.arguments}:
            return leaf
    return None


class Instances(Protocol):
    """Instances, or rows of a block of theirs, by position; they are stored only if a proposal of theirs wins."""

    def some_rows(self, positions: Array, leaf: int) -> Array:
        """The rows of a leaf's atoms; `DEFAULT` where one is not there."""
        ...

    def table(self, leaf: int) -> Relation:
        """The relation of a leaf's atoms."""
        ...

    def materialise(self, leaf: int, at: Array, absent: Array) -> Array:
        """The rows of a leaf's atoms at positions ``at``: those ``absent`` among them are made."""
        ...

    def store(self, positions: Array | range) -> Array | range:
        """Give the instances at these positions rows in their shape; returns those."""
        ...


class Proposing:
    """Leaves what the instances of one formula propose. ``number`` is that of its ``shape``."""

    def __init__(self, number: int, shape: RuleShape, member: int, rule: DeltaRule) -> None:
        self.rule = rule
        self.number = number
        self.shape = shape
        self.member = member
        self.arrests = Arrests(rule)

    def arrest(self, instances: Instances, bindings: Bindings, bad: Array, roots: Bounds, now: Round) -> None:
        """Arrest the instances at the positions ``bad``, whose roots have these bounds."""
        new = self.arrests.add(bindings, bad, partial(instances.some_rows, bad))
        if len(new):
            rows = spelled_out(instances.store(bad.take(new)))
            self.shape.arrested[rows] = True
            now.arrested.append(Arrested(self.number, rows, Bounds(*(end.take(new) for end in roots))))

    def queue(self, instances: Instances, leaf: int, side: int, at: Array, value: Array | float, now: Round) -> None:
        """Queue bounds for the atoms behind a leaf that can take them: ``value`` (n,) or one for all, of the instances
        at positions ``at`` (n,)."""
        completed, table = leaf in self.shape.formula.heads, instances.table(leaf)
        rows = instances.some_rows(at, leaf)
        takes: Array | None = None
        fresh = False  # whether all rows are new, so that none occurs twice
        if not completed and self.shape.modes.get(leaf, (ALL, ALL))[side] == LISTED:
            takes = table.flags("listed").take(rows)
        else:
            absent = np.flatnonzero(rows == DEFAULT)
            if len(absent):
                known = len(table)
                rows = instances.materialise(leaf, at, absent)
                fresh = len(table) - known == len(rows)
        if now.state.crossed:
            awake = ~table.held(rows)
            if self.shape.formula.compares:  # one that is arrested proposes nothing for its numbers
                shared = instances.some_rows(at, AUXILIARY)
                awake &= ~instances.table(AUXILIARY).held(shared) | (shared == DEFAULT)
            takes = awake if takes is None else takes & awake
        if completed and not fresh:
            free = ~table.flags("given").take(rows) & (value > table.take(side, rows) + now.state.noise)
            takes = free if takes is None else takes & free
        if takes is not None and not takes.all():
            taking = np.flatnonzero(takes)
            at, rows, value = at.take(taking), rows.take(taking), picked(value, taking)
        if len(at):
            now.inbox.add(table, side, Proposals(rows, value, at, self.number, leaf, instances, fresh))


def picked(value: Array | float, positions: Array) -> Array | float:
    """Some values, or the one that all have."""
    return value.take(positions) if isinstance(value, np.ndarray) else value
