"""Evaluates instances at known bounds, and searches for those that are not neutral there.

A *guard* is an atom without which a formula is neutral: a rule is satisfied, a row of an ``exists`` is false, a row of
a ``forall`` true. So assignments are joined from the rows of guards that have few rows; only variables that no guard
binds range over their sorts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lnnkit.explain.checker.ground_form import Free
from lnnkit.numeric import Comparison
from lnnkit.prove.ground.known_values import GroundAtom, KnownValues
from lnnkit.prove.ground.parts import Assignment, BoundedStatement, Part
from lnnkit.prove.ground.point_arithmetic import Box, comparison_box, connective_box

SLACK = 1e-9  # an instance violated by no more than this counts as satisfied,
_APART = 1e-6  # and as broken in a world if violated by more than this
Neutral = Callable[[Box], bool]
Rows = Callable[[Part, Mapping[int, str]], Iterable[tuple[str, ...]] | None]
"""The rows of an atom's predicate, some places fixed, outside which the atom is false; None if there is no such set."""


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
            case "true":
                return 1.0, 1.0
            case "false":
                return 0.0, 0.0
            case "same":
                one, other = part.arguments(bindings)
                named = [isinstance(each, str) for each in (one, other)]
                if one is other or (all(named) and one == other):  # individuals without names are terms of Z3
                    return 1.0, 1.0
                return (0.0, 0.0) if any(named) else (0.0, 1.0)
            case "atom":
                return self._atom(part, bindings, read)
            case "compare":
                return self._comparison(part, bindings, read)
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
        for each in arguments:
            if not isinstance(each, str):
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
        guards = [guard for guard in self.row_guards(quantifier) if _about(guard, named, quantifier)]
        for found in assignments(quantifier.bound, named, guards, self.upper_rows, self.known):
            yield {**bindings, **found}

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
        guards = self.guards(stated)
        for found in assignments(stated.variables, bound, guards, self.upper_rows, self.known):
            yield Instance(stated, found)

    def row_guards(self, quantifier: Part) -> tuple[Part, ...]:
        """The atoms of a quantifier's body without which a row is neutral."""
        if "body" not in quantifier.guards:
            least = quantifier.least
            neutral: Neutral = (lambda box: box[0] >= 1) if least else (lambda box: box[1] <= 0)
            quantifier.guards["body"] = guards_of(quantifier.operands[0], neutral)
        return quantifier.guards["body"]

    def guards(self, stated: BoundedStatement) -> tuple[Part, ...]:
        """The atoms of a statement without which an instance is satisfied."""
        if "whole" not in stated.part.guards:
            stated.part.guards["whole"] = guards_of(
                stated.part, lambda box: box[0] >= stated.lower and box[1] <= stated.upper
            )
        return stated.part.guards["whole"]

    def upper_rows(self, leaf: Part, fixed: Mapping[int, str]) -> Iterator[tuple[str, ...]] | None:
        """The rows of an atom's predicate that may be true, with some arguments fixed; None if every other row may be
        true too."""
        if not self.known.false_by_default(leaf.name):
            return None
        return self.known.rows(leaf.name, fixed, 1)

    # --- kinds ------------------------------------------------------------------------------------------------------

    def _atom(self, part: Part, bindings: Assignment, read: Callable[[GroundAtom], Box] | None) -> Box:
        key = self.key(part, bindings)
        if key is None:
            return (0.0, 0.0) if self.known.program.predicates[part.name].closed else (0.0, 1.0)
        return (read or self.known.box)(key)

    def _comparison(self, part: Part, bindings: Assignment, read: Callable[[GroundAtom], Box] | None) -> Box:
        ranges: list[Box] = []
        for operand in part.operands:
            key = self.key(operand, bindings)
            if key is None:
                return 0.0, 1.0
            ranges.append((read or self.known.box)(key))
        assert isinstance(part.arithmetic, Comparison)
        return comparison_box(part.arithmetic, tuple(ranges))

    def _quantifier(self, part: Part, bindings: Assignment, read: Callable[[GroundAtom], Box] | None) -> Box:
        (body,) = part.operands
        may_be_more = any(self.known.is_open(sort) for _, sort in part.bound)
        forall = part.least
        fold, low = (min, 1.0) if forall else (max, 0.0)
        high = low
        for row in self.rows(part, bindings):
            own = self.box(body, row, read)
            low, high = fold(low, own[0]), fold(high, own[1])
            if high <= 0 if forall else low >= 1:
                return low, high
        return (0.0 if may_be_more and forall else low), (1.0 if may_be_more and not forall else high)


