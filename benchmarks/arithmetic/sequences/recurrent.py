"""Trask and others' recurrent task (2018, arXiv 1808.00508, table 1): six operations on two sums over a sequence.

Of the ten numbers of each step some belong to the first sum and some to the second, the same at every step. Learned on
sequences of 10 steps, tested on 1,000. The paper scores 100 times the error, divided by that of an untrained model,
here an untrained LSTM for all, whose error stays finite; beside that a seed counts as solved by the absolute criterion
of ``madsen``. The paper leaves sizes, ranges and steps open; here numbers are from [1, 2], as in ``madsen``.

`solve` is told neither the operation nor how to remember: three memories of each number run through the sequence (its
sum, its last value, its sum with alternating signs, the grid of `NAU` for what is carried over), and the portfolio
looks for arithmetic over all of them. `reproduce` trains models by gradient descent through time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn

from benchmarks.arithmetic import madsen
from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.outcome import Outcome
from benchmarks.arithmetic.portfolio.search import search
from benchmarks.arithmetic.regression import Regression, Subsets, seeded
from benchmarks.arithmetic.samples import Samples, span
from benchmarks.arithmetic.sequences.networks import LSTM, Dense, RectifierRNN
from lnnkit.numeric import NAC, NALU, NAU, Recurrent, Unit

OPS = ("add", "sub", "mul", "div", "square", "sqrt")
FEATURES = 10
SUBSETS = Subsets(4, 4, 2, "scattered")
SHORT, LONG = 10, 1000
LOW, HIGH = 1, 2
EXAMPLES, TESTED = 1024, 100
MODELS = ("LSTM", "ReLU-RNN", "NAC", "NALU", "NAU")
PAPER_STEPS, ROWS, HIDDEN = 100_000, 128, 16
RATES = {"LSTM": 1e-2, "ReLU-RNN": 1e-3, "NAC": 1e-2, "NALU": 1e-2, "NAU": 1e-2}
PUBLISHED = {
    "add": "NALU 0 and 0",
    "sub": "NALU 0 and 0",
    "mul": "NALU 0 and 0",
    "div": "NALU above 999",
    "square": "NALU 0 and 0",
    "sqrt": "NALU 0 and 0",
}
_TRASK = {
    "LSTM": ("96.1", "97", "98.2", "95.6", "98", "95.8"),
    "ReLU-RNN": ("85.5", "70.9", "97.9", "863.5", "98", "34.1"),
    "NAC": ("0", "0", "88.4", ">999", "123.7", ">999"),
    "NALU": ("0", "0", "0", ">999", "0", "0"),
}
PAPERS = {(model, op): score for model, row in _TRASK.items() for op, score in zip(OPS, row, strict=True)}
"""The paper's scores at 1,000 steps."""


@dataclass(frozen=True)
class Summed:
    """Each operand the sum of ``steps`` draws: what a sequence comes to."""

    steps: int
    samples: Samples

    def draw(self, seeds: int, rows: int, features: int, generator: torch.Generator) -> Tensor:
        drawn = self.samples.draw(seeds, rows, self.steps * features, generator)
        return drawn.unflatten(-1, (self.steps, features)).sum(-2)


def regressions() -> Iterator[Regression]:
    for op in OPS:
        inside, outside = Summed(SHORT, span(LOW, HIGH)), Summed(LONG, span(LOW, HIGH))
        yield Regression(
            "recurrent",
            op,
            f"{LONG} steps",
            FEATURES,
            SUBSETS,
            inside,
            outside,
            off=madsen.EPSILON,
            judged=500,
            published=PUBLISHED[op],
        )


def sequences(seeds: int, rows: int, steps: int, generator: torch.Generator) -> Tensor:
    """``[seeds, rows, steps, features]``."""
    return LOW + torch.rand((seeds, rows, steps, FEATURES), dtype=torch.float64, generator=generator)


def memories(features: int = FEATURES) -> Recurrent:
    """Three states for each number of a step: its sum, its last value, its sum with alternating signs."""
    here = torch.eye(features, dtype=torch.float64).repeat(3, 1)
    kept = torch.tensor([1.0, 0.0, -1.0], dtype=torch.float64).repeat_interleave(features)
    return Recurrent(NAU.given(torch.cat([here, kept.diag()], 1)), 3 * features)


def names(features: int = FEATURES) -> list[str]:
    """Of the states of `memories`."""
    return [f"{kind}(x{number})" for kind in ("sum", "last", "alternating") for number in range(features)]


@torch.no_grad()  # whole weights have no use for gradients
def solve(task: Regression, batch: Batch, tested: int = TESTED) -> list[Outcome]:
    began = time.process_time()
    count, generator = batch.count, seeded(task.task, task.op, task.setting, batch.first)
    masks = task.subsets.masks(count, FEATURES, generator)
    memory = memories()
    x = sequences(count, EXAMPLES, SHORT, generator)
    wanted = task.target(x.sum(-2), masks)
    states = memory(x)
    answers = search(states, wanted, generator=generator)
    long = sequences(count, tested, LONG, generator)
    finals, targets = memory(long), task.target(long.sum(-2), masks)
    cpu = (time.process_time() - began) / count
    yardsticks = untrained(task)
    outcomes: list[Outcome] = []
    for number, answer in enumerate(answers):
        inside = float(task.error(answer(states[number]), wanted[number]))
        outside = float(task.error(answer(finals[number]), targets[number]))
        outcomes.append(
            Outcome(
                solved=outside < task.bound,
                error=outside,
                steps=answer.steps,
                samples=answer.samples,
                cpu=cpu,
                sparsity=0.0 if answer.accepted else None,
                found=answer.text(names()),
                scores=_scores(inside, outside, yardsticks),
            )
        )
    return outcomes


