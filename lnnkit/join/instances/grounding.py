"""The grounding of a program: its atoms, and the instances of its formulas, by rule shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, Protocol

import numpy as np

from lnnkit.analysis.needs import EQUAL, Needs
from lnnkit.analysis.relevance import SIDES, sides
from lnnkit.analysis.supports import Analysis
from lnnkit.check.program import ENTITY
from lnnkit.formula.unfolding import AUXILIARY, Formula, Modes, shape_key
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.assembled import Instances, together
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.join.join_plan import Recorder
from lnnkit.store.layout import Domain
from lnnkit.store.relations import Relations, RowNumbers, Schema
from lnnkit.store.row_arrays import Array
from lnnkit.time_limit import check_time

Use = Literal["joined", "evaluated"]  # how instances are evaluated: determines their memory


class Guard(Protocol):
    """Raises if a formula has more instances than the budget allows."""

    def __call__(self, formula: Formula, count: int, use: Use = "evaluated") -> None: ...


def unlimited(formula: Formula, count: int, use: Use = "evaluated") -> None:
    """A guard that allows everything."""


class Rebuilt(NamedTuple):
    """Instances of a shape, the rows ``tops`` of its block 0, each once if they have inner rows. For each row that was
    asked for, ``which`` is its instance and ``places`` its row in the instances' block."""

    instances: Instances
    tops: Array
    which: Array
    places: Array


