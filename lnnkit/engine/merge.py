"""The proposals of a round and their merge, the only place where rounds write bounds; and the delta: the bounds that
changed, entered into the lists and indexes that the next round reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from lnnkit.analysis.relevance import SIDES
from lnnkit.engine.bounds_state import State, distinct, no_rows
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.join.triggers import Delta
from lnnkit.store.relations import Relation, Relations
from lnnkit.store.row_arrays import Array, Growing, one_value, spelled_out, wide
from lnnkit.trail.events import Arrested, Kind


class Pending(Protocol):
    """Instances that are stored only if a proposal of theirs wins."""

    def store(self, positions: Array | range) -> Array | range:
        """Give the instances at these positions rows in their shape; returns those."""
        ...


@dataclass(slots=True, eq=False)
class Proposals:
    """Bounds that instances propose for one end of the atoms behind ``leaf``: ``value`` (n,), or one for all, for
    ``rows`` (n,) of one relation. ``instances`` (n,) are rows of the block of rule shape number ``shape``, or positions
    among what is ``pending``. ``distinct``: all atoms are new, and none occurs twice."""

    rows: Array | range
    value: Array | float
    instances: Array | range
    shape: int
    leaf: int
    pending: Pending | None = None
    distinct: bool = False

    @property
    def row(self) -> Array:
        """(n,) the atom rows."""
        return spelled_out(self.rows)

    @property
    def instance(self) -> Array:
        """(n,) the instances."""
        return spelled_out(self.instances)

    @property
    def same(self) -> float | None:
        """The one bound that is proposed for all; None where they differ."""
        return one_value(self.value) if isinstance(self.value, np.ndarray) else self.value

    @property
    def values(self) -> Array:
        """(n,) the bounds."""
        return self.value if isinstance(self.value, np.ndarray) else np.full(len(self.rows), self.value)


class Inbox:
    """The proposals of a round, for lower and for upper ends of each relation."""

    __slots__ = ("_proposals",)

    def __init__(self) -> None:
        self._proposals: dict[Relation, tuple[list[Proposals], list[Proposals]]] = {}

    def __len__(self) -> int:
        return sum(len(sent.rows) for sides in self._proposals.values() for end in sides for sent in end)

    def add(self, table: Relation, side: int, proposals: Proposals) -> None:
        """Add proposals for one end of a relation."""
        sides = self._proposals.get(table)
        if sides is None:
            sides = self._proposals[table] = ([], [])
        sides[side].append(proposals)

    def by_relation(self) -> Iterator[tuple[Relation, tuple[list[Proposals], list[Proposals]]]]:
        """The proposals of each relation, in the order of their numbers."""
        yield from sorted(self._proposals.items(), key=lambda item: item[0].number)


class Merge:
    """Inserts or tightens: the greatest lower and the least upper end that is proposed. The winner of each bound goes
    to the trail."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._slots = Growing(np.int32)  # scratch, a place for each row

    def settle(
        self, table: Relation, side: int, proposals: Sequence[Proposals], *, rising: bool = False, both: bool = False
    ) -> Array:
        """Merge the proposals for one side of a relation. Returns the rows that have moved, each once. Of equal
        proposals for a row the first wins: they come in a canonical order. In a completion upper ends are ``rising``:
        the greatest wins, for both ends of a derived number the best candidate. Proposals for ``both`` ends set the
        other one too."""
        if not proposals:
            return no_rows()
        sides = (0, 1) if both else (side,)
        rows = self._settled(table, side, proposals, sides, rising=rising)
        if both:
            table.writable(1 - side)[rows] = table.take(side, rows)
        return rows

    def _settled(
        self, table: Relation, side: int, proposals: Sequence[Proposals], sides: Sequence[int], *, rising: bool
    ) -> Array:
        """Merge all proposals for one side of a table, and record which instance won each row; returns the rows."""
        row = proposals[0].row if len(proposals) == 1 else np.concatenate([m.row for m in proposals])
        ends = table.writable(side)
        same = _same(proposals)
        if same is not None:
            first = None if len(proposals) == 1 and proposals[0].distinct else self._first(table, row)
            ends[wide(row if first is None else row.take(first))] = same
        else:
            value = proposals[0].values if len(proposals) == 1 else np.concatenate([m.values for m in proposals])
            value = value.astype(ends.dtype, copy=False)
            meet = np.minimum if (table.derived == "min" if rising else side) else np.maximum
            meet.at(ends, wide(row), value)
            won = np.flatnonzero(value == ends.take(row))
            first = self._first(table, row.take(won))
            first = won if first is None else won.take(first)
        winners = row if first is None else row.take(first)
        start = 0
        for proposal in proposals:
            stop = start + len(proposal.rows)
            if first is None:
                self._record(table, sides, proposal, proposal.row, proposal.instance, same)
            elif len(proposals) == 1:
                self._record(table, sides, proposal, winners, proposal.instance.take(first), same)
            else:
                low, high = first.searchsorted((start, stop)).tolist()
                if high > low:
                    at = first[low:high] - start
                    self._record(table, sides, proposal, winners[low:high], proposal.instance.take(at), same)
            start = stop
        return winners

    def settle_new(
        self, table: Relation, side: int, proposals: Sequence[Proposals], *, both: bool = False
    ) -> tuple[range, float] | None:
        """Merge proposals for new atoms that all propose the same bound for one side or for ``both``, each atom once.
        Returns the rows of these atoms, which are consecutive, and the bound; None if the proposals are not of this
        kind. The atoms may have no bounds yet."""
        value, start = _same(proposals), int(proposals[0].rows[0])
        if value is None:
            return None
        stop = start
        for proposal in proposals:
            if not proposal.distinct or proposal.pending is None or proposal.rows[0] != stop:
                return None
            stop += len(proposal.rows)
        sides = (0, 1) if both else (side,)
        for end in sides:
            table.fill(end, range(start, stop), value)
        first = start
        for proposal in proposals:
            assert proposal.pending is not None
            run = range(first, first + len(proposal.rows))
            first = run.stop
            setter = proposal.shape, proposal.leaf, proposal.pending.store(proposal.instances)
            for end in sides:
                self._state.trail.record(Kind.SENT, table.number, end, run, value, *setter)
        return range(start, stop), value

    def _record(
        self,
        table: Relation,
        sides: Sequence[int],
        proposal: Proposals,
        rows: Array,
        instances: Array,
        same: float | None,
    ) -> None:
        """Record the setters of the bounds that ``rows`` have now on ``sides``. The bounds are ``same``, or those on
        the last of ``sides``."""
        stored = instances if proposal.pending is None else proposal.pending.store(instances)
        values = table.take(sides[-1], rows) if same is None else same
        for side in sides:
            record = self._state.trail.record
            record(Kind.SENT, table.number, side, rows, values, proposal.shape, proposal.leaf, stored)

    def _first(self, table: Relation, row: Array) -> Array | None:
        """The positions at which each row first occurs; None if no row occurs twice."""
        slots = self._slots.reach(len(table))
        order = np.arange(len(row), dtype=np.int32)
        slots[wide(row[::-1])] = order[::-1]  # of equal rows the first is written last
        first = slots.take(row) == order
        return None if first.all() else np.flatnonzero(first)


