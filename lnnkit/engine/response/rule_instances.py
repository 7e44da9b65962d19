"""Instances of one row each: the atoms behind their leaves are found, read and made; and the insertion step of
semi-naive evaluation: new heads get their bound when they are made, without a look-up.

It applies if all instances of a delta read the same bounds, propose one bound for one side of their heads, and would
not tighten a head that exists already: in ``edge(X, Y) & path(Y, Z) -> path(X, Z)`` over crisp edges every new path is
true, and existing ones are true already. Without it the closure of 3,000 nodes takes 2.2 times as long, the chain of
3,000 2.9 times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lnnkit.analysis.relevance import ALL, SIDES
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.merge import Proposals, Round
from lnnkit.engine.response.respond import Doubt, Read, constant
from lnnkit.engine.response.response_table import Column, ResponseTable, one_class
from lnnkit.formula.unfolding import AUXILIARY, LEAF
from lnnkit.join.bindings import Bindings, Known
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
        """Give instances rows in their shape, whose only block is 0."""
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
        """Reads the leaves of the instances at some positions; ``doubt`` gives other bounds than relations. If they are
        ``exact``, both ends are one array."""

        def read(index: int) -> Bounds:
            if index != AUXILIARY and self._shape.formula.neurons[index].fixed:  # its own shared neuron is none of them
                return constant(self._shape.formula, index, len(at), dtype)
            rows, table = self._read_at(index, at), self.table(index)
            if exact:
                end = table.take(1, rows)
                return Bounds(end, end)
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
        if self.bindings.distinct and description.names_all and not len(table):  # a million: 10 ms, with look-ups 70
            made = spelled_out(self._atoms.add_new(table, columns, bindings.length))
        else:
            made = self._atoms.materialise(table, columns, bindings.length)
        if whole:
            self._rows[leaf] = made
        else:
            self._rows[leaf][positions] = made
        return made if every else self._rows[leaf].take(at)

    def store(self, positions: Array | range) -> range:
        """Give instances rows in their shape, whose only block is 0."""
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


_VARIED = 8  # greatest number of classes of a head: each is looked up to see that it gets no bound

HeadBound = tuple[int, float]  # the side on which heads get a bound, and the bound


@dataclass(slots=True, eq=False)
class _Plan:
    """A step of a join that matches every leaf but the ``head``, the atom of ``leaf``. The atoms of ``leaves`` are
    read; the rows of ``stored`` leaves are kept with an instance. ``bounds`` caches the bound that heads get, by the
    classes of the leaves' bounds and the number of classes that heads have had."""

    leaf: int
    head: Leaf
    leaves: list[Leaf]
    stored: list[tuple[int, Leaf]]
    bounds: dict[tuple[int, ...], HeadBound | None] = field(default_factory=dict)


