"""Minimal cores: facts and statements that suffice for a verdict, none of which can be dropped.

The solver's own core consists of instances over atoms that inference has settled. So the solver runs again with these
instances alone: every atom is a variable, and its known bounds are assumptions. Assumptions that are not facts are then
replaced by the facts and instances of their proofs, and the whole set is minimised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.check.walk import nodes
from lnnkit.explain.proof.proof import Given, Proof, Step
from lnnkit.explain.proof.quickxplain import minimal
from lnnkit.prove.decision.question import Ground
from lnnkit.prove.encoding.arithmetic_encoding import ArithmeticEncoding
from lnnkit.prove.ground.dependency_cone import Definition, TooWide
from lnnkit.prove.ground.ground_reading import Instance
from lnnkit.prove.ground.known_values import Key
from lnnkit.prove.ground.parts import Blanket, Stated
from lnnkit.prove.ground.unfounded import Loop
from lnnkit.prove.solving import Z3, Interrupted, checked, solver_module
from lnnkit.prove.verdict.verdicts import CoreMember
from lnnkit.syntax import ast
from lnnkit.syntax.printer import one_line
from lnnkit.time_limit import Deadline, TimedOut

_LOOKED = 64  # after this many items the clock is read
_MOST_STEPS = 5000  # steps of proofs examined at most


@dataclass(frozen=True, slots=True)
class KnownEnd:
    """The lower (0) or upper (1) end of an atom or number, known from inference. It is ``given`` if a fact states it,
    or if rules of its predicate define it (``completed``)."""

    key: Key
    end: int
    given: Given | None = None
    completed: bool = False


Said = Instance | Definition | Loop | Blanket
Item = Said | KnownEnd


class Unfolded(Protocol):
    """An encoding in which bounds known from inference are not constants."""

    z3: Z3
    context: Z3
    atoms: dict[Key, Z3]
    closed: set[str]
    arithmetic: ArithmeticEncoding

    def said(self, key: Key, end: int, value: float) -> Z3 | bool:
        """The constraint that an atom's end is at least as tight as ``value``."""
        ...

    def held(self, item: Said) -> Z3 | bool:
        """The constraint of an instance, a definition, or a loop formula."""
        ...


