"""The answer to a question as data: a verdict, its core, or worlds as counterexamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from lnnkit.answer_table import finite

Verdict = Literal["entailed", "refuted", "neither", "inconsistent", "timeout"]
Reading = Literal["classical", "exact"]


@dataclass(frozen=True, slots=True)
class CoreMember:
    """A fact, a statement or a declaration on which a verdict depends, with its file and its line or row."""

    text: str
    file: str
    line: int

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit prove --format json`` prints."""
        return {"text": self.text, "file": self.file, "line": self.line}

    def __str__(self) -> str:
        return f"{self.text}   {self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class ShownWorld:
    """A world that the program allows: the truths of ``atoms`` and the values of ``numbers``, by their texts. ``truth``
    is the truth of the question there."""

    truth: float
    atoms: Sequence[tuple[str, float]]
    numbers: Sequence[tuple[str, float]]

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit prove --format json`` prints."""
        return {"truth": self.truth, "atoms": dict(self.atoms), "numbers": dict(self.numbers)}


@dataclass(frozen=True)
class Decided:
    """The answer to a question, as data.

    ``lower`` and ``upper`` are the tightest bounds of the exact reading, rounded outward; None in the classical one.
    ``core`` suffices for a verdict of entailed, refuted or inconsistent; if ``minimal``, no member can be left out.
    There are at most two ``models``: in one the question is true (or as true as possible), in the other it is false.
    ``notes`` are remarks about the answer.
    """

    formula: str
    reading: Reading
    verdict: Verdict
    lower: float | None = None
    upper: float | None = None
    core: Sequence[CoreMember] = ()
    models: Sequence[ShownWorld] = ()
    notes: Sequence[str] = ()
    alpha: float = 1.0
    minimal: bool = True
    settled: bool = True  # whether both ends, or the verdict, were decided in time
    interrupted: bool = False
    translated: int = field(default=0, compare=False)  # instances of statements that went to the solver

    def __bool__(self) -> NoReturn:
        """Raises ``ValueError``: an object is true in Python, whatever the verdict says."""
        raise ValueError("a proof has no truth value: compare its verdict, as in proved.verdict == 'entailed'")

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit prove --format json`` prints for each question: the ends are null in the classical
        reading, and ``notes`` are there if there are any."""
        found: dict[str, object] = {
            "formula": self.formula,
            "reading": self.reading,
            "verdict": self.verdict,
            "lower": None if self.lower is None else finite(self.lower),
            "upper": None if self.upper is None else finite(self.upper),
            "core": [member.as_dict() for member in self.core],
            "models": [model.as_dict() for model in self.models],
        }
        return found | {"notes": list(self.notes)} if self.notes else found