def _same(proposals: Sequence[Proposals]) -> float | None:
    """The one bound that all propose; None where they differ."""
    same = proposals[0].same
    if len(proposals) == 1 or same is None:
        return same
    return same if all(proposal.same == same for proposal in proposals[1:]) else None


MOST = 250
_TRACED = 100  # after this many moves of some end, the round of each end's last move is recorded
_LIMIT = 2**15 - 2


class Drift:
    """Counts how often the ends of numbers moved. ``x = y + 1`` and ``x = y`` raise both by one, round after round: an
    end that has moved `MOST` times is left as it is, sound though maybe loose. A long chain without a cycle is not cut
    short: in each of its rounds some end comes to rest, which allows every end one more move; so does a round in which
    a truth moves, since a number may be a count."""

    def __init__(self) -> None:
        # By relation, for each row's lower and upper end
        self._moves: tuple[dict[Relation, Growing], dict[Relation, Growing]] = ({}, {})
        # The round in which each moved last, once that is noted
        self._last: tuple[dict[Relation, Growing], dict[Relation, Growing]] = ({}, {})
        self._often = [0, 0]  # the greatest number of moves of an end
        self._round = 0
        self._truths = 0  # the rounds in which a truth moved
        self.met = False  # whether a proposal for such an end was suppressed
        self.lost: list[tuple[Relation, int, Array]] = []  # rows whose completed ends were given up

    def hold(self, inbox: Inbox) -> None:
        """Remove the proposals for ends that moved too often from a round's inbox."""
        self._round += 1
        self._truths += any(not table.numeric for table, _ in inbox.by_relation())
        for side, often in enumerate(self._often):
            if often >= MOST:
                most = min(MOST + self._resting(side) + self._truths, _LIMIT)
                for table, sides in inbox.by_relation():
                    if table.numeric:
                        sides[side][:] = [kept for sent in sides[side] for kept in self._kept(table, side, sent, most)]

    def note(self, table: Relation, side: int, rows: Array) -> None:
        """Record that the ends of these rows moved."""
        if not table.numeric or not len(rows):
            return
        moves = self._moves[side].setdefault(table, Growing(np.int16)).reach(len(table))
        count = moves.take(rows) + 1
        moves[rows] = count
        self._often[side] = max(self._often[side], int(count.max()))
        if self._often[side] >= _TRACED:
            self._last[side].setdefault(table, Growing(np.int32)).reach(len(table))[rows] = self._round

    def drifting(self) -> list[tuple[Relation, int, Array]]:
        """The rows that were left as they are, and those that raise them, by relation and side."""
        moved = [(side, *item) for side, moves in enumerate(self._moves) for item in moves.items()]
        return self.lost + [(table, side, np.flatnonzero(counts.values >= MOST - 1)) for side, table, counts in moved]

    def _resting(self, side: int) -> int:
        """The number of rounds so far in which an end moved for the last time, except the previous round."""
        last = np.concatenate([np.zeros(1, np.int32), *(column.values for column in self._last[side].values())])
        rounds = np.bincount(last[last < self._round - 1])
        return int((rounds[1:] > 0).sum())

    def _kept(self, table: Relation, side: int, proposal: Proposals, most: int) -> list[Proposals]:
        rows = proposal.row
        moves = self._moves[side].setdefault(table, Growing(np.int16))
        keep = moves.reach(len(table)).take(rows) < most
        if keep.all():
            return [proposal]
        self.met = True
        if not keep.any():
            return []
        rows, value, instances = rows[keep], proposal.values[keep], proposal.instance[keep]
        return [replace(proposal, rows=rows, value=value, instances=instances)]


