"""One instance reconstructed: the places where it reads bounds, and what it proposes for given reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lnnkit.engine.response.respond import ascend, entering, leaf_bound
from lnnkit.formula.passes import downward, least_heads, neuron_upward, upward
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.grounding import Grounding
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds
from lnnkit.store.columns.row_arrays import Array


@dataclass(frozen=True, slots=True)
class Inner:
    """The rows of one inner block of an instance: their numbers in the batch; ``parent`` is each one's parent among the
    rows here. ``ids`` are the entities of all variables, if the instance was reassembled."""

    rows: np.ndarray
    parent: np.ndarray
    virtual: np.ndarray
    stranger: np.ndarray
    ids: Mapping[int, np.ndarray] = field(default_factory=dict[int, np.ndarray])


@dataclass(frozen=True)
class InstanceView:
    """An instance of a ``formula``. ``bindings`` has its free variables' entities; ``rows`` the atom rows of each leaf,
    one for each row of the leaf's block; ``inner`` the rows of the inner blocks. ``completes``: it completes a closed
    predicate."""

    formula: Formula
    bindings: Mapping[int, int]
    rows: Mapping[int, np.ndarray]
    inner: tuple[Inner, ...] = ()
    completes: bool = False

    def table(self, leaf: int) -> str:
        """The table that holds a leaf's bounds."""
        if leaf == AUXILIARY:
            assert self.formula.auxiliary is not None
            return self.formula.auxiliary
        return self.formula.neurons[leaf].source

    def length(self, index: int) -> int:
        """The number of rows of a leaf's block."""
        block = 0 if index == AUXILIARY else self.formula.neurons[index].block
        return 1 if block == 0 else len(self.inner[block - 1].rows)

    def says(self, read: Mapping[int, Bounds], leaf: int, place: int, side: int) -> Array:
        """(variants,) what the instance proposes for one side of the row at ``place`` of ``leaf``, for each of several
        sets of leaf values: ``read`` has (variants, rows)."""
        variants = _variants(read)
        reader, groupings = self._reader(read, variants), self._groupings(variants)
        found = leaf_bound(self.formula, reader, groupings, leaf, side, completes=self.completes)
        return found.reshape(variants, -1)[:, place]

    def upward(self, read: Mapping[int, Bounds]) -> Bounds:
        """(variants,) the upward bounds of the whole formula."""
        variants = _variants(read)
        return upward(self.formula, entering(self._reader(read, variants), self.formula), self._groupings(variants))[
            self.formula.top
        ]

    def bodies(self, read: Mapping[int, Bounds]) -> list[Bounds]:
        """For each inner block the upward bounds of its quantifier's body, (variants, rows)."""
        variants = _variants(read)
        values = upward(self.formula, entering(self._reader(read, variants), self.formula), self._groupings(variants))
        found: dict[int, Bounds] = {}
        for neuron in self.formula.neurons:
            if neuron.inner > 0:
                body = values[neuron.operands[0]]
                found[neuron.inner] = Bounds(*(end.reshape(variants, -1) for end in body))
        return [found[block] for block in sorted(found)]

    def contradictory(self, read: Mapping[int, Bounds]) -> Array:
        """(variants,) whether the instance is unsatisfiable."""
        variants = _variants(read)
        reader, groupings = self._reader(read, variants), self._groupings(variants)
        met = ascend(self.formula, reader, groupings)
        return met.crossed | downward(self.formula, met.values, met.kept, groupings).empty

    def least(self, read: Mapping[int, Bounds], head: int) -> Array:
        """(variants,) the least truth of a ``head`` that a defining statement requires if its antecedent is as true as
        possible, and the equalities beside the head no truer than necessary."""
        variants = _variants(read)
        values = upward(self.formula, entering(self._reader(read, variants), self.formula), self._groupings(variants))
        antecedent = values[self.formula.neurons[self.formula.top].operands[0]]
        least = [Bounds(value.lower, value.lower) for value in values]
        return least_heads(self.formula, antecedent.upper, least, 1.0)[head]

    def _reader(self, read: Mapping[int, Bounds], variants: int) -> Callable[[int], Bounds]:
        def reader(index: int) -> Bounds:
            if index in read:
                return Bounds(read[index].lower.flatten(), read[index].upper.flatten())
            if self.formula.neurons[index].arithmetic is not None:  # a leaf of constants alone
                lower, upper = neuron_upward(self.formula.neurons[index], ())
                return Bounds(*(np.broadcast_to(end, variants * self.length(index)) for end in (lower, upper)))
            truth = float(self.formula.neurons[index].kind == "true")
            value = np.full((variants * self.length(index),), truth, dtype=np.float64)
            return Bounds(value, value)

        return reader

    def _groupings(self, variants: int) -> tuple[Grouping | None, ...]:
        """The groupings of the inner rows for several copies of the instance."""
        found: list[Grouping | None] = [None]
        for number, own in enumerate(self.inner, 1):
            above = self.formula.blocks[number].parent
            parents = 1 if above == 0 else len(self.inner[above - 1].rows)
            copies = np.arange(variants)[:, None]
            group = (copies * parents + own.parent[None]).reshape(-1)
            virtual, stranger = (np.tile(e, variants) for e in (own.virtual, own.stranger))
            found.append(Grouping(group, variants * parents, None, virtual, stranger))
        return tuple(found)


def _variants(read: Mapping[int, Bounds]) -> int:
    return next(iter(read.values())).lower.shape[0] if read else 1


