"""Proving: questions, their readings, and the fixpoints on which they rest."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from lnnkit.answer_table import Answers
from lnnkit.check.program import Query
from lnnkit.errors import Error, ProgramError
from lnnkit.explain.checker.ground_form import Free, about, form_of
from lnnkit.explain.checker.proof_world import InvalidStep
from lnnkit.explain.conflict.program_variants import alone, names_in
from lnnkit.explain.proof.sufficient_premises import minimal
from lnnkit.garbage import collection_paused
from lnnkit.interrupt import Interruption, has_pythons_handler
from lnnkit.kb.asking import answers, covering, explained
from lnnkit.kb.explaining import conflicts
from lnnkit.kb.session import Session
from lnnkit.kb.theory import free_variables, no_formula
from lnnkit.prove.decision.classical_decision import classical_smtlib, prove_classically
from lnnkit.prove.decision.graded_decision import exact_ends, prove_exactly
from lnnkit.prove.decision.minimal_core import CoreItem, declarations, member_of, recorded
from lnnkit.prove.decision.question import WHOLE, Asked, Ground, Question, bound_formula, propagated
from lnnkit.prove.ground.ground_reading import GroundReading
from lnnkit.prove.ground.parts import Part, StatementIndex, part_of, sorted_variables
from lnnkit.prove.ground.proved_program import component, crisped, is_crisp, plain, whole_numbers
from lnnkit.prove.solving import solver_module
from lnnkit.prove.verdict import Core, CoreMember, Proved, Reading
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.printer import format_expression
from lnnkit.time_limit import Deadline, TimedOut, check_time, limited_to

if TYPE_CHECKING:
    from lnnkit.engine.inference_run import RoundReport, Watch
    from lnnkit.explain.conflict.conflict import Conflict
    from lnnkit.explain.proof.explanation import Explanation
    from lnnkit.kb.fixpoint import Fixpoint

INSTALL = "pip install 'lnnkit[prove]'"
BEFORE = "preparing inference took all the time"
MOST_BINDINGS = 1_000  # bindings of a question's free variables
# The part of a timeout that is kept for stopping and for making the answer. Without it 28 hard cases, such as those of
# `tests/prove/test_time_limits.py` at larger sizes, ended up to 0.3 s after a timeout of 2 s; with it up to 0.19 s
_ANSWER, _SHARE = 0.2, 0.06

Tell = Callable[[int, int], None]


def proved(
    session: Session,
    queries: Sequence[Query],
    asked_reading: Reading | None,
    alpha: float,
    timeout: float | None,
    tell: Tell | None = None,
) -> Iterator[Proved]:
    """The answers to questions, in order: one each, or one for each binding of its free variables. Raises `Error` if
    the solver is not installed, `ProgramError` for a number, and for too many bindings."""
    numbers = [no_formula(query) for query in queries if query.numeric]
    if numbers:
        raise ProgramError(numbers)
    reading = asked_reading or ("classical" if is_crisp(session.theory.settled()) else "exact")
    asked = [_program_query(session, query) for query in queries]
    if reading == "classical":
        asked = [_plain(query) for query in asked]
    if not asked:
        return
    _require_solver()  # before the clock starts
    clock = _DeadlineWatch(session.watch, _deadline(timeout))
    decide = prove_classically if reading == "classical" else prove_exactly
    late = (replace(propagated(query.text, (0.0, 1.0), reading, alpha, BEFORE), alpha=alpha) for query in queries)
    with ExitStack() as stack:
        try:
            with collection_paused(), limited_to(clock):
                part, notes = _part(session, asked)
                if reading == "classical":
                    part, left_out = _classical(part, alpha)
                    notes = (*notes, *left_out)
            fixpoint = stack.enter_context(_inferred(part, asked, clock))
        except TimedOut:
            yield from late
            return
        ground = replace(_grounded(part, fixpoint, asked, reading), tell=tell, halted=clock.halted)
        if fixpoint.cut_short and not clock.late:
            notes = (*notes, "inference was stopped before its end")
        for query, text in zip(asked, [query.text for query in queries], strict=True):
            for _, question in _questions(part, ground, query, text):
                with collection_paused(), Interruption() if has_pythons_handler() else nullcontext() as clock.current:
                    if clock.late and not clock.halted():
                        answer = propagated(question.text, question.inferred, reading, alpha, clock.note)
                    else:
                        answer = Asked(ground, question, reading, alpha, clock.deadline).answered(decide)
                clock.stopped |= answer.interrupted
                yield replace(answer, notes=(*notes, *answer.notes), alpha=alpha)
                clock.deadline = _deadline(timeout)


def smtlib(session: Session, queries: Sequence[Query], alpha: float) -> tuple[str, list[Diagnostic]]:
    """The classical reading of questions as the solver prints it, and what it leaves out. Raises as `proved` does."""
    if not queries:
        message = "there is nothing to export: the program has no query"
        raise ProgramError([Diagnostic("no-query", message, "name a formula, as in `P(a)`")])
    asked = [_plain(_program_query(session, query)) for query in queries]
    part, notes = _classical(session, alpha)
    ground = replace(_grounded(part, _covering(part, asked), asked, "classical"), limit=sys.maxsize)  # of instances
    questions = (question for query in asked for _, question in _questions(part, ground, query, query.text))
    text = "(reset)\n".join(classical_smtlib(ground, question) for question in questions)
    return text, [Diagnostic("left-out", note, severity="warning") for note in notes]


def _check_aggregates(ground: Ground, part: Part, span: Span | None) -> None:
    """Raises `ProgramError` for an aggregate whose elements may be any number of unnamed individuals."""
    endless = ground.endless(part)
    if endless is None:
        return
    aggregate, variable, sort = endless
    named = {leaf.name: leaf for leaf in aggregate.operands[0].leaves if variable in leaf.variables}
    opens = [name for name in named if not ground.world.program.predicates[name].closed]
    closing = f", or `{opens[0]}` as `closed`" if opens else ""
    message = (
        f"a `{aggregate.kind}` runs over `{sort}`, which is open: there may be any number of elements without a name"
    )
    raise ProgramError([Diagnostic("aggregate", message, f"declare `sort {sort}` without `open`{closing}", span)])


def _check_derived(fixpoint: Fixpoint, queries: Sequence[Query]) -> None:
    """Raises `ProgramError` for closed numbers that rules derive, where the questions may depend on them."""
    lifted = fixpoint.run.plan.lifted
    numbers, reached = lifted.derived_numbers, frozenset[str]().union(*(names_in(query.formula) for query in queries))
    statements = [(root, names_in(root.origin.formula)) for root in lifted.statements] if numbers else []
    while more := [names for _, names in statements if names & reached and not names <= reached]:
        reached = reached.union(*more)
    spans = {name: root.origin.span for root, _ in statements for name in root.defines & numbers & reached}
    message, hint = "`prove` does not reach `{}`, a closed number that a rule derives", "`run` bounds it"
    found = [Diagnostic("derived-number", message.format(name), hint, spans[name]) for name in sorted(spans)]
    if found:
        raise ProgramError(found)


def _deadline(timeout: float | None) -> Deadline:
    """A time limit that leaves time for the answer."""
    return Deadline(None if timeout is None else timeout - min(_ANSWER, _SHARE * timeout))


def _part(session: Session, queries: Sequence[Query]) -> tuple[Session, tuple[str, ...]]:
    """A session for the part of a large program that the questions share predicates with, and a note of that."""
    theory = session.theory
    if len(theory.checked.assertions) <= WHOLE:
        return session, ()
    program = theory.bound(theory.settled())
    part = component(program, [query.formula for query in queries])
    if part is None:
        return session, ()
    return session.part((part.kept, part.predicates), lambda: theory.about(part.program)), (part.note,)


@contextmanager
def _inferred(session: Session, queries: Sequence[Query], clock: _DeadlineWatch) -> Iterator[Fixpoint]:
    """A fixpoint for queries. What the time has cut short is forgotten after the context. Raises `TimedOut`."""
    before = dict(session.fixpoints)
    try:
        with collection_paused(), session.watched(clock), limited_to(clock):
            fixpoint = _covering(session, queries)
        yield fixpoint
    finally:
        if clock.late:
            every = session.fixpoints.items()
            session.fixpoints = {key: made for key, made in every if made is before.get(key) or not made.cut_short}


def _require_solver() -> None:
    """Raises `Error` if the package is not installed."""
    try:
        solver_module()
    except ImportError:
        message = "proving needs the package z3-solver, which is not installed"
        raise Error([Diagnostic("missing-package", message, f"install it with: {INSTALL}")]) from None


def _grounded(session: Session, fixpoint: Fixpoint, queries: Sequence[Query], reading: Reading) -> Ground:
    _require_solver()
    explainer, run = fixpoint.explainer, fixpoint.run
    world, lifted = explainer.world, run.plan.lifted
    _check_derived(fixpoint, queries)
    classical = reading == "classical"
    known = GroundReading(run, fixpoint.names, fixpoint.program, world.origins, classical=classical)
    whole = whole_numbers(fixpoint.program, [query.formula for query in queries]) if classical else frozenset[str]()
    index = StatementIndex(lifted, world)
    conflict = cache(lambda: _conflict(session, fixpoint)) if fixpoint.outcome.contradictions else None
    ground = Ground(world, known, index, explainer.prover, whole, conflict)
    for stated in index.aggregating():
        _check_aggregates(ground, stated.part, stated.origin.span)
    return ground


def singles(queries: Sequence[Query], verdicts: Iterator[Proved]) -> list[Proved]:
    """One answer to each question, none of which has free variables. Raises `ProgramError` where one has."""
    answered: list[Proved] = []
    for query in queries:
        one = next(verdicts, None)
        if one is None or one.formula != query.text:
            raise ProgramError([free_variables(query)])
        answered.append(one)
    return answered


def exact_answers(session: Session, query: Query, alpha: float, timeout: float | None) -> Answers:
    """The answers to a query with their exact bounds; those of a number stay as they are. Where nothing has been
    inferred yet, that is only for the part of a large program that the query shares predicates with. Raises as `proved`
    does."""
    if not session.made():
        session, _ = _part(session, [query])
    known = answers(session, query, alpha)
    if query.numeric or not len(known):
        return known
    lower, upper = known.lower.copy(), known.upper.copy()
    places, late = {row: place for place, row in enumerate(_rows(known))}, 0
    ground = _grounded(session, _covering(session, [query]), [query], "exact")
    for row, question in _questions(session, ground, query, query.text):
        if row not in places:
            continue
        exact = Asked(ground, question, "exact", 1.0, Deadline(timeout)).answered(prove_exactly)
        late += not exact.settled
        if exact.lower is not None and exact.upper is not None and exact.verdict != "inconsistent":
            lower[places[row]], upper[places[row]] = exact.lower, exact.upper
    warning = Diagnostic(
        "not-settled", f"{late:,} queries were not decided in time", "raise `timeout`", severity="warning"
    )
    return replace(known, lower=lower, upper=upper, warnings=(*known.warnings, *([warning] if late else ())))


def exact_explanation(session: Session, query: Query, alpha: float, timeout: float | None) -> Explanation:
    """The proof of each exact bound of a query: bounds tighter than those of inference have an exact step. Raises as
    `lnnkit.kb.asking.explained` and `proved` do."""
    if query.numeric:
        raise ProgramError([no_formula(query)])
    fixpoint, explanation = explained(session, query, alpha)
    ground = _grounded(session, fixpoint, [query], "exact")
    ((_, question),) = _questions(session, ground, query, query.text)
    items: dict[int, Sequence[CoreItem]] = {}
    exact = Asked(ground, question, "exact", 1.0, Deadline(timeout)).answered(partial(exact_ends, items=items))
    warnings = [Diagnostic("not-settled", note, "raise `timeout`", severity="warning") for note in exact.notes]
    if exact.verdict == "inconsistent":
        message = "the program contradicts itself: no bound is exact"
        warnings.append(Diagnostic("inconsistent", message, severity="warning"))
    proof = explanation.proof
    for end, premises in items.items():
        bound = exact.upper if end else exact.lower
        assert bound is not None
        try:
            proof = recorded(ground, proof, end, bound, premises)
        except InvalidStep as problem:
            message = f"the {'upper' if end else 'lower'} bound {bound:g} has no proof that can be checked: {problem}"
            warnings.append(Diagnostic("no-proof", message, "`lnnkit prove` shows the verdict", severity="warning"))
    return replace(explanation, proof=proof, warnings=tuple(warnings), _others=None)


def _plain(query: Query) -> Query:
    formula = plain(query.formula)
    return query if formula == query.formula else replace(query, formula=formula, logic=ast.DEFAULT_LOGIC)


def _program_query(session: Session, query: Query) -> Query:
    """The program's own query with the same text, whose fixpoint exists."""
    same = (other for other in session.theory.checked.queries if other.formula == query.formula)
    return next((other for other in same if other.logic == query.logic and other.numeric == query.numeric), query)


