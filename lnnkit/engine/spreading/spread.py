"""What rounds have made that are run apart: new atoms, told alike. It is entered all at once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lnnkit.analysis.relevance import SIDES
from lnnkit.engine.encoded_bounds import Pair
from lnnkit.engine.spreading.flow import Flow
from lnnkit.engine.workspace import Workspace
from lnnkit.join.bindings import Matched
from lnnkit.store.atoms import AtomTable
from lnnkit.store.columns.arrays import Array
from lnnkit.store.few import Few
from lnnkit.trail.events import Kind


@dataclass(slots=True, eq=False)
class Head:
    """A table that grows: its new atoms are ``told`` a bound, which makes of the default the ``pair`` of the class
    ``number``. It had ``begun`` tuples and has ``length``, ``entered`` of them since before the running round. If
    ``quiet``, none of those that it had hears anything when told again."""

    table: AtomTable
    few: Few
    side: int
    told: float
    pair: Pair
    number: int
    quiet: bool
    begun: int
    entered: int
    length: int
    parts: list[list[Array]] = field(default_factory=list)  # the columns of what is new


@dataclass(frozen=True, slots=True)
class Piece:
    """``count`` atoms that a flow has made in a round, with the ``local`` rows of those that their instances read."""

    flow: Flow
    head: Head
    round: int
    count: int
    local: Mapping[Matched, Array]


def enter(pieces: list[Piece], space: Workspace, rounds: int) -> None:
    """Leave grounding, state and records as so many plain ``rounds`` would have left them that made these."""
    _enter_atoms(pieces, space)
    starts = _ends([piece.count for piece in pieces], len(space.grounding.atoms))
    instances = _store(pieces, starts, space)
    at = 0
    for _, run in itertools.groupby(pieces, key=lambda piece: id(piece.flow)):
        some = list(run)
        flow, start, first = some[0].flow, starts[at], instances[at]
        count = sum(piece.count for piece in some)
        rows, own = range(start, start + count), range(first, first + count)
        space.winners.record(flow.side, rows, flow.response.number, flow.head, own)
        at += len(some)
    trail = space.state.trail
    if trail is not None:
        before = trail.tick
        for piece, start, first in zip(pieces, starts, instances, strict=True):
            trail.tick = before + piece.round
            flow, rows = piece.flow, range(start, start + piece.count)
            own = range(first, first + piece.count)
            trail.record(Kind.SENT, flow.side, rows, flow.value, flow.response.number, flow.head, own)
        trail.tick = before + rounds


def _enter_atoms(pieces: list[Piece], space: Workspace) -> None:
    atoms, state = space.grounding.atoms, space.state
    stop = len(atoms)
    heads = {piece.head.table.number: piece.head for piece in pieces}
    for head in heads.values():
        columns = [np.concatenate(part).astype(np.int32, copy=False) for part in zip(*head.parts, strict=True)]
        head.table.tuples.enter(columns, head.length - head.begun)
    runs = [
        (heads[number], sum(piece.count for piece in run))
        for number, run in itertools.groupby(pieces, key=lambda piece: piece.head.table.number)
    ]
    for head, count in runs:
        atoms.grow(head.table, count)
    state.extend(atoms)
    space.encoded.extend()
    for head, count in runs:
        start, stop = stop, stop + count
        state.put(head.side, range(start, stop), head.told, None)  # recorded round by round above
        local = range(head.begun, head.begun + count)
        head.begun += count
        atoms.deviate_new(head.table, SIDES[head.side], start, local)
        space.encoded.tell_new(head.table.number, start, stop, head.pair)


def _store(pieces: list[Piece], starts: list[int], space: Workspace) -> list[int]:
    """Give the instances rows in their batches; returns the first of each piece's."""
    first = [0] * len(pieces)
    by_batch: dict[int, list[int]] = {}
    for place, piece in enumerate(pieces):
        by_batch.setdefault(piece.flow.response.number, []).append(place)
    for number, places in by_batch.items():
        batch = space.grounding.batches[number]
        for _, run in itertools.groupby(places, key=lambda place: id(pieces[place].flow)):
            some = list(run)
            flow = pieces[some[0]].flow
            counts = [pieces[place].count for place in some]
            columns = {
                leaf: space.grounding.atoms.tables[atom[0]].row(_joined([pieces[place].local[atom] for place in some]))
                for leaf, atom in flow.leaves.items()
            }
            columns[flow.head] = _joined([np.arange(starts[p], starts[p] + pieces[p].count) for p in some])
            start = len(batch.blocks[0])
            batch.append(0, columns, flow.response.member, -1, sum(counts))
            for place, own in zip(some, itertools.accumulate(counts, initial=start), strict=False):
                first[place] = own
    return first


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts).astype(np.int32, copy=False)


def _ends(counts: list[int], stop: int) -> list[int]:
    """Where pieces of these lengths start, the last of which ends at ``stop``."""
    return list(itertools.accumulate(counts, initial=stop - sum(counts)))[:-1]