class InstanceViews:
    """Reconstructs instances of a grounding."""

    def __init__(self, grounding: Grounding) -> None:
        self._grounding = grounding
        self._batches: dict[int, _Columns] = {}

    def of(self, number: int, leaf: int, instance: int) -> tuple[InstanceView, int]:
        """The instance of row ``instance`` of the block of ``leaf``, and the position of that row in it."""
        columns = self._batches.get(number)
        if columns is None:
            columns = self._batches[number] = _Columns(self._grounding.batches[number])
        batch = columns.batch
        block = batch.formula.block_of(leaf)
        way = batch.formula.path(block)
        rows_on_way = [int(rows[0]) for rows in batch.path(block, np.array([instance]))]
        top = rows_on_way[0]
        member = self._grounding.members[batch.members[int(columns.member[top])]]
        inner = columns.inner(top)
        rows = {
            index: column[top : top + 1] if at == 0 else column[inner[at - 1].rows]
            for at, own in enumerate(columns.columns)
            for index, column in own.items()
        }
        if isinstance(member, DeltaRule):
            formula, ids = member.formula.original, self._joined(columns, member, top, rows)
            bindings = {variable: ids[variable] for variable in formula.blocks[0].variables}
            inner = tuple(_one_row(ids) for _ in formula.blocks[1:])
            return InstanceView(formula, bindings, rows, inner, batch.completes), 0
        local = int(columns.local[top])
        own = zip(member.formula.blocks[0].variables, member.variables(0), strict=True)
        bindings = {variable: int(ids[local]) for variable, ids in own}
        place = 0
        for each, row in zip(way[1:], rows_on_way[1:], strict=True):
            own = inner[each - 1]
            place = int(np.flatnonzero((own.rows == row) & (own.parent == place))[0])
        return InstanceView(member.formula, bindings, rows, inner, batch.completes), place

    def inner_bindings(self, number: int, view: InstanceView, block: int, place: int) -> dict[int, int]:
        """The entities of all variables at one row of an inner block; virtual rows have reserved ids."""
        batch = self._grounding.batches[number]
        if view.inner[block - 1].ids:
            return {variable: int(ids[place]) for variable, ids in view.inner[block - 1].ids.items()}
        found = dict(view.bindings)
        for each in reversed(batch.formula.path(block)[1:]):
            row = int(view.inner[each - 1].rows[place])
            place = int(view.inner[each - 1].parent[place])
            own = batch.blocks[each]
            member = self._grounding.members[batch.members[int(own.member[row])]]
            assert not isinstance(member, DeltaRule)
            local = int(own.local[row])
            names = member.formula.blocks[each].variables
            found |= {variable: int(ids[local]) for variable, ids in zip(names, member.variables(each), strict=True)}
        return found

    def _joined(self, columns: _Columns, rule: DeltaRule, top: int, rows: Mapping[int, np.ndarray]) -> dict[int, int]:
        variables = rule.formula.blocks[0].variables
        if rule.enumerates:
            local = int(columns.local[top])
            return {v: int(kept.values[local]) for v, kept in zip(variables, rule.kept, strict=True)}
        atoms = self._grounding.atoms
        found: dict[int, int] = {}
        for leaf in (*rule.formula.leaves, *((AUXILIARY,) if rule.formula.auxiliary is not None else ())):
            _, local = atoms.behind(int(rows[leaf][0]))
            if local < 0:
                continue
            pattern = rule.pattern(rule.atom(leaf))
            for variable, place in pattern.places.items():
                if variable not in found:
                    found[variable] = int(pattern.table.tuples.columns[place][local])
        return {variable: found[variable] for variable in variables}


def _one_row(ids: Mapping[int, int]) -> Inner:
    """The row of an inner block that has an instance of its own."""
    real = np.zeros(1, bool)
    each = {variable: np.array([entity], np.int32) for variable, entity in ids.items()}
    return Inner(np.zeros(1, np.int64), np.zeros(1, np.int64), real, real, each)


class _Columns:
    """A batch's columns as arrays."""

    def __init__(self, batch: RuleShape) -> None:
        self.batch = batch
        self.columns = [{index: column.values for index, column in block.columns.items()} for block in batch.blocks]
        self.member = batch.blocks[0].member
        self.local = batch.blocks[0].local

    def inner(self, top: int) -> tuple[Inner, ...]:
        """The rows of each inner block beneath a row of block 0, without retired ones, repeated for each row that owns
        them."""
        found: list[Inner] = []
        for number, (block, own) in enumerate(zip(self.batch.formula.blocks[1:], self.batch.blocks[1:], strict=True)):
            around = found[block.parent - 1].rows if block.parent else np.array([top])
            groups = own.of.values[around] if block.grouped else around
            order, ends = self._owned[number]
            low, high = (np.searchsorted(ends, groups, side) for side in ("left", "right"))
            parent = np.repeat(np.arange(len(around)), high - low)
            within = np.arange(len(parent)) - np.repeat((high - low).cumsum() - (high - low), high - low)
            rows = order[np.repeat(low, high - low) + within]
            by_row = np.argsort(rows, kind="stable")
            rows, parent = rows[by_row], parent[by_row]
            found.append(Inner(rows, parent, own.virtual.values[rows], own.stranger.values[rows]))
        return tuple(found)

    @cached_property
    def _owned(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The rows of each inner block, grouped."""
        found: list[tuple[np.ndarray, np.ndarray]] = []
        for block in self.batch.blocks[1:]:
            group = block.group.values
            order = np.argsort(group, kind="stable")
            found.append((order, group[order]))
        return found
