"""A look ahead: what everybody says once bounds have moved, without anything being written."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.ground.batch import Batch
from lnnkit.ground.grounding import Grounding
from lnnkit.infer.acceleration import Survey, Surveyed
from lnnkit.infer.classes import Classes
from lnnkit.infer.moving import Moving
from lnnkit.infer.state import Messages, State
from lnnkit.infer.sweep import View, sweep, whole
from lnnkit.logic.bounds import tolerance

_MORE = 1e-11


def survey_of(grounding: Grounding, state: State, batches: Sequence[int], moving: Moving) -> Survey:
    """A look at all instances in ``batches`` that read a mover."""
    plain = Classes(State())
    plain.useful = False
    read = torch.zeros(len(grounding.atoms), dtype=torch.bool)
    read[moving.rows] = True
    views = [(number, view) for number in batches if (view := _readers(grounding.batches[number], read)) is not None]

    def survey(bounds: Tensor, following: Tensor) -> Surveyed:
        with moving.at(bounds):
            if bool(_crossed(state, moving.rows, [], []).any()):
                return Surveyed(True, True)
            lower: list[Messages] = []
            upper: list[Messages] = []
            for number, view in views:
                swept = sweep(number, view, state, grounding.atoms, plain)
                if len(swept.arrested):
                    return Surveyed(True, True)
                lower += [m for m in swept.lower if m.leaf not in view.batch.observed]
                upper += [m for m in swept.upper if m.leaf not in view.batch.observed]
            rows = torch.cat([m.row for m in (*lower, *upper)]) if lower or upper else torch.empty(0, dtype=torch.int64)
            if bool(_crossed(state, rows.unique(), lower, upper).any()):
                return Surveyed(True, True)
        return Surveyed(
            False,
            any(_exceed(moving, each, following, 0) for each in lower)
            or any(_exceed(moving, each, following, 1) for each in upper),
        )

    return survey


def _readers(batch: Batch, read: Tensor) -> View | None:
    """The instances that read any of the flagged atoms; a batch with inner blocks as a whole."""
    root, *inner = batch.blocks
    if inner:
        columns = [column.values for block in batch.blocks for column in block.columns.values()]
        return whole(batch) if any(bool(read.index_select(0, column).any()) for column in columns) else None
    hit = torch.zeros(len(root), dtype=torch.bool)
    for column in root.columns.values():
        hit |= read.index_select(0, column.values)
    rows = (hit & ~batch.arrested.values).nonzero().squeeze(1)
    return View(batch, (rows,), (None,)) if len(rows) else None


def _crossed(state: State, rows: Tensor, lower: Sequence[Messages], upper: Sequence[Messages]) -> Tensor:
    """Which of the distinct sorted ``rows`` cross once the messages have met."""
    low, high = state.read(rows)
    for sent, end, how in ((lower, low, "amax"), (upper, high, "amin")):
        for message in sent:
            end.scatter_reduce_(0, torch.searchsorted(rows, message.row), message.value, how)
    return low > high + tolerance(state.dtype)


def _exceed(moving: Moving, message: Messages, following: Tensor, side: int) -> bool:
    """Whether a message goes beyond what the movers were to become, or to one that does not move."""
    place = moving.find(message.row, side)
    known = following.index_select(0, place.clamp(min=0))
    beyond = (message.value - known) if side == 0 else (known - message.value)
    return bool(((place < 0) | (beyond > _MORE)).any())
