"""Answers a question by its tightest bounds, with a core if it is true or false, otherwise with its extreme worlds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from lnnkit.prove.decision.graded_decision import SLACK, Found, GradedDecision, outward
from lnnkit.prove.decision.minimal_core import Core, Item, core_of, near_items
from lnnkit.prove.decision.propagated_answer import TOLERANCE, propagated, verdict_at
from lnnkit.prove.decision.question import Ground, Question
from lnnkit.prove.decision.shown_worlds import contrasted
from lnnkit.prove.encoding.arithmetic_encoding import ArithmeticEncoding
from lnnkit.prove.encoding.graded_encoding import ZERO, GradedEncoding
from lnnkit.prove.ground.dependency_cone import Cone, TooWide
from lnnkit.prove.ground.point_arithmetic import rational
from lnnkit.prove.lazy.lazy_bounds import LazyBounds
from lnnkit.prove.lazy.related_statements import Related
from lnnkit.prove.solving import Z3, Interrupted, solver_module
from lnnkit.prove.verdict.proved import Proved
from lnnkit.prove.verdict.verdicts import Verdict
from lnnkit.time_limit import Deadline, TimedOut

_CORE_SECONDS = 2.0  # time limit of the search for a core


@dataclass
class _Asked:
    """A question with its cone. Constraints are widened by ``slack`` if the program is unsatisfiable without it."""

    ground: Ground
    question: Question
    alpha: float
    deadline: Deadline
    cone: Cone
    slack: Fraction = ZERO


def prove_exactly(ground: Ground, question: Question, alpha: float, timeout: float | None) -> Proved:
    """The tightest bounds of a question, and whether they make it true or false. Raises `NoSolver`."""
    deadline = Deadline(timeout)
    with ground.limited(deadline):
        return _answered(_Asked(ground, question, alpha, deadline, ground.cone(deadline)))


def _answered(asked: _Asked) -> Proved:
    ground = asked.ground
    try:
        found = _found(asked)
    except (TooWide, TimedOut):
        return _propagated(asked, asked.cone.too_wide)
    except Interrupted:
        note = "interrupted; these are the bounds that inference has found"
        return replace(_propagated(asked, note), interrupted=True)
    doubtful = ground.conflict is not None and (found.consistent is None or found.loose or not ground.small)
    if found.consistent is False or doubtful:
        return _inconsistent(asked)
    return _told(asked, found)


@dataclass(frozen=True)
class ExactEnds:
    """An answer, and for each end (0 lower, 1 upper) that is tighter than the inferred one the items from which it
    follows."""

    proved: Proved
    items: Mapping[int, Sequence[Item]]


def exact_ends(ground: Ground, question: Question, timeout: float | None) -> ExactEnds:
    """Like `prove_exactly`, with the items from which each end follows. Raises `NoSolver`."""
    deadline = Deadline(timeout)
    with ground.limited(deadline):
        return _ends(_Asked(ground, question, 1.0, deadline, ground.cone(deadline)))


def _ends(asked: _Asked) -> ExactEnds:
    ground, question = asked.ground, asked.question
    try:
        found = _found(asked)
    except (TooWide, TimedOut, Interrupted) as problem:
        note = "interrupted" if isinstance(problem, Interrupted) else asked.cone.too_wide
        return ExactEnds(_propagated(asked, note), {})
    if found.consistent is False or ground.conflict is not None:
        return ExactEnds(_inconsistent(asked), {})
    proved = _bounded(asked, found)
    assert proved.lower is not None and proved.upper is not None
    tighter = proved.lower - question.told[0], question.told[1] - proved.upper
    bounds = proved.lower, proved.upper
    return ExactEnds(proved, {end: _behind(asked, end, bounds[end]) for end in (0, 1) if tighter[end] > TOLERANCE})


def _behind(asked: _Asked, end: int, bound: float) -> Sequence[Item]:
    """The core of an end; nothing where the time is over before it is looked for."""
    encoding, deadline = _unfolded(asked), Deadline(_CORE_SECONDS)
    used = [*asked.cone.instances, *asked.cone.definitions.values()]
    short = rational(TOLERANCE / 2)
    with asked.ground.limited(deadline), suppress(TooWide, Interrupted):
        truth = encoding.truth(asked.question.part, asked.question.bindings)
        if end == 0:
            goal = encoding.at_most(truth, rational(bound) - short)
        else:
            goal = encoding.at_most(rational(bound) + short, truth)
        return near_items(asked.ground, encoding, goal, used, deadline)
    return ()


def _found(asked: _Asked) -> Found:
    """The bounds. Contradictions that are due to rounding are resolved by widening constraints by a tolerance."""
    decide = _decision(asked)
    found = decide(ZERO).bounds()
    if found.consistent is False:
        asked.slack = SLACK
        found = decide(SLACK).bounds()
    if found.broken and found.consistent and found.upper is None and not asked.deadline.passed:
        with suppress(TooWide):  # in time: the lower bound stands
            upper = decide(asked.slack, (1,)).bounds()
            found.upper = upper.upper
            found.worlds += upper.worlds
    return found


def _decision(asked: _Asked) -> Callable[..., GradedDecision]:
    """Makes decisions by the whole cone of the question if that is small, else by lazy instantiation."""
    ground, question, deadline = asked.ground, asked.question, asked.deadline
    related = Related(ground, question)
    asked.cone = ground.cone(deadline, ground.eager)
    try:
        near = _grown(asked)
    except TooWide:
        asked.cone.pause()  # not where the time is over
        if related.without_completion:

            def lazily(slack: Fraction, ends: Sequence[int] = (0, 1)) -> GradedDecision:
                asked.cone = ground.cone(deadline)
                return LazyBounds(ground, question, related, deadline, asked.cone, slack, ends)

            return lazily
        asked.cone = ground.cone(deadline)
        near = _grown(asked)
    return partial(GradedDecision, ground, question, deadline, asked.cone, near)


def _grown(asked: _Asked) -> int:
    """Grow the cone; returns how many atoms are near the question."""
    question, cone = asked.question, asked.cone
    cone.grow(question.part, question.bindings)
    near = len(cone.atoms)
    if asked.ground.small:
        cone.grow_whole()
    return near


def _told(asked: _Asked, found: Found) -> Proved:
    answer = _bounded(asked, found)
    if answer.verdict not in ("entailed", "refuted"):
        return replace(answer, models=contrasted(found.worlds))
    return _with_core(answer, _core(asked, answer.verdict))


def _bounded(asked: _Asked, found: Found) -> Proved:
    """The answer without its core and its worlds."""
    low, high = asked.question.told
    notes: list[str] = []
    ends = {"lower": found.lower, "upper": found.upper}
    missing = [name for name, end in ends.items() if end is None]
    if missing:
        which = f"the {missing[0]} bound is" if len(missing) == 1 else "both bounds are"
        notes.append(f"not decided in time: {which} from inference alone")
    lower = low if found.lower is None else max(low, outward(found.lower, 0))
    upper = high if found.upper is None else min(high, outward(found.upper, 1))
    if lower > upper:  # crossed by rounding: the ends of inference and of the solver coincide
        lower = upper = low if lower == low else high
    verdict = verdict_at(lower, upper, asked.alpha, settled=not missing)
    return replace(_answer(asked, verdict, lower, upper, notes), settled=not missing)


def _answer(asked: _Asked, verdict: Verdict, lower: float, upper: float, notes: list[str]) -> Proved:
    count = len(asked.cone.instances)
    return Proved(asked.question.text, "exact", verdict, lower, upper, notes=tuple(notes), translated=count)


def _with_core(answer: Proved, core: Core) -> Proved:
    return replace(answer, core=core.members, minimal=core.minimal, notes=(*answer.notes, *core.notes))


def _propagated(asked: _Asked, note: str) -> Proved:
    """The answer of inference alone."""
    return propagated(asked.question, "exact", asked.alpha, note, len(asked.cone.instances))


def _inconsistent(asked: _Asked) -> Proved:
    conflict = asked.ground.conflict
    core = _core(asked, "inconsistent") if conflict is None else Core.of_conflict(*conflict())
    return _with_core(_answer(asked, "inconsistent", *asked.question.told, []), core)


def _core(asked: _Asked, verdict: Verdict) -> Core:
    ground, question, encoding = asked.ground, asked.question, _unfolded(asked)
    goal: bool | Z3 = True
    if verdict != "inconsistent":
        try:
            truth = encoding.truth(question.part, question.bindings)
        except (TooWide, Interrupted):
            return Core((), minimal=False, whole=False)
        short = rational(2 * TOLERANCE)
        if verdict == "entailed":
            goal = encoding.at_most(truth, rational(asked.alpha) - short)
        else:
            goal = encoding.at_most(1 - rational(asked.alpha) + short, truth)
    left = asked.deadline.left
    seconds = _CORE_SECONDS if left is None else min(_CORE_SECONDS, left)
    used = [*asked.cone.instances, *asked.cone.definitions.values()]
    return core_of(ground, encoding, [goal], used, Deadline(seconds))


def _unfolded(asked: _Asked) -> GradedEncoding:
    z3, known = solver_module(), asked.ground.known
    context = z3.Context()
    arithmetic = ArithmeticEncoding(z3, context, known, frozenset(), folded=False)
    return GradedEncoding(z3, context, asked.ground.reading, arithmetic, folded=False, slack=asked.slack)
