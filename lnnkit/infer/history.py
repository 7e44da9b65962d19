"""The history of an inference: every bound that was set, when and by which instance. Kept only where it is asked for,
by training, which replays it.

A derivation's last setters are not enough to replay it (``semantics.md`` points 18 and 19): an instance read the bounds
of its time, those of its own target among them, and what set these may have been superseded since. So each bound has
its *events*, in order; what an instance read at its time is the last event of each bound before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lnnkit.ground.atoms import Atoms
from lnnkit.ground.batch import Batch
from lnnkit.infer.state import State

if TYPE_CHECKING:
    from lnnkit.infer.visit import Arrested

GIVEN = -1  # the batch of events that no instance brought about
ROOT = -2  # the leaf of events that an instance's upward value brought about


@dataclass(frozen=True, slots=True)
class Events:
    """One side (0 lower, 1 upper) of ``rows`` (n,) was set to ``values`` (n,) at a time, through a leaf of a batch by
    ``instances`` (n,), rows of the leaf's block. Without instances: to a constant, or, from a time ``again`` on, to what
    it was then."""

    time: int
    side: int
    rows: Tensor
    values: Tensor
    batch: int = GIVEN
    leaf: int = 0
    instances: Tensor | None = None
    again: int = -1


class History:
    """What inference sets, in order. ``scratch`` are batches that the grounding does not hold, numbered from
    -2 downward."""

    def __init__(self) -> None:
        self.time = 0
        self.events: list[Events] = []
        self.scratch: list[Batch] = []
        self.arrested: list[tuple[int, Arrested]] = []  # with the time at which they read
        self._start: State | None = None
        self._dtype = torch.float64

    def start(self, state: State) -> None:
        """The facts are in. Forgets an inference before."""
        self.time, self.events, self.scratch, self.arrested = 0, [], [], []
        self._dtype = state.dtype
        self._start = State(state.dtype)
        self._start.lower.append(state.lower.values.clone())
        self._start.upper.append(state.upper.values.clone())

    def initial(self, atoms: Atoms) -> tuple[Tensor, Tensor]:
        """The lower and the upper ends of all atom rows before the first event."""
        assert self._start is not None
        plain = State(self._dtype)
        plain.extend(atoms)
        count = len(self._start.lower)
        plain.lower.values[:count] = self._start.lower.values
        plain.upper.values[:count] = self._start.upper.values
        return plain.lower.values, plain.upper.values

    def tick(self) -> int:
        """What follows happens later than all before; returns its time."""
        self.time += 1
        return self.time

    def tell(self, side: int, rows: Tensor, values: Tensor, batch: int, leaf: int, instances: Tensor) -> None:
        """Instances have set bounds, all of them having read what stood before the last tick."""
        self.events.append(Events(self.time, side, rows, values, batch, leaf, instances))

    def give(self, rows: Tensor, state: State, sides: Sequence[int] = (0, 1)) -> None:
        """Sides of rows were set to what the state has now, whatever any instance says."""
        if len(rows):
            self.tick()
            for side in sides:
                self.events.append(Events(self.time, side, rows, state.ends(side).values.index_select(0, rows)))

    def return_to(self, side: int, rows: Tensor, values: Tensor, time: int) -> None:
        """One side of rows is again what it was at a time."""
        if len(rows):
            self.events.append(Events(self.time, side, rows, values, again=time))

    def arrest(self, found: Sequence[Arrested]) -> None:
        """Instances cannot be satisfied by what they read before the last tick."""
        self.arrested += [(self.time, each) for each in found]

    def adopt(self, batch: Batch) -> int:
        """The number of a batch that the grounding does not hold."""
        self.scratch.append(batch)
        return -1 - len(self.scratch)
