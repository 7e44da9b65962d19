"""Madsen and Johansen's arithmetic tasks (2020, arXiv 2001.05016): an operation on the sums of two subsets of 100
operands, tested beyond the range that it is learned on, and the small one, ``(x0 + x1) op (x0 + x1 + x2 + x3)``.

Beside the published range there are operands of both signs, and targets with noise of 1 % of their standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.arithmetic.regression import Regression, Subsets
from benchmarks.arithmetic.samples import Samples, Uniform, span

OPS = ("add", "sub", "mul", "div", "sqrt", "square")
EPSILON = 1e-5
HUNDRED, FOUR = Subsets(25, 25, 12, "anywhere"), Subsets(2, 4, 2)
INSIDE, OUTSIDE = span(1, 2), span(2, 6)
BOTH_INSIDE, BOTH_OUTSIDE = span(-2, 2), Uniform(((-6, -2), (2, 6)))
PUBLISHED = {
    "add": "NAU 100 %, 1.8e4 steps",
    "sub": "NAU 100 %, 5.0e3 steps",
    "mul": "NMU 98 %, 1.4e6 steps",
    "div": "0 % of every model",
    "sqrt": "NAC* 7 %",
    "square": "NMU 100 %, 1.2e6 steps",
}


def regressions() -> Iterator[Regression]:
    for op in OPS:
        plain = _regression(op, "100", HUNDRED, 100, INSIDE, OUTSIDE, PUBLISHED[op])
        yield plain
        yield replace(plain, setting="100, noise", noise=0.01, published="")
        if op != "sqrt":  # sums below 0 have no root
            yield _regression(op, "100, both signs", HUNDRED, 100, BOTH_INSIDE, BOTH_OUTSIDE)
        published = "NMU 94 %, 1.4e4 steps" if op == "mul" else ""
        yield _regression(op, "4", FOUR, 4, INSIDE, OUTSIDE, published)


def _regression(
    op: str, setting: str, subsets: Subsets, features: int, inside: Samples, outside: Samples, published: str = ""
) -> Regression:
    samples = inside, outside
    return Regression("madsen", op, setting, features, subsets, *samples, off=EPSILON, published=published)
