"""Heim, Pevny and Smidl's tasks (2020, arXiv 2006.01681): four functions of two operands (their table A2), and
operations on sums of 50 of 100 operands (their tables A5 and A6).

A seed counts as solved where its error is below the best published one.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.arithmetic.regression import Regression, Subsets
from benchmarks.arithmetic.samples import Grid, Sobol, span

SIMPLE = {
    "add": (0.08, "RealNPU .08"),
    "mul": (0.005, "NMU .005"),
    "div": (0.085, "RealNPU .085"),
    "sqrt": (0.004, "RealNPU .004"),
}
LARGE = {
    "add": (0.00602, "NMU .006", (-1, 1), (-5, 5)),
    "mul": (1.7, "NMU 1.7", (-1, 1), (-5, 5)),
    "reciprocal": (1e-7, "NPU 1e-7", (0, 0.5), (-2, 2.5)),
    "sqrt": (0.017, "RealNPU .017", (0, 2), (0, 6)),
}


def regressions() -> Iterator[Regression]:
    two, hundred = Subsets(1, 1, 0), Subsets(50, 50, 12)
    for op, (bound, published) in SIMPLE.items():
        grid = Grid(0.1, 4, 0.1) if op == "sqrt" else Grid(-4.1, 4, 0.2)
        yield Regression("heim", op, "simple", 2, two, span(0.1, 2.1), grid, bound, measure="size", published=published)
    for op, (bound, published, inside, outside) in LARGE.items():
        samples = Sobol(*inside), span(*outside)
        yield Regression("heim", op, "100", 100, hundred, *samples, bound, published=published)
