"""Paper mode: the papers' units, trained by the papers' recipes, as many seeds at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from benchmarks.arithmetic.outcome import Outcome
from benchmarks.arithmetic.regression import Regression, seeded
from benchmarks.arithmetic.samples import Samples
from lnnkit.numeric import inalu, nau, nmu
from lnnkit.numeric.nac import NAC
from lnnkit.numeric.nalu import NALU
from lnnkit.numeric.npu import NPU, RealNPU
from lnnkit.numeric.schedule import Ramp, Stairs
from lnnkit.numeric.unit import Unit

LOGGED, KEPT = 1000, 5000
"""Steps between two tests, and how many of the last tests the best validation is chosen from."""
TESTED = 10_000
"""Rows of the validation and of the test."""
NO_PENALTY = Ramp(0.0, 0, 1)


@dataclass(frozen=True)
class Recipe:
    """Layers from the operands up, with the sizes between them, and how they are trained."""

    layers: tuple[type[Unit], ...]
    widths: tuple[int, ...]
    steps: int
    penalty: Callable[[int], float] = NO_PENALTY
    rate: float = 1e-3
    batch: int = 128
    optimiser: type[torch.optim.Adam] | type[torch.optim.RMSprop] = torch.optim.Adam
    gradient_limit: float | None = None
    precision: torch.dtype = torch.float32

    def network(self, features: int, seeds: int, generator: torch.Generator) -> list[Unit]:
        widths = (features, *self.widths, 1)
        return [
            layer(below, above, seeds=seeds, generator=generator, dtype=self.precision)
            for layer, below, above in zip(self.layers, widths, widths[1:], strict=False)
        ]


def recipes(task: Regression) -> Iterator[tuple[str, Recipe]]:
    """The models of the paper's table for this task's operation."""
    match task.task:
        case "madsen":
            yield from _madsen(task.op)
        case "single":
            yield from _single(task.op)
        case "static":
            yield "NALU", Recipe((NALU, NALU), (2,), 5_000_000)
            yield "NAC", Recipe((NAC, NAC), (2,), 5_000_000)
        case _:
            yield from _heim(task)


def _madsen(op: str) -> Iterator[tuple[str, Recipe]]:
    steps = 5_000_000
    if op in ("add", "sub"):
        yield "NAU", Recipe((nau.NAU, nau.NAU), (2,), steps, nau.SCHEDULE)
        yield "NAC", Recipe((NAC, NAC), (2,), steps)
    else:
        yield "NMU", Recipe((nau.NAU, nmu.NMU), (2,), steps, nmu.SCHEDULE)
    if op in ("div", "sqrt"):
        yield "RealNPU", Recipe((nau.NAU, RealNPU), (2,), steps, Stairs(1e-9, 1e-7), rate=5e-3)
    yield "NALU", Recipe((NALU, NALU), (2,), steps)


def _single(op: str) -> Iterator[tuple[str, Recipe]]:
    """Of nalm-benchmark; its iNALU also starts stuck seeds again, which is left out here."""
    steps = 50_000
    if op in ("add", "sub"):
        yield "NAU", Recipe((nau.NAU,), (), steps, Ramp(0.01, 20_000, 35_000))
    elif op == "mul":
        yield "NMU", Recipe((nmu.NMU,), (), steps, Ramp(10.0, 20_000, 35_000))
        yield "RealNPU", Recipe((RealNPU,), (), steps, Stairs(1e-7, 1e-5), rate=5e-3)
    else:
        yield "RealNPU", Recipe((RealNPU,), (), steps, Stairs(1e-9, 1e-7), rate=5e-3)
    yield "NALU", Recipe((NALU,), (), steps)
    limit = inalu.Schedule().gradient_limit
    yield "iNALU", Recipe((inalu.INALU,), (), steps, Ramp(1.0, 20_000, 35_000), gradient_limit=limit)


def _heim(task: Regression) -> Iterator[tuple[str, Recipe]]:
    """Of the paper's code, whose small task learns its four functions together; here each has a network of its own."""
    units = (("NPU", NPU), ("RealNPU", RealNPU), ("NMU", nmu.NMU))
    if task.setting == "simple":
        for name, unit in units:
            yield name, Recipe((unit, nau.NAU), (6,), 20_000, rate=5e-3, batch=100)
        return
    first, last = {"reciprocal": (1e-9, 1e-7), "sqrt": (1e-6, 1e-4)}.get(task.op, (1e-5, 1e-4))
    rate = 1e-2 if task.op == "add" else 5e-3
    for name, unit in units:
        layers = (nau.NAU, unit)
        yield name, Recipe(layers, (100,), 100_000, Stairs(first, last), rate, optimiser=torch.optim.RMSprop)


