"""Answers a question in either reading: by all that it depends on if that is little, else by lazy instantiation.

The answer of the classical reading has a core or two worlds; that of the exact reading has the tightest bounds, with a
core or the extreme worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial

from lnnkit.prove.decision.classical_decision import ClassicalDecision, ConeDecision, LazyDecision
from lnnkit.prove.decision.graded_decision import SLACK, GradedDecision, LazyBounds, outward
from lnnkit.prove.decision.minimal_core import SECONDS, CoreItem, Goal, core_of, near_items
from lnnkit.prove.decision.question import TOLERANCE, Asked, Ground, Question, contrasted, verdict_at
from lnnkit.prove.encoding.graded_encoding import ZERO, GradedEncoding
from lnnkit.prove.ground.dependency_cone import TooWide
from lnnkit.prove.ground.point_arithmetic import rational
from lnnkit.prove.solving import Z3
from lnnkit.prove.verdict import Proved, Verdict
from lnnkit.time_limit import Deadline

_FIRST_SECONDS = 1.0  # time limit for quantifiers over unnamed individuals
_LATE = "time ran out before it was decided"
_OPEN = "it depends on arithmetic that the solver cannot be given: a unit, an unknown exponent, a power above 16"
_LEAST = Fraction(1, 10**30)  # less than any rounding of truths

# --- the classical reading --------------------------------------------------------------------------------------------


def prove_classically(ground: Ground, question: Question, timeout: float | None) -> Proved:
    """Whether a question is true in all worlds of the classical reading, or false in all. Raises `NoSolver`."""
    return Asked(ground, question, "classical", 1.0, Deadline(timeout)).answered(_classical)


def _classical(asked: Asked) -> Proved:
    question, conflict = asked.question, asked.ground.conflict
    if conflict is not None:
        return conflict().shown_by(Proved(question.text, "classical", "inconsistent"))
    decision, verdict = _decided(asked)
    if verdict == "timeout":
        return asked.propagated(_OPEN if decision.left_open else _LATE)
    proved = Proved(question.text, "classical", verdict, translated=decision.count)
    if verdict == "neither":
        return replace(proved, models=contrasted(decision.models))

    def goal(encoding: GradedEncoding) -> Z3 | bool:
        truth = encoding.truth(question.part, {})
        return encoding.negated(truth) if verdict == "entailed" else truth if verdict == "refuted" else True

    return core_of(asked.ground, decision.encoded(folded=False), goal, decision.used, asked.deadline).shown_by(proved)


def _decided(asked: Asked) -> tuple[ClassicalDecision, Verdict]:
    """Quantifiers over unnamed individuals may keep the solver busy for ever, so where lazy instantiation applies, the
    whole cone gets only a share of the time."""
    try:
        decision = ConeDecision(asked)
    except TooWide:
        if not asked.lazily:
            asked.cone = asked.new_cone()
            decision = ConeDecision(asked)
            return decision, decision.decide()
    else:
        if decision.encoding.unnamed is None or not asked.lazily:
            return decision, decision.decide()
        decision.deadline = asked.deadline.share(3).capped(_FIRST_SECONDS)
        verdict = decision.decide()
        if verdict != "timeout" or asked.deadline.passed:
            return decision, verdict
    decision = LazyDecision(asked)
    return decision, decision.decide()


# --- the exact reading ------------------------------------------------------------------------------------------------


def prove_exactly(ground: Ground, question: Question, alpha: float, timeout: float | None) -> Proved:
    """The tightest bounds of a question, and whether they make it true or false. Raises `NoSolver`."""
    return Asked(ground, question, "exact", alpha, Deadline(timeout)).answered(_exact)


def exact_ends(
    ground: Ground, question: Question, timeout: float | None
) -> tuple[Proved, Mapping[int, Sequence[CoreItem]]]:
    """Like `prove_exactly`, with the items from which each end (0 lower, 1 upper) follows that is tighter than the
    inferred one. Raises `NoSolver`."""
    items: dict[int, Sequence[CoreItem]] = {}

    def decide(asked: Asked) -> Proved:
        settled = _settled(asked)
        if settled.consistent is False or ground.conflict is not None:
            return _inconsistent(asked)
        proved = _bounded(asked, settled)
        assert proved.lower is not None and proved.upper is not None
        for end, bound in enumerate((proved.lower, proved.upper)):
            if abs(bound - question.inferred[end]) > TOLERANCE:
                items[end] = _behind(asked, end, rational(bound))
        return proved

    return Asked(ground, question, "exact", 1.0, Deadline(timeout)).answered(decide), items


def _exact(asked: Asked) -> Proved:
    ground, settled = asked.ground, _settled(asked)
    unsure = settled.consistent is None or settled.encoding.loose or not ground.small
    if settled.consistent is False or (ground.conflict is not None and unsure):
        return _inconsistent(asked)
    proved, short = _bounded(asked, settled), rational(2 * TOLERANCE)
    if proved.verdict not in ("entailed", "refuted"):
        return replace(proved, models=contrasted(settled.worlds))
    end, alpha = int(proved.verdict == "refuted"), rational(asked.alpha)
    goal = _beyond(asked.question, end, 1 - alpha + short if end else alpha - short)
    return core_of(ground, _unfolded(asked), goal, asked.cone.items, asked.deadline).shown_by(proved)


def _inconsistent(asked: Asked) -> Proved:
    ground, question, count = asked.ground, asked.question, len(asked.cone.instances)
    if ground.conflict is None:
        core = core_of(ground, _unfolded(asked), lambda _: True, asked.cone.items, asked.deadline)
    else:
        core = ground.conflict()
    return core.shown_by(Proved(question.text, "exact", "inconsistent", *question.inferred, translated=count))


def _behind(asked: Asked, end: int, bound: Fraction) -> Sequence[CoreItem]:
    """The items from which an end follows; nothing where the time is over before they are looked for."""
    deadline, short = Deadline(SECONDS), rational(TOLERANCE / 2)
    goal = _beyond(asked.question, end, bound + short if end else bound - short)
    with asked.ground.limited(deadline):
        return near_items(asked.ground, _unfolded(asked), goal, asked.cone.items, deadline)


def _beyond(question: Question, end: int, limit: Fraction) -> Goal:
    """That the truth of the question is at most (0) or at least (1) the limit."""

    def goal(encoding: GradedEncoding) -> Z3 | bool:
        truth = encoding.truth(question.part, {})
        return encoding.at_least(truth, limit) if end else encoding.at_most(truth, limit)

    return goal


def _unfolded(asked: Asked) -> GradedEncoding:
    return GradedEncoding(asked.ground.reading, folded=False, slack=asked.slack)


def _settled(asked: Asked) -> GradedDecision:
    """The decision with its bounds. Contradictions that are due to rounding are resolved by widening constraints by a
    tolerance. Those that even `_LEAST` resolves are none of rounding: a truth function jumps there."""
    decision = _decision(asked)
    settled, cone = decision(ZERO).decide(), asked.cone
    if settled.consistent is False:
        wider = decision(SLACK).decide()
        if wider.consistent and decision(_LEAST, ()).decide().consistent:
            asked.cone = cone
            return settled
        asked.slack, settled = SLACK, wider
    if settled.broken and settled.consistent and settled.ends.get(1) is None and not asked.deadline.passed:
        with suppress(TooWide):  # in time: the lower bound stands
            upper = decision(asked.slack, (1,)).decide()
            settled.ends |= upper.ends
            settled.worlds += upper.worlds
    return settled


def _decision(asked: Asked) -> Callable[..., GradedDecision]:
    """Makes decisions, each with a slack and the ends that are wanted."""
    try:
        asked.cone.grow(asked.question.part, whole=asked.ground.small)
    except TooWide:
        asked.cone.pause()  # not where the time is over
        asked.cone = asked.new_cone()
        if asked.without_completion:
            return partial(LazyBounds, asked)
        asked.cone.grow(asked.question.part, whole=asked.ground.small)
    return partial(GradedDecision, asked)


def _bounded(asked: Asked, settled: GradedDecision) -> Proved:
    """The answer without its core and its worlds."""
    low, high = asked.question.inferred
    ends = [settled.ends.get(end) for end in (0, 1)]
    missing = [name for name, end in zip(("lower", "upper"), ends, strict=True) if end is None]
    which = "both bounds are" if len(missing) == 2 else f"the {''.join(missing)} bound is"
    notes = (f"not decided in time: {which} from inference alone",) if missing else ()
    lower = low if ends[0] is None else max(low, outward(ends[0], 0))
    upper = high if ends[1] is None else min(high, outward(ends[1], 1))
    if lower > upper:  # crossed by rounding: the ends of inference and of the solver coincide
        lower = upper = low if lower == low else high
    verdict, count = verdict_at(lower, upper, asked.alpha, settled=not missing), len(asked.cone.instances)
    text = asked.question.text
    return Proved(text, "exact", verdict, lower, upper, notes=notes, settled=not missing, translated=count)
