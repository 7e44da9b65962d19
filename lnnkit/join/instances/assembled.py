"""Instances with the rows of their quantifiers, found when they are read: an instance is its free variables, and the
rows of its inner blocks are those of which its atoms know more than their defaults, and one for all others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lnnkit.analysis.needs import Literal, Needs, in_order, variables
from lnnkit.check.program import ENTITY
from lnnkit.formula.quantified_rows import Grouping, of_their_sorts, too_many_unnamed
from lnnkit.formula.unfolding import Block, Formula
from lnnkit.join.bindings import NOTHING, Bindings
from lnnkit.join.join_plan import Recorder
from lnnkit.join.literal_join import Joins, Path, listing
from lnnkit.store.layout import Domain
from lnnkit.store.relations import FALSE, TRUE, UNKNOWN, Relation, Relations, RowNumbers
from lnnkit.store.row_arrays import Array, distinct_values, first_rows, matches
from lnnkit.store.tuple_set import TupleSet

Columns = Mapping[int, Array]  # entity ids by variable

# Literals are few where this many times as many are fewer than the groups of a quantifier. With 1, 8 and 64 a hub of
# 3,000 spokes takes 1,074, 848 and 2,018 ms (`python -m benchmarks.inference_constants hub`)
_FEWER = 8


@dataclass(frozen=True, slots=True)
class Instances:
    """Some instances of a formula. ``ids`` has for each block the entities of its variables, ``rows`` for each leaf,
    equality and observed neuron the rows of its relation in ``tables``, one for each row of its block; rows of inner
    blocks are mapped to those around by ``groupings``."""

    formula: Formula
    ids: tuple[Columns, ...]
    lengths: tuple[int, ...]
    rows: Mapping[int, Array]
    tables: Mapping[int, Relation]
    groupings: tuple[Grouping | None, ...]

    def column(self, index: int) -> Array:
        """The rows of a leaf, equality or observed neuron in its relation."""
        return self.rows[index]

    def arguments(self, leaf: int, domain: Domain) -> list[Array]:
        """The entity ids of a leaf's arguments."""
        block = self.formula.block_of(leaf)
        ids, length = self.ids[block], self.lengths[block]
        return argument_columns(self.formula.arguments(leaf), ids, length, domain)

    def tops(self, block: int) -> Array:
        """The instance of each row of a block, which no grouped block encloses."""
        tops = np.arange(self.lengths[block])
        for inner in reversed(self.formula.path(block)[1:]):
            grouping = self.groupings[inner]
            assert grouping is not None
            tops = grouping.group.take(tops)
        return tops

    def place(self, block: int, tops: Array, entities: Sequence[Array]) -> Array:
        """(n,) the rows of a block that belong to ``tops`` (n,) and have these entities."""
        columns, wanted = [self.tops(block), *self.ids[block].values()], [tops, *entities]
        known = TupleSet(len(columns), max(int(column.max(initial=0)) for column in (*columns, *wanted)) + 1)
        known.append(columns, self.lengths[block])
        rows = known.find(wanted, len(tops))
        assert not (rows < 0).any()  # rows that were there stay: lists only grow
        return rows

    def silenced(self, block: int, flags: Array) -> Array:
        """The rows of a block that propose nothing: virtual ones, and all of the flagged instances."""
        for inner in self.formula.path(block)[1:]:
            grouping = self.groupings[inner]
            assert grouping is not None
            flags = flags.take(grouping.group) | grouping.virtual
        return flags

    def length(self, block: int) -> int:
        """The number of rows of a block."""
        return self.lengths[block]


