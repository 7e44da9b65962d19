"""Records joins as they are made, with the sizes of their results, for the query plan."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from lnnkit.analysis.needs import Literal, Needs, Range
from lnnkit.formula.unfolding import Formula


class Ranged(NamedTuple):
    """A literal of which a sorted index finds the rows, by the numbers that ``ranges`` leave."""

    literal: Literal
    ranges: tuple[Range, ...]


Reads = Literal | Ranged | int


class JoinStep(NamedTuple):
    """``rows`` of what the step ``reads``, joined with the result of the steps before, give ``out`` rows (None: not
    executed, since the result was empty already).

    It reads a literal, by ranges or not, or the domain of a variable (an int).
    """

    reads: Reads
    rows: int
    out: int | None


@dataclass(slots=True, eq=False)
class Joined:
    """The same steps, executed ``times`` times. Row counts are sums over the executions that reached the step (if none
    did, they are those of the last time)."""

    steps: list[JoinStep]
    times: int = 1

    def add(self, steps: Sequence[JoinStep], times: int = 1) -> None:
        self.times += times
        self.steps = [_sum(one, two) for one, two in zip(self.steps, steps, strict=True)]

    @property
    def reached(self) -> tuple[Reads, ...]:
        """The literals read before the result was empty."""
        return tuple(step.reads for step in self.steps if step.out is not None)


class Entered(NamedTuple):
    """A formula, and what it must join for a ``purpose``: the first bounds of a shared neuron, the completion of a
    stratum, or inference by rounds."""

    formula: Formula
    needs: Needs
    purpose: str


@dataclass(slots=True, eq=False)
class Recorder:
    """Receives every formula of a grounding, in order, then those of first bounds, and every join that finds instances
    of one, or the rows of its quantifiers.

    ``number`` identifies a need of the formula. ``seconds`` of the CPU and ``proposals`` are by formula.
    """

    entered: list[Entered] = field(default_factory=list)
    joins: dict[tuple[int, int], dict[tuple[Reads, ...], Joined]] = field(default_factory=dict)
    seconds: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    proposals: Counter[int] = field(default_factory=Counter)
    started: float = field(default_factory=time.process_time)
    _running: _Running | None = None

    @property
    def elapsed(self) -> float:
        """The seconds of the CPU since it was made."""
        return time.process_time() - self.started

    def enter(self, formula: Formula, needs: Needs, purpose: str) -> int:
        self.entered.append(Entered(formula, needs, purpose))
        return len(self.entered) - 1

    def joined(self, member: int, number: int, steps: Sequence[JoinStep]) -> None:
        by_reads = self.joins.setdefault((member, number), {})
        key: tuple[Reads, ...] = tuple(step.reads for step in steps)
        if key in by_reads:
            by_reads[key].add(steps)
        else:
            by_reads[key] = Joined(list(steps))

    @contextmanager
    def measured(self, member: int, inbox: Sized) -> Iterator[None]:
        """A context in which a formula takes time and adds proposals to an inbox."""
        start, before = time.process_time(), len(inbox)
        yield
        self.seconds[member] += time.process_time() - start
        self.proposals[member] += len(inbox) - before

    def begin(self, member: int, number: int, rest: Mapping[Literal, int]) -> None:
        """Start of a join that is made part by part; ``rest`` are the literals after its first, with their row counts.
        Joins are not nested."""
        self._finish()
        self._running = _Running(member, number, rest)

    def stepped(self, path: tuple[Reads, ...], rows: int, out: int) -> None:
        """One step, for one part: the literals read so far, the rows of the last one, and the size of the result."""
        assert self._running is not None
        step = self._running.steps.get(path)
        self._running.steps[path] = JoinStep(path[-1], rows, out + (step.out or 0 if step is not None else 0))

    def made(self, member: int, number: int) -> list[Joined] | None:
        """The joins that were made for a need. One that ended early is counted with one that began in the same way."""
        self._finish()
        merged: list[Joined] = []
        every = self.joins.get((member, number))
        if every is None:
            return None
        for join in sorted(every.values(), key=lambda join: -len(join.reached)):
            reached = join.reached
            for other in merged:
                if other.reached[: len(reached)] == reached and {s.reads for s in join.steps} <= {
                    s.reads for s in other.steps
                }:
                    left = [JoinStep(s.reads, s.rows, None) for s in other.steps[len(reached) :]]
                    other.add([*join.steps[: len(reached)], *left], join.times)
                    break
            else:
                merged.append(Joined(list(join.steps), join.times))
        return merged

    def _finish(self) -> None:
        if self._running is not None:
            for steps in self._running.joins():
                self.joined(self._running.member, self._running.number, steps)
        self._running = None


@dataclass(slots=True, eq=False)
class _Running:
    """A join in progress, part by part; parts may differ in their order of literals."""

    member: int
    number: int
    rest: Mapping[Literal, int]
    steps: dict[tuple[Reads, ...], JoinStep] = field(default_factory=dict)

    def joins(self) -> list[list[JoinStep]]:
        """The steps of each order; steps that no part reached come last."""
        paths = list(self.steps)
        ends = [path for path in paths if not any(o[: len(path)] == path for o in paths if len(o) > len(path))]
        return [
            [
                *(self.steps[path[:length]] for length in range(1, len(path) + 1)),
                *(JoinStep(literal, rows, None) for literal, rows in self.rest.items() if literal not in known),
            ]
            for path in ends
            for known in [{reads.literal if isinstance(reads, Ranged) else reads for reads in path}]
        ]


def _sum(one: JoinStep, other: JoinStep) -> JoinStep:
    if one.out is None or other.out is None:
        return one if other.out is None and one.out is not None else other
    return JoinStep(one.reads, one.rows + other.rows, one.out + other.out)
