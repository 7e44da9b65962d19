"""Mistry's single-module tasks (nalm-benchmark; Mistry, Farrahi and Hare 2022, arXiv 2110.05177): two operands, one
unit, nine ranges, each tested beyond."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.arithmetic.regression import OPERATIONS, Regression, Subsets, seeded
from benchmarks.arithmetic.samples import Samples, Uniform, span

OPS = ("add", "sub", "mul", "div")
EPSILON = 1e-4
RANGES: tuple[tuple[Uniform, Uniform], ...] = (
    (span(-20, -10), span(-40, -20)),
    (span(-2, -1), span(-6, -2)),
    (span(-1.2, -1.1), span(-6.1, -1.2)),
    (span(-0.2, -0.1), span(-2, -0.2)),
    (span(-2, 2), Uniform(((-6, -2), (2, 6)))),
    (span(0.1, 0.2), span(0.2, 2)),
    (span(1, 2), span(2, 6)),
    (span(1.1, 1.2), span(1.2, 6)),
    (span(10, 20), span(20, 40)),
)


def regressions() -> Iterator[Regression]:
    for op in OPS:
        for inside, outside in RANGES:
            ((low, high),) = inside.spans
            published = "NMRU 91.6 %, all ranges" if op == "div" else ""
            setting = f"[{low:g}, {high:g}]"
            bound = _bound(op, outside)
            yield Regression("single", op, setting, 2, Subsets(1, 1, 0), inside, outside, bound, published=published)


def _bound(op: str, outside: Samples) -> float:
    """The mean square error of the benchmark's threshold models: products and quotients of operands with weights
    `EPSILON` off, sums less `EPSILON` times the sizes of both."""
    x = outside.draw(1, 20_000, 2, seeded("threshold", op))[0]
    a, b = x.unbind(-1)
    right = OPERATIONS[op](a, b)
    if op == "mul":
        wrong = (1 - EPSILON) ** 2 * right
    elif op == "div":
        wrong = (1 - EPSILON) / (1 + EPSILON) * right
    else:
        wrong = right - EPSILON * (a.abs() + b.abs())
    return float((wrong - right).square().mean())
