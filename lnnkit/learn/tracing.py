"""A parametrised program -> its fixpoint, with all that training needs to replay it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from lnnkit.check.program import CheckedProgram, Query
from lnnkit.data.entities import Entities
from lnnkit.graph.build import build
from lnnkit.ground.analyses import Known
from lnnkit.ground.given import given_facts
from lnnkit.ground.layout import constants
from lnnkit.infer.history import History
from lnnkit.infer.inference import Budget, Fixpoint, infer
from lnnkit.infer.watch import Watch
from lnnkit.learn.parameters import Parameter, at
from lnnkit.learn.replay import Replayer


@dataclass(frozen=True, slots=True)
class Trace:
    """A fixpoint and its history. ``entities`` number its constants."""

    fixpoint: Fixpoint
    history: History
    entities: Entities
    replayer: Replayer


def trace(
    program: CheckedProgram,
    parameters: Sequence[Parameter],
    values: Mapping[str, float],
    queries: Sequence[Query],
    *,
    budget: Budget,
    round_limit: int,
    known: Known | None = None,
    watch: Watch | None = None,
) -> Trace:
    """Infer a parametrised program at some values of its parameters, and keep the history. Raises `TooLarge`."""
    lifted = build(replace(at(program, parameters, values), queries=tuple(queries)))
    mentioned = {text for texts in constants(lifted).values() for text in texts}
    entities, index, given = given_facts(lifted.program, mentioned)
    history = History()
    fixpoint = infer(
        lifted,
        index,
        given,
        budget=budget,
        round_limit=round_limit,
        dtype=torch.float64,
        watch=watch,
        known=known,
        history=history,
    )
    return Trace(fixpoint, history, entities, Replayer(fixpoint.prepared.grounding, history))
