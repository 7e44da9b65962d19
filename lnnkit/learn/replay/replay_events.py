"""The events of a history in order, and which event last set a bound before a tick."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from lnnkit.arrays import any_set, where_set
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.learn.replay.replay_steps import CROSSING
from lnnkit.store.relations import RowNumbers
from lnnkit.trail.events import NOBODY, Events, Kind, Trail

_NONE = torch.full((1,), -1)

EventGroup = tuple[int, int, int]  # a batch, a leaf, and the side of the leaf that instances of the batch set


class EventIndex:
    """All events, numbered. ``group`` (n,) numbers the instances' batch, leaf and side, which ``groups`` lists; -1
    where no instance brought it about. A bound's *key* is twice its atom row, plus its side. The last events are the
    ``crossings`` of arrested instances, which set no bound: their keys are negative. From ``entered`` on they are those
    of `enter`."""

    def __init__(self, history: Trail, numbers: RowNumbers, twinned: Collection[int] = ()) -> None:
        """``numbers`` are those of all rows. Events of comparisons in batches ``twinned`` that set one end of a bound
        get a twin for the other end."""
        assert history.trace is not None
        found = Events(*map(torch.from_numpy, history.events(numbers)))
        count = len(found.row)
        ends = torch.cat([found.start[1:], torch.tensor([count])]) if len(found.start) else found.start
        lengths = ends - found.start
        self.groups: list[EventGroup] = []
        known: dict[EventGroup, int] = {}
        chunks = []
        for batch, leaf, side in zip(found.shape.tolist(), found.leaf.tolist(), found.side.tolist(), strict=True):
            chunks.append(-1 if batch == NOBODY else known.setdefault((batch, leaf, side), len(known)))
        keys = [found.row.long() * 2 + found.side.repeat_interleave(lengths)]
        ticks = [found.tick.repeat_interleave(lengths)]
        groups = [torch.tensor(chunks, dtype=torch.int64).repeat_interleave(lengths)]
        instances, values = [found.instance.long()], [found.value.double()]
        kinds = found.kind.repeat_interleave(lengths)
        kinds = torch.cat([kinds, *self._twins(twinned, known, keys, ticks, groups, instances, values)])
        count = sum(map(len, keys))
        for tick, each in history.trace.arrested:
            group = known.setdefault((each.shape, CROSSING, 0), len(known))
            keys.append(torch.full((len(each.rows),), -1))
            ticks.append(torch.full((len(each.rows),), tick))
            groups.append(torch.full((len(each.rows),), group))
            instances.append(torch.from_numpy(each.rows).long())
            values.append(torch.from_numpy(each.roots.lower - each.roots.upper).double())
        self.groups = list(known)
        self.key, self.tick, self.group, self.instance, self.value = (
            each[0] if len(each) == 1 else torch.cat(each) for each in (keys, ticks, groups, instances, values)
        )
        self.crossings = torch.arange(count, len(self.key))
        self.entered = len(self.key)
        self._span = history.tick + 2
        own = self.key[:count]
        self._least, most = (int(own.min()), int(own.max())) if count else (0, 0)
        self._number = torch.full((most + 1 - self._least,), -1)  # an event of each key from the least on; -1: none
        self._number[own - self._least] = torch.arange(count)
        self._once = np.count_nonzero((self._number >= 0).numpy()) == count
        self.source = self._traced(kinds)

    def __len__(self) -> int:
        return len(self.key)

    def enter(self, group: EventGroup, count: int) -> Tensor:
        """Append events that set no bound: what ``count`` instances propose about an unknown target; their numbers."""
        start = len(self.key)
        if group not in self.groups:
            self.groups.append(group)
        self.key = torch.cat([self.key, torch.full((count,), -1)])
        self.tick = torch.cat([self.tick, torch.full((count,), self._span - 1)])
        self.group = torch.cat([self.group, torch.full((count,), self.groups.index(group))])
        self.instance = torch.cat([self.instance, torch.arange(count)])
        self.value = torch.cat([self.value, torch.zeros(count, dtype=torch.float64)])
        self.__dict__.pop("by_tick", None)
        return torch.arange(start, start + count)

    @cached_property
    def by_tick(self) -> tuple[Tensor, ...]:
        """The events of each tick, ascending."""
        ticks, order = self.tick.sort(stable=True)
        return order.split(ticks.unique_consecutive(return_counts=True)[1].tolist())

    def before(self, keys: Tensor, ticks: Tensor) -> Tensor:
        """(n,) the last event that set each bound before a tick, or, restored, that first set it; -1: none.
        Read-only."""
        span, plain = len(self._number), keys.numpy()
        stop = self._least + span
        least, most = plain.min(initial=stop), plain.max(initial=-1)
        if most < self._least or least >= stop:
            return _NONE.expand(len(keys))
        places = keys - self._least
        found = self._number.index_select(0, places.clamp(0, span - 1))
        known = found >= 0
        if least < self._least or most >= stop:
            known &= (places >= 0) & (places < span)
        if not any_set(known):
            return _NONE.expand(len(keys))
        if self._once:
            event = found.clamp(min=0)
            known &= self.tick.index_select(0, event) < ticks
            return torch.where(known, self.source.index_select(0, event), -1)
        place = torch.searchsorted(self._ordered[0], keys * self._span + ticks) - 1
        event = self._order[place.clamp(min=0)]
        return torch.where((place >= 0) & (self.key[event] == keys), self.source[event], -1)

    def last(self, keys: Tensor) -> Tensor:
        """(n,) the last event of each bound."""
        return self.before(keys, torch.full_like(keys, self._span - 1))

    def previous(self, events: Tensor) -> Tensor:
        """(n,) the event of the same bound before each of ``events``; none of these may be a restoration."""
        place = self._place[events] - 1
        event = self._order[place.clamp(min=0)]
        return torch.where((place >= 0) & (self.key[event] == self.key[events]), self.source[event], -1)

    @cached_property
    def _ordered(self) -> tuple[Tensor, Tensor]:
        """The events sorted by key and tick, packed into one number, and the permutation."""
        return (self.key * self._span + self.tick).sort(stable=True)

    @property
    def _order(self) -> Tensor:
        return self._ordered[1]

    @cached_property
    def _place(self) -> Tensor:
        """(n,) the position of each event in that order."""
        place = torch.empty_like(self._order)
        place[self._order] = torch.arange(len(place))
        return place

    def _twins(
        self,
        batches: Collection[int],
        numbers: dict[EventGroup, int],
        keys: list[Tensor],
        ticks: list[Tensor],
        groups: list[Tensor],
        instances: list[Tensor],
        values: list[Tensor],
    ) -> list[Tensor]:
        """Add an event for the other end of each bound of which only one end was set; returns the kinds."""
        kinds: list[Tensor] = []
        own = [columns[0] for columns in (keys, ticks, groups, instances)]
        for (batch, leaf, side), group in list(numbers.items()):
            if batch in batches and leaf == AUXILIARY:
                mine = where_set(own[2] == group)
                lone = mine[~torch.isin(own[0][mine] ^ 1, own[0])]
                twin = numbers.setdefault((batch, leaf, 1 - side), len(numbers))
                keys.append(own[0][lone] ^ 1)
                ticks.append(own[1][lone])
                groups.append(torch.full((len(lone),), twin))
                instances.append(own[3][lone])
                values.append(torch.full((len(lone),), float(1 - side), dtype=torch.float64))
                kinds.append(torch.full((len(lone),), int(Kind.SENT)))
        return kinds

    def _traced(self, kinds: Tensor) -> Tensor:
        """For each event the one that first produced its value: what a restoration restores."""
        source = torch.arange(len(self.key))
        restored = where_set(kinds == Kind.RESTORED)
        if len(restored):
            kind = torch.cat([kinds, torch.full((len(self.crossings),), int(Kind.SENT))])
            for event in restored[self._place[restored].argsort()].tolist():
                place = int(self._place[event])
                while place >= 0 and int(kind[self._order[place]]) != Kind.RESTARTED:
                    place -= 1
                earlier = int(self._order[place - 1]) if place >= 1 else -1
                known = earlier >= 0 and int(self.key[earlier]) == int(self.key[event])
                source[event] = source[earlier] if known else -1
        return source
