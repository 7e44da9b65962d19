"""Finds the instances of a formula affected by the last delta (semi-naive evaluation).

Instances are not stored: an instance is joined again when an atom that it reads has moved. Each need (the literals
without which an instance can propose nothing) is joined from each atom whose move matters (a *trigger*), unless
another need finds the same instances.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lnnkit.analysis.needs import EQUAL, Need, Needs, Range, in_order
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.join.bindings import NOTHING, Bindings, Known, Matched, Pattern
from lnnkit.join.join_plan import Recorder
from lnnkit.join.literal_join import Joins, Literals, Path
from lnnkit.join.triggers import Delta, Trigger, at_once, find_triggers, subsumed
from lnnkit.store.layout import Domain
from lnnkit.store.relations import Relation, Relations
from lnnkit.store.row_arrays import Array, Growing, spelled_out
from lnnkit.store.tuple_set import TupleSet

_BARE = ("listed", "given")  # literals that an atom at its default may satisfy

_NOWHERE: Mapping[int, Sequence[Need]] = {}

Matters = Mapping[int, tuple[bool, bool]]  # for a leaf: whether a move of its lower and of its upper end matters


@dataclass(slots=True, eq=False)
class Leaf:
    """The atoms of a leaf. ``plain`` says whether they are read as they are, ``deviating`` whether every literal that
    finds them finds only atoms that differ from their default, ``names_all`` whether they name all variables."""

    atom: Matched
    pattern: Pattern
    table: Relation
    plain: bool
    deviating: bool
    names_all: bool


class DeltaRule:
    """The delta rule of one formula without inner blocks; ``triggers`` are the (table, side) that it listens to. Moves
    of leaves that were in an inner block before may be joined with needs of their own, those ``within`` it."""

    def __init__(
        self,
        formula: Formula,
        needs: Needs,
        reads: Matters,
        atoms: Relations,
        domain: Domain,
        guard: Callable[[Formula, int], None],
        member: int,
        recorder: Recorder | None = None,
        within: Mapping[int, Sequence[Need]] = _NOWHERE,
    ) -> None:
        self.formula = formula
        self._within = {block: [in_order(need.literals) for need in inner] for block, inner in within.items()}
        self.assignment_count = 0  # number of assignments returned, with repetitions
        wider = replace(formula, sorts=formula.sorts + needs.existential)
        self.joins = Joins(wider, atoms, domain, guard, member, recorder)
        self._needs = [in_order(need.literals) for need in needs.rows]
        self._repeats = bool(needs.existential)
        self._wanted = _wanted(formula, needs.rows)
        self._reads = reads
        self._bare = {literal.atom for need in needs.rows for literal in need.literals if literal.column in _BARE}
        variables = formula.blocks[0].variables
        self.enumerates = any(not need.bound.issuperset(variables) for need in needs.rows)
        # The entities of stored instances, where their atoms do not tell them
        self.kept = tuple(Growing(np.int32) for _ in variables)
        self._leaves: dict[int, Leaf] = {}
        self.started = False
        self._postponed: list[Bindings] = []

    @cached_property
    def triggers(self) -> set[tuple[str, int]]:
        """The tables and sides whose moves matter."""
        return {
            (self.formula.table(leaf), side)
            for leaf, sides in self._reads.items()
            for side, matters in enumerate(sides)
            if matters
        }

    def entity(self, name: str) -> int:
        """The id of a constant."""
        return self.joins.domain.index[name]

    def leaf(self, leaf: int) -> Leaf | None:
        """The description of a leaf's atoms; None for an equality of entities."""
        description = self._leaves.get(leaf)
        if description is None and (leaf == AUXILIARY or self.formula.neurons[leaf].kind == LEAF):
            atom = self.atom(leaf)
            pattern = self.pattern(atom)
            names_all = set(atom[1]).issuperset(self.formula.blocks[0].variables)
            plain = leaf not in self.formula.heads
            description = Leaf(atom, pattern, pattern.table, plain, self.deviating(leaf), names_all)
            self._leaves[leaf] = description
        return description

    def table_of(self, leaf: int) -> Relation:
        """The relation of a leaf's atoms, or of the truths of an equality."""
        description = self.leaf(leaf)
        return self.joins.atoms.truths if description is None else description.table

    def deviating(self, leaf: int) -> bool:
        """Whether every literal that finds the atoms of a leaf finds only atoms that differ from their default."""
        return self.atom(leaf) not in self._bare

    @property
    def on_demand(self) -> bool:
        """Whether it defines a comparison, or a neuron that is worked out only where other formulas need it."""
        return self.formula.compares or (self.formula.auxiliary is not None and bool(self._wanted))

    @property
    def fresh(self) -> bool:
        """Whether a join is due even if nothing moved."""
        return not self.started or bool(self._postponed)

    def postpone(self, bindings: Bindings) -> None:
        """Return these assignments again with the next ones."""
        self._postponed.append(bindings)

    def restart(self) -> None:
        """Forget what was found, so that everything is found again."""
        self.started = False
        self.joins.made.clear()

    def assignments(self, moved: Delta) -> Iterator[Bindings]:
        """Assignments of all variables, about `CHUNK` at a time; some may be repeated. Those of a prenex formula come
        at once, since what one says depends on the others of its quantifiers."""
        return self._arranged(self._assignments(moved))

    def _arranged(self, parts: Iterator[Bindings]) -> Iterator[Bindings]:
        """Assignments as `assignments` returns them."""
        if self.formula.prenex_of is not None:
            return self._together(parts)
        return self._distinct(parts) if self._repeats else parts

    def _together(self, some: Iterable[Bindings]) -> Iterator[Bindings]:
        parts = list(some)
        if len(parts) > 1:
            variables = self.formula.blocks[0].variables
            columns = {v: np.concatenate([part.column(v) for part in parts]) for v in variables}
            parts = [Bindings(sum(part.length for part in parts), NOTHING.bind(frozenset(variables)), columns)]
        yield from self._distinct(parts) if self._repeats else parts

    def _assignments(self, moved: Delta) -> Iterator[Bindings]:
        while self._postponed:
            yield self._postponed.pop(0)
        made = self.joins.made
        if not self.started:
            for need, bindings in self._first_assignments():
                self.assignment_count += bindings.length
                made[need] = made.get(need, 0.0) + bindings.length
                yield bindings
            return
        due = [t for t in self.ordered_triggers if moved.rows(t.pattern.table.name, t.side) is not None]
        width = len(self.formula.blocks[0].variables)
        # a wide rule may read a hundred atoms that moved: 0.3 s with this set, 3.4 s without (20,000 rows)
        once = TupleSet(width, self.radix) if len(due) > width else None
        for trigger in due:
            for bindings in self._triggered(trigger, moved):
                fresh = bindings if once is None else self._unseen(bindings, once)
                if not fresh.length:
                    continue
                self.assignment_count += fresh.length
                assert trigger.path is not None
                made[trigger.need] = made.get(trigger.need, 0.0) + trigger.path.share * fresh.length
                fresh.moved = trigger.moved
                yield fresh

    def _distinct(self, parts: Iterable[Bindings]) -> Iterator[Bindings]:
        """The assignments without those that differ in existential variables only, part by part."""
        for bindings in parts:
            yield self._unseen(bindings, TupleSet(len(self.formula.blocks[0].variables), self.radix))

    def _unseen(self, bindings: Bindings, seen: TupleSet) -> Bindings:
        """The assignments that are not in ``seen``, which are added to it."""
        new = seen.new([bindings.column(v) for v in self.formula.blocks[0].variables], bindings.length)
        if new is None:
            return bindings
        fewer = bindings.at(new)
        fewer.moved = bindings.moved
        return fewer

    def demanded(self, moved: Delta) -> Iterator[Bindings]:
        """Assignments that become due because atoms moved which the formula does not read."""
        return self._arranged(self._demanded(moved))

    def _demanded(self, moved: Delta) -> Iterator[Bindings]:
        for trigger in self._demands if self.started else ():
            for bindings in self._triggered(trigger, moved):
                bindings.moved = trigger.moved
                yield bindings

    @cached_property
    def _demands(self) -> list[Trigger]:
        return find_triggers(self.joins, self._needs, self._wanted)

    def whole(self) -> Iterator[Bindings]:
        """The assignments that each need finds, one need after another; some may be repeated."""
        for number, literals in enumerate(self._needs):
            yield from self.joins.whole(literals, Path(number, share=0.0))

    @cached_property
    def _unrestricted(self) -> list[Collection[int]]:
        """The variables that are not range-restricted, for each need."""
        return [self.joins.unrestricted(literals) for literals in self._needs]

    @property
    def unrestricted_sorts(self) -> frozenset[str]:
        """The sorts of variables that are not range-restricted."""
        return frozenset(self.formula.sorts[variable] for variables in self._unrestricted for variable in variables)

    def with_new_members(self, joining: Mapping[str, Array]) -> Iterator[Bindings]:
        """All assignments in which a variable that is not range-restricted is one of the entities ``joining`` its sort;
        some may be repeated."""
        return self._arranged(
            bindings
            for number, literals in enumerate(self._needs)
            for variable in self._unrestricted[number]
            if (ids := joining.get(self.formula.sorts[variable])) is not None
            for bindings in self._extended(number, literals, {variable: ids}, len(ids))
        )

    def all_assignments(self) -> Iterator[Bindings]:
        """All assignments, whatever was found before; some may be repeated."""
        return self._arranged(self.whole())

    def extending(self, entities: Mapping[int, int]) -> Iterator[Bindings]:
        """All assignments in which some variables have these entities; some may be repeated."""
        ids = {variable: np.array([entity], np.int32) for variable, entity in entities.items()}
        for number, literals in enumerate(self._needs):
            yield from self._extended(number, literals, ids, 1)

    def _extended(self, need: int, literals: Literals, ids: dict[int, Array], length: int) -> Iterable[Bindings]:
        """All assignments of a need with these entities for some variables."""
        start, joins = Bindings(length, NOTHING.bind(frozenset(ids)), ids), copy(self.joins)
        joins.recorder = None
        return joins.joined(start, joins.step(start.known, literals), Path(need, share=0.0))

    @cached_property
    def limits(self) -> list[Matched]:
        """The numbers by which joins find rows."""
        ranges = (literal for literals in self._needs for literal in literals if isinstance(literal, Range))
        return list(dict.fromkeys(number for limit in ranges for number in limit.numbers))

    def reaching(self, atom: Matched, rows: Array) -> Iterator[Bindings]:
        """All assignments in which an atom is one of some rows of its table; some may be repeated."""
        pattern = self.pattern(atom)
        known = Known(frozenset(pattern.places), frozenset({atom}))
        start = self.joins.matched(pattern, pattern.fitting(rows), known)
        return self._arranged(
            bindings
            for number, literals in enumerate(self._needs)
            for bindings in self.joins.joined(start, self.joins.step(known, literals), Path(number, share=0.0))
        )

    def _first_assignments(self) -> Iterator[tuple[int, Bindings]]:
        """All assignments, for the first time: each with the need that finds it."""
        joins = self.joins
        self.started = True
        together = at_once(joins, self._needs)
        if together is not None:
            yield from ((0, bindings) for bindings in together)
        else:
            for number, literals in enumerate(self._needs):
                if subsumed(joins.atoms, self._needs, number):
                    continue
                yield from ((number, bindings) for bindings in joins.whole(literals, Path(number)))
        for trigger in self.ordered_triggers:
            self._fresh_rows(trigger)

    def _triggered(self, trigger: Trigger, moved: Delta) -> Iterable[Bindings]:
        """The assignments from a trigger; its path has the share that it could not have found before."""
        joins, pattern = self.joins, trigger.pattern
        rows = moved.rows(pattern.table.name, trigger.side)
        other = moved.rows(pattern.table.name, 1 - trigger.side) if trigger.twin else None
        if rows is None or (other is not None and np.array_equal(spelled_out(rows), spelled_out(other))):
            return ()
        if not pattern.plain:
            rows = pattern.fitting(spelled_out(rows))
        # an atom that names all variables is joined with nothing: 1,000 rules over
        # propositions take 1.1 to 1.3 times as long without
        if not len(rows) or (not trigger.rest and not any(map(joins.may_hold, self._needs))):
            return ()
        share = min(1.0, self._fresh_rows(trigger) / len(rows))
        path = trigger.path
        if path is None or path.share != share:
            path = trigger.path = Path(trigger.need, share=share)
        if joins.recorder is not None:
            path = joins.begun(path, trigger.rest, trigger.moving, len(rows))
        if trigger.step is None:
            trigger.known = joins.matched(pattern, rows).known
            trigger.step = joins.step(trigger.known, trigger.rest)
        return joins.joined(joins.matched(pattern, rows, trigger.known), trigger.step, path)

    @cached_property
    def ordered_triggers(self) -> list[Trigger]:
        """The tables and sides whose delta is joined, in order."""
        reads: dict[int, dict[tuple[Matched, int], None]] = {}
        for leaf, sides in sorted(self._reads.items()):
            block = self.formula.original.block_of(leaf) if self._within else 0
            mattering = (side for side, matters in enumerate(sides) if matters)
            reads.setdefault(block, {}).update(((self.atom(leaf), side), None) for side in mattering)
        triggers: list[Trigger] = []
        for block, read in sorted(reads.items()):
            triggers += find_triggers(self.joins, self._within.get(block, self._needs), read)
        for trigger in triggers:
            trigger.need = min(trigger.need, len(self._needs) - 1)  # the plan shows joins by need
        return triggers

    def _fresh_rows(self, trigger: Trigger) -> int:
        """The number of rows that satisfy a trigger's literal since the last call; 0 if the trigger has no literal."""
        if trigger.literal is None:
            return 0
        before, trigger.seen = trigger.seen, self.joins.length(trigger.literal)
        return trigger.seen - before

    def atom(self, leaf: int) -> Matched:
        """A leaf's table and arguments."""
        return self.formula.table(leaf), self.formula.arguments(leaf)

    def pattern(self, matched: Matched) -> Pattern:
        """How an atom binds the formula's variables."""
        return self.joins.pattern(matched)

    @property
    def radix(self) -> int:
        """An upper bound on all entity ids."""
        return self.joins.radix


def _wanted(formula: Formula, needs: Sequence[Need]) -> dict[tuple[Matched, int], None]:
    """The atoms and sides in needs that the formula does not read."""
    sources = {formula.neurons[leaf].source for leaf in formula.leaves} | {formula.auxiliary, EQUAL}
    literals = in_order({literal for need in needs for literal in need.literals if literal.table not in sources})
    return {
        (literal.atom, side): None
        for literal in literals
        for side, column in enumerate(("lower", "upper"))
        if literal.column in (column, "either")
    }
