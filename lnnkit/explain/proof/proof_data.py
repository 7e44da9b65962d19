"""A proof as data, for every renderer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lnnkit.answer_table import TruthState, number_state, truth_state
from lnnkit.explain.proof.proof import Proof, Step
from lnnkit.syntax.diagnostic import Diagnostic

TOLERANCE = 1e-9


@dataclass(frozen=True)
class ProofData:
    """Why ``atom`` has its bounds. ``steps`` are numbered; ``lower`` and ``upper`` are the bounds. ``warnings`` are
    those about the question."""

    proof: Proof
    alpha: float = 1.0
    contested: bool = False
    numeric: bool = False
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def atom(self) -> str:
        return self.proof.atom

    @property
    def steps(self) -> Sequence[Step]:
        return self.proof.steps

    @property
    def lower(self) -> float:
        return self._ends[0]

    @property
    def upper(self) -> float:
        return self._ends[1]

    @property
    def _ends(self) -> tuple[float, float]:
        """The bounds, swapped where rounding made them cross, as answers show them."""
        lower, upper = (self.proof.steps[number].bound for number in (self.proof.lower, self.proof.upper))
        crossed = lower > upper and math.isclose(lower, upper, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        return (upper, lower) if crossed else (lower, upper)

    @property
    def state(self) -> TruthState:
        if self.numeric:
            return number_state(self.lower, self.upper)
        return truth_state(self.lower, self.upper, self.alpha)


def uses(proof: Proof) -> list[int]:
    """How often each step is used, by others or as an end."""
    found = [0] * len(proof.steps)
    for number in (proof.lower, proof.upper):
        found[number] += 1
    for step in proof.steps:
        for premise in step.premises:
            found[premise.step] += 1
    return found
