"""One instance reconstructed: the places where it reads bounds, and what it proposes for given reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lnnkit.engine.response.respond import ascend, entering, leaf_bound
from lnnkit.formula.passes import downward, least_heads, neuron_upward, upward
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.assembled import Instances
from lnnkit.join.instances.grounding import Grounding
from lnnkit.logic.bounds import Bounds
from lnnkit.store.columns.row_arrays import Array


@dataclass(frozen=True, slots=True)
class Inner:
    """The rows of one inner block of an instance: each one's ``parent`` among the rows of the block around, and the
    entities ``ids`` of all variables; virtual rows have reserved ids."""

    parent: np.ndarray
    virtual: np.ndarray
    stranger: np.ndarray
    ids: Mapping[int, np.ndarray]

    def at(self, place: int) -> dict[int, int]:
        """The entities of all variables in one row."""
        return {variable: int(column[place]) for variable, column in self.ids.items()}


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
        return 1 if block == 0 else len(self.inner[block - 1].parent)

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
            parents = 1 if above == 0 else len(self.inner[above - 1].parent)
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

    def of(self, number: int, leaf: int, instance: int) -> tuple[InstanceView, int]:
        """The instance of row ``instance`` of the block of ``leaf``, and the position of that row in it."""
        batch = self._grounding.batches[number]
        block = batch.formula.block_of(leaf)
        top = int(batch.tops(block, np.array([instance]))[0])
        own = batch.blocks[0]
        member = self._grounding.members[batch.members[int(own.member[top])]]
        if isinstance(member, DeltaRule):
            rows = {index: column.values[top : top + 1] for index, column in own.columns.items()}
            formula, entities = member.formula.original, self._grounding.variables(number, member, np.array([top]))
            ids = {v: int(each[0]) for v, each in zip(member.formula.blocks[0].variables, entities, strict=True)}
            bindings = {variable: ids[variable] for variable in formula.blocks[0].variables}
            inner = tuple(_one_row(ids) for _ in formula.blocks[1:])
            return InstanceView(formula, bindings, rows, inner, batch.completes), 0
        found = member.assembled(own.local[top : top + 1])
        place = 0
        if block:
            entities = member.entities(block, batch.blocks[block].local[instance : instance + 1])
            place = int(found.place(block, np.zeros(1, np.int64), entities)[0])
        return view_of(found, completes=batch.completes), place


def view_of(found: Instances, *, completes: bool = False) -> InstanceView:
    """One assembled instance."""
    bindings = {variable: int(ids[0]) for variable, ids in found.ids[0].items()}
    inner: list[Inner] = []
    for number, grouping in enumerate(found.groupings):
        if grouping is not None:
            parent = found.formula.blocks[number].parent
            around = inner[parent - 1].ids if parent else found.ids[0]
            ids = {variable: column.take(grouping.group) for variable, column in around.items()}
            inner.append(Inner(grouping.group, grouping.virtual, grouping.stranger, {**ids, **found.ids[number]}))
    return InstanceView(found.formula, bindings, found.rows, tuple(inner), completes)


def _one_row(ids: Mapping[int, int]) -> Inner:
    """The row of an inner block that has an instance of its own."""
    real = np.zeros(1, bool)
    each = {variable: np.array([entity], np.int32) for variable, entity in ids.items()}
    return Inner(np.zeros(1, np.int64), real, real, each)
