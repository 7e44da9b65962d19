"""A look ahead: what everybody says once bounds have moved, without anything being written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.engine.bounds_state import State
from lnnkit.engine.delta import changes
from lnnkit.engine.extrapolation.acceleration import Survey, Surveyed
from lnnkit.engine.extrapolation.moving import Moving
from lnnkit.engine.merge import Inbox, Proposals
from lnnkit.engine.response.respond import respond
from lnnkit.engine.response.sweep import View, reader, send, whole
from lnnkit.engine.workspace import Workspace
from lnnkit.flags import any_set, where_set
from lnnkit.join.rule_shape import RuleShape
from lnnkit.logic.bounds import tolerance

_MORE = 1e-11


@dataclass(frozen=True, slots=True)
class _Heard:
    """Bounds ``value`` (n,) said of atoms ``row`` (n,), on one side."""

    side: int
    row: Tensor
    value: Tensor


class _Clash(Exception):
    """Somebody is arrested."""


def survey_of(space: Workspace, members: Sequence[int], moving: Moving) -> Survey:
    """A look at all instances of ``members`` that read a mover."""
    state = space.state
    read = torch.zeros(len(space.grounding.atoms), dtype=torch.bool)
    read[moving.rows] = True

    def survey(bounds: Tensor, following: Tensor) -> Surveyed:
        with moving.at(bounds):
            if any_set(_crossed(state, moving.rows, [])):
                return Surveyed(True, True)
            try:
                heard = [*_of_kept(space, members, read), *_of_visited(space, members, moving)]
            except _Clash:
                return Surveyed(True, True)
            rows = torch.cat([each.row for each in heard]) if heard else torch.empty(0, dtype=torch.int64)
            if any_set(_crossed(state, rows.unique(), heard)):
                return Surveyed(True, True)
        return Surveyed(False, any(_exceed(moving, each, following) for each in heard))

    return survey


def _of_visited(space: Workspace, members: Sequence[int], moving: Moving) -> Iterator[_Heard]:
    """What the visited instances say; an atom that is not there yet stands as its table's default row."""
    delta = changes(moving.rows.numpy(), space.grounding.atoms)
    for visits in space.visited(members).values():
        for found in visits.rule.visits(delta):
            bad, said = visits.say(found, space.grounding.atoms, space.state)
            if bad:
                raise _Clash
            yield from (
                _Heard(side, torch.from_numpy(rows).long(), torch.from_numpy(value)) for side, rows, value in said
            )


def _of_kept(space: Workspace, members: Sequence[int], read: Tensor) -> Iterator[_Heard]:
    atoms, state = space.grounding.atoms, space.state
    for number in space.grounding.kept(members):
        view = _readers(space.grounding.batches[number], read)
        if view is None:
            continue
        inbox = Inbox()
        found = respond(view.batch, reader(view, state, atoms), view.groupings)
        arrested, _ = send(number, view, found, state, atoms, inbox)
        if len(arrested):
            raise _Clash
        for side, proposals in enumerate(inbox.sides):
            yield from (_heard(side, each) for each in proposals if each.leaf not in view.batch.observed)


def _heard(side: int, proposal: Proposals) -> _Heard:
    return _Heard(side, torch.from_numpy(proposal.row).long(), torch.from_numpy(proposal.values))


def _readers(batch: RuleShape, read: Tensor) -> View | None:
    """The instances that read any of the flagged atoms; a batch with inner blocks as a whole."""
    root, *inner = batch.blocks
    if inner:
        columns = [column.tensor for block in batch.blocks for column in block.columns.values()]
        return whole(batch) if any(any_set(read.index_select(0, column)) for column in columns) else None
    hit = torch.zeros(len(root), dtype=torch.bool)
    for column in root.columns.values():
        hit |= read.index_select(0, column.tensor)
    rows = where_set(hit & ~torch.from_numpy(batch.arrested))
    return View(batch, (rows,), (None,)) if len(rows) else None


def _crossed(state: State, rows: Tensor, heard: Sequence[_Heard]) -> Tensor:
    """Which of the distinct sorted ``rows`` cross once what is heard has met; default rows never do."""
    low, high = state.view(rows)
    for each in heard:
        end, how = (low, "amax") if each.side == 0 else (high, "amin")
        end.scatter_reduce_(0, torch.searchsorted(rows, each.row), each.value, how)
    return (low > high + tolerance(state.dtype)) & ~torch.from_numpy(state.frozen).index_select(0, rows)


def _exceed(moving: Moving, heard: _Heard, following: Tensor) -> bool:
    """Whether a message goes beyond what the movers were to become, or to one that does not move."""
    place = moving.find(heard.row, heard.side)
    known = following.index_select(0, place.clamp(min=0))
    beyond = (heard.value - known) if heard.side == 0 else (known - heard.value)
    return any_set((place < 0) | (beyond > _MORE))
