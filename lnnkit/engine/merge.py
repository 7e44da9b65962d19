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
from lnnkit.trail.winners import Derivations


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
class Messages:
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
class Queue:
    """The messages of a round, for lower and for upper ends."""

    sides: tuple[list[Messages], list[Messages]] = field(default_factory=lambda: ([], []))

    def __bool__(self) -> bool:
        return any(self.sides)

    @property
    def sole_side(self) -> tuple[int, Sequence[Messages]] | None:
        """The side that all messages are for, and them."""
        lower, upper = self.sides
        if bool(lower) == bool(upper):
            return None
        return (0, lower) if lower else (1, upper)


class Meeting:
    """Lets messages meet the state, all at once, and records who set each bound."""

    def __init__(self, state: State, derivations: Derivations) -> None:
        self._state = state
        self._derivations = derivations
        self._slots = Marks(torch.int32)  # scratch, a place for each row

    def settle(self, side: int, messages: Sequence[Messages], *, rising: bool = False, both: bool = False) -> Tensor:
        """Meet the messages for one side. Returns the rows that have moved, each once. Of equal messages for a row
        the first has set it: messages come in a canonical order. Upper ends that are ``rising`` are raised. If they
        are for ``both`` ends, the other one follows."""
        if not messages:
            return no_rows()
        sides = (0, 1) if both else (side,)
        rows = self._settled(side, messages, sides, rising=rising)
        if both:
            ends = self._state.ends(side).values.index_select(0, rows)
            self._state.ends(1 - side).values.index_copy_(0, rows.long(), ends)
        return rows

    def _settled(self, side: int, messages: Sequence[Messages], sides: Sequence[int], *, rising: bool) -> Tensor:
        if _apart(messages):
            return self._settle_apart(side, messages, sides)
        row = messages[0].row if len(messages) == 1 else torch.cat([m.row for m in messages])
        value = messages[0].value if len(messages) == 1 else torch.cat([m.value for m in messages])
        ends = self._state.ends(side).values
        same = one_value(value)
        if same is not None:
            first = None if len(messages) == 1 and messages[0].distinct else self._first(row)
            ends.index_fill_(0, (row if first is None else row.index_select(0, first)).long(), same)
        else:
            ends.scatter_reduce_(0, row.long(), value, "amin" if side and not rising else "amax")
            won = where_set(value == ends.index_select(0, row))
            first = self._first(row.index_select(0, won))
            first = won if first is None else won.index_select(0, first)
        winners = row if first is None else row.index_select(0, first)
        start = 0
        for message in messages:
            stop = start + message.row.numel()
            if first is None:
                self._record(sides, message, message.row, message.instance, same)
            elif len(messages) == 1:
                self._record(sides, message, winners, message.instance.index_select(0, first), same)
            else:
                low, high = torch.searchsorted(first, torch.tensor([start, stop])).tolist()
                if high > low:
                    mine = first[low:high] - start
                    self._record(sides, message, winners[low:high], message.instance.index_select(0, mine), same)
            start = stop
        return winners

    def _settle_apart(self, side: int, messages: Sequence[Messages], sides: Sequence[int]) -> Tensor:
        """Meet messages no two of which are for one row: each is news."""
        ends = self._state.ends(side).values
        for message in messages:
            same = one_value(message.value)
            if same is None:
                ends.index_copy_(0, message.row.long(), message.value)
            else:
                ends.index_fill_(0, message.row.long(), same)
            self._record(sides, message, message.row, message.instance, same)
        return messages[0].row if len(messages) == 1 else torch.cat([message.row for message in messages])

    def settle_new(
        self, side: int, messages: Sequence[Messages], *, both: bool = False
    ) -> tuple[int, int, float] | None:
        """Meet messages that tell new atoms, each once and all the same, one side or ``both``, when there are no
        others. Returns the first of their rows, which follow one another, the one after the last, and the bound; None
        where they are not such."""
        if not all(message.distinct and message.pending is not None for message in messages):
            return None
        value = one_value(messages[0].value)
        if value is None or any(one_value(message.value) != value for message in messages[1:]):
            return None
        starts = [int(message.row[0]) for message in messages]
        stops = [start + message.row.numel() for start, message in zip(starts, messages, strict=True)]
        if starts[1:] != stops[:-1]:
            return None
        sides = (0, 1) if both else (side,)
        for each in sides:
            self._state.ends(each).values[starts[0] : stops[-1]] = value
        for start, stop, message in zip(starts, stops, messages, strict=True):
            assert message.pending is not None
            instances, run = _run(message.pending.store(message.instance)), range(start, stop)
            for each in sides:
                self._derivations.record(each, run, message.batch, message.leaf, instances)
                if self._state.history is not None:
                    self._state.history.record(Kind.SENT, each, run, value, message.batch, message.leaf, instances)
        return starts[0], stops[-1], value

    def _record(
        self, sides: Sequence[int], message: Messages, rows: Tensor, instances: Tensor, same: float | None
    ) -> None:
        """The bounds that rows have now on the last of ``sides`` are ``same``, or differ."""
        stored = instances if message.pending is None else _run(message.pending.store(instances))
        history, values = self._state.history, same
        if history is not None and values is None:
            values = self._state.ends(sides[-1]).values.index_select(0, rows)
        for side in sides:
            self._derivations.record(side, rows, message.batch, message.leaf, stored)
            if history is not None and values is not None:
                history.record(Kind.SENT, side, rows, values, message.batch, message.leaf, stored)

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


def _apart(messages: Sequence[Messages]) -> bool:
    """Whether no two of the messages are for one atom."""
    known: dict[str, Apart] = {}
    return all(
        message.apart is not None and message.apart.agrees(known.setdefault(message.apart.table, message.apart))
        for message in messages
    )
