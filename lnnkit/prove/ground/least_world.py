"""The least world, in which every atom is as false as its inferred bounds allow: with the interface of `GroundReading`,
some atoms assigned a truth; the instances of statements that it violates, and those that a change may violate.

Since bounds are a fixpoint, the least world violates few instances, and none of rules with one conclusion. The ways in
which a statement can fail there are conjunctions of literals: their positive ones are joined, and the statement is
evaluated for all rows at once. A solver's model assigns truths to some atoms, so a search for instances that it
violates only has to visit those that read these atoms.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from lnnkit.analysis.needs import Literal
from lnnkit.arrays import Array
from lnnkit.explain.checker.ground_form import Free
from lnnkit.formula.unfolding import Block, Formula
from lnnkit.join.literal_join import Joins, Path
from lnnkit.logic import logic_named
from lnnkit.logic.bounds import Bounds
from lnnkit.prove.ground.dependency_cone import TooWide
from lnnkit.prove.ground.ground_reading import GroundAtom, GroundReading, Instance
from lnnkit.prove.ground.parts import BoundedStatement, Part
from lnnkit.prove.rational_terms import Box
from lnnkit.syntax import ast

_MARK = "\ue000"  # prefix of the names of unnamed individuals: private use, so no entity of a program has it
_MOST = 64  # ways; a statement with more is searched as a whole
_MOST_ROWS = 5_000_000  # greatest number of rows of a join
VariableColumns = Mapping[str, Array]  # ids of entities, by variable name
# How a statement fails in a world where every atom is true or false: the atoms that are true, and the quantifiers that
# need a row
Way = tuple[Part, ...]
Statements = Sequence[BoundedStatement]


class WorldValues(GroundReading):
    """The world of all lower ends of ``known``, except where `say` assigns a truth. Numbers keep their bounds. Open
    sorts contain the individuals made by `person` that are said to exist, and no others."""

    def __init__(self, known: GroundReading) -> None:
        vars(self).update(vars(known))
        self.known = known
        self._now: dict[GroundAtom, float] = {}
        self._before: dict[GroundAtom, float] = {}
        self._raised: dict[str, list[tuple[str, ...]]] = {}  # entities of atoms that are, or were, true by assignment
        self._existing: dict[str, list[str]] = {}
        self.sort_of: dict[str, str] = {}  # by unnamed individual
        self.anyones: set[str] = set()  # those that stand for any individual, named ones included

    def say(self, truths: Mapping[GroundAtom, float], existing: Iterable[str]) -> list[GroundAtom]:
        """Assign truths over the least world, and the individuals that exist; returns the atoms that have changed."""
        self._before, self._now = self._now, dict(truths)
        self._existing = {}
        for person in existing:
            self._existing.setdefault(self.sort_of[person], []).append(person)
        self._raised = {}
        for key in self._now | self._before:
            if self.known.box(key)[0] <= 0 and self._true(key):
                self._raised.setdefault(key[0], []).append(key[1])
        both = self._before | self._now
        return [key for key in both if self._at(self._before, key) != self._at(self._now, key)]

    def person(self, sort: str, *, anyone: bool = False) -> str:
        """A new unnamed individual of an open sort, which does not exist yet; ``anyone`` may be a named entity."""
        name = f"{_MARK}someone {len(self.sort_of) + 1}"
        self.sort_of[name] = sort
        self.anyones |= {name} if anyone else set()
        return name

    def people(self) -> list[str]:
        """The unnamed individuals that exist."""
        return [person for people in self._existing.values() for person in people]

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


class WorldReading(WorldValues):
    """Reads instances in such a world, and finds those of ``statements`` that it violates: at first among all, then
    among those that the last change affects. ``mentioning`` gives the statements with a predicate; ``pause`` raises
    when time runs out. Where every atom is true or false, up to ``most`` of a statement are joined."""

    def __init__(
        self,
        known: GroundReading,
        statements: Statements,
        mentioning: Callable[[str], Statements],
        pause: Callable[[], None],
        most: int | None = None,
    ) -> None:
        super().__init__(known)
        self.added: set[Instance] = set()
        self.changed: list[GroundAtom] = []  # the atoms of which the last model says something new
        self._statements, self._mentioning, self._pause = statements, mentioning, pause
        self._first, self._most = iter(statements), most
        self._people: set[str] = set()

    def violated(self, truths: Mapping[GroundAtom, float], existing: Iterable[str] = ()) -> Iterator[Instance]:
        """Assign truths and individuals that exist; the instances that this violates and that were not ``added``."""
        self.changed = self.say(truths, existing)
        for instance in self._candidates():
            if instance not in self.added and not self.satisfied(instance):
                self.added.add(instance)
                yield instance

    def _candidates(self) -> Iterator[Instance]:
        for stated in self._first:
            self._pause()
            most = self._most
            yield from self.instances(stated, {}) if most is None else suspects(self.known, stated, most)
        for key in self.changed:
            self._pause()
            yield from self.affected(key, self._mentioning(key[0]))
        for person in self.people():
            if person not in self._people:
                yield from self._about(person, self.sort_of[person])
        self._people = set(self.people())

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
                if not inner:
                    yield from self.instances(stated, bound)
                    continue
                # The atoms without which the row of a quantifier is neutral, now and before
                rows = (guard for quantifier in quantifiers for guard in quantifier.row_guards if guard is not leaf)
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


def _ways(part: Part, *, wanted: bool) -> list[Way]:
    """The ways in which a formula has the truth ``wanted``; if they are too many, more than `_MOST` of them."""
    if part.bound:
        return [()] if wanted == part.least else [(*way, part) for way in _ways(part.operands[0], wanted=wanted)]
    match part.kind:
        case "true" | "false":
            return [()] if wanted == (part.kind == "true") else []
        case "atom":
            return [(part,) if wanted else ()]
        case "same" | "compare":
            return [()]
        case "not":
            return _ways(part.operands[0], wanted=not wanted)
        case "and" | "or" | "implies" as kind:  # an implication is a disjunction with its antecedent negated
            first, *rest = part.operands
            options = [_ways(first, wanted=wanted != (kind == "implies"))]
            options += [_ways(other, wanted=wanted) for other in rest]
            return _first(itertools.chain(*options)) if wanted == (kind != "and") else _together(*options)
    one, other = ([_ways(operand, wanted=truth) for truth in (False, True)] for operand in part.operands)
    alike = wanted == (part.kind == "iff")
    return _first([*_together(one[False], other[not alike]), *_together(one[True], other[alike])])


def _together(*options: Sequence[Way]) -> list[Way]:
    """A way of each, in all combinations."""
    return _first(tuple(itertools.chain(*chosen)) for chosen in itertools.product(*options))


def _first(ways: Iterable[Way]) -> list[Way]:
    return list(itertools.islice(ways, _MOST + 1))


def suspects(known: GroundReading, stated: BoundedStatement, most: int) -> Iterator[Instance]:
    """A superset of the instances that fail in the least world of ``known``. Raises `TooWide` if more than ``most``
    fail in one way, or if a join has too many rows."""
    met: set[tuple[str, ...]] = set()
    names, failing = [name for name, _ in stated.variables], _ways(stated.part, wanted=stated.lower <= 0)
    for way in dict.fromkeys(failing if len(failing) <= _MOST else [()]):
        count = 0
        for columns, length in _joined(known, way, stated.variables):
            low, high = _box(known, stated.part, columns, length)
            kept = np.flatnonzero(~((low >= stated.lower) & (high <= stated.upper)))
            count += len(kept)
            if count > most:
                raise TooWide(f"{count:,} instances of `{stated.origin.text}` would have to be translated")
            rows = [known.names_of(columns[name][kept]) for name in names]
            for row in zip(*rows, strict=True) if names else [()] * len(kept):
                if row not in met:
                    met.add(row)
                    yield Instance(stated, dict(zip(names, row, strict=True)))


def _joined(
    known: GroundReading, way: Way, variables: Sequence[tuple[str, str]]
) -> Iterator[tuple[VariableColumns, int]]:
    """The values of a statement's ``variables`` for which the atoms of a way are true."""
    every = [*variables, *itertools.chain.from_iterable(part.bound for part in way)]
    numbers = {name: number for number, (name, _) in enumerate(every)}
    literals: list[Literal] = []
    for atom in (part for part in way if not part.bound):
        if known.relations.tables[atom.name].default[0] > 0:
            continue
        if atom.terms:
            arguments = tuple(numbers[term.name] if isinstance(term, Free) else term for term in atom.terms)
            literals.append(Literal(atom.name, arguments, "lower"))
        elif known.box((atom.name, ()))[0] <= 0:
            return
    sorts, wanted = tuple(sort for _, sort in every), tuple(range(len(variables)))
    joins = Joins(
        Formula((), (Block(-1, wanted, ()),), sorts, 0.0, 1.0), known.relations, known.domain, _checked, -1, None
    )
    for part in joins.whole(tuple(dict.fromkeys(literals)), Path(0)):
        yield {name: part.column(number) for number, (name, _) in enumerate(variables)}, part.length


