"""Paper mode: the papers' units, trained by the papers' recipes, as many seeds at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from benchmarks.arithmetic.batch import Batch, keep, kept
from benchmarks.arithmetic.outcome import Outcome
from benchmarks.arithmetic.regression import Regression, seeded
from benchmarks.arithmetic.samples import Samples
from benchmarks.arithmetic.schedules import NAU_PENALTY, NMU_PENALTY, Ramp, Stairs
from lnnkit.numeric.units.clipped_units import NAU, NMU, NPU, RealNPU
from lnnkit.numeric.units.gated_units import INALU, NAC, NALU
from lnnkit.numeric.units.unit import Unit

LOGGED, KEPT = 1000, 5000
"""Steps between two tests, and how many of the last tests the best validation is chosen from."""
SAVED = 50_000
"""Steps between two states on disk."""
LOGS = ("steps", "inside", "outside", "sparsity")
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
        yield "NAU", Recipe((NAU, NAU), (2,), steps, NAU_PENALTY)
        yield "NAC", Recipe((NAC, NAC), (2,), steps)
    else:
        yield "NMU", Recipe((NAU, NMU), (2,), steps, NMU_PENALTY)
    if op in ("div", "sqrt"):
        yield "RealNPU", Recipe((NAU, RealNPU), (2,), steps, Stairs(1e-9, 1e-7), rate=5e-3)
    yield "NALU", Recipe((NALU, NALU), (2,), steps)


def _single(op: str) -> Iterator[tuple[str, Recipe]]:
    """Of nalm-benchmark; its iNALU also starts stuck seeds again, which is left out here."""
    steps = 50_000
    if op in ("add", "sub"):
        yield "NAU", Recipe((NAU,), (), steps, Ramp(0.01, 20_000, 35_000))
    elif op == "mul":
        yield "NMU", Recipe((NMU,), (), steps, Ramp(10.0, 20_000, 35_000))
        yield "RealNPU", Recipe((RealNPU,), (), steps, Stairs(1e-7, 1e-5), rate=5e-3)
    else:
        yield "RealNPU", Recipe((RealNPU,), (), steps, Stairs(1e-9, 1e-7), rate=5e-3)
    yield "NALU", Recipe((NALU,), (), steps)
    yield (
        "iNALU",
        Recipe((INALU,), (), steps, Ramp(1.0, 20_000, 35_000), gradient_limit=0.1),
    )  # the paper's clipping


def _heim(task: Regression) -> Iterator[tuple[str, Recipe]]:
    """Of the paper's code, whose small task learns its four functions together; here each has a network of its own."""
    units = (("NPU", NPU), ("RealNPU", RealNPU), ("NMU", NMU))
    if task.setting == "simple":
        for name, unit in units:
            yield name, Recipe((unit, NAU), (6,), 20_000, rate=5e-3, batch=100)
        return
    first, last = {"reciprocal": (1e-9, 1e-7), "sqrt": (1e-6, 1e-4)}.get(task.op, (1e-5, 1e-4))
    rate = 1e-2 if task.op == "add" else 5e-3
    for name, unit in units:
        layers = (NAU, unit)
        yield name, Recipe(layers, (100,), 100_000, Stairs(first, last), rate, optimiser=torch.optim.RMSprop)


@dataclass
class Training:
    """A network while it is trained, the CPU seconds that it took so far, and what was logged: after each of ``steps``,
    the errors inside and outside and the sparsity error of each seed, ``[logs, seeds]``."""

    network: list[Unit]
    optimiser: torch.optim.Optimizer
    generator: torch.Generator
    done: int
    seconds: float
    steps: Tensor
    inside: Tensor
    outside: Tensor
    sparsity: Tensor

    def parameters(self) -> list[nn.Parameter]:
        return [values for layer in self.network for values in layer.parameters()]

    def state(self) -> dict[str, Tensor]:
        """All of it as tensors, for `restore`."""
        found = {name: getattr(self, name) for name in LOGS}
        found |= {"done": torch.tensor(self.done), "generator": self.generator.get_state()}
        found["seconds"] = torch.tensor(self.seconds)
        for number, values in enumerate(self.parameters()):
            found[f"parameter {number}"] = values
            for name, value in self.optimiser.state[values].items():
                found[f"optimiser {number} {name}"] = value
        return found

    def restore(self, state: dict[str, Tensor]) -> None:
        for name in LOGS:
            setattr(self, name, state[name])
        self.done, self.seconds = int(state["done"]), float(state["seconds"])
        self.generator.set_state(state["generator"])
        for number, values in enumerate(self.parameters()):
            with torch.no_grad():
                values.copy_(state[f"parameter {number}"])
            prefix = f"optimiser {number} "
            self.optimiser.state[values] = {
                name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)
            }


