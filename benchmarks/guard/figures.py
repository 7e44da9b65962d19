"""The figures: what is measured, and what it is to reach beside the earlier commit or by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from benchmarks.guard.measured import Measured, Seconds
from benchmarks.guard.race import Ended

MEMORY = 1.1  # of the earlier commit's peak


@dataclass(frozen=True)
class Figure:
    """The seconds of a program's ``part``, less those of another one, over those of another program of the same size:
    ``(program, part)``. ``ratio`` is to be reached against the earlier commit, ``most`` by itself: seconds, or a ratio
    where there is an ``over``; ``megabytes`` of peak memory likewise. The title names the ``size``."""

    name: str
    title: str
    program: str
    part: str
    size: int
    quick: int
    ratio: float | None = None
    most: float | None = None
    over: tuple[str, str] | None = None
    less: str | None = None
    clock: Literal["user", "both"] = "user"
    megabytes: float | None = None

    def programs(self) -> tuple[str, ...]:
        return (self.program,) if self.over is None else (self.program, self.over[0])

    def value(self, ended: Mapping[str, Ended]) -> float | None:
        """Of the runs of its programs at one size under one tree; None where one of them has no result."""
        own = self._seconds(ended[self.program], self.part)
        if own is not None and self.less is not None:
            own -= self._seconds(ended[self.program], self.less) or 0.0
        if own is None or self.over is None:
            return own
        other = self._seconds(ended[self.over[0]], self.over[1])
        return None if other is None else own / max(other, 1e-9)

    def _seconds(self, ended: Ended, part: str) -> float | None:
        if not isinstance(ended, Measured):
            return None
        found: Seconds = ended.seconds[part]
        return found.both if self.clock == "both" else found.user


def _closures() -> list[Figure]:
    titles = {"closure": "closure of a random digraph", "chain": "closure of a chain"}
    return [
        Figure(
            f"{key}{closed}-{size}",
            f"{title}, {{size:,}} nodes, path {'closed' if closed else 'open'}",
            key + closed,
            "infer",
            size,
            size // 10,
            ratio=1.1,
        )
        for key, title in titles.items()
        for closed in ("", "-closed")
        for size in (1000, 3000)
    ]


FIGURES = (
    *_closures(),
    Figure("smokers", "smokers, 1,000,000, friends closed", "smokers", "infer", 1_000_000, 20_000, ratio=1.1),
    Figure("smokers-open", "smokers, 1,000,000, friends open", "smokers-open", "infer", 1_000_000, 20_000, ratio=1.3),
    Figure("lubm", "LUBM, inferred", "lubm", "infer", 1, 1, ratio=1.1),
    Figure("lubm-whole", "LUBM, loaded, inferred, answered", "lubm", "whole", 1, 1, ratio=1.1),
    Figure("csv5m", "{size:,} edges from a CSV, again in a process", "csv5m", "infer", 5_000_000, 100_000, ratio=1.1),
    Figure(
        "csv5m-first",
        "{size:,} edges from a CSV, first use / DuckDB's create table",
        "csv-first",
        "first",
        5_000_000,
        100_000,
        most=1.7,
        over=("csv-duckdb", "create"),
    ),
    Figure("epoch", "30 epochs, {size:,} rows", "epoch", "epochs", 100_000, 10_000, ratio=1.1),
    Figure(
        "explained",
        "200 atoms of a closure of {size:,} nodes explained",
        "explanations",
        "explained",
        1000,
        200,
        ratio=1.1,
    ),
    Figure("checked", "their proofs checked", "explanations", "checked", 1000, 200, ratio=1.1),
    Figure("generation-1000", "same generation, {size:,} nodes", "generation", "infer", 1000, 300, ratio=1.2),
    Figure("generation", "same generation, {size:,} nodes", "generation", "infer", 10_000, 1000, ratio=1.2),
    Figure("held", "a group over {size:,} rows", "held", "infer", 100_000, 10_000, ratio=0.7),
    Figure("run", "lnnkit run of the smokers", "run-smokers", "run", 1, 1, ratio=0.4, clock="both"),
    Figure(
        "run-imports",
        "lnnkit run of the smokers / importing numpy, pyarrow, lark",
        "run-smokers",
        "run",
        1,
        1,
        most=2.5,
        over=("imports", "run"),
        clock="both",
    ),
    Figure("rules", "{size:,} rules loaded, inferred", "propositions", "loaded, inferred", 1000, 200, ratio=0.8 / 1.9),
    Figure(
        "ground-queries", "{size:,} ground queries answered", "propositions", "answered", 1000, 200, ratio=0.2 / 0.9
    ),
    Figure("first", "a first inference, over a second", "first-inference", "first", 1, 1, most=0.06, less="second"),
    Figure(
        "chain-exists",
        "a chain of {size:,} links under exists / plain",
        "chain-exists",
        "infer",
        1600,
        200,
        most=3.0,
        over=("chain-plain", "infer"),
    ),
    Figure(
        "one-exists-twice",
        "two rules with one exists over {size:,} facts",
        "one-exists-twice",
        "infer",
        20_000,
        2000,
        most=0.5,
    ),
    Figure("nodes", "leaf, root and inner nodes of {size:,} edges", "nodes", "infer", 30_000, 2000, most=0.5),
    Figure("ten", "{size:,} rows of ten degrees, whole", "table", "whole", 1_000_000, 100_000, ratio=1.5),
    Figure("ten-inferred", "{size:,} rows of ten degrees, inferred", "table", "infer", 1_000_000, 100_000, ratio=1.5),
    Figure(
        "ten-million",
        "{size:,} rows of ten degrees, whole",
        "table",
        "whole",
        10_000_000,
        100_000,
        ratio=1.5,
        megabytes=2500,
    ),
    Figure("eligible", "{size:,} rows of Eligible, whole", "eligible", "whole", 1_000_000, 100_000, ratio=1.5),
    Figure("score", "lnnkit score, {size:,} rows of ten", "score-ten", "run", 2_000_000, 100_000, ratio=1.5),
    Figure(
        "score-eligible",
        "lnnkit score, {size:,} rows of Eligible",
        "score-eligible",
        "run",
        2_000_000,
        100_000,
        ratio=1.5,
    ),
    Figure("batch", "{size} batches of 1,000 rows", "batch", "batches", 100, 20, ratio=1.5),
)