class Grounding:
    """The grounding: ``members`` are the formulas' rules, ``shapes`` have those of their instances that set a bound or
    were arrested."""

    def __init__(self, atoms: Relations, domain: Domain, guard: Guard, recorder: Recorder | None = None) -> None:
        self.atoms = atoms
        self.domain = domain
        self.shapes: list[RuleShape] = []
        self.members: list[GroupRule | DeltaRule] = []
        self.guard = guard
        self.recorder = recorder
        self._by_key: dict[object, int] = {}
        self._numbers: list[int] = []  # the shape of each member

    def add(
        self,
        formula: Formula,
        analysis: Analysis,
        needs: Needs,
        modes: Modes,
        observers: Mapping[int, str],
        stage: object = None,
    ) -> int:
        """Enter a formula; returns the number of its `RuleShape`, which formulas of equal form, ``stage`` and
        parameters share."""
        check_time()
        if any(literal.table == EQUAL for literal in needs.literals):
            add_equality(self.atoms, self.domain)
        key = (stage, formula.learned, shape_key(formula, modes, tuple(sorted(observers))))
        if key not in self._by_key:
            self._by_key[key] = len(self.shapes)
            self.shapes.append(
                RuleShape(formula, analysis, modes, tuple(sorted(observers)), completes=stage is not None)
            )
        number = self._by_key[key]
        shape = self.shapes[number]
        member = len(self.members)
        self._numbers.append(number)
        shape.members.append(member)
        place, recorder = (self.atoms, self.domain), self.recorder
        flat = len(formula.blocks) == 1 and not observers
        needs = needs if flat else needs.without_existential(len(formula.sorts))
        if flat:
            rule = DeltaRule(formula, needs, shape.reads, *place, partial(self.guard, use="joined"), member, recorder)
            self.members.append(rule)
        else:
            group = GroupRule(formula, needs, shape.reads, *place, self.guard, member, observers, recorder)
            self.members.append(group)
            needs = group.needs
        if recorder is not None:
            recorder.enter(formula, needs, "inference" if stage is None else "completion")
        return number

    def among_all(self, number: int, leaf: int, rows: Array, numbers: RowNumbers) -> Array:
        """(n,) the rows of a leaf among all, in some rows of its block of shape ``number``."""
        shape = self.shapes[number]
        stored = shape.blocks[shape.formula.block_of(leaf)]
        tables = np.array([self.members[member].table_of(leaf).number for member in shape.members])
        return stored.columns[leaf].values.take(rows) + numbers.first(tables).take(stored.member.take(rows))

    def rebuilt(self, number: int, block: int, rows: Array, numbers: RowNumbers) -> Rebuilt:
        """The instances to which some rows of a block of a shape belong, with all rows of their quantifiers; their rows
        are those among all."""
        shape = self.shapes[number]
        stored = shape.blocks[0]
        if len(shape.blocks) == 1:
            every = np.arange(len(rows))
            columns = {index: self.among_all(number, index, rows, numbers) for index in stored.columns}
            return Rebuilt(Instances(shape.formula, (), (len(rows),), columns, {}, (None,)), rows, every, every)
        tops, which = np.unique(shape.tops(block, rows), return_inverse=True)
        members = stored.member.take(tops)
        pieces: list[tuple[Array, Instances]] = []
        located: list[tuple[Array, Array]] = []  # for each member its rows, by position, and their places in its block
        for one in np.unique(members).tolist():
            top_places = np.flatnonzero(members == one)
            row_places = np.flatnonzero((members == one).take(which))
            member = self.members[shape.members[one]]
            assert isinstance(member, GroupRule)  # other rules' formulas have no inner blocks
            pieces.append((top_places, member.assembled(stored.local.take(tops.take(top_places)))))
            place = top_places.searchsorted(which.take(row_places))
            if block:
                entities = member.entities(block, shape.blocks[block].local.take(rows.take(row_places)))
                place = pieces[-1][1].place(block, place, entities)
            located.append((row_places, place))
        instances, at = together(pieces, shape.formula, len(tops), numbers)
        places = np.empty(len(rows), np.int64)
        for (row_places, place), positions in zip(located, at[block], strict=True):
            places[row_places] = positions.take(place)
        return Rebuilt(instances, tops, which, places)

    def hold(self, member: int, instances: Instances) -> None:
        """Keep all of some instances of a member."""
        shape, rule = self.shapes[self.number(member)], self.members[member]
        if isinstance(rule, GroupRule):
            rule.store(shape, member, instances, 0, range(instances.length(0)))
        else:
            columns = {index: instances.rows[index] for index in shape.blocks[0].columns}
            shape.append(0, columns, member, -1, instances.length(0))

    def number(self, member: int) -> int:
        """The number of a member's shape."""
        return self._numbers[member]

    def assignments(self, number: int, rows: Array) -> list[tuple[Formula, Array, Callable[[], list[Array]]]]:
        """For rows of a shape's block 0: the formulas that they instantiate, each with the positions of its rows and
        what finds the entity ids of its free variables there, now or later."""
        stored = self.shapes[number].blocks[0]
        members = stored.member.take(rows)
        assignments = []
        for one in np.unique(members).tolist():
            places = np.flatnonzero(members == one)
            member, member_rows = self.members[self.shapes[number].members[one]], rows.take(places)
            rule = member if isinstance(member, DeltaRule) else member.finder
            assignments.append((rule.formula.original, places, partial(self.free_variables, number, rule, member_rows)))
        return assignments

    def variables(self, number: int, rule: DeltaRule, rows: Array) -> list[Array]:
        """The entity ids of a rule's variables, free ones first, of stored instances: the ``rows`` of a shape."""
        stored = self.shapes[number].blocks[0]
        if rule.enumerates:
            local = stored.local.take(rows)
            return [column.values.take(local) for column in rule.kept]
        columns: dict[int, Array] = {}
        for leaf in rule.formula.read:
            local = stored.columns[leaf].values.take(rows)
            there = local >= 0
            pattern = rule.pattern(rule.atom(leaf))
            for variable, place in pattern.places.items():
                ids = pattern.table.tuples.columns[place]
                if len(ids):
                    ids = ids.take(np.maximum(local, 0))
                    columns[variable] = np.where(there, ids, columns[variable]) if variable in columns else ids
        return [columns[variable] for variable in rule.formula.blocks[0].variables]

    def free_variables(self, number: int, rule: DeltaRule, rows: Array) -> list[Array]:
        """The same of the free variables alone."""
        return self.variables(number, rule, rows)[: len(rule.formula.original.blocks[0].variables)]

    def reads(self, number: int, leaf: int, side: int) -> Sequence[tuple[int, tuple[int, ...]]]:
        """The bounds that an instance reads to set one side of one leaf: other leaves, with the sides read (0, 1)."""
        analysis = self.shapes[number].analysis
        known = leaf in analysis.defaults and analysis.formula.derives is None
        read = analysis.polarity.reads(leaf, SIDES[side]) if known else []
        by_leaf: dict[int, set[int]] = {}
        for element in read:
            by_leaf.setdefault(element.leaf, set()).update(SIDES.index(s) for s in sides(element.end))
        if not by_leaf:  # an observed neuron, or the upper end of a completed head: everything that the instance reads
            by_leaf = {other: {0, 1} for other in analysis.formula.leaves if other != leaf}
        return [(other, tuple(sorted(ends))) for other, ends in by_leaf.items()]


def add_equality(atoms: Relations, domain: Domain) -> None:
    """Add equality of entities as a table of pairs (e, e), unless it exists: joins treat ``X = Z`` as any literal. Its
    bounds are never read; its rows are listed as deviating on the lower end."""
    if EQUAL in atoms.tables:
        return
    table = atoms.add(Schema(EQUAL, (ENTITY, ENTITY), (0.0, 0.0)))
    entities = domain.sorts[ENTITY]
    table.enlist_new("lower", atoms.add_new(table, (entities, entities), len(entities)))


def leaf_modes(formula: Formula, mode: Callable[[str, str], int]) -> Modes:
    """How each leaf's two sides are kept."""
    names = {leaf: formula.table(leaf) for leaf in formula.read}
    modes = {leaf: (mode(name, "lower"), mode(name, "upper")) for leaf, name in names.items()}
    if formula.prenex_of is not None and AUXILIARY in modes:  # a row gives its group the end that it does not read
        least, most = formula.reads_own
        modes[AUXILIARY] = (modes[AUXILIARY][0] * most, modes[AUXILIARY][1] * least)
    return modes
