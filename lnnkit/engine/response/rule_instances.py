"""Instances of one row each: the atoms behind their leaves are found, read and made."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.response.respond import Doubt, Read, constant
from lnnkit.engine.response.response_table import Column, one_class
from lnnkit.formula.unfolding import AUXILIARY, LEAF
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule, Leaf
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.join.triggers import Delta
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import FALSE, TRUE, UNKNOWN, Relation, Relations
from lnnkit.store.row_arrays import Array, spelled_out, taken

STRIP = 2**15  # instances evaluated at once: their data fit the cache


def sole_class(leaf: Leaf, bindings: Bindings, encoded: EncodedBounds, delta: Delta | None) -> int | None:
    """The class that all atoms of a leaf are known to have."""
    sole, moved = encoded.sole(leaf.table), bindings.moved
    if sole is None and delta is not None and moved is not None and moved[0] == leaf.atom:
        return delta.common_class(leaf.table, moved[1], encoded.common)
    return sole


class Made:
    """Instances each of which has made an atom: the rows of their leaves, which is all that will be stored."""

    __slots__ = ("_columns", "_member", "_shape")

    def __init__(self, shape: RuleShape, member: int, columns: Mapping[int, Array | range]) -> None:
        self._shape = shape
        self._member = member
        self._columns = columns

    def store(self, positions: Array | range) -> range:
        """Give instances rows in their shape."""
        columns = self._columns
        if len(positions) < len(next(iter(columns.values()))):
            at = spelled_out(positions)
            columns = {leaf: taken(rows, at) for leaf, rows in columns.items()}
        return self._shape.append(0, columns, self._member, -1, len(positions))


class RuleInstances:
    """Instances with the atom rows of their leaves; they are stored only when asked to be."""

    def __init__(
        self,
        shape: RuleShape,
        member: int,
        rule: DeltaRule,
        bindings: Bindings,
        atoms: Relations,
        encoded: EncodedBounds,
        delta: Delta | None = None,
    ) -> None:
        self.bindings = bindings
        self._delta = delta
        self._shape = shape
        self._member = member
        self._rule = rule
        self._atoms = atoms
        self._classes = encoded
        self._rows: dict[int, Array] = {}

    def table(self, leaf: int) -> Relation:
        """The relation of a leaf's atoms, or of the truths of an equality."""
        return self._rule.table_of(leaf)

    def column(self, leaf: int) -> Column:
        """The classes of a leaf's rows."""
        sole, description, table = self.sole(leaf), self._rule.leaf(leaf), self.table(leaf)
        if sole is not None:
            return one_class(sole)
        codes, classes = self._classes.codes(table), self._classes.known(table)
        if description is None or not description.plain or description.atom not in self.bindings.known.matched:
            unknown = codes.take(np.array([UNKNOWN])).tolist()
            return Column(codes.take(self._read_rows(leaf)), classes=[*classes, *unknown])
        rows, via = self.bindings.once(description.atom)
        return Column(codes.take(rows), via=via, classes=classes)

    def sole(self, leaf: int) -> int | None:
        """The class that all of a leaf's atoms are known to have."""
        description = self._rule.leaf(leaf)
        if description is None or not description.plain or not description.deviating:
            return None
        if description.atom not in self.bindings.known.listed:
            return None
        return sole_class(description, self.bindings, self._classes, self._delta)

    def rows(self, leaf: int) -> Array:
        """The rows of a leaf's atoms, or of an equality's truths; `DEFAULT` where an atom is not there."""
        if leaf not in self._rows:
            self._rows[leaf] = self._find(leaf)
        return self._rows[leaf]

    def some_rows(self, positions: Array, leaf: int) -> Array:
        """As ``rows``, of the instances at some positions."""
        if len(positions) == self.bindings.length and (positions[1:] > positions[:-1]).all():
            return self.rows(leaf)
        description = None if leaf in self._rows else self._rule.leaf(leaf)
        if description is None or description.atom not in self.bindings.known.matched:
            return self.rows(leaf).take(positions)
        return spelled_out(self.bindings.rows(description.atom, positions))

    def _read_rows(self, leaf: int) -> Array | range:
        """Like ``rows``, but a head is read only as facts give it."""
        if leaf in self._shape.formula.heads:
            rows = self.rows(leaf)
            given = self.table(leaf).flags("given").take(rows)
            return np.where(given, rows, np.int32(UNKNOWN))
        description = None if leaf in self._rows else self._rule.leaf(leaf)
        if description is None or description.atom not in self.bindings.known.matched:
            return self.rows(leaf)
        return self.bindings.rows(description.atom)

    def reader(self, at: Array | range, dtype: np.dtype, doubt: Doubt | None = None, *, exact: bool = False) -> Read:
        """Reads the leaves of the instances at some positions; in ``doubt`` as it reads them. If they are ``exact``,
        both ends are one array."""

        def read(index: int) -> Bounds:
            if index != AUXILIARY and self._shape.formula.neurons[index].fixed:
                return constant(self._shape.formula, index, len(at), dtype)
            rows, table = self._read_at(index, at), self.table(index)
            if exact:
                return Bounds(*[table.take(1, rows)] * 2)
            return table.read(rows) if doubt is None else doubt.read(table, spelled_out(rows))

        return read

    def end(self, leaf: int, side: int, at: Array | range) -> Array:
        """(n,) the lower (0) or the upper (1) ends of a leaf's atoms in the instances at some positions; read-only."""
        return self.table(leaf).take(side, self._read_at(leaf, at))

    def _read_at(self, leaf: int, at: Array | range) -> Array | range:
        return taken(self._read_rows(leaf), at)

    def materialise(self, leaf: int, at: Array, absent: Array) -> Array:
        """The atom rows behind a leaf at positions ``at``: those ``absent`` among them are made."""
        every = len(absent) == len(at)
        positions = at if every else at.take(absent)
        whole = len(positions) == self.bindings.length
        bindings = self.bindings if whole else self.bindings.at(positions)
        description = self._rule.leaf(leaf)
        assert description is not None
        columns, table = description.pattern.tuples(bindings.column, bindings.length), description.table
        if self.bindings.distinct and description.every and not len(table):  # a million: 10 ms, with look-ups 70
            made = spelled_out(self._atoms.add_new(table, columns, bindings.length))
        else:
            made = self._atoms.materialise(table, columns, bindings.length)
        if whole:
            self._rows[leaf] = made
        else:
            self._rows[leaf][positions] = made
        return made if every else self._rows[leaf].take(at)

    def store(self, positions: Array | range) -> range:
        """Give instances rows in their shape."""
        positions = spelled_out(positions)
        columns = {leaf: self.some_rows(positions, leaf) for leaf in self._shape.blocks[0].columns}
        local = -1
        if self._rule.enumerates:
            local = len(self._rule.kept[0]) if self._rule.kept else 0
            bindings = self.bindings.at(positions)
            for variable, kept in zip(self._rule.formula.blocks[0].variables, self._rule.kept, strict=True):
                kept.append(bindings.column(variable))
        return self._shape.append(0, columns, self._member, local, len(positions))

    def _find(self, leaf: int) -> Array:
        if leaf != AUXILIARY and self._shape.formula.neurons[leaf].kind != LEAF:
            return self._compared(leaf)
        atom = self._rule.atom(leaf)
        bindings, pattern = self.bindings, self._rule.pattern(atom)
        if atom in bindings.known.matched:
            return bindings.local(atom)
        return pattern.table.tuples.find(pattern.tuples(bindings.column, bindings.length), bindings.length)

    def _compared(self, leaf: int) -> Array:
        """An equality of entities. The formulas that share the shape may have other variables."""
        bindings, (one, other) = self.bindings, self._rule.formula.neurons[leaf].arguments
        if one == other:
            return np.full(bindings.length, TRUE, dtype=np.int32)
        columns = [bindings.column(a) if isinstance(a, int) else np.int32(self._rule.entity(a)) for a in (one, other)]
        rows = np.full(bindings.length, FALSE, np.int32)
        rows[columns[0] == columns[1]] = TRUE
        return rows
