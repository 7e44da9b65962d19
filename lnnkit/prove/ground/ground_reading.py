"""Evaluates instances at known bounds: their bounds, the rows of their quantifiers, the instances that read an atom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from lnnkit.numeric import Comparison
from lnnkit.prove.ground.instance_search import assignments, guards_of, unified
from lnnkit.prove.ground.known_values import Key, KnownValues
from lnnkit.prove.ground.parts import Assignment, Part, Stated
from lnnkit.prove.ground.point_arithmetic import Box, comparison_box, connective_box

SLACK = 1e-9  # an instance violated by no more than this counts as satisfied,
_APART = 1e-6  # and as broken in a world if violated by more than this


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An instance of a statement: the statement with an entity for each variable."""

    stated: Stated
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

    def box(self, part: Part, bindings: Assignment, read: Callable[[Key], Box] | None = None) -> Box:
        """The bounds of a formula, from the bounds ``read`` for its atoms (default: the known ones)."""
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
            case "forall" | "exists":
                return self._quantifier(part, bindings, read)
        operands = [self.box(operand, bindings, read) for operand in part.operands]
        return connective_box(part.kind, part.name, part.weights, part.bias, operands)

    def satisfied(self, instance: Instance) -> bool:
        """Whether an instance is satisfied at the known bounds."""
        low, high = self.box(instance.stated.part, instance.bindings)
        return low >= instance.stated.lower - SLACK and high <= instance.stated.upper + SLACK

    def apart(
        self, part: Part, bindings: Assignment, bounds: Box, read: Callable[[Key], Box], *, maybe: bool = False
    ) -> bool:
        """Whether a formula is outside of ``bounds`` at the bounds ``read`` for its atoms, or ``maybe`` outside."""
        low, high = self.box(part, bindings, read)
        low, high = (low, high) if maybe else (high, low)
        return low < bounds[0] - _APART or high > bounds[1] + _APART

    def key(self, part: Part, bindings: Assignment) -> Key | None:
        """The atom of a leaf; None if an argument is not a named entity."""
        arguments = part.arguments(bindings)
        for each in arguments:
            if not isinstance(each, str):
                return None
        return part.name, cast("tuple[str, ...]", arguments)

    def atoms(self, part: Part, bindings: Assignment) -> Iterator[Key]:
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

    def touching(self, key: Key, statements: list[Stated]) -> Iterator[Instance]:
        """The instances of statements that read an atom and may be violated."""
        for stated in statements:
            sorts = dict(stated.variables)
            for leaf in stated.part.leaves:
                if leaf.name != key[0]:
                    continue
                bound = unified(leaf, key[1], sorts)
                if bound is not None and all(self.known.has(sorts[name], text) for name, text in bound.items()):
                    yield from self.instances(stated, bound)

    def instances(self, stated: Stated, bound: Mapping[str, str]) -> Iterator[Instance]:
        """The instances of a statement, some variables bound, that may be violated."""
        guards = self.guards(stated)
        for found in assignments(stated.variables, bound, guards, self.upper_rows, self.known):
            yield Instance(stated, found)

    def row_guards(self, quantifier: Part) -> tuple[Part, ...]:
        """The atoms of a quantifier's body without which a row is neutral."""
        if "body" not in quantifier.guards:
            exists = quantifier.kind == "exists"
            neutral: Callable[[Box], bool] = (lambda box: box[1] <= 0) if exists else (lambda box: box[0] >= 1)
            quantifier.guards["body"] = guards_of(quantifier.operands[0], neutral)
        return quantifier.guards["body"]

    def guards(self, stated: Stated) -> tuple[Part, ...]:
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

    def _atom(self, part: Part, bindings: Assignment, read: Callable[[Key], Box] | None) -> Box:
        key = self.key(part, bindings)
        if key is None:
            return (0.0, 0.0) if self.known.program.predicates[part.name].closed else (0.0, 1.0)
        return (read or self.known.box)(key)

    def _comparison(self, part: Part, bindings: Assignment, read: Callable[[Key], Box] | None) -> Box:
        ranges: list[Box] = []
        for operand in part.operands:
            key = self.key(operand, bindings)
            if key is None:
                return 0.0, 1.0
            ranges.append((read or self.known.box)(key))
        assert isinstance(part.arithmetic, Comparison)
        return comparison_box(part.arithmetic, tuple(ranges))

    def _quantifier(self, part: Part, bindings: Assignment, read: Callable[[Key], Box] | None) -> Box:
        (body,) = part.operands
        may_be_more = any(self.known.is_open(sort) for _, sort in part.bound)
        forall = part.kind == "forall"
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
