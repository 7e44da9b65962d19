"""The fast mode: lnnkit's own search for arithmetic, the operation not given."""

from __future__ import annotations

import time

import torch

from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.outcome import Outcome
from benchmarks.arithmetic.portfolio.search import search
from benchmarks.arithmetic.regression import Regression, seeded

EXAMPLES, TESTED = 1024, 10_000
"""Rows to learn from, one fixed set for each seed, and rows to test on."""


def solve(task: Regression, batch: Batch, examples: int = EXAMPLES, tested: int = TESTED) -> list[Outcome]:
    began = time.process_time()
    count, generator = batch.count, seeded(task.task, task.op, task.setting, batch.first)
    masks = task.subsets.masks(count, task.features, generator)
    x = task.inside.draw(count, examples, task.features, generator)
    clean = task.target(x, masks)
    scatter = torch.randn(clean.shape, dtype=clean.dtype, generator=generator)
    target = clean + task.noise * clean.std(-1, keepdim=True) * scatter
    answers = search(x, target, generator=generator)
    outside = task.outside.draw(count, tested, task.features, generator)
    wanted = task.target(outside, masks)
    names = [f"x{number}" for number in range(task.features)]
    cpu = (time.process_time() - began) / count
    outcomes: list[Outcome] = []
    for number, answer in enumerate(answers):
        error = float(task.error(answer(outside[number]), wanted[number]))
        weights = answer.rows.abs()
        grid = torch.minimum(weights, (1 - weights).abs())
        outcomes.append(
            Outcome(
                solved=error < task.bound,
                error=error,
                steps=answer.steps,
                samples=answer.samples,
                cpu=cpu,
                sparsity=0.0 if answer.accepted else float(grid.max()),
                found=answer.text(names) if task.features <= 4 else answer.template.name,
                scores={"inside": float(task.error(answer(x[number]), clean[number]))},
            )
        )
    return outcomes
