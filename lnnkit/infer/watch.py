"""Watching inference: each round is reported to whoever asked, who may stop it there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from lnnkit.ground.grounding import Grounding

Stage = Literal["completion", "inference"]


@dataclass(frozen=True, slots=True)
class RoundReport:
    """How far inference has come after a round: the rounds of its ``stage`` so far (of one stratum, in completion), the
    atoms that are materialised, and the rows that stand for instances of formulas."""

    stage: Stage
    rounds: int
    atoms: int
    instances: int


class Watch(Protocol):
    """Is told of every round, while the state is consistent."""

    def after_round(self, report: RoundReport, /) -> bool:
        """Whether to go on. Where not, inference ends as interrupted, with bounds that hold."""
        ...


def goes_on(watch: Watch | None, grounding: Grounding, stage: Stage, rounds: int) -> bool:
    """Report a round; without a watch, nothing is counted."""
    if watch is None:
        return True
    instances = sum(len(batch.blocks[0]) for batch in grounding.batches)
    return watch.after_round(RoundReport(stage, rounds, len(grounding.atoms), instances))
