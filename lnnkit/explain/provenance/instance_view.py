"""One instance reconstructed: the places where it reads bounds, and what it proposes for given reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from lnnkit.analysis.families import Polarity
from lnnkit.analysis.needs import Needs
from lnnkit.arrays import Array
from lnnkit.engine.response.respond import ascend, constant, entering, leaf_bound
from lnnkit.explain.provenance.bound_sources import BoundSources, EntityOrVariable, Named, SourcedBound
from lnnkit.formula.passes import candidates, downward, least_heads, upward
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.assembled import Assembler, Instances
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import NO_VALUE
from lnnkit.store.relations import TRUE, UNKNOWN, UNNAMED

Values = Mapping[int, Bounds]  # by leaf, (variants, rows)
Substitution = Mapping[int, int]  # entities by variable


@dataclass(frozen=True, slots=True)
class EndRead:
    """One end of a bound that an instance reads, at some ``places`` among the rows of a ``leaf``."""

    leaf: int
    places: tuple[int, ...]
    side: int
    reading: SourcedBound


EndReads = Sequence[EndRead]


@dataclass(frozen=True)
class InstanceView(Instances):
    """One instance, for several variants of its reads at once; whether it ``completes`` a closed predicate."""

    completes: bool = False

    @staticmethod
    def of(instances: Instances, *, completes: bool = False) -> InstanceView:
        """The only one of some instances."""
        return InstanceView(**{f.name: getattr(instances, f.name) for f in fields(instances)}, completes=completes)

    @property
    def read(self) -> list[int]:
        """The leaves, and the formula's own neuron if it has one."""
        return [leaf for leaf in (*self.formula.leaves, AUXILIARY) if leaf in self.rows]

    @cached_property
    def bindings(self) -> Substitution:
        """The entities of the free variables."""
        return self.entities(0, 0)

    @property
    def has_rows(self) -> bool:
        """Whether it has quantifiers."""
        return len(self.formula.blocks) > 1

    def with_rows(self, stay: Callable[[int, Array], Array]) -> InstanceView:
        """It with some rows of inner blocks alone: ``stay`` tells which, by a block and the groups of its rows."""
        kept, groupings = [np.ones(1, bool)], list[Grouping | None]([None])
        for number, block in enumerate(self.formula.blocks[1:], 1):  # a block comes after those around it
            grouping, above = self.groupings[number], kept[block.parent]
            assert grouping is not None
            stays = above[grouping.group] & stay(number, grouping.group)
            kept.append(stays)
            parent = (np.cumsum(above) - 1)[grouping.group[stays]]
            marks = (mark[stays] for mark in (grouping.virtual, grouping.stranger, grouping.copies))
            groupings.append(Grouping(parent, int(above.sum()), None, *marks))
        pairs = zip(self.ids, kept, strict=True)
        ids = tuple({variable: column[stays] for variable, column in columns.items()} for columns, stays in pairs)
        rows = {leaf: rows[kept[self.formula.block_of(leaf)]] for leaf, rows in self.rows.items()}
        lengths = tuple(int(stays.sum()) for stays in kept)
        return replace(self, ids=ids, lengths=lengths, rows=rows, groupings=tuple(groupings))

    def entities(self, block: int, place: int) -> dict[int, int]:
        """The entities of a block's variables in one of its rows."""
        return {variable: int(column[place]) for variable, column in self.ids[block].items()}

    def table(self, leaf: int) -> str:
        """The table that holds a leaf's bounds."""
        return self.tables[leaf].name

    def values(self, reads: EndReads) -> dict[int, Bounds]:
        """The leaf values (1, rows) by some reads: bounds that are not among them are unknown."""
        values: dict[int, Bounds] = {}
        for leaf, rows in self.rows.items():
            lower, upper = (np.full((1, len(rows)), end) for end in self.tables[leaf].unknown)
            if leaf != AUXILIARY and self.formula.neurons[leaf].kind == "same":
                lower[:], upper[:] = rows == TRUE, (rows == TRUE) | (rows == UNKNOWN)
            values[leaf] = Bounds(lower, upper)
        derives = self.completes and self.formula.derives is not None
        numbers = [leaf for leaf in values if derives and self.formula.neurons[leaf].numeric]
        for leaf in numbers:  # what is not read of a candidate may have no value
            values[leaf].lower[:], values[leaf].upper[:] = NO_VALUE
        for read in reads:
            values[read.leaf][read.side][0, read.places] = read.reading.value
        for lower, upper in (values[leaf] for leaf in numbers):
            lower[(lower == math.inf) & (upper > -math.inf)] = -math.inf
            upper[(upper == -math.inf) & (lower < math.inf)] = math.inf
        return values

    def says(self, read: Values, leaf: int, place: int, side: int) -> Array:
        """(variants,) what the instance proposes for one side of the row at ``place`` of ``leaf``."""
        reader, groupings = self._variants(read)
        proposed = leaf_bound(self.formula, reader, groupings, leaf, side, completes=self.completes)
        return proposed.reshape(_count(read), -1)[:, place]

    def upward(self, read: Values) -> list[Bounds]:
        """The upward bounds of all neurons; (variants,) of the whole formula."""
        reader, groupings = self._variants(read)
        return upward(self.formula, entering(reader, self.formula), groupings)

    def contradictory(self, read: Values) -> Array:
        """(variants,) whether the instance is unsatisfiable."""
        reader, groupings = self._variants(read)
        met = ascend(self.formula, reader, groupings)
        return met.crossed | downward(self.formula, met.values, met.kept, groupings).empty

    def least(self, read: Values, head: int) -> Array:
        """(variants,) the least truth of a ``head`` that a defining statement requires if its antecedent is as true as
        possible, and the equalities beside the head no truer than necessary; of a number the best candidate."""
        if self.formula.derives is not None:
            reader, groupings = self._variants(read)
            side = self.tables[head].completed_side
            return candidates(self.formula, entering(reader, self.formula), groupings)[side]
        values = self.upward(read)
        antecedent = values[self.formula.neurons[self.formula.top].operands[0]]
        least = [Bounds(value.lower, value.lower) for value in values]
        return least_heads(self.formula, antecedent.upper, least, 1.0)[head]

    def _variants(self, read: Values) -> tuple[Callable[[int], Bounds], tuple[Grouping | None, ...]]:
        """A reader of the rows of all variants, one after another, and their groupings."""
        count = _count(read)

        def reader(index: int) -> Bounds:
            if index in read:
                return Bounds(*(end.flatten() for end in read[index]))
            length = count * self.length(self.formula.block_of(index))
            return constant(self.formula, index, length, np.dtype(np.float64))

        groupings: list[Grouping | None] = []
        for grouping in self.groupings:
            if grouping is not None:
                group = (np.arange(count)[:, None] * grouping.groups + grouping.group).reshape(-1)
                marks = (np.tile(mark, count) for mark in (grouping.virtual, grouping.stranger, grouping.copies))
                grouping = Grouping(group, count * grouping.groups, None, *marks)
            groupings.append(grouping)
        return reader, tuple(groupings)


