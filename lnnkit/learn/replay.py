"""Derivations replayed: only the events that some bounds rest on, each evaluated again from what it read.

The events that are asked for and all that these rest on, back to the facts, are found once. They are evaluated level by
level (an event's level is one more than the greatest of those it reads), all those of one level that one leaf of one
formula brought about together. Values and their derivatives pass from level to level through one tensor; within a level
torch differentiates the kernels.

The winners of inference stay: where parameters move so far that another instance would set a bound, a replay gives what
the old one says. Inference says when that is so (see `lnnkit.learn.fitting`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lnnkit.ground.atoms import UNKNOWN, Atoms
from lnnkit.ground.batch import Batch
from lnnkit.ground.evaluate import Grouping
from lnnkit.ground.formula import AUXILIARY
from lnnkit.ground.grounding import Grounding
from lnnkit.infer.history import ROOT, History, Trace
from lnnkit.infer.state import State
from lnnkit.learn.events import EventIndex
from lnnkit.learn.expansion import expand
from lnnkit.learn.instances import names, told
from lnnkit.logic.bounds import Bounds


@dataclass(frozen=True, slots=True)
class Step:
    """Events of one level that one leaf of one batch brought about. ``reads`` gives for each leaf where in the values
    the lower and the upper ends stand; ``lengths`` the rows of each block; ``out`` picks the events' own rows among
    those of the leaf's block (None: all, in order); they are written from ``start`` on."""

    batch: Batch
    leaf: int
    side: int
    reads: Mapping[int, tuple[Tensor, Tensor]]
    lengths: tuple[int, ...]
    groupings: tuple[Grouping | None, ...]
    out: Tensor | None
    start: int
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """``initial`` are the bounds that no event set, then those of the ``steps`` follow, level by level. ``places`` (n,)
    says where each bound that was asked for stands. ``sources`` are the keys of the initial ones."""

    initial: Tensor
    sources: Tensor
    steps: tuple[Step, ...]
    places: Tensor
    names: tuple[str, ...] = field(default=())

    @property
    def length(self) -> int:
        return len(self.initial) + sum(step.count for step in self.steps)

    def bounds(self, parameters: Tensor, given: Tensor | None = None) -> Tensor:
        """(n,) the bounds asked for, at these parameters (in the order of ``names``); gradients pass to them, and to
        ``given``, which stands in for the initial bounds."""
        initial = self.initial if given is None else given
        found = _Evaluated.apply(parameters, initial, self)
        assert isinstance(found, Tensor)
        return found.index_select(0, self.places)


