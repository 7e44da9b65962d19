"""Builds a replay from a history: the transitive closure of the requested events, in levels, with reads as
positions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from lnnkit.arrays import all_set, chosen, where_set
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.join.instances.grounding import Grounding
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.learn.arithmetic.learned_comparisons import Softness, opened_comparisons
from lnnkit.learn.replay.lukasiewicz_rules import Clause, End, clause_of
from lnnkit.learn.replay.replay import Replay
from lnnkit.learn.replay.replay_events import EventIndex
from lnnkit.learn.replay.replay_steps import ClauseStep, ComparisonStep, ContractionStep, InstanceStep, Step
from lnnkit.numeric import Interval
from lnnkit.store.atoms import UNKNOWN, Atoms
from lnnkit.store.columns.sorting import distinct_values
from lnnkit.trail.events import ROOT, Trail


@dataclass(frozen=True, slots=True)
class _Read:
    """The reads of one end of a leaf, a row for each row of the leaf: the events that set it (-1: none), its keys, and
    the index of the reading event."""

    events: Tensor
    keys: Tensor
    owner: Tensor
    before: Tensor  # the events among them, without -1


@dataclass(frozen=True, slots=True)
class _Reading:
    """The reads of events of one group, and the row structure of their instances."""

    ends: Mapping[End, _Read]
    lengths: tuple[int, ...]
    groupings: tuple[Grouping | None, ...]
    out: Tensor | None
    kinds: Tensor | None  # by event: those of equal number belong to one tick and may share rows


class Replayer:
    """Builds replays of a history. ``values`` are the values of its parameters, in order. ``through``: gradients pass
    clamps. ``softness`` says how crisp comparisons are softened. ``supplied`` are the numbers that modules supply."""

    def __init__(
        self,
        lifted: LiftedGraph,
        grounding: Grounding,
        history: Trail,
        values: Mapping[str, float],
        *,
        through: bool = False,
        softness: Softness | None = None,
        supplied: Collection[str] = (),
    ) -> None:
        assert history.trace is not None
        self.comparisons = opened_comparisons(lifted, grounding, history, values, supplied)
        self._softness = softness or Softness()
        self.events = EventIndex(history, self.comparisons)
        self._grounding = grounding
        self._trace = history.trace
        self._names = tuple(values)
        self._values = {name: torch.tensor(value, dtype=torch.float64) for name, value in values.items()}
        self._through = through
        self._clauses: dict[int, Clause | None] = {}
        self._read: dict[int, tuple[Tensor, _Reading]] = {}

    @property
    def atoms(self) -> Atoms:
        return self._grounding.atoms

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower and the upper ends of the initial atom rows, before the first event."""
        return self._trace.start

    @cached_property
    def initial(self) -> Tensor:
        """The bounds of all atom rows before the first event, by key."""
        known = len(self.start[0])
        found = torch.empty(len(self.atoms), 2, dtype=torch.float64)
        found[:known, 0], found[:known, 1] = map(torch.from_numpy, self.start)
        for start, stop, owner, _ in self.atoms.added(known):
            found[start:stop] = torch.tensor(self.atoms.numbered[owner].default, dtype=found.dtype)
        return found.view(-1)

    def replay(self, events: Tensor, keys: Tensor, *, spare: bool = False) -> Replay:
        """The replay of the bounds that ``events`` (n,) set, or, where that is -1, of the initial bounds of ``keys``
        (n,). If ``spare``, it may include initial bounds that nothing reads, which is faster to build."""
        needed = self._closure(events[events >= 0])
        groups = self.events.group.index_select(0, needed)
        given, proposed = chosen(groups < 0, needed), where_set(groups >= 0)
        told, of = needed.index_select(0, proposed), groups.index_select(0, proposed)
        codes = self._levels(needed).index_select(0, proposed) * (len(self.events.groups) + 1) + of
        parts = [(code % (len(self.events.groups) + 1), chosen(codes == code, told)) for code in _present(codes)]
        readings = [self._reading(group, some) for group, some in parts]
        reads = [read for reading in readings for read in reading.ends.values()]
        if spare and 2 * sum(len(read.keys) for read in reads) >= len(self.initial):
            sources = _AllSources(self.initial)
        else:
            unset = [read.keys[read.events < 0] if len(read.before) else read.keys for read in reads]
            sources = _Sources(self.initial, [*unset, keys[events < 0]])
        place = torch.full((len(self.events) + 1,), -1)  # the position of each event among the values
        start = len(sources.values) + len(given)
        place[given] = torch.arange(len(sources.values), start)
        starts: list[int] = []
        for _, some in parts:
            starts.append(start)
            place[some] = torch.arange(start, start + len(some))
            start += len(some)

        def places(found: Tensor, wanted: Tensor) -> Tensor:
            set_ = found >= 0
            if all_set(set_):
                return place.index_select(0, found)
            return torch.where(set_, place[found], sources.places(wanted))

        initial = torch.cat([sources.values, self.events.value[given]]) if len(given) else sources.values
        steps: list[Step] = []
        for (group, some), reading, begin in zip(parts, readings, starts, strict=True):
            ends = {
                end: places(read.events, read.keys) if len(read.before) else sources.places(read.keys)
                for end, read in reading.ends.items()
            }
            step = self._step(group, some, reading, ends, begin)
            same = next((each for each in steps if _alike(step, each, initial)), None)
            if same is None:
                steps.append(step)
            else:
                place[some] = torch.arange(same.start, same.start + same.count)
        self._read.clear()
        return Replay(initial, sources.keys, tuple(steps), places(events, keys))

    def enter(self, scratch: Grounding, leaf: int, side: int) -> Tensor:
        """Append events for all instances of another grounding, of one batch; returns their numbers."""
        return self.events.enter((self._trace.adopt(scratch), leaf, side), len(scratch.batches[0].blocks[0]))

    def _step(
        self,
        group: int,
        some: Tensor,
        reading: _Reading,
        ends: Mapping[End, Tensor],
        start: int,
    ) -> Step:
        number, leaf, side = self.events.groups[group]
        if number in self.comparisons and leaf == AUXILIARY:
            return self._comparison(number, side, reading, ends, start, len(some))
        if number in self.comparisons and leaf >= 0:
            return self._contraction(number, leaf, side, ends, start, len(some))
        clause = self._clause(group)
        if clause is not None:
            return ClauseStep(clause, (number, leaf), ends, start, len(some), self._through)
        pairs = {index: (ends[index, 0], ends[index, 1]) for index, end in ends if end == 0}
        batch = self.batch(number)
        return InstanceStep(
            batch, leaf, side, pairs, reading.lengths, reading.groupings, reading.out, start, len(some), self._names
        )

    def _comparison(
        self,
        number: int,
        side: int,
        reading: _Reading,
        ends: Mapping[End, Tensor],
        start: int,
        count: int,
    ) -> Step:
        formula, own = self.batch(number).formula, self.comparisons[number]
        operands = formula.neurons[formula.top].operands
        places = tuple((ends[index, 0], ends[index, 1]) for index in operands)
        softness = 0.0
        if own.crisp:
            known = [Interval(*(self._as_read(reading.ends[index, end]) for end in (0, 1))) for index in operands]
            softness = own.softened(known, self._values, self._softness)
        return ComparisonStep(own, side, places, softness, start, count, self._names)

    def _as_read(self, read: _Read) -> Tensor:
        """The values read at inference."""
        before = self.initial.index_select(0, read.keys.clamp(min=0))
        return torch.where(read.events >= 0, self.events.value[read.events.clamp(min=0)], before)

    def _contraction(
        self, number: int, leaf: int, side: int, ends: Mapping[End, Tensor], start: int, count: int
    ) -> Step:
        formula = self.batch(number).formula
        operands = formula.neurons[formula.top].operands
        places = tuple((ends[index, 0], ends[index, 1]) for index in operands)
        truth = ends[AUXILIARY, 0], ends[AUXILIARY, 1]
        own = self.comparisons[number]
        return ContractionStep(own, operands.index(leaf), side, places, truth, start, count, self._names)

    def batch(self, number: int) -> RuleShape:
        grounding, place = self._held(number)
        return grounding.batches[place]

    def _held(self, number: int) -> tuple[Grounding, int]:
        """The grounding that has a batch, and the batch's number there."""
        return (self._grounding, number) if number >= 0 else (self._trace.scratch[-2 - number], 0)

    def _clause(self, group: int) -> Clause | None:
        if group not in self._clauses:
            number, leaf, side = self.events.groups[group]
            batch = self.batch(number)
            self._clauses[group] = clause_of(batch.formula, leaf, side, self._names, completes=batch.completes)
        return self._clauses[group]

    def _closure(self, events: Tensor) -> Tensor:
        """The events and all events that they depend on."""
        seen = torch.zeros(len(self.events), dtype=torch.bool)
        frontier = _distinct(events)
        while len(frontier):
            seen[frontier] = True
            found: list[Tensor] = []
            for group, some in self._by_group(frontier):
                found += [read.before for read in self._reading(group, some).ends.values()]
            frontier = _distinct(torch.cat(found)) if found else events[:0]
            frontier = frontier[~seen[frontier]]
        return where_set(seen)

    def _by_group(self, events: Tensor) -> Iterator[tuple[int, Tensor]]:
        """The events of instances, by group."""
        groups = self.events.group.index_select(0, events)
        for group in _present(chosen(groups >= 0, groups)):
            yield group, chosen(groups == group, events)

    def _levels(self, needed: Tensor) -> Tensor:
        """One more than the greatest level of an event's reads; initial bounds have level 0."""
        level = torch.zeros(len(self.events), dtype=torch.int64)
        ticks = self.events.tick.index_select(0, needed)
        for tick in _present(ticks):  # reads precede the event
            for group, some in self._by_group(chosen(ticks == tick, needed)):
                greatest = torch.zeros(len(some), dtype=torch.int64)
                reading = self._reading(group, some)
                for read in reading.ends.values():
                    if len(read.before):
                        set_ = where_set(read.events >= 0)
                        own = level[read.events[set_]]
                        greatest.scatter_reduce_(0, read.owner[set_], own, "amax")
                if reading.kinds is not None:
                    most = torch.zeros_like(greatest).scatter_reduce_(0, reading.kinds, greatest, "amax")
                    greatest = most.index_select(0, reading.kinds)
                level[some] = greatest + 1
        return level.index_select(0, needed)

    def _reading(self, group: int, events: Tensor) -> _Reading:
        """The reads of the events of one group; cached, since the same events mostly recur."""
        known = self._read.get(group)
        if known is None or not torch.equal(known[0], events):
            known = self._read[group] = events, self._worked_out(group, events)
        return known[1]

    def _worked_out(self, group: int, events: Tensor) -> _Reading:
        number, leaf, _ = self.events.groups[group]
        batch, clause = self.batch(number), self._clause(group)
        formula = batch.formula
        ticks, entered = self.events.tick[events], events >= self.events.entered
        grounding, place = self._held(number)
        numbers = self.events.instance[events].numpy()
        found, _, which, at = grounding.rebuilt(place, formula.block_of(leaf), numbers)
        instances = places = None
        shown = torch.from_numpy(which)
        if len(found.groupings) > 1:
            instances, places = torch.from_numpy(which), torch.from_numpy(at)
            shown = torch.zeros(found.length(0), dtype=torch.int64)
            shown[instances] = torch.arange(len(events))  # all that an instance says at once has one tick
        ends: dict[End, _Read] = {}
        for index, column in found.rows.items():
            wanted = [side for side in (0, 1) if clause is None or (index, side) in clause.ends]
            if not wanted or (leaf == ROOT and index == AUXILIARY):
                continue
            owner = shown.index_select(0, torch.from_numpy(found.tops(formula.block_of(index))))
            when = ticks.index_select(0, owner)
            rows = torch.from_numpy(column).long()
            if index == leaf:
                rows = torch.where(entered.index_select(0, owner), UNKNOWN, rows)
            if index in formula.heads:
                rows = torch.where(torch.from_numpy(self.atoms.flags("given")).index_select(0, rows), rows, UNKNOWN)
            for side in wanted:
                keys = (rows * 2).add_(side)
                before = self.events.before(keys, when)
                ends[index, side] = _Read(before, keys, owner, chosen(before >= 0, before))
        return _Reading(ends, found.lengths, found.groupings, places, instances)


