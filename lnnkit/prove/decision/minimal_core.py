"""Minimal cores: facts and statements that suffice for a verdict, none of which can be dropped.

The solver's own core consists of instances over atoms that inference has settled. So the solver runs again with these
instances alone: every atom is a variable, and its known bounds are assumptions. Assumptions that are not facts are then
replaced by the facts and instances of their proofs, and the whole set is minimised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter

from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.explain.conflict.program_variants import names_in
from lnnkit.explain.proof.proof import GivenFact, Step, ground_key
from lnnkit.explain.proof.quickxplain import minimal
from lnnkit.prove.decision.question import Ground
from lnnkit.prove.encoding.graded_encoding import Constraint, GradedEncoding, MarkedSolver
from lnnkit.prove.ground.dependency_cone import Definition, Loop, TooWide
from lnnkit.prove.ground.ground_reading import GroundAtom, Instance
from lnnkit.prove.ground.parts import Blanket, BoundedStatement
from lnnkit.prove.solving import Z3, Interrupted
from lnnkit.prove.verdict import Core, CoreMember
from lnnkit.syntax.printer import one_line
from lnnkit.time_limit import Deadline, TimedOut

SECONDS = 2.0  # time limit of the search for a core
_MOST_STEPS = 5000  # steps of proofs examined at most
Goal = Callable[[GradedEncoding], Z3 | bool]  # encodes what is to be refuted


@dataclass(frozen=True, slots=True)
class KnownEnd:
    """The lower (0) or upper (1) end of an atom or number, known from inference. It is ``given`` if a fact states it,
    or if rules of its predicate define it (``completed``)."""

    key: GroundAtom
    end: int
    given: GivenFact | None = None
    completed: bool = False


CoreItem = Constraint | KnownEnd


def core_of(
    ground: Ground, encoding: GradedEncoding, goal: Goal, used: Iterable[Constraint], deadline: Deadline
) -> Core:
    """A core that refutes a goal, made from the items ``used`` and the known bounds of their atoms."""
    finder = _Finder(ground, encoding, deadline.capped(SECONDS))
    try:
        return finder.core(goal, used)
    except (TimedOut, TooWide, Interrupted):
        return finder.as_core(finder.enough, whole=finder.whole)


def near_items(
    ground: Ground, encoding: GradedEncoding, goal: Goal, used: Iterable[Constraint], deadline: Deadline
) -> Sequence[CoreItem]:
    """A minimal set of items ``used`` and known bounds that refutes a goal; the whole set if time ran out."""
    finder = _Finder(ground, encoding, deadline)
    with suppress(TimedOut, TooWide, Interrupted):
        if (items := finder.near(goal, used)) is not None:
            return items
    return list(finder.marks)


@dataclass
class _Finder:
    """A search; ``enough`` is what suffices as far as is known, ``whole`` if it has all facts that it rests on."""

    ground: Ground
    encoding: GradedEncoding
    deadline: Deadline
    enough: Sequence[CoreItem] = ()
    whole: bool = False

    def __post_init__(self) -> None:
        self._solver = MarkedSolver[CoreItem](self.encoding)
        self.marks = self._solver.marks
        self._goal: Z3 | None = None

    def near(self, goal: Goal, used: Iterable[Constraint], *, paused: bool = False) -> list[CoreItem] | None:
        """A minimal sufficient subset of the items and the known bounds of their atoms; None if even all of them do not
        suffice. If ``paused``, raises `TimedOut` before all are entered."""
        self._goal = self._solver.mark(goal(self.encoding))
        self.enough = first = [*dict.fromkeys(used)]
        self._enter(first, paused=paused)
        ends = [*self._ends()]
        self.enough, self.whole = [*first, *ends], True
        self._enter(ends, paused=paused)
        return self._least(self.enough)

    def core(self, goal: Goal, used: Iterable[Constraint]) -> Core:
        near = self.near(goal, used, paused=True)
        if near is None:
            return self.as_core([*self.marks])
        self.enough, expanded = near, dict[CoreItem, None]()
        for item in near:
            self._pause()
            expanded |= dict.fromkeys(self._behind(item) if isinstance(item, KnownEnd) else [item])
        wider = sorted(expanded, key=lambda item: not isinstance(item, KnownEnd))
        self._enter(wider, paused=True)
        least = self._least(wider)
        if least is None:
            return self.as_core(wider)
        return self.as_core(least, minimal=not self.deadline.passed)

    def as_core(self, items: Sequence[CoreItem], *, minimal: bool = False, whole: bool = True) -> Core:
        """The core of these items. It lacks facts where a known end is not yet replaced by what it rests on."""
        bare = any(isinstance(item, KnownEnd) and item.given is None and not item.completed for item in items)
        return Core(self._members(items), minimal, whole=minimal or (whole and not bare))

    def _enter(self, items: Sequence[CoreItem], *, paused: bool) -> None:
        for item in items:
            if paused:
                self._pause()
            if item not in self.marks:
                self._solver.mark(self._said(item) if isinstance(item, KnownEnd) else self.encoding.held(item), item)

    def _pause(self) -> None:
        if self.deadline.passed:
            raise TimedOut

    def _said(self, item: KnownEnd) -> Z3 | bool:
        value = self.ground.known.box(item.key)[item.end] if item.given is None else item.given.end(item.end)
        if not self.ground.program.predicates[item.key[0]].numeric:
            return self.encoding.said(item.key, item.end, value)
        self.encoding.arithmetic.number(item.key)
        return self.encoding.arithmetic.at_end(item.key, item.end, value)

    def _refutes(self, items: Sequence[CoreItem]) -> bool:
        """Whether the goal is unsatisfiable under these assumptions; false once the time is over."""
        if self.deadline.passed:
            return False
        assumed = [self._goal, *(self.marks[item] for item in items)]
        return self._solver.check(self.deadline, assumed) == "unsat"

    def _least(self, items: Sequence[CoreItem]) -> list[CoreItem] | None:
        """A minimal subset that refutes the goal; None if even all items do not, or if time runs out."""
        if not self._refutes(items):
            return None
        kept = {*self._solver.core()[1]}
        some = [item for item in items if item in kept]
        return minimal(some if self._refutes(some) else list(items), self._refutes)

    def _ends(self) -> Iterator[KnownEnd]:
        """The known bounds of atoms that have become variables."""
        known = self.ground.known
        for key in [*self.encoding.atoms, *self.encoding.arithmetic.numbers]:
            numeric = self.ground.program.predicates[key[0]].numeric
            for end, nothing in enumerate((float("-inf"), float("inf")) if numeric else (0.0, 1.0)):
                if known.box(key)[end] != nothing:
                    yield KnownEnd(key, end)

    def _behind(self, item: KnownEnd) -> Iterator[CoreItem]:
        """The facts and instances of the proof of a known end; the end itself if that is too long."""
        value = self.ground.known.box(item.key)[item.end]
        for given in self.ground.known.origins.of(*item.key):
            if given.end(item.end) <= value if item.end else given.end(0) >= value:
                yield KnownEnd(item.key, item.end, given)
                return
        proof = self.ground.explain(item.key[0], list(item.key[1]))
        steps = [proof.steps[number] for number in proof.reachable(proof.upper if item.end else proof.lower)]
        if len(steps) > _MOST_STEPS:
            yield item
            return
        for step in steps:
            yield from self._of_step(step)

    def _of_step(self, step: Step) -> Iterator[CoreItem]:
        key = ground_key(step.conclusion)
        side = int(step.side == "upper")
        if step.given is not None and key is not None:
            yield KnownEnd(key, side, step.given)
        elif step.reason == "completed" and key is not None:
            yield KnownEnd(key, side, completed=True)
        elif step.statement is not None:
            stated = self._stated(step.statement)
            if stated is not None and all(name in step.bindings for name, _ in stated.variables):
                yield Instance(stated, {name: step.bindings[name] for name, _ in stated.variables})
            elif key is not None and self.ground.known.box(key)[side] == step.bound:
                yield KnownEnd(key, side)

    def _stated(self, origin: Assertion) -> BoundedStatement | None:
        every = (stated for name in sorted(names_in(origin.formula)) for stated in self.ground.index.mentioning(name))
        return next((stated for stated in every if stated.origin is origin or stated.origin == origin), None)

    def _members(self, items: Sequence[CoreItem]) -> tuple[CoreMember, ...]:
        facts, statements, completed = set[CoreMember](), set[CoreMember](), set[str]()
        for item in items:
            match item:
                case Instance() | Blanket(completes=""):
                    statements.add(member_of(item.stated.origin))
                case KnownEnd(given=GivenFact() as given):
                    facts.add(CoreMember(given.text, given.file, given.row))
                case Definition() | KnownEnd(completed=True):
                    completed.add(item.key[0])
                case Blanket():
                    completed.add(item.completes)
                case Loop():
                    completed |= {name for name, _ in item.atoms}
                case _:
                    pass
        rules = (rule for name in completed for rule, _ in self.ground.index.defining(name))
        statements |= {member_of(rule.origin) for rule in rules}
        declared = declarations(self.ground.program, completed | self.encoding.closed)
        place = attrgetter("file", "line", "text")
        return tuple(member for members in (facts, statements, declared) for member in sorted(members, key=place))


def member_of(origin: Assertion) -> CoreMember:
    """A statement as a member of a core."""
    return CoreMember(origin.text, origin.span.source.path, origin.span.line)


def declarations(program: CheckedProgram, names: Iterable[str]) -> Iterator[CoreMember]:
    """The declarations of predicates as members of a core."""
    for name in names:
        span = program.predicates[name].span
        if span is not None:
            yield CoreMember(one_line(span.text), span.source.path, span.line)