def _covering(session: Session, queries: Sequence[Query]) -> Fixpoint:
    """A fixpoint that covers the queries. It is not narrow, since defaults of partly completed predicates would be no
    valid bounds."""
    stated = session.theory.checked.queries
    if len(queries) == 1:
        return covering(session, queries[0])
    return session.rest((*stated, *(query for query in queries if query not in stated)))


def _classical(session: Session, alpha: float) -> tuple[Session, Sequence[str]]:
    """A session of the program read classically, and a note of statements that are too weak for that."""
    theory = session.theory
    program = theory.bound(theory.settled())
    if is_crisp(program) and not theory.bindings:
        return session, ()
    crisp, dropped = crisped(program, alpha)
    notes = [f"{dropped:,} statements hold to less than {alpha:g} and are left out"] if dropped else []
    return session.about(theory.about(crisp)), notes


def _conflict(session: Session, fixpoint: Fixpoint) -> Core:
    """The core of the first contradiction."""
    try:
        listing = conflicts(session, 1, fixpoint, _Raising())
    except TimedOut:
        return Core((), minimal=False, whole=False)
    if not listing:
        return Core((), minimal=True)
    first, least = listing[0], False
    with suppress(TimedOut):
        first, least = first.minimal(), True
    facts = [CoreMember(fact.text, fact.file, fact.row) for fact in first.facts]
    closed = _closed(session, fixpoint, first)
    return Core((*facts, *map(member_of, first.rules), *declarations(fixpoint.program, closed)), least)


