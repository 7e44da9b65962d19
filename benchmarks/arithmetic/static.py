"""Trask and others' static task (2018, arXiv 1808.00508, table 1): six operations on the sums of two random subsets of
100 operands, inside and outside of the range that they are learned on.

The paper scores 100 times the error, divided by that of an untrained model; beside that a seed counts as solved by the
absolute criterion of ``madsen``. The paper leaves ranges and sizes of subsets open; here they are those of ``madsen``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.arithmetic import madsen
from benchmarks.arithmetic.outcome import Outcome
from benchmarks.arithmetic.regression import Regression, Subsets, seeded
from lnnkit.numeric import NALU

OPS = ("add", "sub", "mul", "div", "square", "sqrt")
SUBSETS = Subsets(25, 25, 12, "scattered")
PUBLISHED = {
    "add": "NALU 0 and 0",
    "sub": "NALU 0 and 0",
    "mul": "NALU 0 and 0",
    "div": "NALU 5.3 and .7",
    "square": "NALU 0 and 0",
    "sqrt": "NALU 0 and 0",
}


def regressions() -> Iterator[Regression]:
    for op in OPS:
        samples = madsen.INSIDE, madsen.OUTSIDE
        yield Regression("static", op, "100", 100, SUBSETS, *samples, off=madsen.EPSILON, published=PUBLISHED[op])


def scored(task: Regression, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """With the paper's scores, ``inside`` and ``outside``."""
    inside, outside = _untrained(task)
    return [
        replace(each, scores={"inside": 100 * each.scores["inside"] / inside, "outside": 100 * each.error / outside})
        for each in outcomes
    ]


def _untrained(task: Regression) -> tuple[float, float]:
    """The errors of ten untrained stacks of two NALU, their middle, inside and outside."""
    generator, seeds = seeded("untrained", task.op), 10
    masks = task.subsets.masks(seeds, task.features, generator)
    lower = NALU(task.features, 2, seeds=seeds, generator=generator)
    upper = NALU(2, 1, seeds=seeds, generator=generator)
    errors: list[float] = []
    for samples in (task.inside, task.outside):
        x = samples.draw(seeds, 1000, task.features, generator)
        errors.append(float(task.error(upper(lower(x))[..., 0].detach(), task.target(x, masks)).median()))
    return errors[0], errors[1]