class _Evaluated(torch.autograd.Function):
    """All values of a replay. Backward evaluates each step once more, so that no graph is kept."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, parameters: Tensor, initial: Tensor, replay: Replay
    ) -> Tensor:
        values = torch.empty(replay.length, dtype=initial.dtype)
        values[: len(initial)] = initial
        with torch.no_grad():
            for step in replay.steps:
                found = _evaluate(
                    step, dict(zip(replay.names, parameters.unbind(), strict=True)), _gather(step, values)
                )
                values[step.start : step.start + step.count] = found
        ctx.save_for_backward(parameters, values)
        ctx.replay = replay  # pyright: ignore[reportAttributeAccessIssue]  # a context takes any attribute
        return values

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        parameters, values = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        replay: Replay = ctx.replay  # pyright: ignore[reportAttributeAccessIssue]
        flowing = gradients[0].clone()
        total = torch.zeros_like(parameters)
        for step in reversed(replay.steps):
            own = flowing[step.start : step.start + step.count]
            if not bool(own.any()):
                continue
            with torch.enable_grad():
                leaf = parameters.detach().requires_grad_()
                read = {
                    index: (low.requires_grad_(), high.requires_grad_())
                    for index, (low, high) in _gather(step, values).items()
                }
                found = _evaluate(step, dict(zip(replay.names, leaf.unbind(), strict=True)), read)
            ends = [end for pair in read.values() for end in pair]
            if not found.requires_grad:
                continue
            passed = torch.autograd.grad(found, [leaf, *ends], own, allow_unused=True)
            if passed[0] is not None:
                total += passed[0]
            places = [place for pair in step.reads.values() for place in pair]
            for place, gradient in zip(places, passed[1:], strict=True):
                if gradient is not None:
                    flowing.index_add_(0, place, gradient)
        return total, flowing[: len(replay.initial)], None


def _gather(step: Step, values: Tensor) -> dict[int, tuple[Tensor, Tensor]]:
    return {
        index: (values.index_select(0, low), values.index_select(0, high)) for index, (low, high) in step.reads.items()
    }


def _evaluate(step: Step, parameters: Mapping[str, Tensor], read: Mapping[int, tuple[Tensor, Tensor]]) -> Tensor:
    formula = step.batch.formula

    def bounds(index: int) -> Bounds:
        if index in read:
            return Bounds(*read[index])
        kind = formula.neurons[index].kind
        value = torch.full((step.lengths[formula.neurons[index].block],), float(kind == "true"), dtype=torch.float64)
        return Bounds(value, value)

    own = {name: parameters[name] for name in step.names if name in parameters}
    found = told(formula, own, bounds, step.groupings, step.leaf, step.side, completes=step.batch.completes)
    return found if step.out is None else found.index_select(0, step.out)


class Replayer:
    """Finds what to replay of a history."""

    def __init__(self, grounding: Grounding, history: History) -> None:
        self.events = EventIndex(history)
        self._grounding = grounding
        assert history.trace is not None
        self._trace = history.trace
        self._initial = _initial(history.trace, grounding.atoms)

    def replay(self, events: Tensor, keys: Tensor, parameters: Sequence[str]) -> Replay:
        """What gives the bounds that ``events`` (n,) set, or, where that is -1, the initial ones of ``keys`` (n,)."""
        needed = self._closure(events[events >= 0])
        levels = self._levels(needed)
        place = torch.full((len(self.events),), -1)
        sources = _Sources(self._initial)
        steps: list[tuple[int, int, Tensor]] = []
        order: list[Tensor] = []
        given = needed[self.events.group[needed] < 0]
        told_ = needed[self.events.group[needed] >= 0]
        own = levels[self.events.group[needed] >= 0] * (len(self.events.groups) + 1) + self.events.group[told_]
        for code in torch.unique(own).tolist():
            some = told_[own == code]
            steps.append((code // (len(self.events.groups) + 1), code % (len(self.events.groups) + 1), some))
            order.append(some)
        # the values: the initial ones, what was given at some time, and then the steps'
        reads = [self._reads(group, some) for _, group, some in steps]
        for each in reads:
            for low, high in each.ends.values():
                for found, wanted in (low, high):
                    sources.note(wanted[found < 0])
        sources.note(keys[events < 0])
        sources.close()
        start = len(sources)
        place[given] = torch.arange(start, start + len(given))
        start += len(given)
        starts: list[int] = []
        for some in order:
            place[some] = torch.arange(start, start + len(some))
            starts.append(start)
            start += len(some)

        def places(found: Tensor, wanted: Tensor) -> Tensor:
            result = place[found.clamp(min=0)] if len(place) else torch.zeros_like(found)
            return torch.where(found >= 0, result, sources.places(wanted))

        made = []
        for (_, group, some), each, begin in zip(steps, reads, starts, strict=True):
            number, leaf, side = self.events.groups[group]
            batch = self._batch(number)
            made.append(
                Step(
                    batch,
                    leaf,
                    side,
                    {index: (places(*low), places(*high)) for index, (low, high) in each.ends.items()},
                    each.lengths,
                    each.groupings,
                    each.out,
                    begin,
                    len(some),
                    names(batch.formula),
                )
            )
        initial = torch.cat([sources.values(), self.events.value[given]])
        return Replay(
            initial,
            torch.cat([sources.keys, torch.full((len(given),), -1)]),
            tuple(made),
            places(events, keys),
            tuple(parameters),
        )

    def _batch(self, number: int) -> Batch:
        return self._grounding.batches[number] if number >= 0 else self._trace.scratch[-2 - number]

    def _closure(self, events: Tensor) -> Tensor:
        """The events, and all that they rest on."""
        seen = torch.zeros(len(self.events), dtype=torch.bool)
        frontier = torch.unique(events)
        while len(frontier):
            seen[frontier] = True
            found: list[Tensor] = []
            groups = self.events.group[frontier]
            for group in torch.unique(groups[groups >= 0]).tolist():
                reads = self._reads(group, frontier[groups == group])
                found += [torch.unique(event) for pair in reads.ends.values() for event, _ in pair]
            if not found:
                break
            frontier = torch.unique(torch.cat(found))
            frontier = frontier[frontier >= 0]
            frontier = frontier[~seen[frontier]]
        return seen.nonzero().squeeze(1)

    def _levels(self, needed: Tensor) -> Tensor:
        """One more than the greatest level of what an event reads; what is given has level 0."""
        level = torch.zeros(len(self.events), dtype=torch.int64)
        ticks = self.events.tick[needed]
        for tick in torch.unique(ticks).tolist():  # what is read was set earlier
            now = needed[ticks == tick]
            groups = self.events.group[now]
            for group in torch.unique(groups[groups >= 0]).tolist():
                some = now[groups == group]
                reads = self._reads(group, some)
                least = torch.zeros(len(some), dtype=torch.int64)
                for index, pair in reads.ends.items():
                    for event, _ in pair:
                        own = torch.where(event >= 0, level[event.clamp(min=0)], 0)
                        least.scatter_reduce_(0, reads.owner(index), own, "amax")
                level[some] = least + 1
        return level[needed]

    def _reads(self, group: int, events: Tensor) -> _Reads:
        """What events of one group read."""
        number, leaf, _ = self.events.groups[group]
        batch = self._batch(number)
        formula = batch.formula
        block = 0 if leaf < 0 else formula.neurons[leaf].block
        instances = self.events.instance[events]
        tops = instances if block == 0 else batch.blocks[block].outermost.values.index_select(0, instances)
        expansion = expand(batch, tops)
        out = None if block == 0 else expansion.places(block, instances)
        ticks = self.events.tick[events]
        ends: dict[int, tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]] = {}
        for number_, own in enumerate(batch.blocks):
            when = ticks.index_select(0, expansion.event[number_])
            for index, column in own.columns.items():
                if leaf == ROOT and index == AUXILIARY:
                    continue
                rows = column.values.index_select(0, expansion.rows[number_]).long()
                if index in formula.heads:
                    rows = torch.where(_given(self._grounding.atoms, rows), rows, UNKNOWN)
                low, high = rows * 2, rows * 2 + 1
                ends[index] = (self.events.before(low, when), low), (self.events.before(high, when), high)
        lengths = tuple(len(rows) for rows in expansion.rows)
        owners = {index: expansion.event[0 if index == AUXILIARY else formula.neurons[index].block] for index in ends}
        return _Reads(ends, lengths, expansion.groupings, out, owners)


@dataclass(frozen=True, slots=True)
class _Reads:
    """For each leaf its lower and its upper ends: the events that set them, and their keys."""

    ends: Mapping[int, tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]]
    lengths: tuple[int, ...]
    groupings: tuple[Grouping | None, ...]
    out: Tensor | None
    owners: Mapping[int, Tensor]

    def owner(self, index: int) -> Tensor:
        """Which event each row of a leaf belongs to."""
        return self.owners[index]


class _Sources:
    """The bounds that are read as they were before the first event, each once."""

    def __init__(self, initial: tuple[Tensor, Tensor]) -> None:
        self._ends = initial
        self._noted: list[Tensor] = []
        self.keys = torch.zeros(0, dtype=torch.int64)

    def note(self, keys: Tensor) -> None:
        self._noted.append(torch.unique(keys))

    def close(self) -> None:
        self.keys = torch.unique(torch.cat(self._noted)) if self._noted else self.keys

    def __len__(self) -> int:
        return len(self.keys)

    def places(self, keys: Tensor) -> Tensor:
        return torch.searchsorted(self.keys, keys)

    def values(self) -> Tensor:
        rows, sides = self.keys // 2, self.keys % 2
        return torch.where(sides == 0, self._ends[0][rows], self._ends[1][rows]).double()


def _initial(trace: Trace, atoms: Atoms) -> tuple[Tensor, Tensor]:
    """The lower and the upper ends of all atom rows before the first event."""
    plain = State()
    plain.extend(atoms)
    for end, start in zip((plain.lower, plain.upper), trace.start, strict=True):
        end.values[: len(start)] = start
    return plain.lower.values, plain.upper.values


def _given(atoms: Atoms, rows: Tensor) -> Tensor:
    return atoms.flags("given").index_select(0, rows)