class Assembler:
    """Finds the instances of a formula and their rows. ``observers`` maps observed neurons to their tables."""

    def __init__(
        self,
        formula: Formula,
        needs: Needs,
        atoms: Relations,
        domain: Domain,
        guard: Callable[[Formula, int], None],
        observers: Mapping[int, str],
        member: int = -1,
        recorder: Recorder | None = None,
        *,
        upward: bool = False,
    ) -> None:
        """With rows that count only ``upward``, if at all: none of elements that are not there by default."""
        self.formula = formula
        self.needs = needs
        self._left_out = needs.absent if upward else frozenset[int]()
        self._recording = member, recorder
        self.atoms = atoms
        self.domain = domain
        self._guard = guard
        self._observers = observers
        self._starts = [in_order(need.literals) for need in needs.rows]
        self._literals = [
            [
                *map(in_order, needs.fills.get(block, ())),
                *(in_order(need.literals) for need in needs.rows if block and block in formula.path(need.block)),
            ]
            for block in range(len(formula.blocks))
        ]
        self._few: dict[tuple[tuple[int, ...], int], Joins] = {}  # joins of few literals, by their variables
        self._expands = needs.expands
        self._group = len(formula.sorts)  # the variable that numbers the groups of a block
        inner = ((self._group, *block.variables) for block in formula.blocks[1:])
        wanted = (formula.blocks[0].variables, *inner)
        self._joins = list(map(self._joining, wanted))
        self.tables = {index: self._table(index) for index, _ in formula.with_rows(observers)}
        differ = [leaf for leaf in formula.leaves if self.tables[leaf].unnamed_differs]
        self._separates = not too_many_unnamed(formula, differ, domain.open_sorts)
        same = (neuron.arguments for neuron in formula.neurons if neuron.kind == "same")
        occurrences = (*(formula.neurons[leaf].arguments for leaf in differ), *same)
        self._differ = variables(argument for arguments in occurrences for argument in arguments)

    def every(self) -> Instances:
        """All instances that the formula's needs find."""
        variables = self.formula.blocks[0].variables
        assignments = TupleSet(len(variables), self._joins[0].radix)
        for number, literals in enumerate(self._starts):
            for part in self._joins[0].whole(literals, Path(number)):
                distinct = not len(assignments) and part.distinct and part.known.variables == {*variables}
                add = assignments.append if distinct else assignments.add
                add([part.column(variable) for variable in variables], part.length)
                self._guard(self.formula, len(assignments))
        return self.of(assignments.columns, len(assignments))

    def of(self, free: Sequence[Array], length: int, *, apart: bool = False) -> Instances:
        """The instances for these entities of the formula's free variables. Unless ``apart``, rows around share the
        groups of quantifiers that do not depend on all of their variables."""
        ids: list[Columns] = [dict(zip(self.formula.blocks[0].variables, free, strict=True))]
        lengths, groupings = [length], list[Grouping | None]([None])
        complete: list[Array] = [np.empty(0, bool)]
        for number in range(1, len(self.formula.blocks)):
            parent = self.formula.blocks[number].parent
            around = groupings[parent]
            whole = np.empty(0, np.int64)
            if number in self._expands and around is not None:  # all candidates of the quantifier around are there
                whole = np.flatnonzero(complete[parent].take(around.group) & ~around.virtual)
            shares = self.formula.blocks[number].grouped and not apart
            columns, count, grouping, counts = self._inner(number, ids[parent], lengths[parent], whole, shares=shares)
            ids.append(columns)
            lengths.append(count)
            groupings.append(grouping)
            complete.append(counts == self._total(self.formula.blocks[number].bound))
        read = self.formula.with_rows(self._observers)
        rows = {index: self._rows(index, ids[block], lengths[block]) for index, block in read}
        return Instances(self.formula, tuple(ids), tuple(lengths), rows, self.tables, tuple(groupings))

    def make(self, instances: Instances, leaf: int, places: Array) -> None:
        """Make the atoms behind a leaf at some places, where they are not there."""
        columns = [column.take(places) for column in instances.arguments(leaf, self.domain)]
        instances.rows[leaf][places] = self.atoms.materialise(self.tables[leaf], columns, len(places))

    def depends_on_size(self, sizes: Mapping[str, int], changed: int) -> bool:
        """Whether a quantifier, or an aggregate, may have another value if one of the sorts with these ``sizes`` gains
        or loses an entity: after so many ``changed`` atoms it may have rows that name all its candidates or all but
        one, or its literals may name entities that do not belong to the sort."""
        for number, block in enumerate(self.formula.blocks):
            sorts = [self.formula.sorts[variable] for variable in block.bound]
            if number in self._left_out or sizes.keys().isdisjoint(sorts):
                continue
            joins, total = self._joins[number], math.prod(sizes.get(s, len(self.domain.sorts[s])) for s in sorts)
            restricted = all(set(block.bound).isdisjoint(joins.unrestricted(some)) for some in self._literals[number])
            named = sum(
                math.prod(self._most_values(listing(literals), variable) for variable in block.bound)
                for literals in self._literals[number]
            )
            if self.formula.measures or not restricted or named + changed + 1 >= total:
                return True
        return False

    def _most_values(self, literals: Sequence[Literal], variable: int) -> int:
        """An upper bound on the number of values of a variable in one group, by the literals that bind it."""
        counts = [self._total([variable])]
        for literal in literals:
            if variable in literal.arguments:
                column = self.atoms.tables[literal.table].tuples.columns[literal.arguments.index(variable)]
                counts.append(len(distinct_values(column.take(self._joins[0].listing(literal)))))
        return min(counts)

    # --- rows of blocks -----------------------------------------------------------------------------------------------

    def _joining(self, wanted: tuple[int, ...]) -> Joins:
        """Joins that find the values of some variables; the number of a group has no sort."""
        formula = replace(self.formula, blocks=(Block(-1, wanted, ()),), sorts=(*self.formula.sorts, ""))

        def guard(_: Formula, count: int) -> None:
            self._guard(self.formula, count)

        return Joins(formula, self.atoms, self.domain, guard, *self._recording)

    def _inner(
        self, number: int, around: Columns, length: int, whole: Array, *, shares: bool
    ) -> tuple[Columns, int, Grouping, Array]:
        """The rows of an inner block beneath those of the block around it, of which some have the ``whole`` sort; and
        the number of named ones in each group."""
        block, generic = self.formula.blocks[number], self.domain.generic
        of, groups = None, {variable: around[variable] for variable in block.free}
        if shares:
            known = TupleSet(len(block.free), generic + 2)
            of, _ = known.add(list(groups.values()), length)
            whole = np.unique(of.take(whole))
            groups, length = dict(zip(block.free, known.columns, strict=True)), len(known)
        groups[self._group] = np.arange(length)
        named, counts = self._candidates(number, groups, length, whole)
        parts, unnamed = [] if block.unnamed else [named], np.full(length, self.domain.stranger, np.int32)
        for individuals in self._unnamed(number):
            around = {**groups, **dict.fromkeys(individuals, unnamed)}
            parts.append(self._candidates(number, around, length, np.empty(0, np.int64))[0])
        columns = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        ids = dict(zip((self._group, *block.bound), columns, strict=True))
        group = ids.pop(self._group)
        ids = {**{variable: groups[variable].take(group) for variable in block.free}, **ids}
        virtual, stranger, several = (np.zeros(len(group), bool) for _ in range(3))
        for variable, column in ids.items():
            virtual |= column >= generic
            if variable in block.bound:
                stranger |= column == self.domain.stranger
                several |= column == generic
        self._guard(self.formula, len(group))
        copies = np.where(several, (self._total(block.bound) - counts).take(group), 1)
        return ids, len(group), Grouping(group, length, of, virtual, stranger, copies), counts

    def _unnamed(self, number: int) -> Iterable[frozenset[int]]:
        """The sets of variables that a quantifier has unnamed individuals for, beside named ones for the others: for
        each set of literals all that it does not name; and each part of these where they differ from the default."""
        opens = {v for v in self.formula.blocks[number].bound if self.formula.sorts[v] in self.domain.open_sorts}
        differ = opens & self._differ if self._separates else set[int]()
        if () in self._literals[number]:  # it may name any
            differ = opens
        sets: dict[frozenset[int], None] = {}
        for literals in ((), *self._literals[number]) if opens else ():
            others = opens - variables(term for x in literals if isinstance(x, Literal) for term in x.arguments)
            either = sorted(others & differ)
            for size in range(len(either) + 1):
                sets |= {frozenset(others - differ).union(part): None for part in itertools.combinations(either, size)}
        return [part for part in sets if part]

    def _candidates(self, number: int, around: Columns, length: int, whole: Array) -> tuple[list[Array], Array]:
        """The groups and the bound entities of the rows beneath ``around``, where some bound variables may be unnamed
        individuals; the ``whole`` groups have a row for each entity, the others one for all those like the default.
        And the number of named rows in each group."""
        block = self.formula.blocks[number]
        bound = [variable for variable in block.bound if variable not in around]
        start = Bindings(length, NOTHING.bind(frozenset(around)), dict(around))
        places = range(len(self._literals[number]))
        parts = [part for place in places for part in self._matching(number, place, bound, start)] if bound else []
        alone = len(self._literals[number]) == 1 and len(self.formula.sorts) == len(block.variables)
        columns = self._columns(bound, parts, distinct=alone)
        counts, total = np.bincount(columns[0], minlength=length), self._total(bound)
        lacking = np.union1d(np.flatnonzero(counts == total - 1), whole) if bound else whole
        if len(lacking):
            joins = self._joins[number]
            joins.begun(Path(-1), ())
            every = joins.joined(start.at(lacking), joins.step(start.known, ()), Path(-1))
            columns = self._columns(bound, [*parts, *every])
            counts = np.bincount(columns[0], minlength=length)
        others = np.empty(0, np.intp) if number in self._left_out else np.flatnonzero(counts < total)
        if len(others):
            ends = (others, *[np.full(len(others), self.domain.generic, np.int32)] * len(bound))
            columns = [*map(np.append, columns, ends)]
        group, ids = columns[0], dict(zip(bound, columns[1:], strict=True))
        return [group, *(ids[v] if v in ids else around[v].take(group) for v in block.bound)], counts

    def _matching(self, number: int, place: int, bound: Sequence[int], start: Bindings) -> Iterable[Bindings]:
        """The rows of a block, beneath the groups of ``start``, that satisfy one of its sets of literals. If these are
        few beside the groups, the groups are joined with them, and not they with the groups."""
        literals, joins = self._literals[number][place], self._joins[number]
        path = Path(len(self._starts) + sum(map(len, self._literals[1:number])) + place)
        named = variables(argument for literal in literals for argument in literal.arguments) & start.known.variables
        sizes = [joins.length(literal) for literal in literals if isinstance(literal, Literal)]
        if len(sizes) < len(literals) or not sizes or not named or _FEWER * min(sizes) > start.length:
            joins.begun(path, literals)
            yield from joins.joined(start, joins.step(start.known, literals), path)
            return
        shared = sorted(named)
        wanted = (*shared, *bound)
        if (wanted, place) not in self._few:
            self._few[wanted, place] = self._joining(wanted)
        for part in self._few[wanted, place].whole(literals, path):
            left, right = matches([start.column(v) for v in shared], [part.column(v) for v in shared])
            columns = {variable: part.column(variable).take(right) for variable in bound}
            columns[self._group] = start.column(self._group).take(left)
            yield Bindings(len(left), NOTHING.bind(frozenset(columns)), columns)

    def _columns(self, bound: Sequence[int], parts: Sequence[Bindings], *, distinct: bool = False) -> list[Array]:
        """The groups and the bound entities of the rows found, each once; they may be ``distinct`` already."""
        names = {self._group: np.intp, **dict.fromkeys(bound, np.int32)}
        columns = [
            np.concatenate([part.column(name) for part in parts], dtype=dtype) if parts else np.empty(0, dtype)
            for name, dtype in names.items()
        ]
        first = None if distinct else first_rows(columns, len(columns[0]))
        return columns if first is None else [column.take(first) for column in columns]

    def _total(self, bound: Iterable[int]) -> int:
        """The greatest number of named rows in a group."""
        return math.prod(len(self.domain.sorts[self.formula.sorts[variable]]) for variable in bound)

    # --- atoms --------------------------------------------------------------------------------------------------------

    def _rows(self, index: int, ids: Columns, length: int) -> Array:
        """The rows of a leaf, equality or observed neuron; `DEFAULT` where an atom is not there."""
        table, formula, arguments = self.tables[index], self.formula, self.formula.arguments(index)
        columns = argument_columns(arguments, ids, length, self.domain)
        if table is self.atoms.truths:
            return self._equal(columns, arguments)
        rows, stranger = table.tuples.find(columns, length), np.zeros(length, bool)
        for column in columns:
            stranger |= column == self.domain.stranger
        if stranger.any():
            separate = self._separates and of_their_sorts(formula, arguments, table.sorts, self.domain.open_sorts)
            rows[stranger] = table.unnamed_row if separate or not table.unnamed_differs else UNKNOWN
        return rows

    def _table(self, index: int) -> Relation:
        """The relation of what has rows; an equality is one of the truths."""
        tables = self.atoms.tables
        if index in self._observers:
            return tables[self._observers[index]]
        return tables[self.formula.table(index)] if index in self.formula.read else self.atoms.truths

    def _equal(self, columns: Sequence[Array], arguments: Sequence[int | str]) -> Array:
        """The truth of an equality. A pair of generic entities stands for distinct ones: pairs of equal ones have rows
        of their own."""
        one, other = columns
        if arguments[0] == arguments[1]:
            return np.full(len(one), TRUE, np.int32)
        rows = np.where((one == other) & (one != self.domain.generic), np.int32(TRUE), np.int32(FALSE))
        unnamed = self.domain.stranger
        rows[(one == other) & (one == unnamed)] = UNKNOWN  # several unnamed individuals are possible
        if self.domain.lacks((ENTITY, ENTITY), arguments):  # one of them may be the entity that a query names
            rows[(one == unnamed) ^ (other == unnamed)] = UNKNOWN
        return rows


