"""Whether the engines say the same: every check of a result against the known answers, or those of the first engine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from benchmarks.relational.engines import ENGINES
from benchmarks.relational.race import Result
from benchmarks.relational.workloads import WORKLOADS

FIRST = ("numpy", "duckdb", "pyarrow", "lnnkit")  # whose word is taken where nothing is published
PRIVATE = frozenset({"rounds", "instances", "satisfied"})  # what engines count of themselves
COUNTS = frozenset({"answers", "rows", "distinct", "contradictions"})
SUMS = 1e-6  # the relative difference that rounding makes in the sums of an exact engine
PUBLISHED = 1e-4  # published sums are rounded


@dataclass(frozen=True)
class Difference:
    """``said`` is not what ``source`` says of ``check``; ``known`` where that is how the engine is known to be."""

    workload: str
    size: int
    engine: str
    check: str
    said: float
    expected: float
    source: str
    known: bool

    def __str__(self) -> str:
        found = f"{self.check} {self.said:,.10g}, but {self.source} says {self.expected:,.10g}"
        return f"{self.workload} {self.size:,}: {self.engine} has {found}"


def differences(results: Iterable[Result]) -> Iterator[Difference]:
    """Where finished runs of one size differ beyond the engines' tolerances."""
    done = [result for result in results if result.state == "done"]
    for (workload, size), group in groupby(sorted(done, key=_place), key=_place):
        yield from _at_one_size(workload, size, list(group))


def _place(result: Result) -> tuple[str, int]:
    return result.workload, result.size


def _at_one_size(workload: str, size: int, results: Sequence[Result]) -> Iterator[Difference]:
    expected: dict[str, tuple[float, str, float]] = {}
    for check, value in WORKLOADS[workload].known.get(size, {}).items():
        expected[check] = value, "the published figure", PUBLISHED
    rank = {name: place for place, name in enumerate(FIRST)}
    trusted = [result for result in results if not ENGINES[result.engine].astray]
    for result in sorted(trusted, key=lambda r: rank.get(r.engine, len(rank))):
        for check, value in result.checks.items():
            expected.setdefault(check, (value, result.engine, 0.0))
    for result in results:
        engine = ENGINES[result.engine]
        for check, said in result.checks.items():
            if check in PRIVATE or check not in expected:
                continue
            value, source, slack = expected[check]
            tolerance = engine.off if check in COUNTS else max(engine.off, slack, SUMS)
            if not math.isclose(said, value, rel_tol=tolerance, abs_tol=0 if check in COUNTS else SUMS):
                yield Difference(workload, size, result.engine, check, said, value, source, engine.astray)
