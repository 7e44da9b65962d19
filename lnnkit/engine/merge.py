"""What instances send in a round, and how it meets the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from lnnkit.engine.bounds_state import State, no_rows, one_value
from lnnkit.flags import all_set, where_set
from lnnkit.store.growing import Marks
from lnnkit.trail.events import Kind
from lnnkit.trail.winners import Winners


class Pending(Protocol):
    """Instances that are kept only if they set a bound."""

    def store(self, positions: Tensor) -> Tensor:
        """Give the instances at these positions rows in their batch; returns those."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Messages for atoms of a ``table``, through one ``leaf`` and of one ``origin``, are for an atom each."""

    table: str
    leaf: int
    origin: object

    def agrees(self, other: Apart) -> bool:
        """Whether no message of one kind is for the same atom as one of the other."""
        return self.table != other.table or (self.leaf == other.leaf and self.origin is other.origin)


@dataclass(frozen=True, slots=True)
class Proposals:
    """Bounds sent to atoms through ``leaf``: ``value`` (n,) for ``row`` (n,), from ``instance`` (n,): rows of the
    ``batch``'s block, or positions among what is ``pending``. ``distinct`` says that all rows are new and none stands
    twice, ``apart`` tells among which messages none does."""

    row: Tensor
    value: Tensor
    instance: Tensor
    batch: int
    leaf: int
    pending: Pending | None = None
    distinct: bool = False
    apart: Apart | None = None


@dataclass(slots=True)
class Inbox:
    """The messages of a round, for lower and for upper ends."""

    sides: tuple[list[Proposals], list[Proposals]] = field(default_factory=lambda: ([], []))

    def __bool__(self) -> bool:
        return any(self.sides)

    @property
    def sole_side(self) -> tuple[int, Sequence[Proposals]] | None:
        """The side that all messages are for, and them."""
        lower, upper = self.sides
        if bool(lower) == bool(upper):
            return None
        return (0, lower) if lower else (1, upper)


