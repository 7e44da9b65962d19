"""Which instances of statements go to the solver: the dependency cone, or what the least world violates.

The cone has the instances on which a question can depend, followed from atom to atom. A model of the completion may
contain an unfounded set, completed atoms that only support each other, as in ``reach(X, Y) <- reach(Y, X)``; a least
fixpoint excludes them. For each one that a model shows, its loop formula is added: an atom of the set needs a rule
whose antecedent holds without them (Lin and Zhao 2004, "ASSAT").

In the least world every atom is as false as its inferred bounds allow. Since bounds are a fixpoint, it violates few
instances, and none of rules with one conclusion. It is a view of the relations in which an atom has one value, its
lower end: what a statement needs to fail there is joined as in a plan, and the statement is evaluated for all rows at
once. A solver's model assigns truths to some atoms, so a search for instances that it violates only has to visit those
that read these atoms.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lnnkit.analysis.families import ALWAYS, union
from lnnkit.analysis.needs import Literal
from lnnkit.formula.passes import neuron_upward
from lnnkit.formula.unfolding import LEAF, Formula, unfold
from lnnkit.join.bindings import Bindings
from lnnkit.join.literal_join import Joins, Path
from lnnkit.logic.bounds import Bounds
from lnnkit.prove.ground.ground_reading import NOISE, SLACK, GroundAtom, GroundReading
from lnnkit.prove.ground.parts import Assignment, BoundedStatement, Instance, Part, StatementIndex
from lnnkit.prove.rational_terms import Box
from lnnkit.time_limit import check_time

_TOLD = 1000  # progress is reported each time after this many instances
_MARK = "\ue000"  # prefix of the names of unnamed individuals: private use, so no entity of a program has it
_MOST_ROWS = 5_000_000  # greatest number of rows of a join
Statements = Sequence[BoundedStatement]

# --- the cone ---------------------------------------------------------------------------------------------------------


class Definition:
    """The definition of a completed atom: the instances of ``rules`` that may make it true."""

    def __init__(self, key: GroundAtom, index: StatementIndex, reading: GroundReading) -> None:
        pairs = ((rule, head) for stated, head in index.defining(key[0]) for rule in reading.touching(key, [stated]))
        self.key = key
        self.rules = [*dict.fromkeys(rule for rule, head in pairs if reading.key(head, rule.bindings) == key)]


class TooWide(Exception):
    """The cone has more instances than allowed."""


@dataclass
class Cone:
    """``instances``, and the unsettled ``atoms`` and numbers that they and the question read: so many of these are
    ``near`` the question. ``definitions`` are those of completed atoms. ``seen`` instances include satisfied ones."""

    reading: GroundReading
    index: StatementIndex
    limit: int
    tell: Callable[[int, int], None] | None = None  # is told how many instances and atoms there are
    most_atoms: int | None = None
    instances: list[Instance] = field(default_factory=list)
    definitions: dict[GroundAtom, Definition] = field(default_factory=dict)
    atoms: dict[GroundAtom, None] = field(default_factory=dict)
    near: int = 0
    seen: set[Instance] = field(default_factory=set)
    _waiting: list[GroundAtom] = field(default_factory=list)

    @property
    def items(self) -> list[Instance | Definition]:
        """The instances and definitions."""
        return [*self.instances, *self.definitions.values()]

    def grow(self, part: Part, *, whole: bool = False) -> None:
        """Add all on which a formula depends, if ``whole`` all of the program. Raises `TooWide`."""
        self._wait(part, {})
        self._finish()
        self.near = len(self.atoms)
        for stated in self.index.every() if whole else ():
            for instance in self.reading.instances(stated, {}):
                self.add(instance)
        self._finish()

    def _finish(self) -> None:
        while self._waiting:
            key = self._waiting.pop()
            for instance in self.reading.touching(key, self.index.mentioning(key[0])):
                self.add(instance)
                if self.tell is not None and len(self.seen) % _TOLD == 0:
                    self.tell(len(self.instances), len(self.atoms))

    def add(self, instance: Instance) -> None:
        """Add an instance, unless it is present already or satisfied at known bounds."""
        if instance in self.seen:
            return
        self._count(instance)
        check_time()
        for head in self.index.defined(instance.stated):  # its antecedent determines it, even if it is settled
            key = self.reading.key(head, instance.bindings)
            if key is not None and key not in self.definitions and self.reading.completed(key):
                low, high = self.reading.truth(instance.antecedent, instance.bindings)
                if high - low > SLACK:
                    self._define(key)
        if not self.reading.satisfied(instance):
            self.instances.append(instance)
            self._wait(instance.stated.part, instance.bindings)

    def take(self, instance: Instance) -> None:
        """Add an instance without what depends on it. Raises `TooWide`."""
        self._count(instance)
        self.instances.append(instance)

    def _count(self, instance: Instance) -> None:
        self.seen.add(instance)
        if len(self.seen) > self.limit:
            raise TooWide

    def _wait(self, part: Part, bindings: Assignment) -> None:
        """Follow the unsettled atoms and numbers of a formula on which its truth can depend."""
        for key in self.reading.atoms(part, bindings, unsettled=True):
            if key in self.atoms:
                continue
            self.atoms[key] = None
            if self.most_atoms is not None and len(self.atoms) > self.most_atoms:
                raise TooWide
            self._waiting.append(key)
            if self.reading.completed(key):
                self._define(key)

    def _define(self, key: GroundAtom) -> None:
        self.definitions[key] = definition = Definition(key, self.index, self.reading)
        for instance in definition.rules:
            self._wait(instance.stated.part, instance.bindings)


@dataclass(frozen=True, slots=True)
class Loop:
    """Completed ``atoms`` that are false unless one of their ``rules`` holds where all of them are false."""

    atoms: frozenset[GroundAtom]
    rules: tuple[Instance, ...]


def unfounded(
    definitions: Mapping[GroundAtom, Definition], reading: GroundReading, world: Callable[[GroundAtom], Box]
) -> Loop:
    """The loop formula of completed atoms that are true in a ``world`` without well-founded support from rules, in the
    first stratum that has any: its rules may negate atoms of the strata before."""
    loose: set[GroundAtom] = set()

    def read(key: GroundAtom) -> Box:
        return (0.0, 0.0) if key in loose else world(key)

    def founded(key: GroundAtom) -> bool:
        return any(reading.truth(rule.antecedent, rule.bindings, read)[0] >= 1 for rule in definitions[key].rules)

    for stratum in reading.program.strata:
        loose |= {key for key in definitions if key[0] in stratum and world(key)[0] > 0}
        while supported := {key for key in loose if founded(key)}:
            loose -= supported
        if loose:
            break
    rules = (rule for key in sorted(loose) for rule in definitions[key].rules)
    return Loop(frozenset(loose), tuple(dict.fromkeys(rules)))


# --- the least world --------------------------------------------------------------------------------------------------


class WorldReading(GroundReading):
    """The world of all lower ends of ``known``, except where `violated` assigns a truth. Numbers keep their bounds.
    Open sorts contain the individuals made by `person` that are said to exist, and no others.

    It finds the instances of ``statements`` that it violates: at first among all, up to ``most`` of each, then among
    those that the last change affects. ``mentioning`` gives the statements with a predicate."""

    def __init__(
        self,
        known: GroundReading,
        statements: Statements = (),
        mentioning: Callable[[str], Statements] = lambda _name: (),
        most: int = 0,
    ) -> None:
        vars(self).update(vars(known))
        self.known = known
        self._now: dict[GroundAtom, float] = {}
        self._before: dict[GroundAtom, float] = {}
        self._raised: dict[str, list[tuple[str, ...]]] = {}  # entities of atoms that are, or were, true by assignment
        self._existing: dict[str, list[str]] = {}
        self.sort_of: dict[str, str] = {}  # by unnamed individual
        self.anyones: set[str] = set()  # those that stand for any individual, named ones included
        self.added: set[Instance] = set()
        self.changed: list[GroundAtom] = []  # the atoms of which the last model says something new
        self._statements, self._mentioning = statements, mentioning
        self._first, self._most = iter(statements), most
        self._people: set[str] = set()

    def person(self, sort: str, *, anyone: bool = False) -> str:
        """A new unnamed individual of an open sort, which does not exist yet; ``anyone`` may be a named entity."""
        name = f"{_MARK}someone {len(self.sort_of) + 1}"
        self.sort_of[name] = sort
        self.anyones |= {name} if anyone else set()
        return name

    def box(self, key: GroundAtom) -> Box:
        if self.program.predicates[key[0]].numeric:
            return self.known.box(key)
        truth = self._at(self._now, key)
        return truth, truth

    def has(self, sort: str, entity: str) -> bool:
        kind = self.sort_of.get(entity)
        return self.known.has(sort, entity) if kind is None else kind == sort and entity in self._existing.get(sort, ())

    def is_open(self, sort: str) -> bool:
        return False

    def members(self, sort: str) -> list[str]:
        people = self._existing.get(sort)
        return [*self.known.members(sort), *people] if people else self.known.members(sort)

    def count(self, sort: str) -> int:
        return self.known.count(sort) + len(self._existing.get(sort, ()))

    def false_by_default(self, name: str) -> bool:
        return not self.program.predicates[name].numeric and self.relations.tables[name].default[0] == 0

    def listed(self, name: str, fixed: Mapping[int, str], end: int) -> Iterator[tuple[str, ...]]:
        """The entities of atoms that are true now, or were so before the last change."""
        yield from (row for row in self.known.listed(name, fixed, 0) if self._true((name, row)))
        for row in self._raised.get(name, ()):
            if all(row[place] == text for place, text in fixed.items()):
                yield row

    def _true(self, key: GroundAtom) -> bool:
        return self._at(self._now, key) > 0 or self._at(self._before, key) > 0

    def _at(self, said: Mapping[GroundAtom, float], key: GroundAtom) -> float:
        truth = said.get(key)
        return self.known.box(key)[0] if truth is None else truth

    def violated(self, truths: Mapping[GroundAtom, float], existing: Iterable[str] = ()) -> Iterator[Instance]:
        """Assign truths over the least world, and the individuals that exist; the instances that this violates and that
        were not ``added``."""
        self._before, self._now = self._now, dict(truths)
        self._existing = {}
        for person in existing:
            self._existing.setdefault(self.sort_of[person], []).append(person)
        self._raised = {}
        both = self._before | self._now
        for key in both:
            if self.known.box(key)[0] <= 0 and self._true(key):
                self._raised.setdefault(key[0], []).append(key[1])
        self.changed = [key for key in both if self._at(self._before, key) != self._at(self._now, key)]
        for instance in self._candidates():
            if instance not in self.added and not self.satisfied(instance):
                self.added.add(instance)
                yield instance

    def _candidates(self) -> Iterator[Instance]:
        for stated in self._first:
            check_time()
            yield from suspects(self.known, stated, self._most)
        for key in self.changed:
            check_time()
            yield from self.affected(key, self._mentioning(key[0]))
        people = {person for some in self._existing.values() for person in some}
        for person in sorted(people - self._people):
            yield from self._about(person, self.sort_of[person])
        self._people = people

    def affected(self, key: GroundAtom, statements: Sequence[BoundedStatement]) -> Iterator[Instance]:
        """The instances that read an atom and may fail now, or may have failed before."""
        people = [(self.sort_of[entity], entity) for entity in key[1] if entity in self.sort_of]
        gone = not all(self.has(*person) for person in people)  # a quantifier may have lost the row of one
        for stated in statements:
            for leaf, quantifiers, _ in reversed(stated.part.occurrences):
                if leaf.name != key[0]:
                    continue
                inner = () if gone else quantifiers
                sorts = dict(itertools.chain(stated.variables, *(quantifier.bound for quantifier in inner)))
                bound = self.unified(leaf, key[1], sorts)
                if bound is None:
                    continue
                # The atoms without which the row of a quantifier is neutral, now and before
                rows = (guard for quantifier in inner for guard in quantifier.row_guards if guard is not leaf)
                for assignment in self.assignments([*sorts.items()], bound, [*rows, *stated.guards]):
                    yield Instance(stated, {name: assignment[name] for name, _ in stated.variables})

    def _about(self, person: str, sort: str) -> Iterator[Instance]:
        """The instances about an individual that has been added."""
        for stated in self._statements:
            for name, other in stated.variables:
                if other == sort:
                    yield from self.instances(stated, {name: person})
            quantifiers = {quantifier for _, around, _ in stated.part.occurrences for quantifier in around}
            places = {
                (quantifier, name) for quantifier in quantifiers for name, other in quantifier.bound if other == sort
            }
            # An individual without any true atom affects a quantifier over its sort that does not guard the variable
            if not all(any(name in guard.variables for guard in around.row_guards) for around, name in places):
                yield from self.instances(stated, {})


# --- what the least world violates ------------------------------------------------------------------------------------


def suspects(known: GroundReading, stated: BoundedStatement, most: int) -> Iterator[Instance]:
    """A superset of the instances that fail in the least world of ``known``. Raises `TooWide` if more than ``most``
    fail by one need, or if a join has too many rows."""
    formula, met = unfold(known.plan.lifted, stated.root, through_shared=True), set[tuple[str, ...]]()
    joins = Joins(formula, known.relations, known.domain, _checked, -1, None)
    names = stated.root.variables
    for number, literals in enumerate(_needs(known, formula)):
        count = 0
        for part in joins.whole(literals, Path(number)):
            low, high = _bounds(known, joins, part)
            kept = np.flatnonzero(~((low >= formula.lower) & (high <= formula.upper)))
            count += len(kept)
            if count > most:
                raise TooWide(f"{count:,} instances of `{stated.origin.text}` would have to be translated")
            rows = [known.names_of(part.column(variable)[kept]) for variable in formula.blocks[0].variables]
            for row in zip(*rows, strict=True) if names else [()] * len(kept):
                if row not in met:
                    met.add(row)
                    yield Instance(stated, dict(zip(names, row, strict=True)))


def _needs(known: GroundReading, formula: Formula) -> list[tuple[Literal, ...]]:
    """The sets of literals one of which must be true in the least world where a statement fails there."""
    upward, top = known.least.of(formula).upward, formula.top
    low, high = upward.bases[top]
    ends = [end for end, says in (("lower", formula.lower > 0), ("upper", formula.upper < 1)) if says]
    fails = low < formula.lower or high > formula.upper
    supports = ALWAYS if fails else union(upward.loosenings(top, end) for end in ends)
    leaves = ([formula.neurons[element.leaf] for element in support] for support in supports)
    needs = (
        frozenset(Literal(leaf.source, leaf.arguments, "either" if leaf.numeric else "lower") for leaf in some)
        for some in leaves
    )
    return [tuple(sorted(need, key=repr)) for need in dict.fromkeys(needs)]


def _checked(_formula: Formula, rows: int) -> None:
    if rows > _MOST_ROWS:
        raise TooWide(f"a statement has {rows:,} instances to examine; at most {_MOST_ROWS:,} are examined")


def _bounds(known: GroundReading, joins: Joins, part: Bindings) -> Bounds:
    """Bounds of a formula in the least world, for each row. Quantifiers and comparisons are left unknown."""
    values: list[Bounds] = []
    for neuron in joins.formula.neurons:
        if neuron.block or neuron.inner >= 0 or neuron.numeric or neuron.arithmetic is not None:
            values.append(Bounds(np.zeros(part.length), np.ones(part.length)))
        elif neuron.operands:
            values.append(neuron_upward(neuron, [values[operand] for operand in neuron.operands]))
        else:
            if neuron.kind == LEAF:
                pattern = joins.pattern((neuron.source, neuron.arguments))
                tuples = pattern.tuples(part.column, part.length)
                lower = pattern.table.take(0, pattern.table.tuples.find(tuples, part.length))
                truths = (lower > NOISE).astype(np.float64) if known.classical else lower
            elif neuron.kind == "same":
                one, other = (part.column(a) if isinstance(a, int) else joins.domain.index[a] for a in neuron.arguments)
                truths = np.full(part.length, one == other, np.float64)
            else:
                truths = np.full(part.length, float(neuron.kind == "true"))
            values.append(Bounds(truths, truths))
    return values[-1]
