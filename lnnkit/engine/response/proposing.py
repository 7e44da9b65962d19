"""What instances say goes to the inbox of their round: the atoms behind their leaves are found, made where they are not
there, and asked whether they take a bound; instances that cannot be satisfied are arrested. Those of a formula with
quantifiers are assembled, evaluated as a whole, and stored only where they win."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from lnnkit.analysis.relevance import ALL, LISTED
from lnnkit.arrays import where_set
from lnnkit.engine.merge import Pending, Proposals, Round
from lnnkit.engine.response.respond import Doubt, Read, completing, constant, on_device, respond
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.assembled import Instances
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import DEFAULT, RESERVED, UNKNOWN, Relation
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

    def __len__(self) -> int:
        return self._flagged + len(self._set)

    def add(self, bindings: Bindings, positions: Array, rows: Rows) -> Array:
        """Arrest the instances at ``positions``, whose atoms ``rows`` gives; returns those that were not arrested
        before, without repetition."""
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


class PendingRows(Pending, Protocol):
    """Instances, or rows of a block of theirs, by position."""

    def some_rows(self, positions: Array, leaf: int) -> Array:
        """The rows of a leaf's atoms; `DEFAULT` where one is not there."""
        ...

    def table(self, leaf: int) -> Relation:
        """The relation of a leaf's atoms."""
        ...

    def materialise(self, leaf: int, at: Array, absent: Array) -> Array:
        """The rows of a leaf's atoms at positions ``at``: those ``absent`` among them are made."""
        ...


class Proposing:
    """Leaves what the instances of one formula propose. ``number`` is that of its ``shape``."""

    def __init__(self, number: int, shape: RuleShape, member: int, rule: DeltaRule) -> None:
        self.rule = rule
        self.number = number
        self.shape = shape
        self.member = member
        self.arrests = Arrests(rule)

    def arrest(self, instances: PendingRows, bindings: Bindings, bad: Array, roots: Bounds, now: Round) -> None:
        """Arrest the instances at the positions ``bad``, whose roots have these bounds."""
        new = self.arrests.add(bindings, bad, partial(instances.some_rows, bad))
        if len(new):
            rows = spelled_out(instances.store(bad.take(new)))
            self.shape.arrested[rows] = True
            now.arrested.append(Arrested(self.number, rows, Bounds(*(end.take(new) for end in roots))))

    def queue(self, instances: PendingRows, leaf: int, side: int, at: Array, value: Array | float, now: Round) -> None:
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
                if completed:
                    now.state.begin(table, rows.take(absent))
                fresh = len(table) - known == len(rows)
        if now.state.crossed:
            awake = ~table.held(rows)
            if self.shape.formula.compares:  # one that is arrested proposes nothing for its numbers
                shared = instances.some_rows(at, AUXILIARY)
                awake &= ~instances.table(AUXILIARY).held(shared) | (shared == DEFAULT)
            takes = awake if takes is None else takes & awake
        if completed and table.derived:
            free = table.improved(side, rows, value)
            takes = free if takes is None else takes & free
        elif completed and not fresh:
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


class GroupResponse(Proposing):
    """The response of the rule of a formula with quantifiers."""

    def __init__(self, number: int, shape: RuleShape, member: int, group: GroupRule) -> None:
        super().__init__(number, shape, member, group.finder)
        self.group = group

    def propose(self, bindings: Bindings, now: Round) -> None:
        """Work out what instances propose, and leave it in the round's inbox."""
        free = [bindings.column(variable) for variable in self.group.formula.blocks[0].variables]
        instances = self.group.assembler.of(free, bindings.length)
        evaluate = on_device(completing if self.shape.completes else respond, now.state.device)
        response = evaluate(self.shape, reader(instances, now.state.dtype), instances.groupings)
        silent = np.zeros(bindings.length, bool)
        if self.arrests:
            silent = self.arrests.flags(bindings, lambda leaf: instances.rows[leaf])
        bad = where_set(response.bad & ~silent)
        if len(bad):
            roots = Bounds(response.root.lower.take(bad), response.root.upper.take(bad))
            self.arrest(_Rows(self, instances, 0), bindings, bad, roots, now)
        for (leaf, side), (news, value) in response.proposed.items():
            block = self.shape.formula.block_of(leaf)
            stated = leaf in self.shape.observed and leaf == self.shape.formula.head[0]
            still = silent if stated else response.bad | silent
            at = where_set(news & ~instances.silenced(block, still))
            if len(at):
                self.queue(_Rows(self, instances, block), leaf, side, at, value.take(at), now)


class _Rows:
    """The rows of a block of assembled instances."""

    def __init__(self, response: GroupResponse, instances: Instances, block: int) -> None:
        self._response = response
        self._instances = instances
        self._block = block

    def some_rows(self, positions: Array, leaf: int) -> Array:
        """The atom rows behind a leaf."""
        return self._instances.rows[leaf].take(positions)

    def table(self, leaf: int) -> Relation:
        """The relation of a leaf's atoms."""
        return self._instances.tables[leaf]

    def materialise(self, leaf: int, at: Array, absent: Array) -> Array:
        """The atom rows behind a leaf at positions ``at``: those ``absent`` among them are made."""
        self._response.group.assembler.make(self._instances, leaf, at.take(absent))
        return self.some_rows(at, leaf)

    def store(self, positions: Array | range) -> Array:
        """Give the rows at these positions, and the instances around them, rows in their shape."""
        response = self._response
        return response.group.store(response.shape, response.member, self._instances, self._block, positions)


def reader(instances: Instances, dtype: np.dtype, doubt: Doubt | None = None) -> Read:
    """Reads the leaves of instances, of a head that a defining statement defines only what is given; in ``doubt`` as it
    reads them."""
    formula = instances.formula

    def read(index: int) -> Bounds:
        if index != AUXILIARY and formula.neurons[index].fixed:
            return constant(formula, index, instances.length(formula.neurons[index].block), dtype)
        rows, table = instances.rows[index], instances.tables[index]
        if index in formula.heads:
            rows = np.where(table.flags("given").take(rows), rows, UNKNOWN)
        return table.read(rows) if doubt is None else doubt.read(table, rows)

    return read
