"""A question while it is decided, and the answers of inference alone, where that was given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from lnnkit.prove.decision.question import Ground, Question
from lnnkit.prove.ground.dependency_cone import Cone, TooWide
from lnnkit.prove.solving import Interrupted
from lnnkit.prove.verdict import Proved, Reading, Verdict
from lnnkit.time_limit import Deadline, TimedOut

TOLERANCE = 1e-9  # tolerance of a truth


@dataclass
class Asked:
    """A question with the ``cone`` of instances that go to the solver. Constraints are widened by ``slack`` if the
    program is unsatisfiable without it."""

    ground: Ground
    question: Question
    reading: Reading
    alpha: float
    deadline: Deadline
    cone: Cone = field(init=False)
    slack: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        self.cone = self.ground.cone(self.deadline)

    def answered(self, decide: Callable[[Asked], Proved]) -> Proved:
        """The answer by a decision; that of inference where its time runs out, or after Ctrl-C."""
        with self.ground.limited(self.deadline):
            try:
                return decide(self)
            except (TooWide, TimedOut) as problem:
                wide = self.cone.too_wide(late=self.deadline.passed)
                return self.propagated(f"{problem}; these are the bounds of inference" if str(problem) else wide)
            except Interrupted:
                note = "interrupted; these are the bounds that inference has found"
                return replace(self.propagated(note), interrupted=True)

    def propagated(self, note: str) -> Proved:
        """The answer of inference; ``note`` says why nothing tighter was proved."""
        found = propagated(self.question, self.reading, self.alpha, note)
        return replace(found, translated=len(self.cone.instances))


def unknown(text: str, reading: Reading, note: str) -> Proved:
    """The answer to a question where the time was over before inference; ``note`` says so."""
    low, high = (None, None) if reading == "classical" else (0.0, 1.0)
    return Proved(text, reading, "timeout", low, high, notes=(note,), settled=False)


def propagated(question: Question, reading: Reading, alpha: float, note: str) -> Proved:
    """The answer that the bounds of inference give; ``note`` says why nothing tighter was proved."""
    low, high = question.told
    if reading == "classical":
        verdict: Verdict = "entailed" if low >= 1 else "refuted" if high <= 0 else "timeout"
        return Proved(question.text, reading, verdict, notes=(note,), settled=False)
    verdict = verdict_at(low, high, alpha, settled=False)
    return Proved(question.text, reading, verdict, low, high, notes=(note,), settled=False)


def verdict_at(lower: float, upper: float, alpha: float, *, settled: bool) -> Verdict:
    """The verdict in the exact reading."""
    if lower >= alpha - TOLERANCE:
        return "entailed"
    if upper <= 1 - alpha + TOLERANCE:
        return "refuted"
    return "neither" if settled else "timeout"