def reproduce(task: Regression, recipe: Recipe, batch: Batch, *, steps: int | None) -> list[Outcome]:
    """Fresh rows at every step; every `LOGGED` steps validation inside and a test outside. A seed counts as solved
    where the test is below the bound at the best validation; its steps are those at the first test below it."""
    began = time.process_time()
    count, generator = batch.count, seeded(task.task, task.op, task.setting, "paper", recipe, batch.first)
    masks = task.subsets.masks(count, task.features, generator)
    inside, outside = (_rows(task, masks, each, TESTED, generator) for each in (task.inside, task.outside))
    network = recipe.network(task.features, count, generator)
    parameters = [values for layer in network for values in layer.parameters()]
    nothing = torch.empty(0, count, dtype=torch.float64)
    training = Training(
        network,
        recipe.optimiser(parameters, lr=recipe.rate),
        generator,
        0,
        0.0,
        torch.empty(0, dtype=torch.int64),
        nothing,
        nothing,
        nothing,
    )
    before = kept(batch.state)
    if before is not None:
        training.restore(before)
        began -= training.seconds
    taken = recipe.steps if steps is None else min(steps, recipe.steps)
    while training.done < taken:
        _step(task, recipe, training, masks)
        if training.done % LOGGED == 0 or training.done == taken:
            _log(task, recipe, training, inside, outside)
            batch.watch(training.done / taken)
        if batch.state is not None and training.done % SAVED == 0:
            training.seconds = time.process_time() - began
            keep(batch.state, training.state())
    cpu = (time.process_time() - began) / count
    return [_outcome(task, recipe, training, seed, cpu) for seed in range(count)]


def _step(task: Regression, recipe: Recipe, training: Training, masks: Tensor) -> None:
    x, wanted = _rows(task, masks, task.inside, recipe.batch, training.generator)
    found = _output(training.network, x.to(recipe.precision))
    loss = (found - wanted.to(recipe.precision)).square().mean(-1)
    weight = recipe.penalty(training.done)
    if weight:
        loss = loss + weight * torch.stack([layer.regulariser() for layer in training.network]).sum(0)
    training.optimiser.zero_grad()
    loss.sum().backward()
    if recipe.gradient_limit is not None:
        nn.utils.clip_grad_value_(training.parameters(), recipe.gradient_limit)
    training.optimiser.step()
    for layer in training.network:
        layer.project()
    training.done += 1


@torch.no_grad()
def _log(task: Regression, recipe: Recipe, training: Training, inside: Rows, outside: Rows) -> None:
    def error(rows: Rows) -> Tensor:
        found = _output(training.network, rows[0].to(recipe.precision))
        return task.error(found.to(rows[1].dtype), rows[1])

    sparsity = torch.stack([layer.sparsity_error() for layer in training.network]).amax(0)
    training.steps = torch.cat([training.steps, torch.tensor([training.done])])
    training.inside = torch.cat([training.inside, error(inside)[None]])
    training.outside = torch.cat([training.outside, error(outside)[None]])
    training.sparsity = torch.cat([training.sparsity, sparsity[None].double()])


def _outcome(task: Regression, recipe: Recipe, training: Training, seed: int, cpu: float) -> Outcome:
    inside, outside = training.inside[-KEPT:, seed], training.outside[-KEPT:, seed]
    best = int(inside.nan_to_num(nan=torch.inf).argmin())
    error = float(outside[best])
    solved = error < task.bound
    below = training.steps[training.outside[:, seed] < task.bound]
    steps = int(below[0]) if solved else training.done
    return Outcome(
        solved=solved,
        error=error,
        steps=steps,
        samples=steps * recipe.batch,
        cpu=cpu,
        planned=recipe.steps,
        sparsity=float(training.sparsity[-KEPT:, seed][best]),
        scores={"inside": float(inside[best])},
    )


Rows = tuple[Tensor, Tensor]


def _rows(task: Regression, masks: Tensor, samples: Samples, rows: int, generator: torch.Generator) -> Rows:
    """Operands and target."""
    x = samples.draw(len(masks), rows, task.features, generator)
    return x, task.target(x, masks)


def _output(network: list[Unit], x: Tensor) -> Tensor:
    for layer in network:
        x = layer(x)
    return x[..., 0]