class Merge:
    """Lets messages meet the state, all at once, and records who set each bound."""

    def __init__(self, state: State, winners: Winners) -> None:
        self._state = state
        self._derivations = winners
        self._slots = Marks(torch.int32)  # scratch, a place for each row

    def settle(self, side: int, proposals: Sequence[Proposals], *, rising: bool = False, both: bool = False) -> Tensor:
        """Meet the messages for one side. Returns the rows that have moved, each once. Of equal messages for a row
        the first has set it: messages come in a canonical order. Upper ends that are ``rising`` are raised. If they
        are for ``both`` ends, the other one follows."""
        if not proposals:
            return no_rows()
        sides = (0, 1) if both else (side,)
        rows = self._settled(side, proposals, sides, rising=rising)
        if both:
            ends = self._state.ends(side).values.index_select(0, rows)
            self._state.ends(1 - side).values.index_copy_(0, rows.long(), ends)
        return rows

    def _settled(self, side: int, proposals: Sequence[Proposals], sides: Sequence[int], *, rising: bool) -> Tensor:
        if _apart(proposals):
            return self._settle_apart(side, proposals, sides)
        row = proposals[0].row if len(proposals) == 1 else torch.cat([m.row for m in proposals])
        value = proposals[0].value if len(proposals) == 1 else torch.cat([m.value for m in proposals])
        ends = self._state.ends(side).values
        same = one_value(value)
        if same is not None:
            first = None if len(proposals) == 1 and proposals[0].distinct else self._first(row)
            ends.index_fill_(0, (row if first is None else row.index_select(0, first)).long(), same)
        else:
            ends.scatter_reduce_(0, row.long(), value, "amin" if side and not rising else "amax")
            won = where_set(value == ends.index_select(0, row))
            first = self._first(row.index_select(0, won))
            first = won if first is None else won.index_select(0, first)
        winners = row if first is None else row.index_select(0, first)
        start = 0
        for proposal in proposals:
            stop = start + proposal.row.numel()
            if first is None:
                self._record(sides, proposal, proposal.row, proposal.instance, same)
            elif len(proposals) == 1:
                self._record(sides, proposal, winners, proposal.instance.index_select(0, first), same)
            else:
                low, high = torch.searchsorted(first, torch.tensor([start, stop])).tolist()
                if high > low:
                    mine = first[low:high] - start
                    self._record(sides, proposal, winners[low:high], proposal.instance.index_select(0, mine), same)
            start = stop
        return winners

    def _settle_apart(self, side: int, proposals: Sequence[Proposals], sides: Sequence[int]) -> Tensor:
        """Meet messages no two of which are for one row: each is news."""
        ends = self._state.ends(side).values
        for proposal in proposals:
            same = one_value(proposal.value)
            if same is None:
                ends.index_copy_(0, proposal.row.long(), proposal.value)
            else:
                ends.index_fill_(0, proposal.row.long(), same)
            self._record(sides, proposal, proposal.row, proposal.instance, same)
        return proposals[0].row if len(proposals) == 1 else torch.cat([proposal.row for proposal in proposals])

    def settle_new(
        self, side: int, proposals: Sequence[Proposals], *, both: bool = False
    ) -> tuple[int, int, float] | None:
        """Meet messages that tell new atoms, each once and all the same, one side or ``both``, when there are no
        others. Returns the first of their rows, which follow one another, the one after the last, and the bound; None
        where they are not such."""
        if not all(proposal.distinct and proposal.pending is not None for proposal in proposals):
            return None
        value = one_value(proposals[0].value)
        if value is None or any(one_value(proposal.value) != value for proposal in proposals[1:]):
            return None
        starts = [int(proposal.row[0]) for proposal in proposals]
        stops = [start + proposal.row.numel() for start, proposal in zip(starts, proposals, strict=True)]
        if starts[1:] != stops[:-1]:
            return None
        sides = (0, 1) if both else (side,)
        for each in sides:
            self._state.ends(each).values[starts[0] : stops[-1]] = value
        for start, stop, proposal in zip(starts, stops, proposals, strict=True):
            assert proposal.pending is not None
            instances, run = _run(proposal.pending.store(proposal.instance)), range(start, stop)
            for each in sides:
                self._derivations.record(each, run, proposal.batch, proposal.leaf, instances)
                if self._state.trail is not None:
                    self._state.trail.record(Kind.SENT, each, run, value, proposal.batch, proposal.leaf, instances)
        return starts[0], stops[-1], value

    def _record(
        self, sides: Sequence[int], proposal: Proposals, rows: Tensor, instances: Tensor, same: float | None
    ) -> None:
        """The bounds that rows have now on the last of ``sides`` are ``same``, or differ."""
        stored = instances if proposal.pending is None else _run(proposal.pending.store(instances))
        trail, values = self._state.trail, same
        if trail is not None and values is None:
            values = self._state.ends(sides[-1]).values.index_select(0, rows)
        for side in sides:
            self._derivations.record(side, rows, proposal.batch, proposal.leaf, stored)
            if trail is not None and values is not None:
                trail.record(Kind.SENT, side, rows, values, proposal.batch, proposal.leaf, stored)

    def _first(self, row: Tensor) -> Tensor | None:
        """Where each row stands first; None if none stands twice."""
        slots = self._slots.reach(len(self._state.lower))
        order = torch.arange(row.numel(), 0, -1, dtype=torch.int32)  # the first is the greatest
        index = row.long()
        slots.scatter_reduce_(0, index, order, "amax")
        first = slots.index_select(0, row) == order
        slots.index_fill_(0, index, 0)
        return None if all_set(first) else where_set(first)


def _run(stored: Tensor) -> range:
    """Rows that instances have been given in their batch: they follow one another."""
    start = int(stored[0]) if len(stored) else 0
    return range(start, start + len(stored))


def _apart(proposals: Sequence[Proposals]) -> bool:
    """Whether no two of the messages are for one atom."""
    known: dict[str, Apart] = {}
    return all(
        proposal.apart is not None and proposal.apart.agrees(known.setdefault(proposal.apart.table, proposal.apart))
        for proposal in proposals
    )