def _closed(session: Session, fixpoint: Fixpoint, conflict: Conflict) -> Sequence[str]:
    """The closed predicates whose closure is needed for the members of a conflict to contradict each other."""
    program = fixpoint.program
    named = frozenset[str]().union(*(names_in(rule.formula) for rule in conflict.rules))

    def enough(closed: Sequence[str]) -> bool:
        predicates = {name: replace(predicate, closed=name in closed) for name, predicate in program.predicates.items()}
        strata = tuple(stratum & {*closed} for stratum in program.strata)
        part = alone(replace(program, predicates=predicates, strata=strata), conflict.members)
        return bool(session.about(session.theory.about(part)).rest(()).outcome.contradictions)

    return minimal([name for name, declared in program.predicates.items() if declared.closed and name in named], enough)


def _questions(session: Session, ground: Ground, query: Query, text: str) -> Iterator[tuple[tuple[str, ...], Question]]:
    """The question with its free variables bound in all ways: entities in the order of the variables' names."""
    if query.numeric:
        raise ProgramError([no_formula(query)])
    program, known = ground.world.program, ground.known
    form = form_of(query.formula, {}, query.logic, program)
    variables = sorted_variables(form, program.predicates)
    count = math.prod(known.count(sort) for _, sort in variables)
    if count > MOST_BINDINGS:
        message = f"`{query.text}` has {count:,} bindings; {MOST_BINDINGS:,} are proved at most"
        hint = "name entities, or bind variables with `exists` or `forall`"
        raise ProgramError([Diagnostic("too-many-bindings", message, hint, query.span)])
    answered = answers(session, query, 1.0)
    inferred = {row: (answer.lower, answer.upper) for row, answer in zip(_rows(answered), answered, strict=True)}
    for row in itertools.product(*(known.members(sort) for _, sort in variables)):
        bindings = {name: entity for (name, _), entity in zip(variables, row, strict=True)}
        bound = about(form, {Free(name): entity for name, entity in bindings.items()})
        part = part_of(bound, program.predicates)
        _check_aggregates(ground, part, query.span)
        ends = (inferred.get(row) if part.total else None) or ground.known.truth(part, {})
        said = format_expression(bound_formula(query.formula, bindings)) if bindings else text
        yield row, Question(part, said, ends)


