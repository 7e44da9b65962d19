"""Inference that is stopped, by its watch, a limit of rounds or of time, leaves the bounds that a whole one had then:
after the first completion was cut off, what is known of the strata that were not reached is left open."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import lnnkit
from lnnkit.engine import inference, rounds
from lnnkit.engine.inference_run import RoundReport, Run
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import DEFAULT, Relation, RowNumbers
from lnnkit.time_limit import TimedOut
from lnnkit.trail.events import Kind
from tests.blocks import at_length
from tests.engine.every_round import rows_of
from tests.engine.test_every_round import KINDS, cut

Ends = dict[tuple[str, tuple[int, ...]], tuple[float, float]]


def bounds_of(table: Relation) -> dict[tuple[int, ...], tuple[float, float]]:
    lower, upper = (end.tolist() for end in table.bounds)
    return {entities: (lower[row], upper[row]) for entities, row in rows_of(table).items()}


def ends_of(run: Run) -> Ends:
    """The bounds of all atoms."""
    return {
        (name, entities): pair
        for name, table in run.grounding.atoms.tables.items()
        for entities, pair in bounds_of(table).items()
    }


@dataclass
class Round:
    """What is so after a round."""

    report: RoundReport
    ends: Ends
    rounds: int


class Watching:
    """Keeps every round of an inference, and stops after the one at ``stop``."""

    def __init__(self, stop: int = -1) -> None:
        self.run: Run | None = None
        self.rounds: list[Round] = []
        self._stop = stop

    def settle(self, run: Run, *args: Any, settle: Callable[..., None]) -> None:
        self.run = run
        settle(run, *args)

    def after_round(self, report: RoundReport, /) -> bool:
        assert self.run is not None
        assert report.atoms == sum(len(table) for table in self.run.grounding.atoms.tables.values())
        assert report.instances == self.run.progress.instances
        self.rounds.append(Round(report, ends_of(self.run), self.run.progress.rounds))
        return len(self.rounds) - 1 != self._stop


def inferred(text: str, *, stop: int = -1, limit: int = 100_000) -> Watching:
    watching = Watching(stop)
    settle = inference._settle
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "_settle", lambda *args: watching.settle(*args, settle=settle))
        lnnkit.loads(text).infer(watch=watching, max_rounds=limit)
    assert watching.run is not None
    return watching


def replayed(run: Run) -> None:
    """The events, applied one after another, give the bounds; and the last that something set is the setter."""
    numbers = RowNumbers(run.grounding.atoms)
    ends = Bounds(*(end.copy() for end in numbers.ends([table.default for table in numbers.tables])))
    derived = [number for number, table in enumerate(numbers.tables) if table.derived]
    for table in numbers.tables:
        for side, stated in enumerate(table.loaded_bounds):
            first = numbers.starts[table.number] + 3
            ends[side][first : first + table.loaded] = stated[: table.loaded]
    events = run.state.trail.events(numbers)
    setters: dict[tuple[int, int], tuple[int, int, int]] = {}
    stops = [*events.start.tolist(), len(events.row)][1:]
    for place, (start, stop) in enumerate(zip(events.start.tolist(), stops, strict=True)):
        side, row = int(events.side[place]), events.row[start:stop]
        ends[side][row] = events.value[start:stop]
        if events.kind[place] in (Kind.SENT, Kind.STATED, Kind.RESET):
            for at, number in enumerate(row.tolist(), start):
                setters[side, number] = int(events.shape[place]), int(events.leaf[place]), int(events.instance[at])
    assert (events.tick[1:] >= events.tick[:-1]).all()
    for number, table in enumerate(numbers.tables):
        rows = slice(numbers.starts[number] + 3, numbers.starts[number + 1])
        for side in (0, 1) if number and number not in derived else ():
            assert ends[side][rows].tolist() == table.end(side).tolist()
    for side in (0, 1):
        last = run.state.trail.setters(side, numbers)
        known = {
            (side, row): (int(last.shape[row]), int(last.leaf[row]), int(last.instance[row]))
            for row in range(numbers.count)
            if last.shape[row] != -1
        }
        assert known == {key: setter for key, setter in setters.items() if key[0] == side and setter[0] != -1}


def opened(run: Run, before: Ends, start: Ends) -> None:
    """What a first completion that was stopped leaves: of strata that were completed the bounds ``before``, of others
    what was reached below."""
    names = [names for names, _ in run.strata]
    left = [stratum for stratum in names if stratum <= run.unfinished]
    assert left and left == names[-len(left) :] and run.unfinished == frozenset().union(*left)
    graph = run.plan.lifted.graph
    for (name, entities), pair in ends_of(run).items():
        table = run.grounding.atoms.tables[name]
        row = np.array([rows_of(table)[entities]])
        given = bool(table.flags("given").take(row)) and not table.derived
        if name in run.unfinished and not given and not table.held(row):
            side = table.completed_side
            assert pair[side] == table.unknown[side]
            reached = before[name, entities][1 - side]
            assert pair[1 - side] == reached or table.derived
        elif name in graph.nodes and graph.nodes[name]["shared"] and name not in run.plan.shared.impossible:
            data = graph.nodes[name]
            assert pair == (min(data["lower"], data["upper"]), max(data["lower"], data["upper"])) or table.held(row)
        else:
            assert pair == before.get((name, entities), table.default)
    for name in run.unfinished:
        table = run.grounding.atoms.tables[name]
        assert table.default == table.unknown == tuple(table.take(side, np.array([DEFAULT])).item() for side in (0, 1))


def compared(text: str, seed: int) -> int:
    """Stops an inference here and there; returns how often."""
    rng, whole = random.Random(seed), inferred(text)
    assert whole.run is not None
    replayed(whole.run)
    stages = [each.report.stage for each in whole.rounds]
    first = stages.index("inference") if "inference" in stages else len(stages)
    counts = [each.report.rounds for each in whole.rounds]
    for place, count in enumerate(counts):
        fresh = stages[place] == "completion" and (place == 0 or count == 1)
        within = [number for number in range(place) if stages[number] == stages[place]]
        assert count == (1 if fresh or not within else counts[within[-1]] + 1)
    for stop in rng.sample(range(len(stages)), min(2, len(stages))):
        stopped = inferred(text, stop=stop)
        run = stopped.run
        assert run is not None and run.progress.status.value == "interrupted"
        assert [each.ends for each in stopped.rounds] == [each.ends for each in whole.rounds[: stop + 1]]
        assert run.progress.rounds == whole.rounds[stop].rounds
        if stages[stop] == "inference":
            assert ends_of(run) == whole.rounds[stop].ends and not run.unfinished
        elif stop < first:
            opened(run, whole.rounds[stop].ends, {})
        else:  # the stratum is as it was; those before it are completed
            assert not run.unfinished
            last = max(place for place in range(stop) if stages[place] == "inference")
            for key, pair in ends_of(run).items():
                table = run.grounding.atoms.tables[key[0]]
                was, now = whole.rounds[last].ends.get(key, table.default), whole.rounds[stop].ends[key]
                assert pair in (was, now)
    return len(stages)


@pytest.mark.parametrize("seed", at_length([*range(3)], plain=1))
@pytest.mark.parametrize("kind", KINDS)
def test_stopped_by_a_watch(kind: str, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        cut(patch, random.Random(seed))
        compared(KINDS[kind](seed + 20), seed)


@pytest.mark.parametrize("kind", KINDS)
def test_stopped_by_a_limit(kind: str) -> None:
    """A limit counts rounds of inference that change something, and lets those of completions be."""
    text = KINDS[kind](31)
    whole = inferred(text)
    assert whole.run is not None
    last = {each.rounds: each.ends for each in whole.rounds if each.report.stage == "inference"}
    most = whole.run.progress.rounds
    for limit in sorted({0, 1, most // 2, max(most - 1, 0), most}):
        run = inferred(text, limit=limit).run
        assert run is not None
        if limit >= most:
            assert run.progress.status == whole.run.progress.status
            assert ends_of(run) == ends_of(whole.run)
        else:
            assert run.progress.status.value == "round_limit" and run.progress.rounds == limit
            for key, pair in last.get(limit, {}).items():
                assert ends_of(run)[key] == pair


@pytest.mark.parametrize("kind", ["small", "recursive", "degrees"])
def test_stopped_by_time(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a round had proposed when the time was up is dropped."""
    text = KINDS[kind](32)
    whole, left = inferred(text), 5

    def check_time() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise TimedOut

    monkeypatch.setattr(rounds, "check_time", check_time)
    stopped = inferred(text)
    assert stopped.run is not None and stopped.run.progress.status.value == "interrupted"
    count = len(stopped.rounds)
    assert [each.ends for each in stopped.rounds] == [each.ends for each in whole.rounds[:count]]
    if count and whole.rounds[count - 1].report.stage == "inference":
        now, then = ends_of(stopped.run), whole.rounds[count - 1].ends
        assert all(now[key] == pair for key, pair in then.items())
