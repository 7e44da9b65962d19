"""Which of all possible keys are there, a byte for each: where nobody asks for a key's number, a set is told by less
memory than a table of numbers takes."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lnnkit.flags import where_set
from lnnkit.store.few import Few, FewSeen
from lnnkit.store.sorting import first_places

# among so many possible keys, a byte for each is worthwhile once there is one for every so many
_WORTHWHILE = ((2**24, 2**10), (2**28, 2**9))
_SMALL = 2**20  # among so few, a table of numbers is as good
_SLOTS = 2**16  # to tell few keys apart


def worthwhile(size: int, length: int) -> bool:
    """Whether a set of ``length`` out of ``size`` possible keys is kept so."""
    rare = all(size > most or size > length * each for most, each in _WORTHWHILE)
    return size > _SMALL and not rare and torch.get_default_device().type == "cpu"


class Seen:
    """A growing set of keys below ``size``."""

    def __init__(self, size: int) -> None:
        self._there = torch.zeros(size, dtype=torch.uint8)  # in small pages: parts may never be written to

    def add(self, keys: Tensor) -> None:
        self._there.index_fill_(0, keys, 1)

    def few(self) -> Few:
        """Few keys at a time."""
        return FewSeen(self._there.numpy(), np.empty(_SLOTS, dtype=np.int32))

    def new(self, keys: Tensor) -> Tensor | None:
        """Add keys; returns the first places of those that were not there (None: all of them, each once)."""
        places = where_set(self._there.index_select(0, keys) == 0)
        every = places.numel() == keys.numel()
        if not every:
            keys = keys.index_select(0, places)
        first = first_places(keys, len(self._there))
        if first is not None:
            keys = keys.index_select(0, first)
            places = first if every else places.index_select(0, first)
        self.add(keys)
        return None if every and first is None else places