def _checked(_formula: Formula, rows: int) -> None:
    if rows > _MOST_ROWS:
        raise TooWide(f"a statement has {rows:,} instances to examine; at most {_MOST_ROWS:,} are examined")


def _box(known: GroundReading, part: Part, columns: VariableColumns, length: int) -> Bounds:
    """Bounds of a formula in the least world, for each row. Quantifiers and comparisons are left unknown."""
    match part.kind:
        case "true" | "false":
            truths = np.full(length, float(part.kind == "true"))
        case "atom":
            terms = [_column(known, term, columns, length) for term in part.terms]
            truths = known.true_in_all(part.name, terms, length)
        case "same":
            one, other = (_column(known, term, columns, length) for term in part.terms)
            truths = (one == other).astype(float)
        case _ if part.bound or part.arithmetic is not None:
            return Bounds(np.zeros(length), np.ones(length))
        case kind:
            operands = [_box(known, operand, columns, length) for operand in part.operands]
            negated = {"not": "and", "xor": "iff"}.get(kind)
            low, high = logic_named(ast.LATTICE_LOGIC).up(negated or kind, operands, (1.0,) * len(operands), 1.0)
            return Bounds(1 - high, 1 - low) if negated else Bounds(low, high)
    return Bounds(truths, truths)


def _column(known: GroundReading, term: object, columns: VariableColumns, length: int) -> Array:
    if isinstance(term, Free):
        return columns[term.name]
    return np.full(length, known.domain.index[str(term)], np.int32)
