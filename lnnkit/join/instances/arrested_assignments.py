"""The arrested instances of a formula, by the entities of its free variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.store.columns.growing import Growing
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.columns.sorting import first_places
from lnnkit.store.tuple_set import TupleSet

# (n,) the atom rows of a leaf; its table's default row for an atom that is not materialised
Rows = Callable[[int], Array]


class Arrests:
    """A growing set of assignments of a formula's free variables: rows of its quantifiers are arrested together. If an
    atom names all variables, its row represents the assignment once it is materialised."""

    def __init__(self, rule: DeltaRule) -> None:
        self.naming = _naming(rule.formula)
        self._variables = rule.formula.original.blocks[0].variables
        self._set = TupleSet(len(self._variables), rule.radix)
        self._flags = Growing(np.bool_)
        self._flagged = 0
        self.any = False

    def __len__(self) -> int:
        return self._flagged + len(self._set)

    def add(self, found: Bindings, positions: Array, rows: Rows, default_row: int) -> Array:
        """Arrest the instances at ``positions``, whose atoms ``rows`` gives; returns those that were not arrested
        before, without repetition. ``default_row`` is that of the naming atom's table."""
        self.any = True
        if self.naming is None:
            return self._add(found, positions)
        own = rows(self.naming)
        absent = own == default_row
        known = self.flags(found.at(positions), lambda _: own)
        some = np.flatnonzero(~(known | absent))
        picked = own.take(some)
        if len(picked):
            size = int(picked.max()) + 1
            first = first_places(picked, size)
            if first is not None:
                some, picked = some.take(first), picked.take(first)
            self._flags.reach(size)[picked] = True
            self._flagged += len(picked)
        if not absent.any():
            return some
        strangers = np.flatnonzero(absent)
        fresh = self._add(found, positions.take(strangers))
        return np.sort(np.concatenate([some, strangers.take(fresh)]))

    def flags(self, found: Bindings, rows: Rows) -> Array:
        """Which instances are arrested."""
        return self.holds(lambda: [found.column(v) for v in self._variables], found.length, rows)

    def holds(self, columns: Callable[[], Sequence[Array]], length: int, rows: Rows) -> Array:
        """Which assignments are arrested."""
        arrested = np.zeros(length, dtype=bool)
        if self._flagged:
            assert self.naming is not None
            own = rows(self.naming)
            arrested = self._flags.reach(int(own.max()) + 1 if len(own) else 0).take(own)
        if len(self._set):
            arrested = arrested | (self._set.find(columns(), length) >= 0)
        return arrested

    def _add(self, found: Bindings, positions: Array) -> Array:
        some = found.at(positions)
        return self._set.add([some.column(v) for v in self._variables], some.length)[1]


def _naming(formula: Formula) -> int | None:
    """A leaf that names all free variables."""
    wanted = {*formula.original.blocks[0].variables}
    for leaf in formula.leaves:
        neuron = formula.original.neurons[leaf]
        if neuron.kind == LEAF and neuron.block == 0 and leaf not in formula.heads and wanted <= {*neuron.arguments}:
            return leaf
    return None