def _alike(one: Step, other: Step, initial: Tensor) -> bool:
    """Whether both ends of the same atoms get equal bounds, as in completion of a closed predicate from exact facts."""
    return isinstance(one, ClauseStep) and isinstance(other, ClauseStep) and one.alike(other, initial)


def _distinct(events: Tensor) -> Tensor:
    return torch.from_numpy(distinct_values(events.numpy()))


def _present(numbers: Tensor) -> list[int]:
    """The distinct values of small numbers, ascending."""
    return where_set(torch.bincount(numbers)).tolist()


class _Sources:
    """The initial bounds that are read, without repetition; ``keys`` are theirs."""

    def __init__(self, initial: Tensor, read: Sequence[Tensor]) -> None:
        wanted = torch.zeros(len(initial), dtype=torch.bool)
        for keys in read:
            wanted[keys[keys >= 0]] = True
        self.keys = where_set(wanted)
        self._place = torch.cumsum(wanted, 0, dtype=torch.int32).sub_(1)
        self.values = initial.index_select(0, self.keys)

    def places(self, keys: Tensor) -> Tensor:
        return self._place.index_select(0, keys.clamp(min=0)).long()


class _AllSources:
    """All initial bounds, in order."""

    keys = None

    def __init__(self, initial: Tensor) -> None:
        self.values = initial

    def places(self, keys: Tensor) -> Tensor:
        return keys.clamp(min=0) if len(keys) and int(keys.min()) < 0 else keys
