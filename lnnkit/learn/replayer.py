"""A history -> what is to be replayed of it: the closure of some events, in levels, their reads as places."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.graph.lifted import LiftedGraph
from lnnkit.ground.atoms import UNKNOWN, Atoms
from lnnkit.ground.batch import Batch
from lnnkit.ground.evaluate import Grouping
from lnnkit.ground.formula import AUXILIARY
from lnnkit.ground.grounding import Grounding
from lnnkit.infer.history import ROOT, History, Trace
from lnnkit.infer.state import State
from lnnkit.learn.clauses import Clause, End, clause_of
from lnnkit.learn.comparisons import LearnedComparison, Softness, learned_comparison
from lnnkit.learn.events import EventIndex
from lnnkit.learn.expansion import expand
from lnnkit.learn.replay import Replay
from lnnkit.learn.steps import ClauseStep, ComparisonStep, ContractionStep, InstanceStep, Step
from lnnkit.numeric import Interval


@dataclass(frozen=True, slots=True)
class _Read:
    """What events read of one end of a leaf, a row for each of the leaf's: the events that set it (-1: none had), its
    keys, and which of the reading events each row belongs to."""

    events: Tensor
    keys: Tensor
    owner: Tensor


@dataclass(frozen=True, slots=True)
class _Reading:
    """What events of one group read, and how its instances' rows belong together."""

    ends: Mapping[End, _Read]
    lengths: tuple[int, ...]
    groupings: tuple[Grouping | None, ...]
    out: Tensor | None


class Replayer:
    """Finds what to replay of a history. ``values`` are those of its parameters, in order; ``through``: gradients pass
    clamps; ``softness`` says how crisp comparisons are softened."""

    def __init__(
        self,
        lifted: LiftedGraph,
        grounding: Grounding,
        history: History,
        values: Mapping[str, float],
        *,
        through: bool = False,
        softness: Softness | None = None,
    ) -> None:
        assert history.trace is not None
        self.comparisons = _learned_comparisons(lifted, grounding, values)
        self._softness = softness or Softness()
        self.events = EventIndex(history, self.comparisons)
        self._grounding = grounding
        self._trace = history.trace
        self._initial = _initial(history.trace, grounding.atoms)
        self._names = tuple(values)
        self._values = {name: torch.tensor(value, dtype=torch.float64) for name, value in values.items()}
        self._through = through
        self._clauses: dict[int, Clause | None] = {}

    def replay(self, events: Tensor, keys: Tensor) -> Replay:
        """What gives the bounds that ``events`` (n,) set, or, where that is -1, the initial ones of ``keys`` (n,)."""
        needed = self._closure(events[events >= 0])
        groups = self.events.group[needed]
        given, told, of = needed[groups < 0], needed[groups >= 0], groups[groups >= 0]
        codes = self._levels(needed)[groups >= 0] * (len(self.events.groups) + 1) + of
        parts = [(code % (len(self.events.groups) + 1), told[codes == code]) for code in torch.unique(codes).tolist()]
        readings = [self._reading(group, some) for group, some in parts]
        sources = _Sources(self._initial)
        for reading in readings:
            for read in reading.ends.values():
                sources.note(read.keys[read.events < 0])
        sources.note(keys[events < 0])
        sources.close()
        place = torch.full((len(self.events) + 1,), -1)  # of each event among the values
        start = len(sources) + len(given)
        place[given] = torch.arange(len(sources), start)
        starts: list[int] = []
        for _, some in parts:
            starts.append(start)
            place[some] = torch.arange(start, start + len(some))
            start += len(some)

        def places(found: Tensor, wanted: Tensor) -> Tensor:
            set_ = found >= 0
            if not bool(set_.any()):
                return sources.places(wanted)
            return torch.where(set_, place[found], sources.places(wanted))

        initial = torch.cat([sources.values(), self.events.value[given]])
        steps: list[Step] = []
        for (group, some), reading, begin in zip(parts, readings, starts, strict=True):
            ends = {end: places(read.events, read.keys) for end, read in reading.ends.items()}
            step = self._step(group, some, reading, ends, begin, initial)
            same = next((each for each in steps if _alike(step, each, initial)), None)
            if same is None:
                steps.append(step)
            else:
                place[some] = torch.arange(same.start, same.start + same.count)
        return Replay(initial, sources.keys, tuple(steps), places(events, keys))

    def enter(self, batch: Batch, leaf: int, side: int) -> Tensor:
        """Events of all instances of a batch that the grounding does not hold, after all others; their numbers."""
        return self.events.enter((self._trace.adopt(batch), leaf, side), len(batch.blocks[0]))

    def _step(
        self,
        group: int,
        some: Tensor,
        reading: _Reading,
        ends: Mapping[End, Tensor],
        start: int,
        initial: Tensor,
    ) -> Step:
        number, leaf, side = self.events.groups[group]
        if number in self.comparisons and leaf == AUXILIARY:
            return self._comparison(number, side, reading, ends, start, len(some), initial)
        if number in self.comparisons and leaf >= 0:
            return self._contraction(number, leaf, side, ends, start, len(some))
        clause = self._clause(group)
        if clause is not None:
            return ClauseStep(clause, ends, start, len(some), self._through)
        pairs = {index: (ends[index, 0], ends[index, 1]) for index, end in ends if end == 0}
        batch = self._batch(number)
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
        initial: Tensor,
    ) -> Step:
        formula, own = self._batch(number).formula, self.comparisons[number]
        places = tuple((ends[index, 0], ends[index, 1]) for index in formula.neurons[formula.top].operands)
        softness = 0.0
        if own.crisp:
            known = [torch.cat([initial, torch.zeros(1).double()])[low.clamp(max=len(initial))] for low, _ in places]
            softness = own.softened([Interval(each, each) for each in known], self._values, self._softness)
        return ComparisonStep(own, side, places, softness, start, count, self._names)

    def _contraction(
        self, number: int, leaf: int, side: int, ends: Mapping[End, Tensor], start: int, count: int
    ) -> Step:
        formula = self._batch(number).formula
        operands = formula.neurons[formula.top].operands
        places = tuple((ends[index, 0], ends[index, 1]) for index in operands)
        truth = ends[AUXILIARY, 0], ends[AUXILIARY, 1]
        own = self.comparisons[number]
        return ContractionStep(own, operands.index(leaf), side, places, truth, start, count, self._names)

    def _batch(self, number: int) -> Batch:
        return self._grounding.batches[number] if number >= 0 else self._trace.scratch[-2 - number]

    def _clause(self, group: int) -> Clause | None:
        if group not in self._clauses:
            number, leaf, side = self.events.groups[group]
            batch = self._batch(number)
            self._clauses[group] = clause_of(batch.formula, leaf, side, self._names, completes=batch.completes)
        return self._clauses[group]

    def _closure(self, events: Tensor) -> Tensor:
        """The events, and all that they rest on."""
        seen = torch.zeros(len(self.events), dtype=torch.bool)
        frontier = torch.unique(events)
        while len(frontier):
            seen[frontier] = True
            found: list[Tensor] = []
            groups = self.events.group[frontier]
            for group in torch.unique(groups[groups >= 0]).tolist():
                for read in self._reading(group, frontier[groups == group]).ends.values():
                    found.append(torch.unique(read.events[read.events >= 0]))
            if not found:
                break
            frontier = torch.unique(torch.cat(found))
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
                greatest = torch.zeros(len(some), dtype=torch.int64)
                for read in self._reading(group, some).ends.values():
                    set_ = (read.events >= 0).nonzero().squeeze(1)
                    if len(set_):
                        own = level[read.events[set_]]
                        greatest.scatter_reduce_(0, read.owner[set_], own, "amax")
                level[some] = greatest + 1
        return level[needed]

    def _reading(self, group: int, events: Tensor) -> _Reading:
        """What events of one group read."""
        number, leaf, _ = self.events.groups[group]
        batch, clause = self._batch(number), self._clause(group)
        formula = batch.formula
        block = 0 if leaf < 0 else formula.neurons[leaf].block
        instances = self.events.instance[events]
        tops = instances if block == 0 else batch.blocks[block].outermost.values.index_select(0, instances)
        expansion = expand(batch, tops)
        ticks, entered = self.events.tick[events], events >= self.events.entered
        ends: dict[End, _Read] = {}
        for inner, own in enumerate(batch.blocks):
            owner = expansion.event[inner]
            when = ticks.index_select(0, owner)
            for index, column in own.columns.items():
                wanted = [side for side in (0, 1) if clause is None or (index, side) in clause.ends]
                if not wanted or (leaf == ROOT and index == AUXILIARY):
                    continue
                rows = column.values.index_select(0, expansion.rows[inner]).long()
                if index == leaf:
                    rows = torch.where(entered.index_select(0, owner), UNKNOWN, rows)
                if index in formula.heads:
                    rows = torch.where(_given(self._grounding.atoms, rows), rows, UNKNOWN)
                for side in wanted:
                    keys = rows * 2 + side
                    ends[index, side] = _Read(self.events.before(keys, when), keys, owner)
        lengths = tuple(len(rows) for rows in expansion.rows)
        out = None if block == 0 else expansion.places(block, instances)
        return _Reading(ends, lengths, expansion.groupings, out)