def _count(read: Values) -> int:
    return next(iter(read.values())).lower.shape[0] if read else 1


class InstanceViews:
    """Reconstructs instances of a grounding, and what they read."""

    def __init__(self, sources: BoundSources) -> None:
        self.sources = sources
        self._grounding = sources.run.grounding

    def of(self, number: int, leaf: int, instance: int) -> tuple[InstanceView, int]:
        """The instance of row ``instance`` of the block of ``leaf``, and the position of that row in it."""
        shape = self._grounding.shapes[number]
        block = shape.formula.block_of(leaf)
        top = int(shape.tops(block, np.array([instance]))[0])
        outer = shape.blocks[0]
        member = self._grounding.members[shape.members[int(outer.member[top])]]
        if isinstance(member, DeltaRule):
            entities = self._grounding.variables(number, member, np.array([top]))
            ids = dict(zip(member.formula.blocks[0].variables, entities, strict=True))
            formula = member.formula.original  # its inner blocks have one row each
            one = Grouping(np.zeros(1, np.int64), 1, None, np.zeros(1, bool), np.zeros(1, bool), np.ones(1))
            columns = tuple({variable: ids[variable] for variable in block.variables} for block in formula.blocks)
            rows = {index: column.values[top : top + 1] for index, column in outer.columns.items()}
            tables = {index: member.table_of(index) for index in rows}
            groupings = (None, *(one for _ in formula.blocks[1:]))
            return InstanceView(formula, columns, (1,) * len(columns), rows, tables, groupings, shape.completes), 0
        instances, place = member.assembled(outer.local[top : top + 1]), 0
        if block:
            entities = member.entities(block, shape.blocks[block].local[instance : instance + 1])
            place = int(instances.place(block, np.zeros(1, np.int64), entities)[0])
        return InstanceView.of(instances, completes=shape.completes), place

    def whole(self, formula: Formula, bindings: Substitution) -> InstanceView:
        """The instance for these entities of the formula's free variables (a reserved id: of any), with a row for every
        entity of its quantifiers' sorts, but of an aggregate for those that differ from the default. Other variables
        may be anything: their equalities are unknown."""
        domain, variables = self._grounding.domain, formula.blocks[0].variables
        every = Needs((), {block: (frozenset(),) for block in range(1, len(formula.blocks))})
        if formula.measures:
            every = Needs((), self.sources.run.plan.finder(formula).initial().fills)
        assembler = Assembler(formula, every, self._grounding.atoms, domain, lambda _formula, _count: None, {})
        ids = [np.array([bindings.get(variable, domain.generic)], np.int32) for variable in variables]
        instances = assembler.of(ids, 1, apart=True)
        free = {*variables} - {*bindings}
        for index, neuron in enumerate(formula.neurons):
            if neuron.kind == "same" and neuron.arguments[0] != neuron.arguments[1]:
                one, other = instances.arguments(index, domain)
                unsure = (one >= domain.generic) & (other >= domain.generic)
                instances.rows[index][unsure | (not free.isdisjoint(neuron.arguments))] = UNKNOWN
        return InstanceView.of(instances)

    def reads(self, view: InstanceView, leaf: int, side: int, tick: int, known: Named | None = None) -> list[EndRead]:
        """The informative reads of a leaf, without repetition over the rows of quantifiers. An atom without a row is
        about the ``known`` entities, and any others (default: those at its place, as far as they have names)."""
        sources, table, reads = self.sources, view.table(leaf), list[EndRead]()
        order = np.argsort(view.rows[leaf], kind="stable")
        rows, first = np.unique(view.rows[leaf][order], return_index=True)
        for row, places in zip(rows.tolist(), np.split(order, first[1:]), strict=False):  # no row: one empty part
            if row >= 0:
                relation = view.tables[leaf]
                reading = sources.of(int(sources.wording.numbers.of(relation, np.array([row]))[0]), side, tick)
                if reading.source is not None:
                    reads.append(EndRead(leaf, tuple(places.tolist()), side, reading))
            elif row != UNKNOWN and sources.unlisted(table, (), side, tick, unnamed=row == UNNAMED).source is not None:
                alike: dict[tuple[EntityOrVariable, ...], list[int]] = {}
                for place in places.tolist():
                    entities = self.named(view, leaf, place) if known is None else known
                    alike.setdefault(sources.wording.pattern(view.formula, leaf, entities), []).append(place)
                for about, mine in alike.items():
                    reading = sources.unlisted(table, about, side, tick, unnamed=row == UNNAMED)
                    reads.append(EndRead(leaf, tuple(mine), side, reading))
        return reads

    def upward_reads(
        self, view: InstanceView, outer: Sequence[EntityOrVariable], side: int, tick: int
    ) -> list[EndRead]:
        """The reads of leaves on which one upward end of a formula's bounds may rest."""
        polarity, known = Polarity(view.formula), dict(enumerate(outer))
        ends = ((read.leaf, int(read.end == "upper")) for read in polarity.ends(polarity.signs, upper=side == 1))
        return [read for leaf, end in ends for read in self.reads(view, leaf, end, tick, known)]

    def unified(self, formula: Formula, leaf: int, entities: Sequence[int | None]) -> dict[int, int] | None:
        """The bindings under which a leaf is about these entities, where they are known; None if there are none."""
        domain, bindings = self._grounding.domain, dict[int, int]()
        for argument, entity in zip(formula.neurons[leaf].arguments, entities, strict=True):
            if entity is None:
                continue
            if isinstance(argument, str):
                if domain.index[argument] != entity:
                    return None
            elif bindings.setdefault(argument, entity) != entity or entity not in domain.sorts[formula.sorts[argument]]:
                return None
        return bindings

    def named(self, view: InstanceView, leaf: int, place: int) -> dict[int, EntityOrVariable]:
        """The names of the entities at one row of a leaf's block."""
        entities, generic = view.entities(view.formula.block_of(leaf), place), self._grounding.domain.generic
        names = self.sources.wording.names
        return {variable: names[entity] for variable, entity in entities.items() if entity < generic}
