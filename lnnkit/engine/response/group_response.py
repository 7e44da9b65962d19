"""How the rule of a formula with quantifiers responds to a delta: the instances that it may change are assembled,
evaluated as a whole, and stored only where they win."""

from __future__ import annotations

import numpy as np

from lnnkit.arrays import where_set
from lnnkit.engine.moves import Round
from lnnkit.engine.response.proposing import Proposing
from lnnkit.engine.response.respond import Doubt, Read, completing, constant, on_device, respond
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.bindings import Bindings
from lnnkit.join.instances.assembled import Instances
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import UNKNOWN, Relation
from lnnkit.store.row_arrays import Array


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
        if self.arrests.any:
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