def reproduce(task: Regression, model: str, batch: Batch, *, steps: int | None, tested: int = TESTED) -> list[Outcome]:
    """Adam on fresh sequences; the targets of networks without arithmetic are measured in their standard deviations,
    from their mean on."""
    began = time.process_time()
    count, generator = batch.count, seeded(task.task, task.op, model, batch.first)
    masks = task.subsets.masks(count, FEATURES, generator)
    network = network_of(model, count, generator)
    wanted = task.target(task.inside.draw(count, 1000, FEATURES, generator), masks)
    middle, spread = wanted.mean().float(), wanted.std().float()
    if model in ("NAC", "NALU", "NAU"):
        middle = torch.zeros(())
    optimiser = torch.optim.Adam(network.parameters(), lr=RATES[model])
    taken = PAPER_STEPS if steps is None else min(steps, PAPER_STEPS)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, taken, 1e-5)
    for step in range(taken):
        batch.watch(step / taken)
        x = sequences(count, ROWS, SHORT, generator)
        target = task.target(x.sum(-2), masks).float()
        found = network(x.float())
        if model in ("LSTM", "ReLU-RNN"):
            target = (target - middle) / spread
        else:
            target, found = target / spread, found / spread
        optimiser.zero_grad()
        loss = (found - target).square().mean(-1).sum()
        if isinstance(network, Arithmetic):
            loss = loss + network.penalty(step / taken)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if isinstance(network, Arithmetic):
            network.project()
    cpu = (time.process_time() - began) / count

    def error(length: int) -> list[float]:
        x = sequences(count, tested, length, generator)
        with torch.no_grad():
            found = network(x.float()).double()
        if model in ("LSTM", "ReLU-RNN"):
            found = found * spread + middle
        return task.error(found, task.target(x.sum(-2), masks)).nan_to_num(nan=torch.inf).tolist()

    yardsticks = untrained(task)
    return [
        Outcome(
            solved=outside < task.bound,
            error=outside,
            steps=taken,
            samples=taken * ROWS,
            cpu=cpu,
            planned=PAPER_STEPS,
            scores=_scores(inside, outside, yardsticks),
        )
        for inside, outside in zip(error(SHORT), error(LONG), strict=True)
    ]


class Arithmetic(nn.Module):
    """Two states that a unit carries through time, and a unit of the same kind that makes a number of them."""

    def __init__(self, kind: type[Unit], seeds: int, generator: torch.Generator) -> None:
        super().__init__()
        cell = kind(FEATURES + 2, 2, seeds=seeds, generator=generator, dtype=torch.float32)
        self.below = Recurrent(cell, 2)
        self.above = kind(2, 1, seeds=seeds, generator=generator, dtype=torch.float32)

    def forward(self, x: Tensor) -> Tensor:
        return self.above(self.below(x))[..., 0]

    def penalty(self, done: float) -> Tensor:
        """Nothing in the first half, then rising to a hundredth of the unit's own."""
        return 0.01 * max(0.0, 2 * done - 1) * (self.below.regulariser() + self.above.regulariser()).sum()

    def project(self) -> None:
        self.below.project()
        self.above.project()


class Plain(nn.Module):
    """A network without arithmetic, and a linear layer on top."""

    def __init__(self, below: LSTM | RectifierRNN, seeds: int, generator: torch.Generator) -> None:
        super().__init__()
        self.below = below
        self.above = Dense(below.hidden, 1, seeds, generator)

    def forward(self, x: Tensor) -> Tensor:
        return self.above(self.below(x))[..., 0]


def network_of(model: str, seeds: int, generator: torch.Generator) -> nn.Module:
    kinds: dict[str, type[Unit]] = {"NAC": NAC, "NALU": NALU, "NAU": NAU}
    if model in kinds:
        return Arithmetic(kinds[model], seeds, generator)
    below = LSTM if model == "LSTM" else RectifierRNN
    return Plain(below(FEATURES, HIDDEN, seeds, generator), seeds, generator)


@lru_cache
def untrained(task: Regression) -> tuple[float, float]:
    """The errors of ten untrained LSTM, their middle, after short and long sequences."""
    generator, seeds = seeded("untrained", task.task, task.op), 10
    masks = task.subsets.masks(seeds, FEATURES, generator)
    network = network_of("LSTM", seeds, generator)
    errors: list[float] = []
    for length in (SHORT, LONG):
        x = sequences(seeds, 10, length, generator)
        with torch.no_grad():
            found = network(x.float()).double()
        errors.append(float(task.error(found, task.target(x.sum(-2), masks)).median()))
    return errors[0], errors[1]


def _scores(inside: float, outside: float, yardsticks: tuple[float, float]) -> dict[str, float]:
    return {"inside": 100 * inside / yardsticks[0], "outside": 100 * outside / yardsticks[1]}
