"""The events of a history in order, and their replay, with gradients.

The events on which some bounds depend, back to the facts, are found once and evaluated tick by tick; those of one tick
through one leaf of one formula are evaluated together. Values and derivatives pass between steps through one tensor;
within a step torch differentiates the kernels. If parameters move so far that another instance would set a bound, a
replay still evaluates the old one; inference detects this (see `lnnkit.learn.fitting.fitting_problem`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from lnnkit.arrays import any_set, where_set
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.learn.replay.event_values import CROSSING, StepFunction, StepReads
from lnnkit.store.relations import RowNumbers
from lnnkit.trail.events import NOBODY, Events, Kind, Trail

EventGroup = tuple[int, int, int]  # a shape, a leaf, and the side of the leaf that instances of the shape set


_EventBatch = tuple[Tensor | int, Tensor | int, Tensor | int, Tensor, Tensor | float]
"""Some events: their keys, ticks, groups, instances and values; one number may stand for all."""


class EventIndex:
    """All events, numbered. ``group`` (n,) numbers the instances' shape, leaf and side, which ``groups`` lists; -1
    where no instance brought it about. A bound's *key* is twice its atom row, plus its side. The last events are the
    ``crossings`` of arrested instances, which set no bound: their keys are negative. From ``entered`` on they are those
    of `enter`."""

    def __init__(self, history: Trail, numbers: RowNumbers, twinned: Collection[int] = ()) -> None:
        """``numbers`` are those of all rows. Events of comparisons in shapes ``twinned`` that set one end of a bound
        get a twin for the other end."""
        assert history.trace is not None
        events = Events(*map(torch.from_numpy, history.events(numbers)))
        lengths = torch.diff(events.start, append=torch.tensor([len(events.row)]))
        numbers_of_groups: dict[EventGroup, int] = {}
        groups = [
            -1 if shape == NOBODY else numbers_of_groups.setdefault((shape, leaf, side), len(numbers_of_groups))
            for shape, leaf, side in zip(events.shape.tolist(), events.leaf.tolist(), events.side.tolist(), strict=True)
        ]
        chunks = events.side, events.tick, torch.tensor(groups, dtype=torch.int64), events.kind
        side, tick, group, kinds = (column.repeat_interleave(lengths) for column in chunks)
        key, value = events.row.long() * 2 + side, events.value.double()
        self.key, self.tick, self.group, self.instance, self.value = key, tick, group, events.instance.long(), value
        self._append(*self._twins(numbers_of_groups, twinned))
        count, crossed = len(self), list[_EventBatch]()
        for arrested_at, arrested in history.trace.arrested:
            crossing = numbers_of_groups.setdefault((arrested.shape, CROSSING, 0), len(numbers_of_groups))
            rows, roots = torch.from_numpy(arrested.rows).long(), arrested.roots
            crossed.append((-1, arrested_at, crossing, rows, torch.from_numpy(roots.lower - roots.upper)))
        self._append(*crossed)
        self.groups = list(numbers_of_groups)
        self.crossings = torch.arange(count, len(self))
        self.entered = len(self)
        self._ticks = history.tick + 2
        self._event_of_key = torch.full((2 * numbers.count,), -1)  # -1: none
        self._event_of_key[self.key[:count]] = torch.arange(count)
        self._each_key_once = np.count_nonzero(self._event_of_key.numpy() >= 0) == count
        sent = torch.full((len(self) - len(kinds),), int(Kind.SENT))
        self.source = self._traced(torch.cat([kinds, sent]))

    def __len__(self) -> int:
        return len(self.key)

    def _append(self, *parts: _EventBatch) -> None:
        if not parts:
            return
        columns = [[column] for column in (self.key, self.tick, self.group, self.instance, self.value)]
        for part in parts:
            for pieces, column in zip(columns, part, strict=True):
                pieces.append(torch.as_tensor(column, dtype=pieces[0].dtype).expand(len(part[3])))
        self.key, self.tick, self.group, self.instance, self.value = map(torch.cat, columns)

    def enter(self, group: EventGroup, count: int) -> Tensor:
        """Append events that set no bound: what ``count`` instances propose about an unknown target; their numbers."""
        start = len(self)
        if group not in self.groups:
            self.groups.append(group)
        self._append((-1, self._ticks - 1, self.groups.index(group), torch.arange(count), 0.0))
        self.__dict__.pop("by_tick", None)
        return torch.arange(start, start + count)

    @cached_property
    def by_tick(self) -> tuple[Tensor, ...]:
        """The events of each tick, ascending."""
        ticks, order = self.tick.sort(stable=True)
        return order.split(ticks.unique_consecutive(return_counts=True)[1].tolist())

    def before(self, keys: Tensor, ticks: Tensor) -> Tensor:
        """(n,) the last event that set each bound before a tick (for a restoration, what it restores); -1: none."""
        number = self._event_of_key.index_select(0, keys)
        known = number >= 0
        if not any_set(known):
            return number
        if self._each_key_once:
            event = number.clamp(min=0)
            known &= self.tick.index_select(0, event) < ticks
            return torch.where(known, self.source.index_select(0, event), -1)
        return self._at(torch.searchsorted(self._ordered[0], keys * self._ticks + ticks) - 1, keys)

    def last(self, keys: Tensor) -> Tensor:
        """(n,) the last event of each bound."""
        return self.before(keys, torch.full_like(keys, self._ticks - 1))

    def previous(self, events: Tensor) -> Tensor:
        """(n,) the event of the same bound before each of ``events``; none of these may be a restoration."""
        return self._at(self._place[events] - 1, self.key[events])

    def _at(self, place: Tensor, keys: Tensor) -> Tensor:
        """The sources of the events at these places in order, if they are of these keys; -1 for others."""
        event = self._ordered[1][place.clamp(min=0)]
        return torch.where((place >= 0) & (self.key[event] == keys), self.source[event], -1)

    @cached_property
    def _ordered(self) -> tuple[Tensor, Tensor]:
        """The events sorted by key and tick, packed into one number, and the permutation."""
        return (self.key * self._ticks + self.tick).sort(stable=True)

    @cached_property
    def _place(self) -> Tensor:
        """(n,) the position of each event in that order."""
        return torch.empty_like(self.key).index_copy_(0, self._ordered[1], torch.arange(len(self)))

    def _traced(self, kinds: Tensor) -> Tensor:
        """For each event the one that first produced its value: what a restoration restores."""
        source = torch.arange(len(self.key))
        restored = where_set(kinds == Kind.RESTORED)
        if len(restored):
            order = self._ordered[1]
            for event in restored[self._place[restored].argsort()].tolist():
                place = int(self._place[event])
                while place >= 0 and int(kinds[order[place]]) != Kind.RESTARTED:
                    place -= 1
                earlier = int(order[place - 1]) if place >= 1 else -1
                known = earlier >= 0 and int(self.key[earlier]) == int(self.key[event])
                source[event] = source[earlier] if known else -1
        return source

    def _twins(self, numbers: dict[EventGroup, int], shapes: Collection[int]) -> Iterator[_EventBatch]:
        """An event for the other end of each bound of which only one end was set."""
        for (shape, leaf, side), group in list(numbers.items()):
            if shape in shapes and leaf == AUXILIARY:
                mine = where_set(self.group == group)
                lone = mine[~torch.isin(self.key[mine] ^ 1, self.key)]
                twin = numbers.setdefault((shape, leaf, 1 - side), len(numbers))
                yield self.key[lone] ^ 1, self.tick[lone], twin, self.instance[lone], float(1 - side)


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """``count`` events; their values are written from ``start`` on."""

    start: int
    count: int
    evaluate: StepFunction


@dataclass(frozen=True)
class Replay:
    """``initial`` are the bounds that no event set; the values of the ``steps`` follow in order. ``places`` (n,)
    has the position of each requested bound, ``sources`` (m,) the keys of the first of the initial ones. ``outputs`` of
    modules, each with its places, replace some of these."""

    initial: Tensor
    sources: Tensor
    steps: tuple[ReplayStep, ...]
    places: Tensor
    outputs: Sequence[tuple[Tensor, Callable[[], Tensor]]] = ()

    @property
    def length(self) -> int:
        return max((step.start + step.count for step in self.steps), default=len(self.initial))

    def bounds(self, parameters: Tensor) -> Tensor:
        """(n,) the requested bounds at these parameters, which are in the order for which the replay was made.
        Differentiable in the parameters and in the weights of the modules."""
        if not self.outputs and len(self.steps) == 1 and self._all:  # no step reads another
            return self.steps[0].evaluate(parameters, StepReads(self.initial, len(self.initial)))
        initial = self.initial
        for places, values in self.outputs:
            initial = initial.index_copy(0, places, values())
        bounds = _EvaluatedReplay.apply(parameters, initial, self)
        assert isinstance(bounds, Tensor)
        return bounds

    @cached_property
    def buffer(self) -> Tensor:
        """A buffer for all values, with the initial ones filled in."""
        values = torch.zeros(self.length, dtype=self.initial.dtype)
        values[: len(self.initial)] = self.initial
        return values

    @property
    def constant(self) -> int:
        """How many of the values need no gradient: the initial ones, unless modules supply some."""
        return 0 if self.outputs else len(self.initial)

    @cached_property
    def moving(self) -> tuple[Tensor, Tensor]:
        """The requested bounds that need a gradient, and their positions among those that do."""
        which = where_set(self.places >= self.constant)
        return which, self.places[which] - self.constant

    @cached_property
    def _all(self) -> bool:
        """Whether the values that steps set are requested, all in order."""
        return torch.equal(self.places, torch.arange(len(self.initial), self.length))


class _EvaluatedReplay(torch.autograd.Function):
    """The requested bounds. Each step has a graph of its own; between them gradients are passed by position."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, parameters: Tensor, initial: Tensor, replay: Replay
    ) -> Tensor:
        values = replay.buffer
        if replay.outputs:
            values = torch.cat([initial, torch.zeros(replay.length - len(initial), dtype=initial.dtype)])
        graphs: list[tuple[ReplayStep, Tensor, Tensor, StepReads]] = []  # with parameters, and output
        wanted = parameters.requires_grad or initial.requires_grad
        with torch.set_grad_enabled(wanted):
            for step in replay.steps:
                leaf = parameters.detach().requires_grad_(wanted)
                reads = StepReads(values, replay.constant)
                output = step.evaluate(leaf, reads)
                values[step.start : step.start + step.count] = output.detach()
                graphs.append((step, leaf, output, reads))
        # A context takes any attribute
        ctx.kept = graphs, replay, len(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        return values.index_select(0, replay.places)

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, *gradients: Tensor
    ) -> tuple[Tensor | None, Tensor | None, None]:
        kept: tuple[list[tuple[ReplayStep, Tensor, Tensor, StepReads]], Replay, int] = ctx.kept  # pyright: ignore[reportAttributeAccessIssue]
        graphs, replay, count = kept
        first, (which, places) = replay.constant, replay.moving
        asked = gradients[0] if len(which) == len(gradients[0]) else gradients[0][which]
        flowing = torch.zeros(replay.length - first, dtype=asked.dtype).index_add_(0, places, asked)
        total = torch.zeros(count, dtype=asked.dtype)
        for step, parameters, output, reads in reversed(graphs):
            if not output.requires_grad:
                continue
            incoming = flowing[step.start - first : step.start - first + step.count]
            wanted = [parameters, *(end for _, end in reads.made)]
            passed = torch.autograd.grad(output, wanted, incoming, allow_unused=True, retain_graph=True)
            if passed[0] is not None:
                total = total + passed[0]
            for (where, _), gradient in zip(reads.made, passed[1:], strict=True):
                if gradient is not None:
                    moving = where_set(where >= first) if first else slice(None)
                    flowing.index_add_(0, where[moving] - first, gradient[moving])
        return total, flowing[: len(replay.initial)] if replay.outputs else None, None
