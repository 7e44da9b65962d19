"""The least world, in which every atom is as false as its inferred bounds allow: with the interface of `KnownValues`,
some atoms assigned a truth; the instances of statements that it violates, and those that a change may violate.

Since bounds are a fixpoint, the least world violates few instances, and none of rules with one conclusion. The ways in
which a statement can fail there are conjunctions of literals: their positive ones are joined, and the statement is
evaluated for all rows at once. A solver's model assigns truths to some atoms, so a search for instances that it
violates only has to visit those that read these atoms.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.needs import Literal
from lnnkit.arrays import Array
from lnnkit.explain.checker.ground_form import Free
from lnnkit.formula.unfolding import Block, Formula
from lnnkit.join.literal_join import Joins, Path
from lnnkit.logic import logic_named
from lnnkit.logic.bounds import Bounds
from lnnkit.prove.ground.dependency_cone import TooWide
from lnnkit.prove.ground.ground_reading import GroundAtom, GroundReading, Instance, KnownValues, unified
from lnnkit.prove.ground.parts import BoundedStatement, Part
from lnnkit.prove.ground.point_arithmetic import Box
from lnnkit.syntax import ast

_MARK = "\ue000"  # prefix of the names of unnamed individuals: private use, so no entity of a program has it
_MOST = 64  # ways; a statement with more is searched as a whole
_MOST_ROWS = 5_000_000  # greatest number of rows of a join
VariableColumns = Mapping[str, Array]  # ids of entities, by variable name


class WorldValues(KnownValues):
    """The world of all lower ends of ``known``, except where `say` assigns a truth. Numbers keep their bounds. Open
    sorts contain the individuals made by `person` that are said to exist, and no others."""

    def __init__(self, known: KnownValues) -> None:
        vars(self).update(vars(known))
        self.known = known
        self._now: dict[GroundAtom, float] = {}
        self._before: dict[GroundAtom, float] = {}
        self._existing: dict[str, list[str]] = {}
        self.sort_of: dict[str, str] = {}  # by unnamed individual
        self.anyones: set[str] = set()  # those that stand for any individual, named ones included

    def say(self, truths: Mapping[GroundAtom, float], existing: Iterable[str]) -> list[GroundAtom]:
        """Assign truths over the least world, and the individuals that exist; returns the atoms that have changed."""
        self._before, self._now = self._now, dict(truths)
        self._existing = {}
        for person in existing:
            self._existing.setdefault(self.sort_of[person], []).append(person)
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
        return not self.program.predicates[name].numeric and self.atoms.tables[name].default[0] == 0

    def rows(self, name: str, fixed: Mapping[int, str], end: int) -> Iterator[tuple[str, ...]]:
        """The entities of atoms that are true now, or were so before the last change."""

        def true(key: GroundAtom) -> bool:
            return self._at(self._now, key) > 0 or self._at(self._before, key) > 0

        yield from (row for row in self.known.rows(name, fixed, 0) if true((name, row)))
        for key in self._now | self._before:
            fits = key[0] == name and all(key[1][place] == text for place, text in fixed.items())
            if fits and self.known.box(key)[0] <= 0 and true(key):
                yield key[1]

    def _at(self, said: Mapping[GroundAtom, float], key: GroundAtom) -> float:
        truth = said.get(key)
        return self.known.box(key)[0] if truth is None else truth


class WorldReading(GroundReading):
    """Reads instances in a ``world``, and finds those that its last change affects."""

    def __init__(self, known: KnownValues) -> None:
        self.world = WorldValues(known)
        super().__init__(self.world)

    def affected(self, key: GroundAtom, statements: Sequence[BoundedStatement]) -> Iterator[Instance]:
        """The instances that read an atom and may fail now, or may have failed before."""
        for stated in statements:
            for leaf, quantifiers, _ in reversed(stated.part.occurrences):
                if leaf.name == key[0]:
                    yield from self._affected(key, stated, leaf, quantifiers)

    def about(self, person: str, sort: str, statements: Sequence[BoundedStatement]) -> Iterator[Instance]:
        """The instances about an individual that has been added."""
        for stated in statements:
            for name, other in stated.variables:
                if other == sort:
                    yield from self.instances(stated, {name: person})
            quantifiers = {quantifier for _, around, _ in stated.part.occurrences for quantifier in around}
            if any(_meets_all(quantifier, sort) for quantifier in quantifiers):
                yield from self.instances(stated, {})

    def _affected(
        self, key: GroundAtom, stated: BoundedStatement, leaf: Part, quantifiers: tuple[Part, ...]
    ) -> Iterator[Instance]:
        sorts = dict(itertools.chain(stated.variables, *(quantifier.bound for quantifier in quantifiers)))
        bound = unified(leaf, key[1], sorts)
        if bound is None or not all(self.world.has(sorts[name], text) for name, text in bound.items()):
            return
        if not quantifiers:
            yield from self.instances(stated, bound)
            return
        # The atoms without which the row of a quantifier is neutral, now and before
        rows = (guard for quantifier in quantifiers for guard in quantifier.row_guards if guard is not leaf)
        for assignment in self.assignments([*sorts.items()], bound, [*rows, *stated.guards]):
            yield Instance(stated, {name: assignment[name] for name, _ in stated.variables})


def _meets_all(quantifier: Part, sort: str) -> bool:
    """Whether an individual without any true atom affects a quantifier over its sort."""
    names = {name for name, other in quantifier.bound if other == sort}
    return not all(any(name in guard.variables for guard in quantifier.row_guards) for name in names)


# --- what it violates -------------------------------------------------------------------------------------------------


class FailingWay(NamedTuple):
    """Atoms that are true if a statement fails in this way in a world where every atom is true or false, and the
    ``variables`` (names and sorts) of the quantifiers that need a row."""

    atoms: tuple[Part, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def _ways(part: Part, *, wanted: bool) -> list[FailingWay]:
    """The ways in which a formula has the truth ``wanted``; if they are too many, more than `_MOST` of them."""
    if part.bound:
        if wanted == part.least:
            return [FailingWay()]
        inner = _ways(part.operands[0], wanted=wanted)
        return [FailingWay(way.atoms, (*way.variables, *part.bound)) for way in inner]
    match part.kind:
        case "true" | "false":
            return [FailingWay()] if wanted == (part.kind == "true") else []
        case "atom":
            return [FailingWay((part,) if wanted else ())]
        case "same" | "compare":
            return [FailingWay()]
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


def _together(*options: Sequence[FailingWay]) -> list[FailingWay]:
    """A way of each, in all combinations."""
    chosen = itertools.product(*options)
    return _first(FailingWay(*(tuple(itertools.chain(*part)) for part in zip(*ways, strict=True))) for ways in chosen)


def _first(ways: Iterable[FailingWay]) -> list[FailingWay]:
    return list(itertools.islice(ways, _MOST + 1))


def suspects(known: KnownValues, stated: BoundedStatement, most: int) -> Iterator[Instance]:
    """A superset of the instances that fail in the least world of ``known``. Raises `TooWide` if more than ``most``
    fail in one way, or if a join has too many rows."""
    met: set[tuple[str, ...]] = set()
    names, failing = [name for name, _ in stated.variables], _ways(stated.part, wanted=stated.lower <= 0)
    for way in dict.fromkeys(failing if len(failing) <= _MOST else [FailingWay()]):
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
    known: KnownValues, way: FailingWay, variables: Sequence[tuple[str, str]]
) -> Iterator[tuple[VariableColumns, int]]:
    """The values of a statement's ``variables`` for which the atoms of a way are true."""
    numbers = {name: number for number, (name, _) in enumerate((*variables, *way.variables))}
    literals: list[Literal] = []
    for atom in way.atoms:
        if known.atoms.tables[atom.name].default[0] > 0:
            continue
        if atom.terms:
            arguments = tuple(numbers[term.name] if isinstance(term, Free) else term for term in atom.terms)
            literals.append(Literal(atom.name, arguments, "lower"))
        elif known.box((atom.name, ()))[0] <= 0:
            return
    sorts, wanted = tuple(sort for _, sort in (*variables, *way.variables)), tuple(range(len(variables)))
    joins = Joins(Formula((), (Block(-1, wanted, ()),), sorts, 0.0, 1.0), known.atoms, known.domain, _checked, -1, None)
    for part in joins.whole(tuple(dict.fromkeys(literals)), Path(0)):
        yield {name: part.column(number) for number, (name, _) in enumerate(variables)}, part.length


def _checked(_formula: Formula, rows: int) -> None:
    if rows > _MOST_ROWS:
        raise TooWide(f"a statement has {rows:,} instances to examine; at most {_MOST_ROWS:,} are examined")


def _box(known: KnownValues, part: Part, columns: VariableColumns, length: int) -> Bounds:
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


def _column(known: KnownValues, term: object, columns: VariableColumns, length: int) -> Array:
    if isinstance(term, Free):
        return columns[term.name]
    return np.full(length, known.domain.index[str(term)], np.int32)
