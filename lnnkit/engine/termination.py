"""Termination: a watch that is told of each round, and slow convergence.

A round is *slow* if it adds no atoms, arrests nothing, moves only bounds that have moved before, and each of them by
less than ``_STEP``. What goes down a chain moves each bound once; only a cycle moves the same bounds again and again.
Bounds are sound after every round, so giving up loses tightness only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from lnnkit.engine.bounds_state import no_rows
from lnnkit.engine.inference_run import Run
from lnnkit.engine.merge import Rows
from lnnkit.store.relations import Relation, RowNumbers
from lnnkit.store.row_arrays import Array, Growing, spelled_out

Stage = Literal["completion", "inference"]


@dataclass(frozen=True, slots=True)
class RoundReport:
    """The progress after a round: the rounds of its ``stage`` so far (of one stratum, in completion), the number of
    materialised atoms, and of evaluated instances."""

    stage: Stage
    rounds: int
    atoms: int
    instances: int


class Watch(Protocol):
    """Is called after every round, while the state is consistent."""

    def after_round(self, report: RoundReport, /) -> bool:
        """Whether to continue. If not, inference ends as interrupted, with sound bounds."""
        ...


def goes_on(watch: Watch | None, run: Run, stage: Stage, rounds: int) -> bool:
    """Report a round and return whether to continue; without a watch, nothing is counted."""
    if watch is None:
        return True
    return watch.after_round(RoundReport(stage, rounds, len(run.grounding.atoms), run.progress.instances))


_STEP = 1e-2  # a round that moves a bound further makes progress: each bound can be moved so far 100 times at most
# Gains are compared over so many rounds: a multiple of the lengths of most short cycles, so in the same phase. Those
# that halve (a ratio of 0.9904 a round, or less) fall from _STEP to rounding (1e-12) in 2,400 rounds: then bounds are
# within 2e-10 of their limit.
_WINDOW = 72
# Where gains halve more slowly, it stops below this one. The rest of the patience would move a bound by 3e-4 at most.
_GAIN = 1e-7
# So many slow rounds at most: enough for the 2,400. A program of a few rules makes 500 to 2,000 rounds a second.
_PATIENCE = 2500


class Pace:
    """The gains of consecutive rounds."""

    def __init__(self) -> None:
        self._gains: deque[float] = deque(maxlen=_WINDOW + 1)  # the gains of the slow rounds since the last other one
        self._slow_rounds = 0
        self._known = _Marks()
        self._unmarked: list[Sequence[Rows]] = []  # rows that moved in rounds that could not be slow
        self._slow = _Marks()

    def note(self, gain: float, moved: Sequence[Rows], *, settled: bool) -> None:
        """A round ``moved`` rows on their lower and upper sides, some bound by ``gain`` and none by more; ``settled``
        if no atoms were added and none contradicted."""
        self._unmarked.append(moved)
        if settled and gain < _STEP and self._moved_before():
            self._gains.append(gain)
            self._slow_rounds += 1
            self._slow.mark(moved)
        elif self._slow_rounds:
            self._gains.clear()
            self._slow_rounds = 0
            self._slow = _Marks()

    def _moved_before(self) -> bool:
        """Whether all rows of the last round have moved before. Rows that moved since the last call are marked, so a
        chain of a thousand rounds, none of which can be slow, is marked once."""
        *before, last = self._unmarked
        for moved in before:
            self._known.mark(moved)
        self._unmarked.clear()
        return self._known.mark(last)

    @property
    def creeps(self) -> bool:
        """Whether convergence is too slow to continue."""
        gains = self._gains
        hopeless = len(gains) > _WINDOW and gains[-1] < _GAIN and gains[-1] > gains[0] / 2
        return hopeless or self._slow_rounds >= _PATIENCE

    @property
    def slow(self) -> list[tuple[Relation, int, Array]]:
        """The rows that slow rounds have moved since the last round that was not slow, by relation and side."""
        return [(table, side, np.flatnonzero(flags.values)) for (table, side), flags in self._slow.flags.items()]


class _Marks:
    """Rows that moved, by relation and side."""

    def __init__(self) -> None:
        self.flags: dict[tuple[Relation, int], Growing] = {}

    def mark(self, moved: Sequence[Rows]) -> bool:
        """Mark rows that moved on their lower and upper sides; returns whether all were marked before."""
        known = True
        for side, by_relation in enumerate(moved):
            for table, rows in by_relation.items():
                flags = self.flags.setdefault((table, side), Growing(np.bool_)).reach(len(table))
                at = spelled_out(rows)
                known &= bool(flags.take(at).all())
                flags[at] = True
        return known


def on_cycles(run: Run, rows: Sequence[tuple[Relation, int, Array]]) -> set[int]:
    """The formulas whose instances set the bounds of ``rows`` (by relation and side) last and that are on a cycle:
    they read, directly or through others of these, what they set. All of these formulas if there is no cycle."""
    import networkx as nx  # 60 CPU milliseconds, so only for programs that creep

    graph: nx.DiGraph[object] = nx.DiGraph()
    members: set[int] = set()
    for member, target, read in _setters(run, rows):
        members.add(member)
        graph.add_edge(member, target)
        graph.add_edges_from((end, member) for end in read)
    cycles = (part for part in nx.strongly_connected_components(graph) if len(part) > 1)
    return members.intersection(*[set().union(*cycles)]) or members


End = tuple[str, int]  # the lower (0) or upper (1) ends of a table


def _setters(run: Run, rows: Sequence[tuple[Relation, int, Array]]) -> Iterator[tuple[int, End, list[End]]]:
    """Formulas that have set these bounds, each with the ends that it set and the ends that it read."""
    grounding = run.grounding
    numbers = RowNumbers(grounding.atoms)
    for side in (0, 1):
        setters = run.state.trail.setters(side, numbers)
        moved = [numbers.of(table, local) for table, end, local in rows if end == side]
        columns = np.stack([column.take(np.concatenate([no_rows(), *moved])) for column in setters])
        for number, leaf in np.unique(columns[:2], axis=1).T.tolist():
            shape = grounding.shapes[number]
            if number < 0 or leaf in shape.observed:  # a given bound, or one of a neuron that a query observes
                continue
            block = shape.formula.block_of(leaf)
            instances = columns[2, (columns[0] == number) & (columns[1] == leaf)]
            whole = [(other, (0, 1)) for other in shape.formula.leaves] if shape.completes else None
            for place in np.unique(shape.blocks[block].member.take(instances)).tolist():
                member = shape.members[place]
                formula = grounding.members[member].formula
                reads = whole or grounding.reads(number, leaf, side)
                read = [(formula.table(other), end) for other, ends in reads for end in ends]
                yield member, (formula.table(leaf), side), read
