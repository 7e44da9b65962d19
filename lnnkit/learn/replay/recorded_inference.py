"""Infers a parametrised program, records what a replay needs, and builds replays: of requested events and all that they
depend on, with reads as positions. Tells whether one replay serves two inferences."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest

import numpy as np
import torch
from torch import Tensor

from lnnkit.analysis.supports import SupportCache
from lnnkit.arrays import Array, all_set, any_set, chosen, where_set
from lnnkit.check.program import CheckedProgram, Query
from lnnkit.engine.inference import infer
from lnnkit.engine.planning.compiling import Plans
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.graph.lifting import build
from lnnkit.join.instances.grounding import Grounding, Guard
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.learn.comparisons.learned_comparisons import opened_comparisons
from lnnkit.learn.parameters.rule_parameters import at
from lnnkit.learn.replay.event_values import (
    GroupReads,
    LukasiewiczRule,
    RuleEnd,
    RuleValues,
    StepFunction,
    comparison_values,
    instance_values,
    rule_of,
    with_parameters,
)
from lnnkit.learn.replay.replay import EventIndex, Replay, ReplayStep
from lnnkit.numeric import Interval
from lnnkit.store.layout import asked_constants, constants
from lnnkit.store.relations import RESERVED, UNKNOWN, RowNumbers
from lnnkit.store.stated_facts import Gathering, unnamed
from lnnkit.trail.events import ROOT, Trace


class RecordedInference:
    """The fixpoint of a parametrised program, the ids of its ``entities``, and what replays of its history need."""

    def __init__(
        self,
        program: CheckedProgram,
        values: Mapping[str, float],
        queries: Sequence[Query],
        *,
        guard: Guard,
        round_limit: int = 100_000,
        known: SupportCache | None = None,
        gathering: Gathering | None = None,
        softness: float = 0.0,
        placed: Set[str] = frozenset(),
        supplied: Collection[str] = (),
        listed: Sequence[tuple[str, Sequence[Array]]] = (),
    ) -> None:
        """Infer the program at some values of its parameters, by name, in their order, and keep the history.

        ``softness`` softens crisp comparisons, less where data ``placed`` their parameters, and those of the numbers
        ``supplied`` by modules. The atoms ``listed``, by predicate and the columns of their entities, are materialised
        even if nothing is known of them. Raises `TooLarge`."""
        lifted = build(replace(at(program, values), queries=tuple(queries)))
        stated = {text for texts in constants(lifted).values() for text in texts}
        asked = unnamed(lifted.program, asked_constants(lifted, lifted.queries) - stated)
        self.entities, given, labelled = (gathering or Gathering()).facts(program, stated | asked)
        self.trace = Trace()
        self.fixpoint = infer(
            Plans(lifted, known),
            self.entities,
            given,
            guard=guard,
            round_limit=round_limit,
            trace=self.trace,
            labelled=labelled,
            unnamed=asked,
        )
        grounding, history = self.fixpoint.grounding, self.fixpoint.state.trail
        for name, columns in listed:
            grounding.atoms.materialise(grounding.atoms.tables[name], columns, len(columns[0]) if columns else 1)
        self.comparisons = opened_comparisons(self.fixpoint.plan.lifted, grounding, history, values, supplied)
        self.numbers = RowNumbers(grounding.atoms)
        self.events = EventIndex(history, self.numbers, self.comparisons)
        self._softness, self._placed = softness, placed
        self._names = tuple(values)
        self._values = {name: torch.tensor(value, dtype=torch.float64) for name, value in values.items()}
        self._rules: dict[int, LukasiewiczRule | None] = {}

    @cached_property
    def initial(self) -> Tensor:
        """The bounds of all rows before the first event, by key."""
        bounds, reserved = np.empty((self.numbers.count, 2)), np.arange(-RESERVED, 0)
        for table, begin in zip(self.numbers.tables, self.numbers.starts[:-1].tolist(), strict=True):
            stop, first = begin + len(reserved) + len(table), begin + len(reserved)
            bounds[begin:first] = np.stack(table.read(reserved), 1)
            bounds[first:stop] = table.default
            if table.number < len(self.trace.start):
                ends = np.stack(self.trace.start[table.number], 1)
                bounds[first : first + len(ends)] = ends
        return torch.from_numpy(bounds).view(-1)

    @cached_property
    def _readable(self) -> tuple[Tensor, int]:
        """Which rows facts give, and a row that reads as unknown."""
        unknown = self.numbers.of(self.fixpoint.grounding.atoms.truths, np.array([UNKNOWN]))
        return torch.from_numpy(self.numbers.flags("given")), int(unknown[0])

    def replay(self, events: Tensor, keys: Tensor) -> Replay:
        """The replay of what ``events`` (n,) set, or, where that is -1, of the initial bounds of ``keys`` (n,)."""
        given, ticks = self._needed(events[events >= 0])
        asked = [(events, keys), *(pair for tick in ticks for reads in tick for pair in reads.ends.values())]
        every = 2 * sum(len(of) for _, of in asked) >= len(self.initial)  # half as long for 100,000 labels of ten atoms
        read = torch.full((len(self.initial),), every)
        for setters, of in () if every else asked:
            unset = of[setters < 0]
            read[unset[unset >= 0]] = True
        sources, source = where_set(read), torch.cumsum(read, 0, dtype=torch.int32).sub_(1)
        place = torch.full((len(self.events) + 1,), -1)  # the position of each event among the values
        start = len(sources) + len(given)
        place[given] = torch.arange(len(sources), start)

        def places(setters: Tensor, of: Tensor) -> Tensor:
            known = setters >= 0
            if all_set(known):
                return place.index_select(0, setters)
            initial = of.clamp(min=0) if every else source.index_select(0, of.clamp(min=0)).long()
            return torch.where(known, place[setters], initial) if any_set(known) else initial

        initial = torch.cat([self.initial.index_select(0, sources), self.events.value[given]])
        steps: list[ReplayStep] = []
        for tick in ticks:
            begun = len(steps)
            for reads in tick:
                value = self._value(reads, {end: places(*read) for end, read in reads.ends.items()})
                rule = value if isinstance(value, RuleValues) else None
                twin = next((step for step in steps[begun:] if rule and rule.alike(step.evaluate, initial)), None)
                if twin is None:
                    twin = ReplayStep(start, len(reads.events), value)
                    steps.append(twin)
                    start += twin.count
                place[reads.events] = torch.arange(twin.start, twin.start + twin.count)
        return Replay(initial, sources, tuple(steps), places(events, keys))

    def enter(self, scratch: Grounding, leaf: int, side: int) -> Tensor:
        """Append events for all instances of another grounding, of one shape; returns their numbers."""
        return self.events.enter((self.trace.adopt(scratch), leaf, side), len(scratch.shapes[0].blocks[0]))

    def _value(self, reads: GroupReads, ends: Mapping[RuleEnd, Tensor]) -> StepFunction:
        """What evaluates the events of one group, from the positions that they read."""
        number, leaf, side = self.events.groups[reads.group]
        pairs = {index: (ends[index, 0], ends[index, 1]) for index, end in ends if end == 0 and (index, 1) in ends}
        comparison = self.comparisons.get(number)
        itself = leaf in (AUXILIARY, ROOT)
        if comparison is not None and (itself or leaf >= 0):
            formula, softness = self.shape(number).formula, 0.0
            operands = formula.neurons[formula.top].operands
            if comparison.crisp and itself:
                known = [Interval(*(self._as_read(*reads.ends[index, end]) for end in (0, 1))) for index in operands]
                softness = comparison.softened(known, self._values, self._softness, self._placed)
            narrowed = (operands.index(leaf), pairs[AUXILIARY]) if leaf >= 0 else None
            numbers = [pairs[index] for index in operands]
            return comparison_values(comparison, numbers, narrowed, side, softness, self._names)
        rule = self._rule(reads.group)
        if rule is not None:
            return RuleValues(rule, (number, leaf), ends)
        return instance_values(self.shape(number), leaf, side, reads, pairs, self._names)

    def _as_read(self, events: Tensor, keys: Tensor) -> Tensor:
        """The values read at inference."""
        before = self.initial.index_select(0, keys.clamp(min=0))
        return torch.where(events >= 0, self.events.value[events.clamp(min=0)], before)

    def shape(self, number: int) -> RuleShape:
        grounding, place = self._held(number)
        return grounding.shapes[place]

    def _held(self, number: int) -> tuple[Grounding, int]:
        """The grounding that has a shape, and the shape's number there."""
        return (self.fixpoint.grounding, number) if number >= 0 else (self.trace.scratch[-2 - number], 0)

    def _rule(self, group: int) -> LukasiewiczRule | None:
        if group not in self._rules:
            number, leaf, side = self.events.groups[group]
            shape = self.shape(number)
            self._rules[group] = rule_of(shape.formula, leaf, side, self._names, completes=shape.completes)
        return self._rules[group]

    def _needed(self, events: Tensor) -> tuple[Tensor, list[list[GroupReads]]]:
        """The events on which some depend, themselves included: given ones, and the others by tick and by group."""
        wanted = torch.zeros(len(self.events), dtype=torch.bool)
        wanted[events] = True
        ticks: list[list[GroupReads]] = []
        for tick in reversed(self.events.by_tick):
            some = chosen(wanted.index_select(0, tick), tick)
            groups = self.events.group.index_select(0, some)
            present = where_set(torch.bincount(chosen(groups >= 0, groups))).tolist()
            if present:
                ticks.append([self._reads(group, chosen(groups == group, some)) for group in present])
            for reads in ticks[-1] if present else ():
                for setters, _ in reads.ends.values():
                    wanted[chosen(setters >= 0, setters)] = True
        return where_set(wanted & (self.events.group < 0)), ticks[::-1]

    def _reads(self, group: int, events: Tensor) -> GroupReads:
        """The events whose values a group of events read, by leaf and end."""
        number, leaf, _ = self.events.groups[group]
        formula, rule = self.shape(number).formula, self._rule(group)
        ticks, entered = self.events.tick[events], events >= self.events.entered
        grounding, place = self._held(number)
        numbers = self.events.instance[events].numpy()
        rebuilt, _, which, at = grounding.rebuilt(place, formula.block_of(leaf), numbers, self.numbers)
        out, shown = None, torch.from_numpy(which)
        if len(rebuilt.groupings) > 1:
            out, instances = torch.from_numpy(at), shown
            shown = torch.zeros(rebuilt.length(0), dtype=torch.int64)
            shown[instances] = torch.arange(len(events))  # all that an instance says at once has one tick
        ends: dict[RuleEnd, tuple[Tensor, Tensor]] = {}
        given, unknown = self._readable
        for index, column in rebuilt.rows.items():
            wanted = [side for side in (0, 1) if rule is None or (index, side) in rule.ends]
            if not wanted or (leaf == ROOT and index == AUXILIARY):
                continue
            owner = shown.index_select(0, torch.from_numpy(rebuilt.tops(formula.block_of(index))))
            rows = torch.from_numpy(column).long()
            if index == leaf:
                rows = torch.where(entered.index_select(0, owner), unknown, rows)
            if index in formula.heads:
                rows = torch.where(given.index_select(0, rows), rows, unknown)
            for side in wanted:
                keys = (rows * 2).add_(side)
                ends[index, side] = self.events.before(keys, ticks.index_select(0, owner)), keys
        return GroupReads(group, events, ends, (rebuilt.lengths, rebuilt.groupings), out)


