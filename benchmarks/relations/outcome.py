"""What a task found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """``figure`` is what was measured, ``other`` what it is held against; ``reached`` says whether it does better, as
    far as was asked for. ``seconds`` are CPU seconds. ``program`` is the program that was learned."""

    task: str
    setting: str
    measure: str
    figure: float
    other: float
    against: str
    reached: bool
    seconds: float
    program: str = ""