def _learned_comparisons(
    lifted: LiftedGraph, grounding: Grounding, among: Collection[str]
) -> dict[int, LearnedComparison]:
    """Those that hold parameters ``among``, by their batches."""
    found: dict[int, LearnedComparison] = {}
    for number, batch in enumerate(grounding.batches):
        if batch.formula.compares and batch.formula.auxiliary is not None:
            own = learned_comparison(lifted.graph, batch.formula.auxiliary, among)
            if own is not None:
                found[number] = own
    return found


def _alike(one: Step, other: Step, initial: Tensor) -> bool:
    """Whether both ends of the same atoms are told the same: where a closed predicate is completed from exact facts."""
    return isinstance(one, ClauseStep) and isinstance(other, ClauseStep) and one.alike(other, initial)


class _Sources:
    """The bounds that are read as they were before the first event, each once."""

    def __init__(self, initial: tuple[Tensor, Tensor]) -> None:
        self._ends = initial
        self._wanted = torch.zeros(2 * len(initial[0]), dtype=torch.bool)
        self._place = torch.empty(0, dtype=torch.int64)
        self.keys = torch.zeros(0, dtype=torch.int64)

    def note(self, keys: Tensor) -> None:
        self._wanted[keys[keys >= 0]] = True

    def close(self) -> None:
        self.keys = self._wanted.nonzero().squeeze(1)
        self._place = torch.cumsum(self._wanted, 0) - 1

    def __len__(self) -> int:
        return len(self.keys)

    def places(self, keys: Tensor) -> Tensor:
        return self._place[keys.clamp(min=0)]

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