@dataclass(frozen=True)
class Log:
    """After ``step``: the errors inside and outside, and the sparsity error, ``[seeds]`` each."""

    step: int
    inside: list[float]
    outside: list[float]
    sparsity: list[float]


def reproduce(task: Regression, recipe: Recipe, first: int, count: int, *, steps: int | None) -> list[Outcome]:
    """Fresh batches at every step; every `LOGGED` steps validation inside and a test outside. A seed counts as solved
    where the test is below the bound at the best validation; its steps are those at the first test below it."""
    began = time.process_time()
    generator = seeded(task.task, task.op, task.setting, "paper", recipe, first)
    masks = task.subsets.masks(count, task.features, generator)
    network = recipe.network(task.features, count, generator)
    parameters = [values for layer in network for values in layer.parameters()]
    optimiser = recipe.optimiser(parameters, lr=recipe.rate)
    taken = recipe.steps if steps is None else min(steps, recipe.steps)
    inside, outside = (_rows(task, masks, each, TESTED, generator) for each in (task.inside, task.outside))
    logs: list[Log] = []
    for step in range(taken):
        x, wanted = _rows(task, masks, task.inside, recipe.batch, generator)
        loss = (_output(network, x.to(recipe.precision)) - wanted.to(recipe.precision)).square().mean(-1)
        weight = recipe.penalty(step)
        if weight:
            loss = loss + weight * torch.stack([layer.regulariser() for layer in network]).sum(0)
        optimiser.zero_grad()
        loss.sum().backward()
        if recipe.gradient_limit is not None:
            nn.utils.clip_grad_value_(parameters, recipe.gradient_limit)
        optimiser.step()
        for layer in network:
            layer.project()
        if (step + 1) % LOGGED == 0 or step + 1 == taken:
            sparsity = torch.stack([layer.sparsity_error() for layer in network]).amax(0).tolist()
            errors = [_error(network, task, recipe, *rows) for rows in (inside, outside)]
            logs.append(Log(step + 1, errors[0], errors[1], sparsity))
    cpu = (time.process_time() - began) / count
    return [_outcome(task, recipe, logs, seed, cpu) for seed in range(count)]


def _outcome(task: Regression, recipe: Recipe, logs: list[Log], seed: int, cpu: float) -> Outcome:
    best = min(logs[-KEPT:], key=lambda log: log.inside[seed])
    error = best.outside[seed]
    solved = error < task.bound
    below = next((log.step for log in logs if log.outside[seed] < task.bound), logs[-1].step)
    steps = below if solved else logs[-1].step
    return Outcome(
        solved=solved,
        error=error,
        steps=steps,
        samples=steps * recipe.batch,
        cpu=cpu,
        planned=recipe.steps,
        sparsity=best.sparsity[seed],
        scores={"inside": best.inside[seed]},
    )


def _rows(
    task: Regression, masks: Tensor, samples: Samples, rows: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    x = samples.draw(len(masks), rows, task.features, generator)
    return x, task.target(x, masks)


def _output(network: list[Unit], x: Tensor) -> Tensor:
    for layer in network:
        x = layer(x)
    return x[..., 0]


@torch.no_grad()
def _error(network: list[Unit], task: Regression, recipe: Recipe, x: Tensor, wanted: Tensor) -> list[float]:
    return task.error(_output(network, x.to(recipe.precision)).to(wanted.dtype), wanted).tolist()
