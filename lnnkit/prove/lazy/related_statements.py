"""The statements on which a question may depend, connected by shared predicates with unsettled atoms."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from lnnkit.prove.decision.question import Ground, Question
from lnnkit.prove.ground.parts import Part, Stated


class Related:
    """The ``statements`` that may be relevant to the question. ``lazily`` says whether they can be instantiated
    lazily."""

    def __init__(self, ground: Ground, question: Question) -> None:
        self.ground = ground
        self.question = question
        self._chosen: dict[str, list[Stated]] = {}

    @cached_property
    def statements(self) -> list[Stated]:
        """The statements connected to the question by unsettled atoms."""
        return self.ground.related(self.question, open_only=True)

    def mentioning(self, name: str) -> list[Stated]:
        """The relevant statements with a predicate."""
        if name not in self._chosen:
            related = set(self.statements)
            self._chosen[name] = [each for each in self.ground.index.mentioning(name) if each in related]
        return self._chosen[name]

    @cached_property
    def lazily(self) -> bool:
        """Whether lazy instantiation applies: no statement compares individuals of open sorts, and completed atoms are
        defined by non-recursive rules alone."""
        parts = [(each.part, each.variables) for each in self.statements]
        parts.append((self.question.part, ()))
        if any(self._compares(part, dict(variables)) for part, variables in parts):
            return False
        if any(each.lower > 0 and each.upper < 1 for each in self.statements):
            return False
        return all(self._plainly_completed(stated) for stated in self.statements)

    @cached_property
    def without_completion(self) -> bool:
        """Whether no statement, nor the question, reads a completed predicate that is not settled, or whose rules read
        one that is not: its completion then bounds what they read."""
        completed = frozenset[str]().union(*self.ground.program.strata)
        parts = [each.part for each in self.statements]
        names = {leaf.name for part in (*parts, self.question.part) for leaf in part.leaves} & completed
        read = {
            leaf.name for name in names for stated, _ in self.ground.index.defining(name) for leaf in stated.part.leaves
        }
        return all(map(self.ground.known.is_settled, names | read))

    def _compares(self, part: Part, sorts: dict[str, str]) -> bool:
        if part.kind == "same":
            return any(self.ground.known.is_open(sorts[name]) for name in part.variables)
        if part.arithmetic is not None:
            return False
        inner = {**sorts, **dict(part.bound)}
        return any(self._compares(operand, inner) for operand in part.operands)

    def _plainly_completed(self, stated: Stated) -> bool:
        """Whether a statement derives completed atoms only as their rule, and from other predicates."""
        program, known = self.ground.program, self.ground.known
        heads = {id(head) for head in self.ground.index.defined(stated)}
        completed = frozenset[str]().union(*program.strata)
        for leaf, sign in _signed(stated.part, 1 if stated.lower > 0 else -1):
            if leaf.name not in completed or known.is_settled(leaf.name) or id(leaf) in heads:
                continue
            if sign >= 0:
                return False
            own = {head.name for head in self.ground.index.defined(stated)}
            if any(leaf.name in stratum and own & stratum for stratum in program.strata):
                return False
        return True


def _signed(part: Part, sign: int) -> Iterator[tuple[Part, int]]:
    """The atoms of a formula that is true (1) or false (-1), each with the truth that favours this; 0 for both."""
    if part.kind == "atom":
        yield part, sign
    elif part.kind == "not":
        yield from _signed(part.operands[0], -sign)
    elif part.kind == "implies":
        yield from _signed(part.operands[0], -sign)
        yield from _signed(part.operands[1], sign)
    elif part.kind in ("iff", "xor"):
        for operand in part.operands:
            yield from _signed(operand, 0)
    elif part.kind != "compare":
        for operand in part.operands:
            yield from _signed(operand, sign)
