"""Which of all possible keys are there, a byte for each: where nobody asks for a key's number, a set is told by less
memory than a table of numbers takes."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lnnkit.flags import where_set
from lnnkit.ground.few import SPREAD, Few, FewSeen

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
        self._scratch = torch.empty(0, dtype=torch.int32)

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
        first = self._firsts(keys)
        if first is not None:
            keys = keys.index_select(0, first)
            places = first if every else places.index_select(0, first)
        self.add(keys)
        return None if every and first is None else places

    def _firsts(self, keys: Tensor) -> Tensor | None:
        """Where each key stands first; None where all differ. Each place is written to a slot that its key chooses: one
        of equal keys remains there, or one of other keys that want the slot; these choose again."""
        count = keys.numel()
        bits = max(count - 1, 1).bit_length() + 1
        if self._scratch.numel() < 1 << bits:
            self._scratch = torch.empty(1 << bits, dtype=torch.int32)
        order = torch.arange(count, dtype=torch.int32)
        spread = keys * SPREAD
        again: list[Tensor] = []  # places whose key stands elsewhere too;
        owner: list[Tensor] = []  # there
        pending, wanted = order, spread
        while pending.numel():
            slots = (wanted >> (64 - bits)).bitwise_and_((1 << bits) - 1)
            self._scratch.index_copy_(0, slots, pending)
            there = self._scratch.index_select(0, slots)
            lost = where_set(there != pending)
            if not lost.numel():
                break
            there, pending = there.index_select(0, lost), pending.index_select(0, lost)
            alike = spread.index_select(0, there) == spread.index_select(0, pending)
            again.append(pending[alike])
            owner.append(there[alike])
            other = ~alike
            pending = pending[other]
            wanted = wanted.index_select(0, lost)[other] * SPREAD
        if not sum(map(len, again)):
            return None
        later, owners = torch.cat(again), torch.cat(owner)
        leader = order.clone().scatter_reduce_(0, owners.long(), later, "amin")
        first = torch.ones(count, dtype=torch.bool)
        first.index_fill_(0, later.long(), False)
        first.index_fill_(0, owners.long(), False)
        first.index_fill_(0, leader.index_select(0, owners).long(), True)
        return where_set(first)
