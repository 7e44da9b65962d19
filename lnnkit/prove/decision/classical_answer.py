"""Answers a question in the classical reading, with a core or two models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lnnkit.prove.decision.classical_decision import ClassicalDecision
from lnnkit.prove.decision.minimal_core import Core, Said, core_of
from lnnkit.prove.decision.propagated_answer import propagated
from lnnkit.prove.decision.question import Ground, Question
from lnnkit.prove.decision.shown_worlds import contrasted
from lnnkit.prove.encoding.classical_encoding import ClassicalEncoding
from lnnkit.prove.ground.dependency_cone import Cone, TooWide
from lnnkit.prove.lazy.lazy_decision import LazyDecision
from lnnkit.prove.lazy.related_statements import Related
from lnnkit.prove.solving import Interrupted
from lnnkit.prove.verdict.proved import Proved
from lnnkit.prove.verdict.verdicts import Verdict
from lnnkit.time_limit import Deadline, TimedOut

_FIRST_SECONDS = 1.0  # time limit for quantifiers over unnamed individuals
_LATE = "time ran out before it was decided"
_OPEN = "it depends on arithmetic that the solver cannot be given: a unit, an unknown exponent, a power above 16"
_CORE_SECONDS = 2.0  # time limit of the search for a core, besides a third of the remaining timeout


def prove_classically(ground: Ground, question: Question, timeout: float | None) -> Proved:
    """Whether a question is true in all worlds of the classical reading, or false in all. Raises `NoSolver`."""
    deadline = Deadline(timeout)
    with ground.limited(deadline):
        return _answered(ground, question, deadline)


def _answered(ground: Ground, question: Question, deadline: Deadline) -> Proved:
    if ground.conflict is not None:
        core = Core.of_conflict(*ground.conflict())
        return Proved(
            question.text, "classical", "inconsistent", core=core.members, minimal=core.minimal, notes=core.notes
        )
    cone = ground.cone(deadline, ground.eager)
    try:
        decision, verdict = _decided(ground, question, cone, deadline)
    except (TooWide, TimedOut) as problem:
        said = f"{problem}; these are the bounds of inference" if str(problem) else cone.too_wide
        return propagated(question, "classical", 1.0, said)
    except Interrupted:
        note = "interrupted; this is what inference has found"
        return replace(propagated(question, "classical", 1.0, note), interrupted=True)
    count = decision.count
    if verdict == "timeout":
        return propagated(question, "classical", 1.0, _OPEN if decision.left_open else _LATE, count)
    if verdict == "neither":
        models = contrasted(decision.models)
        return Proved(question.text, "classical", verdict, models=models, translated=count)
    encoding = decision.replayed()
    core = _core(ground, question, verdict, encoding, decision.used, deadline)
    return Proved(
        question.text,
        "classical",
        verdict,
        core=core.members,
        minimal=core.minimal,
        translated=count,
        notes=core.notes,
    )


def _decided(
    ground: Ground, question: Question, cone: Cone, deadline: Deadline
) -> tuple[ClassicalDecision | LazyDecision, Verdict]:
    """Decide by the whole cone of the question if that is small, else by lazy instantiation. Quantifiers over unnamed
    individuals may keep the solver busy for ever, so the cone then gets only a share of the time."""
    related = Related(ground, question)
    try:
        decision = ClassicalDecision(ground, question, deadline, cone)
    except TooWide:
        if related.lazily:
            lazy = LazyDecision(ground, question, related, deadline)
            return lazy, lazy.decide()
        decision = ClassicalDecision(ground, question, deadline, ground.cone(deadline))
    if decision.encoding.unnamed is None or not related.lazily:
        return decision, decision.decide()
    left = deadline.left
    decision.limit(Deadline(_FIRST_SECONDS if left is None else min(_FIRST_SECONDS, left / 3)))
    verdict = decision.decide()
    if verdict != "timeout" or deadline.passed:
        return decision, verdict
    lazy = LazyDecision(ground, question, related, deadline)
    return lazy, lazy.decide()


def _core(
    ground: Ground,
    question: Question,
    verdict: Verdict,
    encoding: ClassicalEncoding,
    used: Sequence[Said],
    deadline: Deadline,
) -> Core:
    try:
        truth = encoding.truth(question.part, question.bindings)
    except (TooWide, Interrupted):
        return Core((), minimal=False, whole=False)
    goals = {"entailed": [encoding.negated(truth)], "refuted": [truth]}.get(verdict, [True])
    left = deadline.left
    seconds = _CORE_SECONDS if left is None else min(_CORE_SECONDS, left)
    return core_of(ground, encoding, goals, used, Deadline(seconds))
