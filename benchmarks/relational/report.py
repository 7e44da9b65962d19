"""The tables that a person reads, and the object that ``--format json`` prints."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from benchmarks.relational.agreement import Difference
from benchmarks.relational.engines import ENGINES
from benchmarks.relational.race import Result
from benchmarks.relational.targets import OWN, Verdict
from benchmarks.relational.workloads import WORKLOADS

HEAD = (
    "",
    "engine",
    "CPU s",
    "wall s",
    "lnnkit / it",
    "whole s",
    "lnnkit / it",
    "peak MB",
    "lnnkit / it",
    "answers",
    "",
)


def text(
    results: Sequence[Result], differing: Sequence[Difference], verdicts: Sequence[Verdict], engines: Iterable[str]
) -> Iterator[str]:
    """Line by line: the machine, a table for each workload with its targets, what differs."""
    yield from _machine(engines)
    for key, group in groupby(results, key=lambda result: result.workload):
        workload = WORKLOADS[key]
        yield f"\n{workload.group} {workload.title} ({workload.unit}) [{key}]"
        rows: list[tuple[str, ...]] = [HEAD]
        for _, same in groupby(group, key=lambda result: result.size):
            rows += _rows(list(same), differing)
        yield from _table(rows)
        yield from (f"  {_verdict(verdict)}" for verdict in verdicts if verdict.target.workload == key)
    unknown = [difference for difference in differing if not difference.known]
    if unknown:
        yield "\n*** THE ENGINES DO NOT AGREE ***"
        yield from (f"  {difference}" for difference in unknown)


def as_object(
    results: Sequence[Result], differing: Sequence[Difference], verdicts: Sequence[Verdict], engines: Iterable[str]
) -> dict[str, object]:
    return {
        "engines": {name: ENGINES[name].version() for name in engines},
        "results": [vars(result) for result in results],
        "targets": [
            {
                "workload": verdict.target.workload,
                "size": verdict.target.size,
                "target": verdict.target.text,
                "figure": verdict.figure,
                "reached": verdict.reached,
            }
            for verdict in verdicts
        ],
        "differences": [vars(difference) for difference in differing],
    }


def _machine(engines: Iterable[str]) -> Iterator[str]:
    yield f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; one thread each"
    for name in engines:
        said = f" ({ENGINES[name].said})" if ENGINES[name].said else ""
        yield f"  {name} {ENGINES[name].version() or 'not installed'}{said}"


def _rows(results: Sequence[Result], differing: Sequence[Difference]) -> Iterator[tuple[str, ...]]:
    own = next((result for result in results if result.engine == OWN and result.state == "done"), None)
    for result in results:
        size = f"{result.size:,}" if result is results[0] else ""
        if result.state != "done":
            yield (size, result.engine, *[""] * 8, f"{result.state} {result.note}".strip())
            continue
        said = [d for d in differing if (d.workload, d.size, d.engine) == _key(result)]
        mark = "" if not said else "differs, as known" if all(d.known for d in said) else "DIFFERS"
        peer = own is not None and result is not own
        yield (
            size,
            result.engine,
            seconds(result.cpu),
            seconds(result.wall),
            _ratio(own.cpu, result.cpu) if own and peer else "",
            seconds(result.whole),
            _ratio(own.whole, result.whole) if own and peer else "",
            f"{result.peak:,.0f}",
            _ratio(own.peak, result.peak) if own and peer else "",
            answers(result.checks),
            mark,
        )


def _ratio(own: float, other: float) -> str:
    return f"{own / other:.2f}" if other else ""


def _key(result: Result) -> tuple[str, int, str]:
    return result.workload, result.size, result.engine


def seconds(value: float) -> str:
    """Three digits that matter."""
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 1 else f"{value:.2f}"


def answers(checks: Mapping[str, float]) -> str:
    """How many answers, and the sum of their lower bounds where that says more."""
    count = next((f"{checks[name]:,.0f}" for name in ("answers", "rows", "distinct") if name in checks), "")
    lower = checks.get("lower")
    if lower is not None and lower != checks.get("answers"):
        return f"{count} (sum {lower:,.1f})".strip()
    return count or ", ".join(f"{name} {value:.3f}" for name, value in checks.items())


def _verdict(verdict: Verdict) -> str:
    target = verdict.target
    if verdict.figure is None:
        found = "not measured"
    else:
        found = f"{verdict.figure:,.2f} {target.unit}: {'reached' if verdict.reached else 'NOT REACHED'}"
    return f"target at {target.size:,}: {target.text}: {found}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = {1, len(widths) - 1}
    for row in rows:
        cells = (
            f"{cell:<{width}}" if i in left else f"{cell:>{width}}"
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield ("  " + "  ".join(cells)).rstrip()
