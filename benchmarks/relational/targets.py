"""What is asked of lnnkit, and whether a race reached it. Ratios are of CPU seconds of one run of the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from benchmarks.relational.race import Result

Results = Mapping[tuple[str, int, str], Result]
OWN = "lnnkit"


@dataclass(frozen=True)
class Target:
    """``measured`` gives the figure to hold against ``at_most``, or None where what it needs was not run."""

    workload: str
    size: int
    text: str
    at_most: float
    unit: str
    measured: Callable[[Results], float | None]


@dataclass(frozen=True)
class Verdict:
    target: Target
    figure: float | None

    @property
    def reached(self) -> bool | None:
        return None if self.figure is None else self.figure <= self.target.at_most


def verdicts(results: Iterable[Result]) -> list[Verdict]:
    """The targets of the workloads that were run, in order."""
    found: Results = {(r.workload, r.size, r.engine): r for r in results}
    run = {(workload, size) for workload, size, engine in found if engine == OWN}
    return [Verdict(target, target.measured(found)) for target in TARGETS if (target.workload, target.size) in run]


def _cpu(results: Results, workload: str, size: int, engine: str) -> float | None:
    result = results.get((workload, size, engine))
    return result.cpu if result is not None and result.state == "done" else None


def _against(workload: str, size: int, peer: str, at_most: float) -> Target:
    def measured(results: Results) -> float | None:
        own, other = _cpu(results, workload, size, OWN), _cpu(results, workload, size, peer)
        return own / other if own is not None and other else None

    return Target(workload, size, f"CPU seconds, at most {at_most:g} x {peer}", at_most, "x", measured)


def _whole(workload: str, size: int, peer: str, at_most: float) -> Target:
    """Of what a user waits for, against a peer's inference: the data told, inference, the answers."""

    def measured(results: Results) -> float | None:
        own, other = results.get((workload, size, OWN)), _cpu(results, workload, size, peer)
        return own.whole / other if own is not None and own.state == "done" and other else None

    return Target(
        workload, size, f"CPU seconds, data and answers included, at most {at_most:g} x {peer}", at_most, "x", measured
    )


def _memory(workload: str, size: int, megabytes: float) -> Target:
    def measured(results: Results) -> float | None:
        result = results.get((workload, size, OWN))
        return result.peak if result is not None and result.state == "done" else None

    return Target(workload, size, f"peak memory under {megabytes:,.0f} MB", megabytes, "MB", measured)


def _against_own(workload: str, size: int, other: str, at_most: float) -> Target:
    def measured(results: Results) -> float | None:
        one, two = _cpu(results, workload, size, OWN), _cpu(results, other, size, OWN)
        return one / two if one is not None and two else None

    return Target(workload, size, f"CPU seconds, at most {at_most:g} x {other}", at_most, "x", measured)


def _linear(workload: str, size: int, least: int, at_most: float) -> Target:
    """Seconds per unit of size, against a smaller size."""

    def measured(results: Results) -> float | None:
        large, small = _cpu(results, workload, size, OWN), _cpu(results, workload, least, OWN)
        return large / size / (small / least) if large is not None and small else None

    return Target(
        workload, size, f"CPU seconds per unit, at most {at_most:g} x those at {least:,}", at_most, "x", measured
    )


def _within(workload: str, size: int, milliseconds: float) -> Target:
    def measured(results: Results) -> float | None:
        seconds = _cpu(results, workload, size, OWN)
        return None if seconds is None else 1000 * seconds

    return Target(workload, size, f"within {milliseconds:g} ms of CPU", milliseconds, "ms", measured)


TARGETS = (
    _against("closure", 3000, "duckdb", 1),
    _memory("closure", 3000, 2048),
    _against("chain", 1000, "duckdb", 5),
    _against("chain", 3000, "duckdb", 5),
    _against("smokers", 1_000_000, "duckdb", 0.5),
    _against_own("smokers-open", 1_000_000, "smokers", 2),
    _against_own("closure-closed", 1000, "closure", 1.3),
    _against_own("chain-closed", 1000, "chain", 1.3),
    _whole("table", 1_000_000, "numpy", 15),
    _within("held", 100_000, 1000),
    _whole("table", 10_000_000, "numpy", 15),
    _whole("eligible", 1_000_000, "numpy", 45),
    _whole("watch", 1_000_000, "duckdb", 4),
    _whole("windows", 100_000, "duckdb", 6),
    _against("paths", 100_000, "numpy", 5),
    _against("generation", 10_000, "duckdb", 1),
    _linear("ontology", 210, 1, 1),
    _linear("ontology", 210, 21, 1.2),
    _against("csv", 1_000_000, "pyarrow", 2),
    _against("csv5m", 5_000_000, "duckdb", 2),
    _within("ibm-smokers", 100, 20),
    _within("ibm-chain", 15, 20),
    _within("ibm-table", 10_000, 20),
)
