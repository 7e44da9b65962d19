"""Answers a question in the classical reading, with a core or two models."""

from __future__ import annotations

from dataclasses import replace

from lnnkit.prove.decision.asked_question import Asked
from lnnkit.prove.decision.classical_decision import ClassicalDecision, ConeDecision
from lnnkit.prove.decision.minimal_core import Core, core_of
from lnnkit.prove.decision.question import Ground, Question
from lnnkit.prove.decision.shown_worlds import contrasted
from lnnkit.prove.ground.dependency_cone import TooWide
from lnnkit.prove.lazy.lazy_decision import LazyDecision
from lnnkit.prove.lazy.related_statements import Related
from lnnkit.prove.solving import Z3
from lnnkit.prove.verdict import Proved, Verdict
from lnnkit.time_limit import Deadline

_FIRST_SECONDS = 1.0  # time limit for quantifiers over unnamed individuals
_LATE = "time ran out before it was decided"
_OPEN = "it depends on arithmetic that the solver cannot be given: a unit, an unknown exponent, a power above 16"


def prove_classically(ground: Ground, question: Question, timeout: float | None) -> Proved:
    """Whether a question is true in all worlds of the classical reading, or false in all. Raises `NoSolver`."""
    return Asked(ground, question, "classical", 1.0, Deadline(timeout)).answered(_answer)


def _answer(asked: Asked) -> Proved:
    ground, question = asked.ground, asked.question
    if ground.conflict is not None:
        return Core.of_conflict(*ground.conflict()).shown_by(Proved(question.text, "classical", "inconsistent"))
    decision, verdict = _decided(asked)
    if verdict == "timeout":
        return asked.propagated(_OPEN if decision.left_open else _LATE)
    found = Proved(question.text, "classical", verdict, translated=decision.count)
    if verdict == "neither":
        return replace(found, models=contrasted(decision.models))
    encoding = decision.replayed()

    def goal() -> Z3 | bool:
        truth = encoding.truth(question.part, {})
        return encoding.negated(truth) if verdict == "entailed" else truth if verdict == "refuted" else True

    return core_of(ground, encoding, goal, decision.used, asked.deadline).shown_by(found)


def _decided(asked: Asked) -> tuple[ClassicalDecision, Verdict]:
    """Decide by the whole cone of the question if that is small, else by lazy instantiation. Quantifiers over unnamed
    individuals may keep the solver busy for ever, so the cone then gets only a share of the time."""
    ground, question, deadline = asked.ground, asked.question, asked.deadline
    related = Related(ground, question)
    asked.cone = ground.cone(deadline, ground.eager)
    try:
        decision = ConeDecision(ground, question, deadline, asked.cone)
    except TooWide:
        if not related.lazily:
            asked.cone = ground.cone(deadline)
            decision = ConeDecision(ground, question, deadline, asked.cone)
            return decision, decision.decide()
    else:
        if decision.encoding.unnamed is None or not related.lazily:
            return decision, decision.decide()
        decision.deadline = deadline.share(3).capped(_FIRST_SECONDS)
        verdict = decision.decide()
        if verdict != "timeout" or deadline.passed:
            return decision, verdict
    decision = LazyDecision(related, deadline)
    return decision, decision.decide()
