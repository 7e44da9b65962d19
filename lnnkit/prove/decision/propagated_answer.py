"""The answer from inference alone, for a question on which proving was given up."""

from __future__ import annotations

from lnnkit.prove.decision.question import Question
from lnnkit.prove.verdict.proved import Proved
from lnnkit.prove.verdict.verdicts import Reading, Verdict

TOLERANCE = 1e-9  # tolerance of a truth


def unknown(text: str, reading: Reading, note: str) -> Proved:
    """The answer to a question where the time was over before inference; ``note`` says so."""
    low, high = (None, None) if reading == "classical" else (0.0, 1.0)
    return Proved(text, reading, "timeout", low, high, notes=(note,), settled=False)


def propagated(question: Question, reading: Reading, alpha: float, note: str, count: int = 0) -> Proved:
    """The answer that the bounds of inference give; ``note`` says why nothing tighter was proved, ``count`` how many
    instances had been translated."""
    low, high = question.told
    if reading == "classical":
        verdict: Verdict = "entailed" if low >= 1 else "refuted" if high <= 0 else "timeout"
        return Proved(question.text, reading, verdict, notes=(note,), translated=count, settled=False)
    verdict = verdict_at(low, high, alpha, settled=False)
    return Proved(question.text, reading, verdict, low, high, notes=(note,), translated=count, settled=False)


def verdict_at(lower: float, upper: float, alpha: float, *, settled: bool) -> Verdict:
    """The verdict in the exact reading."""
    if lower >= alpha - TOLERANCE:
        return "entailed"
    if upper <= 1 - alpha + TOLERANCE:
        return "refuted"
    return "neither" if settled else "timeout"
