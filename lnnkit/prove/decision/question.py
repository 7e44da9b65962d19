"""A question, the context in which it is decided, the statements on which it may depend, and worlds as answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple, cast

from lnnkit.check.program import CheckedFormula, with_entities
from lnnkit.check.walk import transform
from lnnkit.explain.checker.proof_world import ProofWorld
from lnnkit.explain.proof.proof import ground_atom
from lnnkit.explain.proof.prover import Prover
from lnnkit.prove.encoding.graded_encoding import Constraint, GradedEncoding
from lnnkit.prove.ground.ground_reading import GroundAtom, GroundReading
from lnnkit.prove.ground.parts import BoundedStatement, Part, StatementIndex
from lnnkit.prove.ground.relevant_instances import Cone, TooWide
from lnnkit.prove.rational_terms import Box
from lnnkit.prove.solving import Z3, Interrupted, fraction
from lnnkit.prove.verdict import Core, Proved, Reading, ShownWorld, Verdict
from lnnkit.syntax import ast
from lnnkit.syntax.dates import date_text
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
_EQUAL = 1e-9  # values closer than this, relative to them, are shown alike
_ALGEBRAIC = Fraction(1, 10**18)  # error of an irrational number that is rounded
_DIGITS = 12  # of a truth that is shown
_OF_QUESTION = 200  # atoms of the question that are shown


@dataclass(frozen=True, slots=True)
class Question:
    """``part`` has no free variables. ``text`` is its text, ``inferred`` the bounds of inference."""

    part: Part
    text: str
    inferred: tuple[float, float] = (0.0, 1.0)


class _Haltable(NamedTuple):
    """A time limit for what Ctrl-C stops too."""

    deadline: Deadline
    halted: Callable[[], bool]

    @property
    def passed(self) -> bool:
        """Raises `Interrupted` after Ctrl-C."""
        if self.halted():
            raise Interrupted
        return self.deadline.passed


@dataclass(frozen=True)
class Ground:
    """The context of questions in one reading: the program, its statements, and the results of inference."""

    world: ProofWorld
    known: GroundReading
    index: StatementIndex
    prover: Prover  # of bounds of inference
    whole: frozenset[str] = frozenset()  # numbers that are integers
    conflict: Callable[[], Core] | None = None  # the core of a contradiction that inference met
    limit: int = INSTANCES
    eager: int = EAGER
    tell: Callable[[int, int], None] | None = field(default=None, repr=False)
    halted: Callable[[], bool] | None = field(default=None, repr=False)  # whether Ctrl-C was pressed

    @cached_property
    def small(self) -> bool:
        """Whether the statements have so few instances that the whole program is translated."""
        every = self.index.every() if self.index.count <= WHOLE else ()
        counts = (math.prod(self.known.count(sort) for _, sort in stated.variables) for stated in every)
        return self.index.count <= WHOLE and all(total <= WHOLE for total in accumulate(counts))

    def endless(self, part: Part) -> tuple[Part, str, str] | None:
        """An aggregate in a formula whose elements may be any number of unnamed individuals: one of its variables, and
        the open sort of that."""
        for aggregate in part.aggregates:
            guards = [guard for guard in aggregate.row_guards if guard.kind == "atom"]
            ended = [guard for guard in guards if self.known.false_of_unnamed(guard.name)]
            for name, sort in aggregate.bound:
                if self.known.is_open(sort) and not any(name in guard.variables for guard in ended):
                    return aggregate, name, sort
        return None

    def limited(self, deadline: Deadline) -> AbstractContextManager[None]:
        """A context in which `check_time` raises `TimedOut` when the time is over, and `Interrupted` after Ctrl-C."""
        return limited_to(deadline if self.halted is None else _Haltable(deadline, self.halted))


def bound_formula(formula: CheckedFormula, bindings: Mapping[str, str], logic: str | None = None) -> ast.Expression:
    """A formula with entities in place of its free variables, and with a ``logic`` at its groups that name none."""

    def written(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Connective) and logic and all(given.key != "logic" for given in node.attributes):
            return replace(node, attributes=(*node.attributes, ast.Attribute("logic", logic, span=node.span)))
        return node

    return transform(with_entities(formula, bindings), written)


@dataclass
class Asked:
    """A question with the ``cone`` of instances that go to the solver, and ``statements`` on which it may depend: all
    of them, or those that share predicates with it (one of the ``steps``), and with these in turn."""

    ground: Ground
    question: Question
    reading: Reading
    alpha: float
    deadline: Deadline
    steps: int | None = None

    def __post_init__(self) -> None:
        self.cone = self.new_cone(self.ground.eager)

    def new_cone(self, most: int | None = None) -> Cone:
        """An empty cone with limits: ``most`` instances, and four times as many atoms."""
        ground, atoms = self.ground, None if most is None else 4 * most
        limit = ground.limit if most is None else min(ground.limit, most)
        return Cone(ground.known, ground.index, limit, ground.tell, atoms)

    def answered(self, decide: Callable[[Asked], Proved]) -> Proved:
        """The answer by a decision; that of inference where its time runs out, or after Ctrl-C."""
        with self.ground.limited(self.deadline):
            try:
                return decide(self)
            except (TooWide, TimedOut) as problem:
                late, count = "time ran out: " if self.deadline.passed else "", len(self.cone.seen)
                wide = f"{late}it depends on at least {count:,} instances of statements; its bounds are from inference"
                return self.propagated(f"{problem}; these are the bounds of inference" if str(problem) else wide)
            except Interrupted:
                note = "interrupted; these are the bounds that inference has found"
                return replace(self.propagated(note), interrupted=True)

    def propagated(self, note: str) -> Proved:
        """The answer of inference; ``note`` says why nothing tighter was proved."""
        proved = propagated(self.question.text, self.question.inferred, self.reading, self.alpha, note)
        return replace(proved, translated=len(self.cone.instances))

    @cached_property
    def statements(self) -> list[BoundedStatement]:
        """The statements connected to the question by unsettled atoms, or all of a small program; if so, within a
        number of ``steps``."""
        ground, names, related = self.ground, {*self.question.part.names}, dict[BoundedStatement, None]()
        waiting = [] if ground.small else sorted(names)
        while waiting:
            name = waiting.pop()
            for stated in () if ground.known.is_settled(name) else ground.index.mentioning(name):
                related[stated] = None
                waiting += sorted(stated.part.names - names)
                names |= stated.part.names
        near = every = ground.index.every() if ground.small else list(related)
        names = self.question.part.names
        for _ in range(self.steps or 0):
            near = [stated for stated in every if names & stated.part.names]
            names = names.union(*(stated.part.names for stated in near))
        return near

    @cached_property
    def mentioning(self) -> Callable[[str], list[BoundedStatement]]:
        """The relevant statements with a predicate."""
        related = set(self.statements)
        return cache(lambda name: [stated for stated in self.ground.index.mentioning(name) if stated in related])

    @cached_property
    def lazily(self) -> bool:
        """Whether lazy instantiation applies: there is no aggregate, no quantifier, and no rule that completes atoms,
        compares individuals of open sorts, and completed atoms are defined by non-recursive rules alone, and false of
        unnamed individuals."""
        if self.aggregates or self.of_unnamed or any(map(self.ground.index.defined, self.merging)):
            return False
        return not any(map(self._compares, self._parts)) and all(map(self._plainly_completed, self.statements))

    @cached_property
    def _parts(self) -> list[Part]:
        """The question, and the statements on which it may depend."""
        return [self.question.part, *(stated.part for stated in self.statements)]

    @property
    def aggregates(self) -> bool:
        """Whether there is an aggregate in these."""
        return any(part.aggregates for part in self._parts)

    @property
    def _completed(self) -> frozenset[str]:
        """The completed predicates in these."""
        return self.ground.known.derived.intersection(chain.from_iterable(part.names for part in self._parts))

    @property
    def of_unnamed(self) -> list[str]:
        """The completed predicates that may be true of unnamed individuals."""
        return sorted(name for name in self._completed if not self.ground.known.false_of_unnamed(name))

    @cached_property
    def merging(self) -> frozenset[BoundedStatement]:
        """The statements that compare individuals of open sorts."""
        return frozenset(stated for stated in self.statements if self._compares(stated.part, stated.variables))

    def _compares(self, part: Part, variables: Sequence[tuple[str, str]] = ()) -> bool:
        """Whether a formula compares individuals of open sorts that its quantifiers, or these variables, bind."""
        return any(
            leaf.kind == "same" and name in leaf.variables and self.ground.known.is_open(sort)
            for leaf, quantifiers, _ in part.occurrences
            for name, sort in chain(variables, *(quantifier.bound for quantifier in quantifiers))
        )

    @cached_property
    def without_completion(self) -> bool:
        """Whether no statement, nor the question, reads a completed predicate that is not settled, or whose rules read
        one that is not: its completion then bounds what they read."""
        known, index = self.ground.known, self.ground.index
        names = self._completed
        behind = (stated.part.names for name in names for stated, _ in index.defining(name))
        return all(map(known.is_settled, names.union(*behind)))

    def _plainly_completed(self, stated: BoundedStatement) -> bool:
        """Whether a statement derives completed atoms only as their rule, and from other predicates."""
        known, heads = self.ground.known, self.ground.index.defined(stated)
        names, places = {head.name for head in heads}, {id(head) for head in heads}
        for leaf, _, sign in stated.part.occurrences:
            if leaf.name not in known.derived or known.is_settled(leaf.name) or id(leaf) in places:
                continue
            strata = (stratum for stratum in self.ground.known.program.strata if leaf.name in stratum)
            if (sign if stated.lower > 0 else -sign) >= 0 or any(names & stratum for stratum in strata):
                return False
        return True


def propagated(text: str, inferred: tuple[float, float], reading: Reading, alpha: float, note: str) -> Proved:
    """The answer to a question that the bounds of inference give; ``note`` says why nothing tighter was proved."""
    ends = (None, None) if reading == "classical" else inferred
    verdict = verdict_at(*inferred, alpha, settled=False)
    return Proved(text, reading, verdict, *ends, notes=(note,), settled=False)


def verdict_at(lower: float, upper: float, alpha: float, *, settled: bool) -> Verdict:
    """The verdict in the exact reading."""
    if lower >= alpha - TOLERANCE:
        return "entailed"
    if upper <= 1 - alpha + TOLERANCE:
        return "refuted"
    return "neither" if settled else "timeout"


class BrokenWorld(Exception):
    """A model of the solver breaks a statement: a defect."""


def world_of(model: Z3, known: GroundReading, encoding: GradedEncoding) -> Callable[[GroundAtom], Box]:
    """The world of a model: its truths up to rounding, its numbers in fractions, where it has none the known bounds."""

    @cache
    def read(key: GroundAtom) -> Box:
        numeric = known.program.predicates[key[0]].numeric
        made = (encoding.numbers if numeric else encoding.atoms).get(key)
        if made is None:
            low, high = known.box(key)
            return (low, high) if numeric or low != high else _around(low)
        value = model.eval(made, model_completion=True)
        if encoding.z3.is_bool(value):
            return (1.0, 1.0) if encoding.z3.is_true(value) else (0.0, 0.0)
        near = fraction(value)
        if not numeric:
            return _around(float(near))
        gap = _ALGEBRAIC if encoding.z3.is_algebraic_value(value) else 0
        return cast("Box", (near - gap, near + gap))

    return read


class Decision:
    """A way to decide a question that was ``asked``, with ``worlds`` to show. What a model lacks has the values that
    the ``reading`` knows."""

    encoding: Any  # a `GradedEncoding`

    def __init__(self, asked: Asked, reading: GroundReading | None = None) -> None:
        self.asked, self._ground, self._question = asked, asked.ground, asked.question
        self._reading = reading or asked.ground.known
        self.cone, self.deadline = asked.cone, asked.deadline
        self.worlds: list[ShownWorld] = []
        self.encoding = self.encoded(folded=True)
        self._goal = self.encoding.truth(asked.question.part, {})

    def encoded(self, *, folded: bool) -> GradedEncoding:
        """An encoding, in which bounds known from inference are constants if ``folded``."""
        raise NotImplementedError

    def depends(self) -> Iterable[Constraint]:
        """The items on which the answer depends."""
        return self.asked.cone.items

    def _world(self, model: Z3, truth: float) -> ShownWorld | None:
        """The truths of the question's atoms and of those near it in a model, likewise the numbers. None if an instance
        of the cone may not hold there, because the encoding left something open. Raises `BrokenWorld` if one fails."""
        part, encoding, cone = self._question.part, self.encoding, self.cone
        read = world_of(model, self._reading, encoding)
        held = ((rule.stated.part, rule.bindings, (rule.stated.lower, rule.stated.upper)) for rule in cone.instances)
        for formula, bindings, bounds in ((part, {}, (truth, truth)), *held):
            if self._reading.apart(formula, bindings, bounds, read, maybe=encoding.loose):
                if encoding.loose:
                    return None
                raise BrokenWorld(f"a world for `{self._question.text}` breaks a statement")
        keys = dict.fromkeys(islice(self._ground.known.atoms(part, {}), _OF_QUESTION))
        atoms: list[tuple[str, float]] = []
        numbers: list[tuple[str, float | str]] = []
        for key in keys | dict.fromkeys(islice(cone.atoms, cone.near)):
            text, (low, high) = format_expression(ground_atom(*key)), map(float, read(key))
            if not self._ground.known.program.predicates[key[0]].numeric:
                atoms.append((text, round((low + high) / 2, _DIGITS) if high - low < 3 * _EQUAL else low))
            elif low == high:
                dated = self._ground.known.program.predicates[key[0]].numeric == "date"
                numbers.append((text, date_text(low) if dated else low))
        return ShownWorld(truth, tuple(atoms), tuple(numbers))


def contrasted(worlds: Sequence[ShownWorld]) -> list[ShownWorld]:
    """Worlds from the one in which the question is truest, each with what differs between them first. An atom that only
    one of them shows is about unnamed individuals, and false in the others."""
    worlds = sorted(worlds, key=lambda world: -world.truth)
    columns = (_contrasted([world.atoms for world in worlds]), _contrasted([world.numbers for world in worlds]))
    return [ShownWorld(world.truth, *rows) for world, *rows in zip(worlds, *columns, strict=True)]


def _contrasted(tables: Sequence[Sequence[tuple[str, Any]]]) -> list[tuple[tuple[str, Any], ...]]:
    """Each table with the rows first whose values are not the same in all of them."""

    def apart(one: float | str, other: float | str) -> bool:
        if isinstance(one, str) or isinstance(other, str):  # dates
            return one != other
        return abs(one - other) > _EQUAL * max(1.0, abs(one), abs(other))

    values, rows = [*map(dict, tables)], chain.from_iterable(tables)
    differing = {text for text, value in rows if any(apart(value, other.get(text, 0.0)) for other in values)}
    return [tuple(sorted(table, key=lambda row: row[0] not in differing)) for table in tables]


def _around(truth: float) -> Box:
    """A truth with its rounding: in Goedel logic others jump where it meets one."""
    return (truth, truth) if truth in (0, 1) else (max(0.0, truth - _EQUAL), min(1.0, truth + _EQUAL))
