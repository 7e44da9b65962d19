"""Answers a question by its tightest bounds, with a core if it is true or false, otherwise with its extreme worlds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial

from lnnkit.prove.decision.graded_decision import SLACK, GradedDecision, outward
from lnnkit.prove.decision.minimal_core import SECONDS, Core, CoreItem, Goal, core_of, near_items
from lnnkit.prove.decision.question import TOLERANCE, Asked, Ground, Question, verdict_at
from lnnkit.prove.decision.shown_worlds import contrasted
from lnnkit.prove.encoding.graded_encoding import ZERO, GradedEncoding
from lnnkit.prove.ground.dependency_cone import TooWide
from lnnkit.prove.ground.point_arithmetic import rational
from lnnkit.prove.lazy.lazy_bounds import LazyBounds
from lnnkit.prove.solving import Z3
from lnnkit.prove.verdict import Proved
from lnnkit.time_limit import Deadline

_LEAST = Fraction(1, 10**30)  # less than any rounding of truths


def prove_exactly(ground: Ground, question: Question, alpha: float, timeout: float | None) -> Proved:
    """The tightest bounds of a question, and whether they make it true or false. Raises `NoSolver`."""
    return Asked(ground, question, "exact", alpha, Deadline(timeout)).answered(_answer)


def exact_ends(
    ground: Ground, question: Question, timeout: float | None
) -> tuple[Proved, Mapping[int, Sequence[CoreItem]]]:
    """Like `prove_exactly`, with the items from which each end (0 lower, 1 upper) follows that is tighter than the
    inferred one. Raises `NoSolver`."""
    asked = Asked(ground, question, "exact", 1.0, Deadline(timeout))
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

    return asked.answered(decide), items


def _answer(asked: Asked) -> Proved:
    ground, settled = asked.ground, _settled(asked)
    doubtful = ground.conflict is not None and (
        settled.consistent is None or settled.encoding.loose or not ground.small
    )
    if settled.consistent is False or doubtful:
        return _inconsistent(asked)
    proved, short = _bounded(asked, settled), rational(2 * TOLERANCE)
    if proved.verdict not in ("entailed", "refuted"):
        return replace(proved, models=contrasted(settled.worlds))
    end = int(proved.verdict == "refuted")
    encoding, limit = _unfolded(asked), 1 - rational(asked.alpha) + short if end else rational(asked.alpha) - short
    return _core(asked, encoding, _beyond(asked, encoding, end, limit)).shown_by(proved)


def _inconsistent(asked: Asked) -> Proved:
    conflict, question, count = asked.ground.conflict, asked.question, len(asked.cone.instances)
    core = _core(asked, _unfolded(asked), lambda: True) if conflict is None else Core.of_conflict(*conflict())
    return core.shown_by(Proved(question.text, "exact", "inconsistent", *question.inferred, translated=count))


def _core(asked: Asked, encoding: GradedEncoding, goal: Goal) -> Core:
    return core_of(asked.ground, encoding, goal, asked.cone.items, asked.deadline)


def _behind(asked: Asked, end: int, bound: Fraction) -> Sequence[CoreItem]:
    """The items from which an end follows; nothing where the time is over before they are looked for."""
    encoding, deadline, short = _unfolded(asked), Deadline(SECONDS), rational(TOLERANCE / 2)
    goal = _beyond(asked, encoding, end, bound + short if end else bound - short)
    with asked.ground.limited(deadline):
        return near_items(asked.ground, encoding, goal, asked.cone.items, deadline)


def _beyond(asked: Asked, encoding: GradedEncoding, end: int, limit: Fraction) -> Goal:
    """That the truth of the question is at most (0) or at least (1) the limit."""

    def goal() -> Z3 | bool:
        truth = encoding.truth(asked.question.part, {})
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
    """Makes decisions by the whole cone of the question if that is small, else by lazy instantiation."""
    ground, question, deadline = asked.ground, asked.question, asked.deadline
    asked.cone = ground.cone(deadline, ground.eager)
    try:
        asked.cone.grow(question.part, whole=ground.small)
    except TooWide:
        asked.cone.pause()  # not where the time is over
        asked.cone = ground.cone(deadline)
        if asked.without_completion:

            def lazily(slack: Fraction, ends: Sequence[int] = (0, 1)) -> GradedDecision:
                asked.cone = ground.cone(deadline)
                return LazyBounds(asked, slack, ends)

            return lazily
        asked.cone.grow(question.part, whole=ground.small)
    return partial(GradedDecision, asked)


def _bounded(asked: Asked, settled: GradedDecision) -> Proved:
    """The answer without its core and its worlds."""
    low, high = asked.question.inferred
    ends = [settled.ends.get(end) for end in (0, 1)]
    missing = [name for name, end in zip(("lower", "upper"), ends, strict=True) if end is None]
    which = "both bounds are" if len(missing) == 2 else f"the {''.join(missing)} bound is"
    notes = [f"not decided in time: {which} from inference alone"] if missing else []
    lower = low if ends[0] is None else max(low, outward(ends[0], 0))
    upper = high if ends[1] is None else min(high, outward(ends[1], 1))
    if lower > upper:  # crossed by rounding: the ends of inference and of the solver coincide
        lower = upper = low if lower == low else high
    verdict, count = verdict_at(lower, upper, asked.alpha, settled=not missing), len(asked.cone.instances)
    text = asked.question.text
    return Proved(text, "exact", verdict, lower, upper, notes=tuple(notes), settled=not missing, translated=count)
