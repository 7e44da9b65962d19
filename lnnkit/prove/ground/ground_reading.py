"""Evaluates instances at known bounds, and searches for those that are not neutral there.

Assignments are joined from the rows of those guards (see `parts`) that have few rows; only variables that no guard
binds range over their sorts.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lnnkit.explain.checker.ground_form import Free
from lnnkit.numeric import Comparison
from lnnkit.prove.ground.known_values import GroundAtom, KnownValues
from lnnkit.prove.ground.parts import Assignment, BoundedStatement, Part
from lnnkit.prove.ground.point_arithmetic import Box, comparison_box, connective_box

SLACK = 1e-9  # an instance violated by no more than this counts as satisfied,
_APART = 1e-6  # and as broken in a world if violated by more than this


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An instance of a statement: the statement with an entity for each variable."""

    stated: BoundedStatement
    bindings: Mapping[str, str]

    @property
    def key(self) -> tuple[int, tuple[str, ...]]:
        """Identifies the instance."""
        return id(self.stated), tuple(self.bindings[name] for name, _ in self.stated.variables)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instance) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class GroundReading:
    """Reads instances at ``known`` bounds."""

    def __init__(self, known: KnownValues) -> None:
        self.known = known

    # --- truth ------------------------------------------------------------------------------------------------------

    def box(self, part: Part, bindings: Assignment, read: Callable[[GroundAtom], Box] | None = None) -> Box:
        """The bounds of a formula, from the bounds ``read`` for its atoms (default: the known ones)."""
        if part.bound:
            return self._quantifier(part, bindings, read)
        match part.kind:
            case "true" | "false":
                return (1.0, 1.0) if part.kind == "true" else (0.0, 0.0)
            case "same":
                one, other = part.arguments(bindings)
                named = [isinstance(term, str) for term in (one, other)]
                if one is other or (all(named) and one == other):  # individuals without names are terms of Z3
                    return 1.0, 1.0
                return (0.0, 0.0) if any(named) else (0.0, 1.0)
            case "atom":
                key = self.key(part, bindings)
                if key is None:
                    return (0.0, 0.0) if self.known.false_of_unnamed(part.name) else (0.0, 1.0)
                return (read or self.known.box)(key)
            case "compare":
                keys = [self.key(operand, bindings) for operand in part.operands]
                assert isinstance(part.arithmetic, Comparison)
                if None in keys:
                    return 0.0, 1.0
                return comparison_box(part.arithmetic, tuple([(read or self.known.box)(key) for key in keys if key]))
        operands = [self.box(operand, bindings, read) for operand in part.operands]
        return connective_box(part.kind, part.name, part.weights, part.bias, operands)

    def satisfied(self, instance: Instance) -> bool:
        """Whether an instance is satisfied at the known bounds."""
        low, high = self.box(instance.stated.part, instance.bindings)
        return low >= instance.stated.lower - SLACK and high <= instance.stated.upper + SLACK

    def apart(
        self, part: Part, bindings: Assignment, bounds: Box, read: Callable[[GroundAtom], Box], *, maybe: bool = False
    ) -> bool:
        """Whether a formula is outside of ``bounds`` at the bounds ``read`` for its atoms, or ``maybe`` outside."""
        low, high = self.box(part, bindings, read)
        low, high = (low, high) if maybe else (high, low)
        return low < bounds[0] - _APART or high > bounds[1] + _APART

    def key(self, part: Part, bindings: Assignment) -> GroundAtom | None:
        """The atom of a leaf; None if an argument is not a named entity."""
        arguments = part.arguments(bindings)
        for argument in arguments:
            if not isinstance(argument, str):
                return None
        return part.name, cast("tuple[str, ...]", arguments)

    def atoms(self, part: Part, bindings: Assignment) -> Iterator[GroundAtom]:
        """The atoms and numbers of a formula, about named entities; within a quantifier those of its rows."""
        if part.kind == "atom":
            key = self.key(part, bindings)
            if key is not None:
                yield key
        for row in self.rows(part, bindings) if part.bound else [bindings]:
            for operand in part.operands:
                yield from self.atoms(operand, row)

    # --- rows -------------------------------------------------------------------------------------------------------

    def rows(self, quantifier: Part, bindings: Assignment) -> Iterator[dict[str, object]]:
        """The rows of a quantifier, over named entities, that may differ from its neutral value."""
        named = {name: entity for name, entity in bindings.items() if isinstance(entity, str)}
        about = named.keys() | {name for name, _ in quantifier.bound}
        guards = [guard for guard in quantifier.row_guards if guard.variables <= about]
        for assignment in self.assignments(quantifier.bound, named, guards):
            yield {**bindings, **assignment}

    def touching(self, key: GroundAtom, statements: list[BoundedStatement]) -> Iterator[Instance]:
        """The instances of statements that read an atom and may be violated."""
        for stated in statements:
            sorts = dict(stated.variables)
            for leaf in stated.part.leaves:
                if leaf.name != key[0]:
                    continue
                bound = unified(leaf, key[1], sorts)
                if bound is not None and all(self.known.has(sorts[name], text) for name, text in bound.items()):
                    yield from self.instances(stated, bound)

    def instances(self, stated: BoundedStatement, bound: Mapping[str, str]) -> Iterator[Instance]:
        """The instances of a statement, some variables bound, that may be violated."""
        for assignment in self.assignments(stated.variables, bound, stated.guards):
            yield Instance(stated, assignment)

    def assignments(
        self, variables: Sequence[tuple[str, str]], bindings: Mapping[str, str], guards: Sequence[Part]
    ) -> Iterator[dict[str, str]]:
        """All extensions of ``bindings`` to the other ``variables`` (names and sorts) that satisfy the guards."""
        todo = {name: sort for name, sort in variables if name not in bindings}
        return self._search(todo, dict(bindings), tuple(guards))

    def _search(
        self, todo: dict[str, str], bindings: dict[str, str], guards: tuple[Part, ...]
    ) -> Iterator[dict[str, str]]:
        if not todo:
            yield bindings
            return
        known = self.known
        for guard in sorted(guards, key=lambda guard: len(guard.variables & todo.keys())):
            new = guard.variables & todo.keys()
            if not new:
                continue
            fixed = _fixed(guard, bindings)
            rows: Iterable[tuple[str, ...]]
            if guard.kind == "same" and fixed:
                rows = [(next(iter(fixed.values())),) * 2]
            elif guard.kind == "atom" and known.false_by_default(guard.name):
                rows = known.rows(guard.name, fixed, 1)
            else:  # every other row may be true too
                continue
            others = tuple([other for other in guards if other is not guard])
            rest = {name: sort for name, sort in todo.items() if name not in new}
            for row in rows:
                known.tick()
                bound = unified(guard, row, guard.variables, bindings)
                if bound is not None and all(known.has(todo[name], bound[name]) for name in new):
                    yield from self._search(rest, bound, others)
            return
        name = min(todo, key=lambda variable: known.count(todo[variable]))
        rest = {variable: sort for variable, sort in todo.items() if variable != name}
        for entity in known.members(todo[name]):
            known.tick()
            yield from self._search(rest, bindings | {name: entity}, guards)

    def _quantifier(self, part: Part, bindings: Assignment, read: Callable[[GroundAtom], Box] | None) -> Box:
        (body,) = part.operands
        may_be_more = any(self.known.is_open(sort) for _, sort in part.bound)
        forall = part.least
        fold, low = (min, 1.0) if forall else (max, 0.0)
        high = low
        for row in self.rows(part, bindings):
            truth = self.box(body, row, read)
            low, high = fold(low, truth[0]), fold(high, truth[1])
            if high <= 0 if forall else low >= 1:
                return low, high
        return (0.0 if may_be_more and forall else low), (1.0 if may_be_more and not forall else high)


def unified(
    leaf: Part, entities: Sequence[str], variables: Container[str], bindings: Mapping[str, str] | None = None
) -> dict[str, str] | None:
    """The ``bindings`` (default: none) with those of an atom's ``variables`` that give it these entities; other
    variables match any entity. None where it cannot have these."""
    substitution = {} if bindings is None else dict(bindings)
    for term, entity in zip(leaf.terms, entities, strict=True):
        if not isinstance(term, Free):
            if term != entity:
                return None
        elif term.name in variables and substitution.setdefault(term.name, entity) != entity:
            return None
    return substitution


def _fixed(guard: Part, bindings: Mapping[str, str]) -> dict[int, str]:
    fixed: dict[int, str] = {}
    for place, term in enumerate(guard.terms):
        if not isinstance(term, Free):
            fixed[place] = term
        elif term.name in bindings:
            fixed[place] = bindings[term.name]
    return fixed