def argument_columns(
    arguments: Sequence[int | str], ids: Columns | Sequence[Array], length: int, domain: Domain
) -> list[Array]:
    """The entity ids of an atom's arguments, from those of its variables."""
    return [
        np.full(length, domain.index[term], np.int32) if isinstance(term, str) else np.asarray(ids[term], np.int32)
        for term in arguments
    ]


def together(
    pieces: Sequence[tuple[Array, Instances]], formula: Formula, length: int, numbers: RowNumbers
) -> tuple[Instances, Sequence[Sequence[Array]]]:
    """Instances of formulas of one shape as those of ``formula``, without the entities of their variables, each at its
    places among ``length``; their rows are those among all; and for each block the places of the rows of each."""
    at = [[places for places, _ in pieces]]  # for each block the places of its rows
    groupings: list[Grouping | None] = [None]
    for number, block in enumerate(formula.blocks[1:], 1):
        known = [grouping for _, instances in pieces if (grouping := instances.groupings[number]) is not None]
        group = [places.take(grouping.group) for places, grouping in zip(at[block.parent], known, strict=True)]
        ends = np.cumsum([len(part) for part in group]).tolist()
        at.append([np.arange(stop - len(part), stop) for part, stop in zip(group, ends, strict=True)])
        marks = map(np.concatenate, zip(*((e.virtual, e.stranger, e.copies) for e in known), strict=True))
        count = length if block.parent == 0 else sum(map(len, at[block.parent]))
        groupings.append(Grouping(np.concatenate(group), count, None, *marks))
    lengths = (length, *(sum(map(len, places)) for places in at[1:]))

    def column(block: int, parts: Sequence[Array]) -> Array:
        merged = np.empty(lengths[block], parts[0].dtype)
        for places, part in zip(at[block], parts, strict=True):
            merged[places] = part
        return merged

    first = pieces[0][1]
    rows = {
        i: column(formula.block_of(i), [numbers.of(instances.tables[i], instances.rows[i]) for _, instances in pieces])
        for i in first.rows
    }
    return Instances(formula, (), lengths, rows, {}, tuple(groupings)), at
