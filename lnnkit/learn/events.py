"""The events of a history in order, and what stood when: which event last set a bound before a time."""

from __future__ import annotations

import torch
from torch import Tensor

from lnnkit.infer.history import GIVEN, History
from lnnkit.learn.instances import CROSSING


class EventIndex:
    """All events, numbered. ``group`` (n,) numbers the (batch, leaf, side) that brought each about, which ``groups``
    lists; -1 where no instance did. A bound's *key* is twice its atom row, plus its side. The last events are the
    ``crossings`` of arrested instances, which set no bound: their keys are negative."""

    def __init__(self, history: History) -> None:
        self.groups: list[tuple[int, int, int]] = []
        numbers: dict[tuple[int, int, int], int] = {}
        keys, times, groups, instances, values, again = ([] for _ in range(6))
        for each in history.events:
            count = len(each.rows)
            keys.append(each.rows.long() * 2 + each.side)
            times.append(torch.full((count,), each.time))
            group = -1
            if each.batch != GIVEN:
                group = numbers.setdefault((each.batch, each.leaf, each.side), len(numbers))
            groups.append(torch.full((count,), group))
            instances.append(torch.full((count,), -1) if each.instances is None else each.instances.long())
            values.append(each.values.double())
            again.append(torch.full((count,), each.again))
        start = sum(map(len, keys))
        for time, each in history.arrested:
            count = len(each.rows)
            group = numbers.setdefault((each.batch, CROSSING, 0), len(numbers))
            keys.append(torch.full((count,), -1))
            times.append(torch.full((count,), time))
            groups.append(torch.full((count,), group))
            instances.append(each.rows.long())
            values.append((each.roots.lower - each.roots.upper).double())
            again.append(torch.full((count,), -1))
        self.crossings = torch.arange(start, sum(map(len, keys)))
        self.groups = list(numbers)
        self.key, self.time, self.group, self.instance, self._again = (
            torch.cat(column) if column else torch.zeros(0, dtype=torch.int64)
            for column in (keys, times, groups, instances, again)
        )
        self.value = torch.cat(values) if values else torch.zeros(0, dtype=torch.float64)
        self._span = history.time + 2
        self._sorted, self._order = (self.key * self._span + self.time).sort()

    def __len__(self) -> int:
        return len(self.key)

    def before(self, keys: Tensor, times: Tensor) -> Tensor:
        """(n,) the event that set each bound last before a time; -1 if none had."""
        found = self._last(keys, times)
        while len(self):  # what was set to what it had been is traced to what set that
            returned = ((found >= 0) & (self._again[found] >= 0)).nonzero().squeeze(1)
            if not len(returned):
                return found
            times = times.clone()
            times[returned] = self._again[found[returned]] + 1
            found[returned] = self._last(keys[returned], times[returned])
        return found

    def final(self, keys: Tensor) -> Tensor:
        """(n,) the event that set each bound last of all."""
        return self.before(keys, torch.full_like(keys, self._span - 1))

    def _last(self, keys: Tensor, times: Tensor) -> Tensor:
        if not len(self):
            return torch.full_like(keys, -1)
        place = torch.searchsorted(self._sorted, keys * self._span + times) - 1
        event = self._order[place.clamp(min=0)]
        return torch.where((place >= 0) & (self.key[event] == keys), event, -1)