class HeadInsertion:
    """Inserts the heads of one rule with the bounds that its response ``table`` has; ``exact``: they are completed by
    their upper ends."""

    def __init__(
        self, number: int, shape: RuleShape, member: int, rule: DeltaRule, table: ResponseTable, *, exact: bool
    ) -> None:
        self._number = number
        self._shape = shape
        self._member = member
        self._rule = rule
        self._table = table
        self._exact = exact
        self._plans: dict[Known, _Plan | None] = {}  # by the variables and atoms that a join has bound

    def insert(self, bindings: Bindings, now: Round) -> bool:
        """Insert the missing heads of the instances found, and leave their bound in the round's inbox. False, with
        nothing done, if the instances must be evaluated one by one."""
        known = bindings.known
        if known not in self._plans:
            self._plans[known] = self._plan(bindings)
        plan = self._plans[known]
        classes = None if plan is None else _classes(plan, bindings, now)
        if plan is None or classes is None:
            return False
        head = plan.head.table
        key = (*classes, len(now.encoded.known(head)))
        if key not in plan.bounds:
            plan.bounds[key] = (self._completed if self._exact else self._proposed)(plan, classes, now)
        bound = plan.bounds[key]
        if bound is None or not _all_bounded(head, bound, now):
            return False
        self._make(plan, bound, bindings, now)
        return True

    def _make(self, plan: _Plan, bound: HeadBound, bindings: Bindings, now: Round) -> None:
        """Add the head atoms that do not exist yet, and queue the bound that each of them gets."""
        (side, value), atoms, head = bound, now.atoms, plan.head.table
        start, fresh, length = len(head), None, bindings.length
        tuples = plan.head.pattern.tuples(bindings.column, length)
        if bindings.distinct and plan.head.names_all and not start:
            atoms.add_new(head, tuples, length)
        else:
            fresh = atoms.make(head, tuples, length)
        rows = range(start, len(head))
        if not rows:
            return
        length = len(rows)
        now.made[head.number] = bound, now.made[head.number][1] + length
        columns: dict[int, Array | range] = {plan.leaf: rows}
        for leaf, description in plan.stored:
            columns[leaf] = bindings.rows(description.atom, fresh)
        made = Made(self._shape, self._member, columns)
        proposals = Proposals(rows, value, range(length), self._number, plan.leaf, made, distinct=True)
        now.inbox.add(head, side, proposals)

    def _plan(self, bindings: Bindings) -> _Plan | None:
        """The plan for the results of a step of a join; None if they leave more than one leaf unmatched."""
        formula, matched = self._shape.formula, bindings.known.matched
        leaves = {leaf: self._rule.leaf(leaf) for leaf in self._shape.blocks[0].columns}
        heads = [*formula.heads]
        if not self._exact:
            heads = [leaf for leaf, description in leaves.items() if description and description.atom not in matched]
        if len(heads) != 1 or (not self._exact and heads[0] in formula.heads):
            return None
        (head,) = heads
        stored: list[tuple[int, Leaf]] = []
        for leaf, description in leaves.items():
            if description is None or (leaf != head and description.atom not in matched):
                return None
            if leaf != head:
                stored.append((leaf, description))
        head_leaf, read = leaves[head], dict(stored)
        assert head_leaf is not None
        leaves_read = [read[leaf] for leaf in self._table.leaves if leaf != head]
        if not all(leaf.plain and leaf.deviating and leaf.atom in bindings.known.listed for leaf in leaves_read):
            return None
        return _Plan(head, head_leaf, leaves_read, stored)

    def _proposed(self, plan: _Plan, classes: list[int], now: Round) -> HeadBound | None:
        """The bound that heads at their default get; None if anything else is proposed, or heads of another class would
        get a bound too."""
        position = self._table.leaves.index(plan.leaf)
        default, *others = now.encoded.known(plan.head.table)
        proposed = self._table.proposed((*classes[:position], default, *classes[position:]), now.encoded)
        if len(proposed) != 1 or len(others) > _VARIED:
            return None
        (((leaf, side), value),) = proposed.items()
        if leaf != plan.leaf or self._shape.modes[leaf][side] != ALL:
            return None
        silent = (self._table.silent((*classes[:position], n, *classes[position:]), now.encoded) for n in others)
        return (side, value) if all(silent) else None

    def _completed(self, plan: _Plan, classes: list[int], now: Round) -> HeadBound | None:
        """As `_proposed`, of heads that are completed by their upper ends."""
        proposed = self._table.proposed(tuple(classes), now.encoded)
        head = plan.head.table
        if proposed.keys() != {(plan.leaf, 1)} or head.default != (0.0, 0.0):
            return None
        value = proposed[plan.leaf, 1]
        others = (now.encoded.pairs[number][1] for number in now.encoded.known(head)[1:])
        return None if any(upper < value - now.state.noise for upper in others) else (1, value)


def _classes(plan: _Plan, bindings: Bindings, now: Round) -> list[int] | None:
    """The class of bounds that all atoms behind each leaf have; None where those of a leaf differ."""
    classes: list[int] = []
    for leaf in plan.leaves:
        sole = sole_class(leaf, bindings, now.encoded, now.delta)
        if sole is None:
            return None
        classes.append(sole)
    return classes


def _all_bounded(head: Relation, bound: HeadBound, now: Round) -> bool:
    """Whether every atom of the head's table has received a proposal, in earlier rounds or the same one in this
    round."""
    known, count = now.made.get(head.number, (bound, 0))
    listed = len(head.listing(SIDES[bound[0]])) + count
    if known != bound or len(head.tuples) != listed or not now.encoded.settled(head):
        return False
    now.made[head.number] = bound, count
    return True
