"""How the rule of a formula with quantifiers responds to a delta: the instances that it may change are assembled,
evaluated as a whole, and stored only where they win."""

from __future__ import annotations

import numpy as np

from lnnkit.analysis.relevance import LISTED
from lnnkit.arrays import where_set
from lnnkit.engine.bounds_state import State
from lnnkit.engine.merge import Proposals
from lnnkit.engine.moves import Round
from lnnkit.engine.response.on_device import on_device
from lnnkit.engine.response.respond import Read, Response, Target, completing, constant, respond
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.bindings import Bindings
from lnnkit.join.instances.arrested_assignments import Arrests
from lnnkit.join.instances.assembled import Instances
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds
from lnnkit.store.atoms import UNKNOWN, Atoms
from lnnkit.store.columns.row_arrays import Array
from lnnkit.trail.events import Arrested


class GroupResponse:
    """Leaves what the instances of one formula propose. ``number`` is that of its shape, ``batch``."""

    def __init__(self, number: int, batch: RuleShape, member: int, group: GroupRule) -> None:
        self.rule = group.finder
        self.number = number
        self.batch = batch
        self.member = member
        self.group = group
        self.arrests = Arrests(group.finder)

    def propose(self, found: Bindings, now: Round) -> None:
        """Work out what instances propose, and leave it in the round's inbox."""
        free = [found.column(variable) for variable in self.group.formula.blocks[0].variables]
        instances = self.group.assembler.of(free, found.length)
        now.extend()
        evaluate = on_device(completing if self.batch.completes else respond, now.state.device)
        said = evaluate(self.batch, reader(instances, now.state, now.atoms), instances.groupings)
        silent = self._arrest(found, instances, said, now)
        for target in said.proposed:
            self._queue(instances, said, silent, target, now)

    def _queue(self, instances: Instances, said: Response, silent: Array, target: Target, now: Round) -> None:
        """Queue the proposals through a leaf that tighten its atoms' bounds, on sides that are kept; atoms that are not
        there are made. Instances that are ``silent`` propose nothing."""
        batch, state, atoms = self.batch, now.state, now.atoms
        (leaf, side), (news, value) = target, said.proposed[target]
        block = batch.formula.block_of(leaf)
        observed, completes = leaf in batch.observed, leaf in batch.formula.heads
        still = silent if observed and leaf == batch.formula.head[0] else said.bad | silent
        places = where_set(news & ~instances.silenced(block, still))
        if not len(places):
            return
        if not completes and not observed and batch.modes[leaf][side] == LISTED:
            row = instances.rows[leaf].take(places)
            hears = atoms.flags("listed").take(row)
        else:
            row = self.group.assembler.made(instances, leaf, places)
            now.extend()
            hears = np.ones(len(row), bool)
        if completes:
            hears &= ~atoms.flags("given").take(row)
            hears &= value.take(places) > state.ends(side).values.take(row) + state.noise
        hears &= ~state.frozen.take(row)
        if hears.any():
            places, row = places[hears], row[hears]
            pending = _Pending(self, instances, block)
            now.inbox.sides[side].append(Proposals(row, value.take(places), places, self.number, leaf, pending))

    def _arrest(self, found: Bindings, instances: Instances, said: Response, now: Round) -> Array:
        """Arrest the instances that cannot be satisfied; returns flags of those that were arrested before."""
        before = np.zeros(found.length, bool)
        if self.arrests.any:
            before = self.arrests.flags(found, lambda leaf: instances.rows[leaf])
        bad = where_set(said.bad & ~before)
        if len(bad):
            naming = self.arrests.naming
            default_row = UNKNOWN if naming is None else now.atoms.tables[self.rule.table(naming)].default_row
            some = self.arrests.add(found, bad, lambda leaf: instances.rows[leaf].take(bad), default_row)
            bad = bad.take(some)
            rows = self.group.store(self.batch, self.member, instances, 0, bad)
            self.batch.arrested[rows] = True
            roots = Bounds(said.root.lower.take(bad), said.root.upper.take(bad))
            now.arrested.append(Arrested(self.number, rows, roots))
        return before


class _Pending:
    """Instances that are stored only if a proposal of theirs, through a row of ``block``, wins."""

    def __init__(self, response: GroupResponse, instances: Instances, block: int) -> None:
        self._response = response
        self._instances = instances
        self._block = block

    def store(self, positions: Array | range) -> Array:
        """Give the rows at these positions, and the instances around them, rows in their batch."""
        own = self._response
        return own.group.store(own.batch, own.member, self._instances, self._block, positions)


def reader(instances: Instances, state: State, atoms: Atoms) -> Read:
    """Reads the leaves of instances as they are kept; of a head that a defining statement defines only what is
    given."""
    formula = instances.formula

    def read(index: int) -> Bounds:
        if index != AUXILIARY and formula.neurons[index].fixed:
            return constant(formula, index, instances.length(formula.neurons[index].block), state.dtype)
        rows = instances.rows[index]
        if index in formula.heads:
            rows = np.where(atoms.flags("given").take(rows), rows, UNKNOWN)
        return state.read(rows)

    return read
