"""Minimal cores: facts and statements that suffice for a verdict, none of which can be dropped.

The solver's own core consists of instances over atoms that inference has settled. So the solver runs again with these
instances alone: every atom is a variable, and its known bounds are assumptions. Assumptions that are not facts are then
replaced by the facts and instances of their proofs, and the whole set is minimised.

An exact bound becomes a step of a proof, which cites the statements, completed atoms and atom bounds from which it
follows. These premises are inferred bounds with their own proofs, so the checker verifies every part separately and
needs the solver for the exact step only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import attrgetter

from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.explain.checker.ground_form import Form, stated_formula, truth_of
from lnnkit.explain.checker.proof_checker import defined, fault
from lnnkit.explain.checker.proof_world import ProofWorld, demand
from lnnkit.explain.conflict.program_variants import names_in
from lnnkit.explain.proof.proof import SIDES, GivenFact, Premise, Proof, Step, ground_atom, ground_key
from lnnkit.explain.proof.prover import Steps
from lnnkit.explain.proof.sufficient_premises import minimal
from lnnkit.prove.decision.question import Decision, Ground, bound_formula
from lnnkit.prove.encoding.graded_encoding import Constraint
from lnnkit.prove.ground.ground_reading import GroundAtom
from lnnkit.prove.ground.parts import BoundedStatement, Instance
from lnnkit.prove.ground.relevant_instances import Definition, Loop, TooWide
from lnnkit.prove.solving import Z3, Interrupted, MarkedSolver
from lnnkit.prove.verdict import Core, CoreMember
from lnnkit.syntax import ast
from lnnkit.syntax.printer import one_line
from lnnkit.time_limit import Deadline, TimedOut, check_time

SECONDS = 2.0  # time limit of the search for a core
_MOST_STEPS = 5000  # steps of proofs examined at most
_ODD = re.compile(r"\\[|\\]|[^ -~\n]")  # what SMT-LIB has no place for in a name, as the solver prints it
_MINIMISED = 40  # greatest number of premises that are tested for removal
Goal = tuple[int, Fraction]  # what is to be refuted: that the question's truth is at most (0) or at least (1) a limit


@dataclass(frozen=True, slots=True)
class KnownEnd:
    """The lower (0) or upper (1) end of an atom or number, known from inference. It is ``given`` if a fact states it,
    or if rules of its predicate define it (``completed``)."""

    key: GroundAtom
    end: int
    given: GivenFact | None = None
    completed: bool = False


CoreItem = Constraint | KnownEnd


def core_of(decision: Decision, goal: Goal | None = None) -> Core:
    """A core that refutes a goal (None: any world), made from the items used and the known bounds of their atoms."""
    deadline = decision.asked.deadline.capped(SECONDS)
    finder = CoreSearch(decision, deadline)
    with decision.asked.ground.limited(deadline), suppress(TimedOut, TooWide, Interrupted):
        return finder.core(goal)
    return finder.as_core(finder.enough, whole=finder.whole)


def sufficient_items(decision: Decision, goal: Goal) -> Sequence[CoreItem]:
    """A minimal set of items used and known bounds that refutes a goal; what is known to suffice if time ran out."""
    deadline = Deadline(SECONDS)
    finder = CoreSearch(decision, deadline)
    with decision.asked.ground.limited(deadline), suppress(TimedOut, TooWide, Interrupted):
        if (items := finder.sufficient(goal)) is not None:
            return items
    return finder.enough


class CoreSearch:
    """A search; ``enough`` is what suffices as far as is known, ``whole`` if it has all facts that it rests on."""

    def __init__(self, decision: Decision, deadline: Deadline) -> None:
        self.ground, self.deadline, self._decision = decision.asked.ground, deadline, decision
        self.encoding = encoding = decision.encoded(folded=False)
        self.enough: Sequence[CoreItem] = ()
        self.whole = False
        self._solver = MarkedSolver[CoreItem](encoding.context, encoding.drained)
        self.marks = self._solver.marks

    def sufficient(self, goal: Goal | None) -> list[CoreItem] | None:
        """A minimal sufficient subset of the items and the known bounds of their atoms; None if even all of them do not
        suffice. Raises `TimedOut`."""
        truth = self.encoding.truth(self._decision.asked.question.part, {}) if goal is not None else None
        self._goal = self._solver.mark(True if goal is None else self.encoding.beyond(truth, *goal))
        self.enough = first = [*dict.fromkeys(self._decision.depends())]
        self._enter(first)
        ends = self._known_ends()
        self.enough, self.whole = [*first, *ends], True
        self._enter(ends)
        return self._least(self.enough)

    def _known_ends(self) -> list[CoreItem]:
        """The known bounds of atoms that have become variables."""
        ends: list[CoreItem] = []
        for key in [*self.encoding.atoms, *self.encoding.numbers]:
            box, unknown = self.ground.known.box(key), self.ground.known.unknown(key[0])
            ends += [KnownEnd(key, end) for end in (0, 1) if box[end] != unknown[end]]
        return ends

    def core(self, goal: Goal | None) -> Core:
        """A minimal core whose known ends are replaced by their proofs; rules count as far as that suffices."""
        found = self.sufficient(goal)
        if found is None:
            return self.as_core([*self.marks])
        self.enough, wider = found, list[CoreItem]()
        for by_rules in (True, False):
            self.enough = wider = self._expanded(found, by_rules)
            self._enter(wider)
            least = self._least(wider)
            if least is not None and not any(isinstance(item, KnownEnd) and item.completed for item in least):
                return self.as_core(least, minimal=not self.deadline.passed)
        return self.as_core(wider)  # where completed atoms are false by what rules say together, all that they say

    def smtlib(self, given: Iterable[Constraint]) -> str:
        """A question in SMT-LIB, as the solver prints it: `unsat` if it follows from the items that were given to the
        solver, and what the known bounds of their atoms rest on."""
        question, items = self._decision.asked.question, [*given]
        goal = self.encoding.negated(self.encoding.truth(question.part, {}))
        self._enter(items)
        constraints = [self._constraint(item) for item in self._expanded([*items, *self._known_ends()], by_rules=False)]
        solver = self.encoding.z3.Solver(ctx=self.encoding.context)
        solver.add([*self.encoding.drained(), *(said for said in constraints if said is not True), goal])
        printed = _ODD.sub(lambda match: f"u{ord(match[0][-1]):x}_", solver.to_smt2())
        return f"; does it follow? {one_line(question.text)}\n{printed}"

    def _expanded(self, items: Iterable[CoreItem], by_rules: bool) -> list[CoreItem]:
        """The items with what their known ends rest on in place of these, which comes first."""
        expanded = dict[CoreItem, None]()
        for item in items:
            check_time()
            expanded |= dict.fromkeys(self._behind(item, by_rules) if isinstance(item, KnownEnd) else [item])
        defined = [item for item in expanded if isinstance(item, Definition)]
        rules = dict.fromkeys(rule for definition in defined for rule in definition.rules)
        if defined:
            expanded[Loop(frozenset(definition.key for definition in defined), tuple(rules))] = None
        return sorted(expanded, key=lambda item: not isinstance(item, KnownEnd))

    def as_core(self, items: Sequence[CoreItem], *, minimal: bool = False, whole: bool = True) -> Core:
        """The core of these items. It lacks facts where a known end is not yet replaced by what it rests on."""
        bare = any(isinstance(item, KnownEnd) and item.given is None and not item.completed for item in items)
        return Core(self._members(items), minimal, whole=minimal or (whole and not bare))

    def _enter(self, items: Sequence[CoreItem]) -> None:
        for item in items:
            check_time()
            if item not in self.marks:
                self._solver.mark(self._constraint(item), item)

    def _constraint(self, item: CoreItem) -> Z3 | bool:
        if not isinstance(item, KnownEnd):
            return self.encoding.held(item)
        value = self.ground.known.box(item.key)[item.end] if item.given is None else item.given.end(item.end)
        return self.encoding.said(item.key, item.end, value)

    def _least(self, items: Sequence[CoreItem]) -> list[CoreItem] | None:
        """A minimal subset that refutes the goal; None if even all items do not, or if time runs out."""

        def refutes(items: Sequence[CoreItem]) -> bool:  # false once the time is over
            if self.deadline.passed:
                return False
            assumed = [self._goal, *(self.marks[item] for item in items)]
            return self._solver.check(self.deadline, assumed) == "unsat"

        if not refutes(items):
            return None
        kept = {*self._solver.core()[1]}
        some = [item for item in items if item in kept]
        return minimal(some if refutes(some) else list(items), refutes)

    def _behind(self, item: KnownEnd, by_rules: bool) -> Iterator[CoreItem]:
        """The facts and instances of the proof of a known end; the end itself if that is too long. Completed atoms are
        what their rules make of them (``by_rules``), or as false as they have become."""
        value = self.ground.known.box(item.key)[item.end]
        for given in self.ground.known.origins.of(*item.key):
            if given.end(item.end) <= value if item.end else given.end(0) >= value:
                yield KnownEnd(item.key, item.end, given)
                return
        proof = self.ground.prover.prove(*item.key)
        steps = [proof.steps[number] for number in proof.reachable(proof.upper if item.end else proof.lower)]
        if len(steps) > _MOST_STEPS:
            yield item
            return
        for step in steps:
            yield from self._of_step(step, by_rules)

    def _of_step(self, step: Step, by_rules: bool) -> Iterator[CoreItem]:
        """The items that stand for one step of a proof: a fact, a definition, or an instance of a statement."""
        key = ground_key(step.conclusion)
        side = int(step.side == "upper")
        if step.given is not None and key is not None:
            yield KnownEnd(key, side, step.given)
        elif step.reason == "completed" and key is not None:
            defined = Definition(key, self.ground.index, self.ground.known) if by_rules else None
            yield defined or KnownEnd(key, side, completed=True)
        elif step.statement is not None:
            names, origin = sorted(names_in(step.statement.formula)), step.statement
            every = (stated for name in names for stated in self.ground.index.mentioning(name))
            stated = next((stated for stated in every if stated.origin is origin or stated.origin == origin), None)
            if stated is not None and all(name in step.bindings for name, _ in stated.variables):
                yield Instance(stated, {name: step.bindings[name] for name, _ in stated.variables})
            elif key is not None and self.ground.known.box(key)[side] == step.bound:
                yield KnownEnd(key, side)

    def _members(self, items: Sequence[CoreItem]) -> tuple[CoreMember, ...]:
        """The items as users see them: facts, statements, and declarations of closed predicates."""
        facts, statements, completed = set[CoreMember](), set[CoreMember](), set[str]()
        for item in items:
            match item:
                case Instance(stated=stated) | (BoundedStatement(completes="") as stated):
                    statements.add(member_of(stated.origin))
                case KnownEnd(given=GivenFact() as given):
                    facts.add(CoreMember(given.text, given.file, given.row))
                case Definition() | KnownEnd(completed=True):
                    completed.add(item.key[0])
                case BoundedStatement():
                    completed.add(item.completes)
                case Loop():
                    completed |= {name for name, _ in item.atoms}
        program, ruled = self.ground.known.program, [*(self.encoding.closed & self.ground.known.derived)]
        for name in ruled:  # grows: what rules do not derive rests on all that they read
            read = {other for rule, _ in self.ground.index.defining(name) for other in rule.part.names}
            ruled += [other for other in sorted(read.difference(ruled)) if program.predicates[other].closed]
        closed = completed.union(self.encoding.closed, ruled)
        rules = (rule for name in closed for rule, _ in self.ground.index.defining(name))
        statements |= {member_of(rule.origin) for rule in rules}
        declared = declarations(program, closed)
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


# --- exact bounds as steps of proofs ----------------------------------------------------------------------------------


def recorded(ground: Ground, proof: Proof, end: int, bound: float, items: Sequence[CoreItem]) -> Proof:
    """A ``proof`` with an exact step for a tighter end. Raises `InvalidStep` where the checker rejects it."""
    tighter = _with_exact_step(ground, proof, end, bound, items)
    *steps, step = tighter.steps
    problem = fault(step, tighter, ground.world)
    demand(problem is None, str(problem))
    tighter = replace(tighter, steps=[*steps, _least(step, tighter, ground.world)])
    return tighter.only(sorted(tighter.reachable(*tighter.ends)))


def _least(step: Step, proof: Proof, world: ProofWorld) -> Step:
    """The step with a minimal set of premises; a statement may occur with both ends."""
    if len(step.premises) > _MINIMISED:
        return step
    for atom in step.completes:
        fewer = replace(step, completes=[other for other in step.completes if other is not atom])
        step = fewer if fault(fewer, proof, world) is None else step
    if not step.completes:
        step = replace(step, rules=())

    def enough(premises: Sequence[Premise]) -> bool:
        return fault(replace(step, premises=premises), proof, world) is None

    return replace(step, premises=minimal(step.premises, enough))


def _with_exact_step(ground: Ground, proof: Proof, end: int, bound: float, items: Sequence[CoreItem]) -> Proof:
    """The proof in which a step that comes last says that an end follows from items."""
    world, steps = ground.world, Steps()
    steps.made += proof.steps
    conclusion = proof.steps[proof.upper if end else proof.lower].conclusion
    premises: dict[int, None] = {}
    completes: list[ast.Expression] = []
    rules: list[Assertion] = []
    forms = [world.form(conclusion)]
    for item in items:
        match item:
            case Instance():
                # Not those of a `forall` that was instantiated
                bindings = {name: text for name, text in item.bindings.items() if not name.startswith("#")}
                premises |= dict.fromkeys(_stated(world, steps, item.stated.origin, bindings))
                forms.append(world.instance(item.stated.origin, bindings))
            case Definition():
                completes.append(ground_atom(*item.key))
                completed = defined(world.form(completes[-1]), world)
                rules += [statement for statement in completed.statements if statement not in rules]
                forms += [rule for rule, _ in completed.instances]
            case KnownEnd():
                premises[ground.prover.end(steps, *item.key, item.end)] = None
    for name in _closed(ground, forms):  # what is not listed is false, and a number that is not has no value
        variables = [ast.Variable(f"X{place}") for place, _ in enumerate(world.program.predicates[name].sorts, 1)]
        premises[ground.prover.end(steps, name, variables, 1)] = None
    rests = [Premise(number, 1.0) for number in premises]
    step = Step(conclusion, SIDES[end], bound, "exact", premises=rests, completes=completes, rules=rules)
    made = ground.prover.finished(steps, proof.atom, proof.lower, proof.upper)
    return replace(made, steps=[*made.steps, step], **{SIDES[end]: len(made.steps)})


def _stated(world: ProofWorld, steps: Steps, statement: Assertion, bindings: Mapping[str, str]) -> Iterator[int]:
    """The steps for an instance of a statement, one for each end that it gives."""
    starts = world.starts
    logic = None if statement.logic == world.program.logic else statement.logic
    said = bound_formula(stated_formula(statement, starts), bindings, logic)
    for side, truth, nothing in zip(SIDES, truth_of(statement, starts), (0.0, 1.0), strict=True):
        if truth != nothing:
            yield steps.add(Step(said, side, truth, "stated", statement, bindings=dict(bindings)))


def _closed(ground: Ground, forms: Sequence[Form]) -> Iterable[str]:
    """The closed predicates and numbers of which formulas may read what is not listed. What rules make of atoms
    that an encoding has are premises already, but not what they make of rows that it left out."""
    inner = [part for form in forms for part, _ in form.walk() if part.count]
    names = dict.fromkeys(leaf.name for form in forms for leaf in form.leaves if leaf.kind == "atom")
    in_rows = {leaf.name for part in inner for leaf in part.leaves}
    world, known = ground.world, ground.known.relations.tables
    closed = (name for name in names if world.program.predicates[name].closed and name in known)
    return (name for name in closed if name in in_rows or not world.derived(name))