def _rows(known: Answers) -> Iterator[tuple[str, ...]]:
    """The entities of each answer, in the order of the names of the query's variables."""
    return (tuple(answer.bindings[name] for name in sorted(answer.bindings)) for answer in known)


class _DeadlineWatch:
    """A watch that continues until a ``deadline``, and as long as another ``watch`` does. It has been ``late`` if the
    deadline came first. As a limit it passes once: what comes after inference is quick. The first Ctrl-C leaves the
    bounds of inference for the ``current`` question and those after it."""

    def __init__(self, watch: Watch | None, deadline: Deadline) -> None:
        self.deadline = deadline
        self.late = self.stopped = False
        self.current: Interruption | None = None
        self._watch = watch
        self._rounds = 0

    def halted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        watches = (self.current, self._watch)
        return self.stopped or any(watch.asked for watch in watches if isinstance(watch, Interruption))

    @property
    def note(self) -> str:
        """What is to be said where it was late."""
        return f"inference took all the time and was stopped after {self._rounds:,} rounds; these are its bounds"

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed, for the first time that this is found."""
        first = not self.late and self.deadline.passed
        self.late = self.late or first
        return first

    def after_round(self, report: RoundReport, /) -> bool:
        if self._watch is not None and not self._watch.after_round(report):
            return False
        self._rounds = report.rounds
        self.late = self.late or self.deadline.passed
        return not self.late


class _Raising:
    """A watch that raises `TimedOut` once the time is over."""

    def after_round(self, _report: RoundReport, /) -> bool:
        check_time()
        return True