def _about(guard: Part, named: Mapping[str, str], quantifier: Part) -> bool:
    """Whether every variable of a guard is a named entity or is bound by the quantifier."""
    return guard.variables <= named.keys() | {name for name, _ in quantifier.bound}


def guards_of(part: Part, neutral: Neutral) -> tuple[Part, ...]:
    """The atoms and equalities of a formula that make it neutral where they are false."""
    found: list[Part] = []
    for leaf in _leaves(part):
        if leaf.variables <= part.variables and leaf.variables and neutral(_without(part, leaf)):
            found.append(leaf)
    return tuple(found)


def assignments(
    variables: Sequence[tuple[str, str]],
    bindings: Mapping[str, str],
    guards: Sequence[Part],
    rows: Rows,
    known: KnownValues,
) -> Iterator[dict[str, str]]:
    """All extensions of ``bindings`` to the other ``variables`` (names and sorts) that satisfy the guards."""
    todo = {name: sort for name, sort in variables if name not in bindings}
    return _search(todo, dict(bindings), tuple(guards), rows, known)


def unified(leaf: Part, entities: Sequence[str], variables: Mapping[str, str]) -> dict[str, str] | None:
    """The substitution of an atom's ``variables`` that gives it these entities; other variables match any entity."""
    found: dict[str, str] = {}
    for term, entity in zip(leaf.terms, entities, strict=True):
        if not isinstance(term, Free):
            if term != entity:
                return None
        elif term.name in variables and found.setdefault(term.name, entity) != entity:
            return None
    return found


def _search(
    todo: dict[str, str], bindings: dict[str, str], guards: tuple[Part, ...], rows: Rows, known: KnownValues
) -> Iterator[dict[str, str]]:
    if not todo:
        yield bindings
        return
    for place in sorted(range(len(guards)), key=lambda place: len(guards[place].variables & todo.keys())):
        guard = guards[place]
        if not guard.variables & todo.keys():
            continue
        found = _equal(guard, bindings) if guard.kind == "same" else rows(guard, _fixed(guard, bindings))
        if found is None:
            continue
        others = (*guards[:place], *guards[place + 1 :])
        for row in found:
            known.tick()
            bound = _bound(guard, row, todo, bindings, known)
            if bound is not None:
                rest = {name: sort for name, sort in todo.items() if name not in bound}
                yield from _search(rest, bound, others, rows, known)
        return
    name = min(todo, key=lambda each: known.count(todo[each]))
    rest = {each: sort for each, sort in todo.items() if each != name}
    for entity in known.members(todo[name]):
        known.tick()
        yield from _search(rest, bindings | {name: entity}, guards, rows, known)


def _bound(
    guard: Part, row: Sequence[str], todo: Mapping[str, str], bindings: Mapping[str, str], known: KnownValues
) -> dict[str, str] | None:
    found = dict(bindings)
    for term, entity in zip(guard.terms, row, strict=True):
        if isinstance(term, Free):
            if term.name in todo and not known.has(todo[term.name], entity):
                return None
            if found.setdefault(term.name, entity) != entity:
                return None
        elif term != entity:
            return None
    return found


def _fixed(guard: Part, bindings: Mapping[str, str]) -> dict[int, str]:
    found: dict[int, str] = {}
    for place, term in enumerate(guard.terms):
        if not isinstance(term, Free):
            found[place] = term
        elif term.name in bindings:
            found[place] = bindings[term.name]
    return found


def _equal(guard: Part, bindings: Mapping[str, str]) -> list[tuple[str, ...]] | None:
    sides = _fixed(guard, bindings)
    return None if not sides else [(next(iter(sides.values())),) * 2]


def _leaves(part: Part) -> Iterator[Part]:
    if part.kind in ("atom", "same"):
        yield part
    elif part.arithmetic is None:
        for operand in part.operands:
            yield from _leaves(operand)


def _without(part: Part, leaf: Part) -> Box:
    """The bounds of a formula in which one atom is false and all others are unknown."""
    if part is leaf:
        return 0.0, 0.0
    if part.kind in ("true", "false"):
        return (1.0, 1.0) if part.kind == "true" else (0.0, 0.0)
    if not part.operands or part.arithmetic is not None:
        return 0.0, 1.0
    boxes = [_without(operand, leaf) for operand in part.operands]
    if part.bound:
        return (boxes[0][0], 1.0) if part.least else (0.0, boxes[0][1])
    return connective_box(part.kind, part.name, part.weights, part.bias, boxes)
