"""The instances of statements that a change of a world may violate: those that read a changed atom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from lnnkit.prove.ground.ground_reading import GroundReading, Instance
from lnnkit.prove.ground.instance_search import assignments, unified
from lnnkit.prove.ground.known_values import Key
from lnnkit.prove.ground.parts import Part, Stated
from lnnkit.prove.lazy.world_values import WorldValues


@dataclass(frozen=True)
class _Place:
    """An occurrence of an atom in a statement, inside ``quantifiers``, the outermost first."""

    leaf: Part
    quantifiers: tuple[Part, ...]

    @property
    def bound(self) -> tuple[tuple[str, str], ...]:
        return tuple(each for quantifier in self.quantifiers for each in quantifier.bound)


class TouchedInstances:
    """Searches statements for affected instances, in a ``world`` and the one before it."""

    def __init__(self, world: WorldValues, reading: GroundReading) -> None:
        self._world = world
        self._reading = reading
        self._places = cache(_places)

    def of(self, key: Key, statements: Sequence[Stated]) -> Iterator[Instance]:
        """The instances that read an atom and may fail now, or may have failed before."""
        for stated in statements:
            for place in self._places(stated.part):
                if place.leaf.name == key[0]:
                    yield from self._at(key, stated, place)

    def about(self, person: str, sort: str, statements: Sequence[Stated]) -> Iterator[Instance]:
        """The instances about an individual that has been added."""
        for stated in statements:
            for name, own in stated.variables:
                if own == sort:
                    yield from self._reading.instances(stated, {name: person})
            quantifiers = {each for place in self._places(stated.part) for each in place.quantifiers}
            if any(self._meets_all(each, sort) for each in quantifiers):
                yield from self._reading.instances(stated, {})

    def _at(self, key: Key, stated: Stated, place: _Place) -> Iterator[Instance]:
        sorts = dict((*stated.variables, *place.bound))
        bound = unified(place.leaf, key[1], sorts)
        if bound is None or not all(self._world.has(sorts[name], text) for name, text in bound.items()):
            return
        if not place.quantifiers:
            yield from self._reading.instances(stated, bound)
            return
        variables = [name for name, _ in stated.variables]
        guards = [*self._guards_of_rows(place), *self._reading.guards(stated)]
        for found in assignments([*sorts.items()], bound, guards, self._reading.upper_rows, self._world):
            yield Instance(stated, {name: found[name] for name in variables})

    def _guards_of_rows(self, place: _Place) -> Iterator[Part]:
        """The atoms without which the row of a quantifier is neutral, now and before."""
        for quantifier in place.quantifiers:
            yield from (guard for guard in self._reading.row_guards(quantifier) if guard is not place.leaf)

    def _meets_all(self, quantifier: Part, sort: str) -> bool:
        """Whether an individual without any true atom affects a quantifier over its sort."""
        names = {name for name, own in quantifier.bound if own == sort}
        return not all(any(name in guard.variables for guard in self._reading.row_guards(quantifier)) for name in names)


def _places(part: Part) -> tuple[_Place, ...]:
    found: list[_Place] = []
    stack: list[tuple[Part, tuple[Part, ...]]] = [(part, ())]
    while stack:
        each, quantifiers = stack.pop()
        if each.kind == "atom":
            found.append(_Place(each, quantifiers))
        elif each.kind in ("forall", "exists"):
            stack.append((each.operands[0], (*quantifiers, each)))
        elif each.kind != "compare":
            stack.extend((operand, quantifiers) for operand in each.operands)
    return tuple(found)