def same_derivations(earlier: RecordedInference, later: RecordedInference) -> bool:
    """Whether one replay serves both. False if comparisons have parameters, since their softening changes."""
    if earlier.comparisons or later.comparisons:
        return False
    return all(
        one == other if isinstance(one, tuple) and isinstance(other, tuple) else np.array_equal(one, other)  # pyright: ignore[reportArgumentType]  # arrays
        for one, other in zip_longest(_derivation(earlier), _derivation(later))
    )


def _derivation(inference: RecordedInference) -> Iterator[object]:
    """All that a replay depends on, apart from learned numbers: tuples, and arrays."""
    events, numbers, run = inference.events, inference.numbers, inference.fixpoint
    atoms = numbers.atoms
    yield events.groups, events.entered
    yield numbers.starts
    yield tuple((name, table.default) for name, table in atoms.tables.items())
    yield from (events.crossings, events.key, events.group, events.instance, events.tick, events.source)
    yield events.value[events.group < 0]
    yield from (numbers.crossed, *(end for pair in inference.trace.start for end in pair), numbers.flags("given"))
    for member in run.grounding.members:
        for kept in member.kept if isinstance(member, GroupRule) else ():
            yield from (kept[variable].values for variable in kept)
    for number in sorted({number for number, _, _ in events.groups}):
        shape = inference.shape(number)
        yield shape.completes, _shape(shape.formula), tuple((len(block), *block.columns) for block in shape.blocks)
        for block in shape.blocks:
            yield from (column.values for column in (*block.columns.values(), block.group))


def _shape(formula: Formula) -> Formula:
    """The formula's structure, apart from learned numbers."""
    named = {name for names in formula.learned for name in names if name is not None}
    return replace(with_parameters(formula, dict.fromkeys(named, 1.0)), root=None, key="")
