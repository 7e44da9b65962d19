"""The bounds that still move and the instances that set them last, as one map that can be evaluated apart.

Bounds are told as *coordinates* ``t`` that only grow: ``x`` itself where a bound rises, ``-x`` where it falls, and
``log x`` in place of ``x`` where a product rule sets it, since there rules multiply.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.engine.bounds_state import State
from lnnkit.engine.response.leaf_response import Leaves, completed, told
from lnnkit.engine.response.sweep import View, whole
from lnnkit.flags import where_set
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.join.grounding import Grounding
from lnnkit.trail.events import Kind

_MOST_BACKWARD = 256  # winners under quantifiers are differentiated one by one


@dataclass(frozen=True, slots=True)
class Setters:
    """Instances of one batch that set one side (0 lower, 1 upper) of the atoms behind one leaf: ``movers`` (n,)
    numbers the bounds, ``instances`` (n,) the rows of the leaf's block."""

    side: int
    batch: int
    leaf: int
    movers: Tensor
    instances: Tensor


@dataclass(frozen=True, slots=True)
class Slopes:
    """The derivatives of what the setters send: ``value`` (n,) of bound ``target`` (n,) after bound ``source`` (n,)."""

    target: Tensor
    source: Tensor
    value: Tensor


class Moving:
    """The map from the movers' bounds to what their last setters send next, all else as it stands."""

    def __init__(
        self,
        grounding: Grounding,
        state: State,
        rows: Tensor,
        sides: Tensor,
        setters: list[Setters],
        *,
        completes: bool,
    ) -> None:
        """``rows`` and ``sides`` (n,) are in a canonical order. While predicates are completed, both ends rise."""
        self.rows = rows
        self.sides = sides
        self.setters = setters
        self._grounding = grounding
        self._state = state
        self._say = completed if completes else told
        self._ends = [where_set(sides == side) for side in (0, 1)]
        self._sign = torch.ones(len(rows), dtype=state.dtype) if completes else 1.0 - 2.0 * sides.to(state.dtype)
        self._logs = torch.zeros(len(rows), dtype=torch.bool)
        for each in setters:
            self._logs[each.movers] = _multiplies(grounding.batches[each.batch].formula)
        nodes = 2 * rows + sides
        self._nodes, self._order = nodes.sort()

    def __len__(self) -> int:
        return len(self.rows)

    def coordinates(self, bounds: Tensor) -> Tensor:
        return self._sign * torch.where(self._logs, torch.log(bounds), bounds)

    def bounds(self, coordinates: Tensor) -> Tensor:
        plain = self._sign * coordinates
        return torch.where(self._logs, torch.exp(plain), plain).clamp(0.0, 1.0)

    def current(self) -> Tensor:
        """(n,) the movers' bounds as the state has them."""
        found = torch.empty(len(self), dtype=self._state.dtype)
        for end, own in zip((self._state.lower, self._state.upper), self._ends, strict=True):
            found[own] = end.tensor.index_select(0, self.rows[own])
        return found

    @contextmanager
    def at(self, bounds: Tensor) -> Iterator[None]:
        """The state with other bounds for the movers, for a while."""
        before = self.current()
        self.write(bounds)
        try:
            yield
        finally:
            self.write(before)

    def changed(self, before: Tensor) -> tuple[Tensor, Tensor]:
        """The rows whose lower and whose upper end is no longer as it was in ``before``, sorted."""
        changed = before != self.current()
        lower, upper = (self.rows[own[changed[own]]].sort().values for own in self._ends)
        return lower, upper

    def record(self, before: Tensor) -> None:
        """Tell the history which bounds are no longer as they were in ``before``: each set by its setter, many times
        over."""
        trail = self._state.trail
        if trail is None:
            return
        trail.step()
        now = self.current()
        for each in self.setters:
            some = where_set((now != before).index_select(0, each.movers))
            movers = each.movers.index_select(0, some)
            rows, values = self.rows.index_select(0, movers), now.index_select(0, movers)
            instances = each.instances.index_select(0, some)
            told = rows.numpy(), values.numpy()
            trail.record(Kind.CARRIED, each.side, *told, each.batch, each.leaf, instances.numpy())

    def write(self, bounds: Tensor) -> None:
        """Give the movers other bounds."""
        for end, own in zip((self._state.lower, self._state.upper), self._ends, strict=True):
            end.tensor[self.rows[own]] = bounds[own]

    def sent(self) -> Tensor:
        """(n,) what the setters send at the present bounds, as if they did not know what they set."""
        found = torch.empty(len(self), dtype=self._state.dtype)
        for each in self.setters:
            found[each.movers] = self._message(each)[1]
        return found

    def slopes(self) -> Slopes | None:
        """The derivatives, in coordinates, of what the setters send; None where that takes too long."""
        parts: list[tuple[Tensor, Tensor, Tensor]] = []
        with torch.enable_grad():
            for each in self.setters:
                leaves, proposal = self._message(each)
                if not proposal.requires_grad:
                    continue
                if not self._grounding.batches[each.batch].formula.blocks[1:]:
                    parts += self._entries(leaves, proposal.sum(), each.movers)
                elif len(proposal) > _MOST_BACKWARD:
                    return None
                else:
                    for position in range(len(proposal)):
                        parts += self._entries(leaves, proposal[position], each.movers[position : position + 1])
        if not parts:
            nothing = torch.empty(0, dtype=torch.int64)
            return Slopes(nothing, nothing, torch.empty(0, dtype=self._state.dtype))
        target, source, value = (torch.cat(column) for column in zip(*parts, strict=True))
        inner, outer = self.current(), self.sent()
        inner = torch.where(self._logs, inner, 1.0).index_select(0, source)
        outer = torch.where(self._logs, outer, 1.0).index_select(0, target)
        turn = self._sign.index_select(0, source) * self._sign.index_select(0, target)
        return Slopes(target, source, turn * value * inner / outer)

    def _entries(self, leaves: Leaves, value: Tensor, movers: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """(target, source, derivative) of a message, or of the sum of messages that each read rows of their own."""
        read = [(rows, side, end) for rows, *ends in leaves.read for side, end in enumerate(ends)]
        slopes = torch.autograd.grad(value, [end for _, _, end in read], allow_unused=True, retain_graph=True)
        for (rows, side, _), slope in zip(read, slopes, strict=True):
            if slope is None:
                continue
            source = self.find(rows, side)
            counts = where_set((source >= 0) & (slope != 0))
            target = movers.index_select(0, counts) if len(movers) == len(rows) else movers.expand(len(counts))
            yield target, source.index_select(0, counts), slope.detach().index_select(0, counts)

    def find(self, rows: Tensor, side: int) -> Tensor:
        """The movers that are these rows' bounds, -1 for what does not move."""
        nodes = 2 * rows.long() + side
        place = torch.searchsorted(self._nodes, nodes).clamp(max=len(self._nodes) - 1)
        return torch.where(self._nodes.index_select(0, place) == nodes, self._order.index_select(0, place), -1)

    def _message(self, each: Setters) -> tuple[Leaves, Tensor]:
        batch = self._grounding.batches[each.batch]
        block = 0 if each.leaf == AUXILIARY else batch.formula.neurons[each.leaf].block
        if not batch.formula.blocks[1:]:
            view, own, unknown = View(batch, (each.instances,), (None,)), None, (each.leaf, each.side)
        else:
            view = whole(batch)
            alive = view.rows[block]
            own = each.instances if alive is None else torch.searchsorted(alive, each.instances)
            unknown = None  # the other rows of the leaf are read too
        given = torch.from_numpy(self._grounding.atoms.flags("given"))
        leaves = Leaves(view, self._state, given, unknown)
        proposal = self._say(batch.formula, leaves, view.groupings, each.leaf)[each.side]
        return leaves, proposal if own is None else proposal.index_select(0, own)


def _multiplies(formula: Formula) -> bool:
    return any(neuron.logic is not None and neuron.logic.name == "product" for neuron in formula.neurons)
