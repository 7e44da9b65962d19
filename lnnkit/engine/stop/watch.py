"""Watching inference: each round is reported to a watch, which may stop it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from lnnkit.engine.workspace import Workspace

Stage = Literal["completion", "inference"]


@dataclass(frozen=True, slots=True)
class RoundReport:
    """The progress after a round: the rounds of its ``stage`` so far (of one stratum, in completion), the number of
    materialised atoms, and of evaluated instances."""

    stage: Stage
    rounds: int
    atoms: int
    instances: int


class Watch(Protocol):
    """Is called after every round, while the state is consistent."""

    def after_round(self, report: RoundReport, /) -> bool:
        """Whether to continue. If not, inference ends as interrupted, with sound bounds."""
        ...


def goes_on(watch: Watch | None, space: Workspace, stage: Stage, rounds: int) -> bool:
    """Report a round and return whether to continue; without a watch, nothing is counted."""
    if watch is None:
        return True
    return watch.after_round(RoundReport(stage, rounds, len(space.grounding.atoms), space.progress.instances))
