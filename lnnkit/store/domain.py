"""The entities of a program, by sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Domain:
    """The entities of the program: ``sorts`` gives each sort's ids, ``index`` an entity's id; ``generic`` is the id
    that stands for every entity whose row is not materialised, ``stranger`` for one that an open sort may hold beside
    those named."""

    sorts: Mapping[str, Tensor]
    index: Mapping[str, int]
    generic: int
    open_sorts: frozenset[str]

    @property
    def stranger(self) -> int:
        return self.generic + 1

    def members(self, sort: str) -> Tensor:
        """(entities + 2,) which ids the sort has; the generic ones never."""
        flags = torch.zeros(self.generic + 2, dtype=torch.bool)
        flags[self.sorts[sort].long()] = True
        return flags