Rows = Mapping[Relation, Array | range]


def note(
    delta: Delta,
    table: Relation,
    raised: Array,
    lowered: Array,
    state: State,
    encoded: EncodedBounds,
    *,
    rising: bool = False,
) -> Array:
    """Arrest rows among those raised or lowered whose bounds crossed, and enter all of them into the lists of deviating
    rows, the others into the delta: from atoms that read as unknown nothing new follows. Returns the arrested rows. In
    a completion both ends are ``rising``: until it is done they may cross."""
    changed = distinct([raised, lowered]) if len(raised) and len(lowered) else raised if len(raised) else lowered
    if not len(changed):
        return no_rows()
    bounds = table.read(changed)
    crossed = no_rows() if rising else state.arrest(table, changed, bounds)
    if len(crossed):
        bounds = table.read(changed)
        raised, lowered = (rows[~table.held(rows)] for rows in (raised, lowered))
    table.deviate(changed, *bounds)
    encoded.update(table, changed, *bounds)
    for side, rows in enumerate((raised, lowered)):
        if len(rows):
            delta.add(table, side, rows)
    return crossed


def note_new(
    delta: Delta, table: Relation, rows: range, sides: tuple[int, ...], value: float, encoded: EncodedBounds, eps: float
) -> bool:
    """As ``note``, for new atoms that now have the bound ``value`` on one side or on both; moves are those of the last
    of ``sides``. False, with nothing done, where they cross."""
    low, high = (value if side in sides else end for side, end in enumerate(table.default))
    if low > high + eps:
        return False
    for side in sides:
        table.enlist_new(SIDES[side], rows)
    delta.add(table, sides[-1], rows, encoded.classify_new(table, rows, (low, high)))
    return True


def changes(moved: Rows) -> Delta:
    """Rows that have moved on both sides."""
    delta = Delta()
    for table, rows in moved.items():
        for side in (0, 1) if len(rows) else ():
            delta.add(table, side, rows)
    return delta


class Round:
    """What the members of a round share: the state that all read, the ``delta`` of the last round, and the proposals
    for its end. ``made`` has, by table, the side and the bound that new atoms receive at least."""

    __slots__ = ("arrested", "atoms", "delta", "encoded", "inbox", "instances", "made", "state")

    def __init__(self, atoms: Relations, state: State, encoded: EncodedBounds, delta: Delta | None = None) -> None:
        self.atoms = atoms
        self.state = state
        self.encoded = encoded
        self.delta = delta
        self.inbox = Inbox()
        self.arrested: list[Arrested] = []
        self.instances = 0
        self.made: dict[int, tuple[tuple[int, float], int]] = {}
