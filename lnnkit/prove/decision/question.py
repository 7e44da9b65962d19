"""A question, and the context in which it is decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import cast

from lnnkit.check.program import CheckedProgram, SameEntity
from lnnkit.check.walk import transform, with_entities
from lnnkit.explain.checker.proof_checker import World
from lnnkit.explain.proof.proof import Proof
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.prove.ground.dependency_cone import Cone, TooWide
from lnnkit.prove.ground.ground_reading import GroundReading
from lnnkit.prove.ground.known_values import KnownValues
from lnnkit.prove.ground.parts import Part, Stated
from lnnkit.prove.ground.statement_index import StatementIndex
from lnnkit.prove.solving import Interrupted
from lnnkit.prove.verdict import CoreMember
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression
from lnnkit.time_limit import Deadline, limited_to

INSTANCES = 200_000  # greatest number of instances of statements that are translated
# Instances, and four times as many atoms, beyond which instances are added as models violate them. A dozen questions
# take 5.0 to 5.3 s with 0 to 500, 5.8 s with 2,000, 9.2 s with 8,000, 30 s without a limit, and have the same verdicts
# (`python -m benchmarks.question_constants proofs`)
EAGER = 500
# Instances of all statements, up to which the whole program is translated with each question; 0 to 8,000 cost alike
# (likewise)
WHOLE = 500


@dataclass(frozen=True, slots=True)
class Question:
    """``part`` has no free variables. ``text`` is its text, ``told`` its inferred bounds."""

    part: Part
    text: str
    told: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class Ground:
    """The context of questions in one reading: the program, its statements, and the results of inference."""

    world: World
    lifted: LiftedGraph
    reading: GroundReading
    index: StatementIndex
    explain: Callable[[str, list[str]], Proof]  # the proof of an atom's bounds
    whole: frozenset[str] = frozenset()  # numbers that are integers
    conflict: Callable[[], tuple[Sequence[CoreMember], bool]] | None = None  # its members; whether none can be left out
    limit: int = INSTANCES
    eager: int = EAGER
    tell: Callable[[int, int], None] | None = field(default=None, repr=False)
    halted: Callable[[], bool] | None = field(default=None, repr=False)  # whether Ctrl-C was pressed

    @property
    def program(self) -> CheckedProgram:
        return self.world.program

    @cached_property
    def small(self) -> bool:
        """Whether the statements have so few instances that the whole program is translated."""
        total = 0
        for stated in self.index.every() if self.index.count <= WHOLE else ():
            total += math.prod(self.known.count(sort) for _, sort in stated.variables)
            if total > WHOLE:
                break
        return self.index.count <= WHOLE and total <= WHOLE

    def related(self, question: Question, *, open_only: bool = False) -> list[Stated]:
        """The statements connected to a question by shared predicates, if ``open_only`` by those with unsettled atoms,
        in the order of discovery; all statements of a small program."""
        if self.small:
            return self.index.every()
        found: dict[Stated, None] = {}
        names = {leaf.name for leaf in question.part.leaves}
        waiting = sorted(names)
        while waiting:
            name = waiting.pop()
            for stated in () if open_only and self.known.is_settled(name) else self.index.mentioning(name):
                if stated not in found:
                    found[stated] = None
                    more = {leaf.name for leaf in stated.part.leaves} - names
                    names |= more
                    waiting += sorted(more)
        return list(found)

    def cone(self, deadline: Deadline, most: int | None = None) -> Cone:
        """An empty cone with limits: ``most`` instances, and four times as many atoms."""
        limit = self.limit if most is None else min(self.limit, most)
        atoms = None if most is None else 4 * most
        return Cone(self.reading, self.index, limit, partial(self.pause, deadline), self.tell, atoms)

    def pause(self, deadline: Deadline, late: str = "") -> None:
        """Stop where the time is over, or after Ctrl-C: raises `TooWide`, which may say ``late``, and `Interrupted`."""
        if self.halted is not None and self.halted():
            raise Interrupted
        if deadline.passed:
            raise TooWide(late)

    @property
    def known(self) -> KnownValues:
        return self.reading.known

    @contextmanager
    def limited(self, deadline: Deadline) -> Iterator[None]:
        """A context in which searches among rows raise `TooWide` when the time is over, and `Interrupted` after
        Ctrl-C; reading a statement raises `TimedOut`."""
        before, self.known.pause = self.known.pause, partial(self.pause, deadline)
        try:
            with limited_to(deadline):
                yield
        finally:
            self.known.pause = before


def bound_text(formula: ast.Expression | SameEntity, bindings: Mapping[str, str]) -> str:
    """A formula as text, with entities in place of its free variables."""
    return format_expression(bound_formula(formula, bindings))


def bound_formula(formula: ast.Expression | SameEntity, bindings: Mapping[str, str]) -> ast.Expression:
    """A formula with entities in place of its free variables."""

    def written(node: ast.Expression | SameEntity) -> ast.Expression:
        if not isinstance(node, SameEntity):
            return node
        sides = tuple(ast.Entity(_text(each, bindings), span=node.span) for each in (node.left, node.right))
        return ast.Comparison(sides, ("=",), span=node.span)

    return with_entities(transform(cast("ast.Expression", formula), written), bindings)


def _text(argument: ast.Argument, bindings: Mapping[str, str]) -> str:
    return argument.text if isinstance(argument, ast.Constant) else bindings.get(argument.name, argument.name)
