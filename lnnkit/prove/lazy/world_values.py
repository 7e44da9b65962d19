"""One world with the interface of `KnownValues`: some atoms have an assigned truth, all others are as false as
possible; and the instances of statements that a change of the world may violate.

Since bounds are a fixpoint, the least world violates few instances, and none of rules with one conclusion. A solver's
model assigns truths to some atoms, so a search for violated instances only has to visit those that read these atoms.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from lnnkit.prove.ground.ground_reading import GroundReading, Instance, unified
from lnnkit.prove.ground.known_values import GroundAtom, KnownValues
from lnnkit.prove.ground.parts import BoundedStatement, Part
from lnnkit.prove.ground.point_arithmetic import Box

_MARK = "\ue000"  # prefix of the names of unnamed individuals: private use, so no entity of a program has it


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

    # --- the world --------------------------------------------------------------------------------------------------

    def say(self, truths: Mapping[GroundAtom, float], existing: Iterable[str]) -> list[GroundAtom]:
        """Assign truths over the least world, and the individuals that exist; returns the atoms that have changed."""
        self._before, self._now = self._now, dict(truths)
        self._existing = {}
        for person in existing:
            self._existing.setdefault(self.sort_of[person], []).append(person)
        both = self._before | self._now
        return [key for key in both if self._at(self._before, key) != self._at(self._now, key)]

    def person(self, sort: str) -> str:
        """A new unnamed individual of an open sort, which does not exist yet."""
        name = f"{_MARK}someone {len(self.sort_of) + 1}"
        self.sort_of[name] = sort
        return name

    def anyone(self, sort: str) -> str:
        """A new individual of which only the sort is known: it may be a named entity."""
        name = self.person(sort)
        self.anyones.add(name)
        return name

    def people(self) -> list[str]:
        """The unnamed individuals that exist."""
        return [person for people in self._existing.values() for person in people]

    # --- as known values --------------------------------------------------------------------------------------------

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

        listed = self.known.rows(name, fixed, 0) if self.program.predicates[name].sorts else [()]
        yield from (row for row in listed if true((name, row)))
        for key in self._now | self._before if self.program.predicates[name].sorts else ():
            fits = key[0] == name and all(key[1][place] == text for place, text in fixed.items())
            if fits and self.known.box(key)[0] <= 0 and true(key):
                yield key[1]

    def _at(self, said: Mapping[GroundAtom, float], key: GroundAtom) -> float:
        truth = said.get(key)
        return self.known.box(key)[0] if truth is None else truth


_AtomPlace = tuple[Part, tuple[Part, ...]]  # an atom in a statement, and the quantifiers around it, the outermost first


class TouchedInstances:
    """Searches statements for affected instances, in a ``world`` over known values and the one before it."""

    def __init__(self, known: KnownValues) -> None:
        self.world = WorldValues(known)
        self.reading = GroundReading(self.world)
        self._places = cache(_places)

    def of(self, key: GroundAtom, statements: Sequence[BoundedStatement]) -> Iterator[Instance]:
        """The instances that read an atom and may fail now, or may have failed before."""
        for stated in statements:
            for leaf, quantifiers in self._places(stated.part):
                if leaf.name == key[0]:
                    yield from self._violated(key, stated, leaf, quantifiers)

    def about(self, person: str, sort: str, statements: Sequence[BoundedStatement]) -> Iterator[Instance]:
        """The instances about an individual that has been added."""
        for stated in statements:
            for name, other in stated.variables:
                if other == sort:
                    yield from self.reading.instances(stated, {name: person})
            quantifiers = {quantifier for _, around in self._places(stated.part) for quantifier in around}
            if any(self._meets_all(quantifier, sort) for quantifier in quantifiers):
                yield from self.reading.instances(stated, {})

    def _violated(
        self, key: GroundAtom, stated: BoundedStatement, leaf: Part, quantifiers: tuple[Part, ...]
    ) -> Iterator[Instance]:
        sorts = dict(itertools.chain(stated.variables, *(quantifier.bound for quantifier in quantifiers)))
        bound = unified(leaf, key[1], sorts)
        if bound is None or not all(self.world.has(sorts[name], text) for name, text in bound.items()):
            return
        if not quantifiers:
            yield from self.reading.instances(stated, bound)
            return
        # The atoms without which the row of a quantifier is neutral, now and before
        rows = (guard for quantifier in quantifiers for guard in quantifier.row_guards if guard is not leaf)
        for assignment in self.reading.assignments([*sorts.items()], bound, [*rows, *stated.guards]):
            yield Instance(stated, {name: assignment[name] for name, _ in stated.variables})

    def _meets_all(self, quantifier: Part, sort: str) -> bool:
        """Whether an individual without any true atom affects a quantifier over its sort."""
        names = {name for name, other in quantifier.bound if other == sort}
        return not all(any(name in guard.variables for guard in quantifier.row_guards) for name in names)


def _places(part: Part) -> tuple[_AtomPlace, ...]:
    places: list[_AtomPlace] = []
    stack: list[tuple[Part, tuple[Part, ...]]] = [(part, ())]
    while stack:
        inner, quantifiers = stack.pop()
        if inner.kind == "atom":
            places.append((inner, quantifiers))
        elif inner.bound:
            stack.append((inner.operands[0], (*quantifiers, inner)))
        elif inner.kind != "compare":
            stack.extend((operand, quantifiers) for operand in inner.operands)
    return tuple(places)
