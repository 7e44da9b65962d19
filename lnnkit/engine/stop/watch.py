"""Watching inference: each round is reported to whoever asked, who may stop it there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from lnnkit.engine.workspace import Workspace

Stage = Literal["completion", "inference"]


@dataclass(frozen=True, slots=True)
class RoundReport:
    """How far inference has come after a round: the rounds of its ``stage`` so far (of one stratum, in completion), the
    atoms that are materialised, and the instances of formulas looked at."""

    stage: Stage
    rounds: int
    atoms: int
    instances: int


class Watch(Protocol):
    """Is told of every round, while the state is consistent."""

    def after_round(self, report: RoundReport, /) -> bool:
        """Whether to go on. Where not, inference ends as interrupted, with bounds that hold."""
        ...


def goes_on(watch: Watch | None, space: Workspace, stage: Stage, rounds: int) -> bool:
    """Report a round; without a watch, nothing is counted."""
    if watch is None:
        return True
    return watch.after_round(RoundReport(stage, rounds, len(space.grounding.atoms), space.progress.instances))
