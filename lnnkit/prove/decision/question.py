"""A question, the context in which it is decided, the statements on which it may depend, and the answers of inference
where the decision was given up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import accumulate
from typing import cast

from lnnkit.check.program import CheckedProgram, SameEntity
from lnnkit.check.walk import transform, with_entities
from lnnkit.explain.checker.proof_world import ProofWorld
from lnnkit.explain.proof.proof import Proof
from lnnkit.prove.ground.dependency_cone import Cone, TooWide
from lnnkit.prove.ground.ground_reading import GroundReading
from lnnkit.prove.ground.known_values import KnownValues
from lnnkit.prove.ground.parts import BoundedStatement, Part, StatementIndex
from lnnkit.prove.solving import Interrupted
from lnnkit.prove.verdict import CoreMember, Proved, Reading, Verdict
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression
from lnnkit.time_limit import Deadline, TimedOut, limited_to

INSTANCES = 200_000  # greatest number of instances of statements that are translated
# Instances, and four times as many atoms, beyond which instances are added as models violate them. A dozen questions
# take 5.0 to 5.3 s with 0 to 500, 5.8 s with 2,000, 9.2 s with 8,000, 30 s without a limit, and have the same verdicts
# (`python -m benchmarks.question_constants proofs`)
EAGER = 500
# Instances of all statements, up to which the whole program is translated with each question; 0 to 8,000 cost alike
# (likewise)
WHOLE = 500
TOLERANCE = 1e-9  # tolerance of a truth


@dataclass(frozen=True, slots=True)
class Question:
    """``part`` has no free variables. ``text`` is its text, ``inferred`` the bounds of inference."""

    part: Part
    text: str
    inferred: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class Ground:
    """The context of questions in one reading: the program, its statements, and the results of inference."""

    world: ProofWorld
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
        if self.index.count > WHOLE:
            return False
        counts = (math.prod(self.known.count(sort) for _, sort in stated.variables) for stated in self.index.every())
        return all(total <= WHOLE for total in accumulate(counts))

    def related(self, question: Question, *, open_only: bool = False) -> list[BoundedStatement]:
        """The statements connected to a question by shared predicates, if ``open_only`` by those with unsettled atoms,
        in the order of discovery; all statements of a small program."""
        if self.small:
            return self.index.every()
        related: dict[BoundedStatement, None] = {}
        names = {*question.part.names}
        waiting = sorted(names)
        while waiting:
            name = waiting.pop()
            for stated in () if open_only and self.known.is_settled(name) else self.index.mentioning(name):
                related[stated] = None
                waiting += sorted(stated.part.names - names)
                names |= stated.part.names
        return list(related)

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

    def of_unnamed(self, question: Question, statements: Iterable[BoundedStatement]) -> list[str]:
        """The completed predicates in these that may be true of unnamed individuals."""
        names = self.completed_in(question, statements)
        return sorted(name for name in names if not self.known.false_of_unnamed(name))

    def completed_in(self, question: Question, statements: Iterable[BoundedStatement]) -> frozenset[str]:
        """The completed predicates in a question and in these statements."""
        return self.known.derived & question.part.names.union(*(stated.part.names for stated in statements))

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

    def text(side: ast.Argument) -> str:
        return side.text if isinstance(side, ast.Constant) else bindings.get(side.name, side.name)

    def written(node: ast.Expression | SameEntity) -> ast.Expression:
        if not isinstance(node, SameEntity):
            return node
        sides = tuple(ast.Entity(text(side), span=node.span) for side in (node.left, node.right))
        return ast.Comparison(sides, ("=",), span=node.span)

    return with_entities(transform(cast("ast.Expression", formula), written), bindings)


@dataclass
class Asked:
    """A question with the ``cone`` of instances that go to the solver, and the ``statements`` on which it may depend.
    Constraints are widened by ``slack`` if the program is unsatisfiable without it."""

    ground: Ground
    question: Question
    reading: Reading
    alpha: float
    deadline: Deadline
    cone: Cone = field(init=False)
    slack: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        self.cone = self.ground.cone(self.deadline)

    def answered(self, decide: Callable[[Asked], Proved]) -> Proved:
        """The answer by a decision; that of inference where its time runs out, or after Ctrl-C."""
        with self.ground.limited(self.deadline):
            try:
                return decide(self)
            except (TooWide, TimedOut) as problem:
                wide = self.cone.too_wide(late=self.deadline.passed)
                return self.propagated(f"{problem}; these are the bounds of inference" if str(problem) else wide)
            except Interrupted:
                note = "interrupted; these are the bounds that inference has found"
                return replace(self.propagated(note), interrupted=True)

    def propagated(self, note: str) -> Proved:
        """The answer of inference; ``note`` says why nothing tighter was proved."""
        proved = propagated(self.question.text, self.question.inferred, self.reading, self.alpha, note)
        return replace(proved, translated=len(self.cone.instances))

    # --- the statements that may be relevant ------------------------------------------------------------------------

    @cached_property
    def statements(self) -> list[BoundedStatement]:
        """The statements connected to the question by unsettled atoms."""
        return self.ground.related(self.question, open_only=True)

    @cached_property
    def mentioning(self) -> Callable[[str], list[BoundedStatement]]:
        """The relevant statements with a predicate."""
        related = set(self.statements)
        return cache(lambda name: [stated for stated in self.ground.index.mentioning(name) if stated in related])

    @cached_property
    def lazily(self) -> bool:
        """Whether lazy instantiation applies: no statement compares individuals of open sorts, and completed atoms are
        defined by non-recursive rules alone, and false of unnamed individuals."""
        return (
            not self.ground.of_unnamed(self.question, self.statements)
            and not self._compares(self.question.part, {})
            and not any(self._compares(stated.part, dict(stated.variables)) for stated in self.statements)
            and all(map(self._plainly_completed, self.statements))
        )

    @cached_property
    def without_completion(self) -> bool:
        """Whether no statement, nor the question, reads a completed predicate that is not settled, or whose rules read
        one that is not: its completion then bounds what they read."""
        known, index = self.ground.known, self.ground.index
        names = self.ground.completed_in(self.question, self.statements)
        behind = (stated.part.names for name in names for stated, _ in index.defining(name))
        return all(map(known.is_settled, names.union(*behind)))

    def _compares(self, part: Part, sorts: dict[str, str]) -> bool:
        if part.kind == "same":
            return any(self.ground.known.is_open(sorts[name]) for name in part.variables)
        inner = {**sorts, **dict(part.bound)}
        return part.arithmetic is None and any(self._compares(operand, inner) for operand in part.operands)

    def _plainly_completed(self, stated: BoundedStatement) -> bool:
        """Whether a statement derives completed atoms only as their rule, and from other predicates."""
        known, heads = self.ground.known, self.ground.index.defined(stated)
        names, places = {head.name for head in heads}, {id(head) for head in heads}
        for leaf, sign in _signed(stated.part, 1 if stated.lower > 0 else -1):
            if leaf.name not in known.derived or known.is_settled(leaf.name) or id(leaf) in places:
                continue
            strata = (stratum for stratum in self.ground.program.strata if leaf.name in stratum)
            if sign >= 0 or any(names & stratum for stratum in strata):
                return False
        return True


def propagated(text: str, inferred: tuple[float, float], reading: Reading, alpha: float, note: str) -> Proved:
    """The answer to a question that the bounds of inference give; ``note`` says why nothing tighter was proved."""
    low, high = inferred
    if reading == "classical":
        verdict: Verdict = "entailed" if low >= 1 else "refuted" if high <= 0 else "timeout"
        return Proved(text, reading, verdict, notes=(note,), settled=False)
    verdict = verdict_at(low, high, alpha, settled=False)
    return Proved(text, reading, verdict, low, high, notes=(note,), settled=False)


def verdict_at(lower: float, upper: float, alpha: float, *, settled: bool) -> Verdict:
    """The verdict in the exact reading."""
    if lower >= alpha - TOLERANCE:
        return "entailed"
    if upper <= 1 - alpha + TOLERANCE:
        return "refuted"
    return "neither" if settled else "timeout"


def _signed(part: Part, sign: int) -> Iterator[tuple[Part, int]]:
    """The atoms of a formula that is true (1) or false (-1), each with the truth that favours this; 0 for both."""
    if part.kind == "atom":
        yield part, sign
    elif part.kind != "compare":
        for place, operand in enumerate(part.operands):
            turned = part.kind == "not" or (part.kind == "implies" and place == 0)
            yield from _signed(operand, 0 if part.kind in ("iff", "xor") else -sign if turned else sign)