@dataclass(frozen=True)
class Core:
    """The ``members``; ``minimal`` if none can be left out, not ``whole`` if the facts were not looked for."""

    members: tuple[CoreMember, ...]
    minimal: bool
    whole: bool = True

    @staticmethod
    def of_conflict(members: Sequence[CoreMember], minimal: bool) -> Core:
        """The core of a contradiction that inference met."""
        return Core(tuple(members), minimal, whole=minimal or bool(members))

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the list."""
        if not self.whole:
            return ("time ran out: the list may lack facts, and may not be minimal",)
        return () if self.minimal else ("the list may not be minimal",)


def core_of(
    ground: Ground,
    encoding: Unfolded,
    goals: Sequence[Z3 | bool],
    used: Sequence[Said],
    deadline: Deadline,
) -> Core:
    """A core that refutes each of the ``goals``, made from the items ``used`` and the known bounds of their atoms."""
    finder = _Finder(ground, encoding, goals, deadline)
    try:
        return finder.found(used)
    except (TimedOut, TooWide, Interrupted):
        return finder.unfinished()


def near_items(
    ground: Ground,
    encoding: Unfolded,
    goal: Z3 | bool,
    used: Sequence[Said],
    deadline: Deadline,
) -> Sequence[Item]:
    """A minimal set that refutes a goal, taken from the items ``used`` and the known bounds of their atoms; the whole
    set if time ran out."""
    finder = _Finder(ground, encoding, [goal], deadline)
    try:
        found = finder.near(used)
        return finder.entered if found is None else found
    except (TimedOut, TooWide, Interrupted):
        return finder.entered


class _Finder:
    def __init__(self, ground: Ground, encoding: Unfolded, goals: Sequence[Z3 | bool], deadline: Deadline) -> None:
        self._ground = ground
        self._encoding = encoding
        self._deadline = deadline
        self._z3 = solver_module()
        self._solver = self._z3.Solver(ctx=encoding.context)
        self._count = 0
        self._goals = [self._mark(goal) for goal in goals]
        self._marks: dict[Item, Z3] = {}
        self._told = 0
        self._enough: Sequence[Item] = ()
        self._whole = False

    @property
    def entered(self) -> Sequence[Item]:
        """All assumptions used in refuting the goals."""
        return list(self._marks)

    def near(self, used: Sequence[Said], *, paused: bool = False) -> list[Item] | None:
        """A minimal sufficient subset of the items and the known bounds of their atoms; None if even all of them do not
        suffice. If ``paused``, raises `TimedOut` before all are entered."""
        first: list[Item] = [*dict.fromkeys(used)]
        self._enough = first
        self._enter_all(first, paused=paused)
        ends = [*self._ends(first)]
        self._enough, self._whole = [*first, *ends], True
        self._enter_all(ends, paused=paused)
        return self._least([*first, *ends])

    def found(self, used: Sequence[Said]) -> Core:
        near = self.near(used, paused=True)
        if near is None:
            return Core(self._members(self.entered), minimal=False)
        self._enough = near
        wider = [*self._expanded(near)]
        self._enter_all(wider, paused=True)
        least = self._least(wider)
        if least is None:
            return Core(self._members(wider), minimal=False)
        return Core(self._members(least), minimal=not self._deadline.passed)

    def unfinished(self) -> Core:
        """The best sufficient set when time ran out."""
        return Core(self._members(self._enough), minimal=False, whole=self._whole)

    # --- the solver -------------------------------------------------------------------------------------------------

    def _mark(self, said: Z3 | bool) -> Z3:
        self._count += 1
        mark = self._z3.Bool(f"?core {self._count}", self._encoding.context)
        self._solver.add(self._z3.Implies(mark, self._lifted(said)))
        return mark

    def _lifted(self, said: Z3 | bool) -> Z3:
        return self._z3.BoolVal(said, self._encoding.context) if isinstance(said, bool) else said

    def _enter_all(self, items: Sequence[Item], *, paused: bool) -> None:
        for count, item in enumerate(items):
            if paused and count % _LOOKED == 0:
                self._pause()
            self._enter(item)

    def _pause(self) -> None:
        if self._deadline.passed:
            raise TimedOut

    def _enter(self, item: Item) -> None:
        if item in self._marks:
            return
        if isinstance(item, KnownEnd):
            self._marks[item] = self._mark(self._said(item))
        else:
            self._marks[item] = self._mark(self._encoding.held(item))
        asides = self._encoding.arithmetic.asides
        for each in asides[self._told :]:
            self._solver.add(each)
        self._told = len(asides)

    def _said(self, item: KnownEnd) -> Z3 | bool:
        value = self._value(item)
        if self._ground.program.predicates[item.key[0]].numeric:
            self._encoding.arithmetic.number(item.key)
            made = self._encoding.arithmetic.at_end(item.key, item.end, value)
            return self._z3.And([*made, self._z3.BoolVal(True, self._encoding.context)])
        return self._encoding.said(item.key, item.end, value)

    def _value(self, item: KnownEnd) -> float:
        if item.given is not None:
            return item.given.upper if item.end else item.given.lower
        return self._ground.known.box(item.key)[item.end]

    def _refutes(self, items: Sequence[Item]) -> bool:
        """Whether no goal is satisfiable under these assumptions; false once the time is over."""
        if self._deadline.passed:
            return False
        marks = [self._marks[item] for item in items]
        return all(checked(self._z3, self._solver, self._deadline, goal, *marks) == "unsat" for goal in self._goals)

    def _least(self, items: Sequence[Item]) -> list[Item] | None:
        """A minimal subset that refutes the goals; None if even all items do not, or if time runs out."""
        if not self._refutes(items):
            return None
        marks = {self._marks[item].decl().name(): item for item in items}
        kept: dict[Item, None] = {}
        for goal in self._goals:
            if checked(self._z3, self._solver, self._deadline, goal, *(self._marks[i] for i in items)) == "unsat":
                names = [mark.decl().name() for mark in self._solver.unsat_core()]
                kept |= dict.fromkeys(marks[name] for name in names if name in marks)
        some = [item for item in items if item in kept]
        return minimal(some if self._refutes(some) else list(items), self._refutes)

    # --- what is known ----------------------------------------------------------------------------------------------

    def _ends(self, items: Sequence[Item]) -> Iterator[KnownEnd]:
        """The known bounds of atoms that have become variables."""
        known = self._ground.known
        for key in [*self._encoding.atoms, *self._encoding.arithmetic.numbers]:
            numeric = self._ground.program.predicates[key[0]].numeric
            for end, nothing in enumerate((float("-inf"), float("inf")) if numeric else (0.0, 1.0)):
                if known.box(key)[end] != nothing:
                    yield KnownEnd(key, end)

    def _expanded(self, items: Sequence[Item]) -> Iterator[Item]:
        """The items, with known ends replaced by the facts and instances of their proofs."""
        found: dict[Item, None] = {}
        for item in items:
            self._pause()
            if isinstance(item, KnownEnd):
                found |= dict.fromkeys(self._behind(item))
            else:
                found[item] = None
        yield from sorted(found, key=lambda item: not isinstance(item, KnownEnd))

    def _behind(self, item: KnownEnd) -> Iterator[Item]:
        """The facts and instances of the proof of a known end; the end itself if it has no proof."""
        value = self._ground.known.box(item.key)[item.end]
        for given in self._ground.known.origins.of(*item.key):
            if (given.upper <= value) if item.end else (given.lower >= value):
                yield KnownEnd(item.key, item.end, given)
                return
        proof = self._proof(item.key)
        if proof is None:
            yield item
            return
        steps = [proof.steps[n] for n in reachable(proof, proof.upper if item.end else proof.lower)]
        if len(steps) > _MOST_STEPS:
            yield item
            return
        for step in steps:
            yield from self._of_step(step, item)

    def _proof(self, key: Key) -> Proof | None:
        return None if self._ground.explain is None else self._ground.explain(key[0], list(key[1]))

    def _of_step(self, step: Step, item: KnownEnd) -> Iterator[Item]:
        conclusion = step.conclusion
        key = None
        if isinstance(conclusion, ast.Atom):
            texts = tuple(each.text for each in conclusion.arguments if isinstance(each, ast.Constant))
            key = (conclusion.name, texts) if len(texts) == len(conclusion.arguments) else None
        side = int(step.side == "upper")
        if step.given is not None and key is not None:
            yield KnownEnd(key, side, step.given)
        elif step.reason == "completed" and key is not None:
            yield KnownEnd(key, side, completed=True)
        elif step.statement is not None:
            stated = self._stated(step.statement)
            bindings = (
                {name: step.bindings[name] for name, _ in stated.variables if name in step.bindings} if stated else {}
            )
            if stated is not None and len(bindings) == len(stated.variables):
                yield Instance(stated, bindings)
            elif key is not None and self._ground.known.box(key)[side] == step.bound:
                yield KnownEnd(key, side)

    def _stated(self, origin: Assertion) -> Stated | None:
        names = {each.name for each in _atoms(origin)}
        for name in sorted(names):
            for stated in self._ground.index.mentioning(name):
                if stated.origin is origin or stated.origin == origin:
                    return stated
        return None

    # --- what is told -----------------------------------------------------------------------------------------------

    def _members(self, items: Sequence[Item]) -> tuple[CoreMember, ...]:
        facts: dict[CoreMember, None] = {}
        statements: dict[CoreMember, None] = {}
        closed = set(self._encoding.closed)
        for item in items:
            match item:
                case Instance() | Blanket():
                    statements[member_of(item.stated.origin)] = None
                case KnownEnd(given=Given() as given):
                    facts[CoreMember(given.text, given.file, given.row)] = None
                case Definition() | Loop() | KnownEnd(completed=True):
                    names = {key[0] for key in (item.atoms if isinstance(item, Loop) else (item.key,))}
                    closed |= names
                    rules = [rule for name in names for rule, _ in self._ground.index.defining(name)]
                    statements |= dict.fromkeys(member_of(rule.origin) for rule in rules)
                case _:
                    pass
        declared = declarations(self._ground.program, closed)
        return (*sorted(facts, key=_place), *sorted(statements, key=_place), *sorted(declared, key=_place))


def _place(member: CoreMember) -> tuple[str, int, str]:
    return member.file, member.line, member.text


def member_of(origin: Assertion) -> CoreMember:
    """A statement as a member of a core."""
    return CoreMember(origin.text, origin.span.source.path, origin.span.line)


def declarations(program: CheckedProgram, names: Iterable[str]) -> Iterator[CoreMember]:
    """The declarations of predicates as members of a core."""
    for name in names:
        span = program.predicates[name].span
        if span is not None:
            yield CoreMember(one_line(span.text), span.source.path, span.line)


def reachable(proof: Proof, top: int) -> list[int]:
    """The steps on which one depends, and that step."""
    met: dict[int, None] = {top: None}
    stack = [top]
    while stack:
        for premise in proof.steps[stack.pop()].premises:
            if premise.step not in met:
                met[premise.step] = None
                stack.append(premise.step)
    return list(met)


def _atoms(origin: Assertion) -> Iterator[ast.Atom]:
    for node in nodes(origin.formula):  # pyright: ignore[reportArgumentType]  # equalities of entities have no operands
        if isinstance(node, ast.Atom):
            yield node
