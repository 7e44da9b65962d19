"""Counting, adding and multiplying handwritten digits (Trask and others 2018, arXiv 1808.00508, section 4.2; Madsen and
Johansen 2020, section 4.2): a network reads each image of a sequence, a unit keeps the count, the sum or the product,
and only the last result is told.

``count`` has ten counts, one a digit, and ``add`` the sum, learned on sequences of 10 and tested on up to 1,000;
``mul`` has the product of digits from 1 to 9, learned on pairs and tested on up to 20. The last 1,000 of the 8,000
images are only tested on. What can be reached is what the digits allow that the same network reads when it is taught
every label: ``error`` is the mean distance to the result of those digits at the greatest length, as a share of it (of
counts, of the length); a seed counts as solved where it is at most .01. For products it is the share of products that
are wrong above the share that those digits leave wrong. ``true N`` are mean distances to the true results at length N,
as shares, for products the shares that are wrong; ``taught N`` those of the taught digits.

`solve` trains `NAU`, for products `NMU`, through time; then the weights are made whole, what they were going to the
last layer of the network, and its readings too, if that does not raise the error on sequences held back. Other models
have an LSTM, NAC or NALU in the place of the unit.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from benchmarks.arithmetic.batch import RuleShape
from benchmarks.arithmetic.outcome import Outcome
from benchmarks.arithmetic.regression import seeded
from benchmarks.arithmetic.sequences.networks import LSTM, Dense
from benchmarks.mnist_addition import DATA, read_idx
from lnnkit.numeric import NAC, NALU, NAU, NMU, Recurrent, Unit

HELD_BACK, VALIDATED = 1_000, 500
MODELS = ("LSTM", "NAC", "NALU")
STEPS, PAPER_STEPS, TAUGHT_STEPS = 1_200, 20_000, 500
IMAGES = 256
"""In a step, whatever their sequences' length."""
HIDDEN = 16
BOUND = 0.01


@dataclass(frozen=True)
class Task:
    """``short`` is the length of sequences that are learned from, ``lengths`` those that are tested, the last of which
    decides."""

    op: str
    short: int
    lengths: tuple[int, ...]

    @property
    def outputs(self) -> int:
        return 10 if self.op == "count" else 1

    def target(self, digits: Tensor) -> Tensor:
        """``[rows, steps] -> [rows, outputs]``."""
        match self.op:
            case "count":
                return nn.functional.one_hot(digits, 10).sum(1).double()
            case "add":
                return digits.sum(1, keepdim=True).double()
            case _:
                return digits.double().prod(1, keepdim=True)

    def distance(self, found: Tensor, wanted: Tensor) -> float:
        """The mean, as a share; of products, the share that is wrong."""
        if self.op == "mul":
            return float(((found - wanted).abs() > 1e-6 * wanted.abs()).double().mean())
        size = wanted.sum(-1, keepdim=True)
        return float(((found - wanted).abs() / size.clamp(min=1)).mean().nan_to_num(nan=torch.inf))


TASKS = (
    Task("count", 10, (10, 100, 1000)),
    Task("add", 10, (10, 100, 1000)),
    Task("mul", 2, (2, 5, 10, 20)),
)


@dataclass(frozen=True)
class Images:
    """``pixels`` (n, 28, 28) from 0 to 1, and the digits."""

    pixels: Tensor
    digits: Tensor

    def sequences(self, rows: int, steps: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Places of images, ``[rows, steps]``, and their digits."""
        chosen = torch.randint(len(self.digits), (rows, steps), generator=generator)
        return chosen, self.digits[chosen]

    def of(self, task: Task) -> Images:
        """Without zeros, where digits are multiplied."""
        own = self.digits > 0 if task.op == "mul" else torch.ones_like(self.digits, dtype=torch.bool)
        return Images(self.pixels[own], self.digits[own])

    def part(self, first: int, stop: int) -> Images:
        return Images(self.pixels[first:stop], self.digits[first:stop])


@lru_cache
def images() -> Images:
    """Raises OSError where there are none."""
    pixels = read_idx(DATA / "dev8k-images-idx3-ubyte.gz").float() / 255
    return Images(pixels, read_idx(DATA / "dev8k-labels-idx1-ubyte.gz").long())


class Reading(nn.Module):
    """LeNet's two convolutions (LeCun et al. 1998), and a number, or ten truths that add up to 1: ``[n, 28, 28] ->
    [n, outputs]``."""

    def __init__(self, outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Unflatten(1, (1, 28)),
            *(nn.Conv2d(1, 8, 5), nn.MaxPool2d(2), nn.ReLU()),
            *(nn.Conv2d(8, 16, 5), nn.MaxPool2d(2), nn.ReLU()),
            *(nn.Flatten(), nn.Linear(256, 84), nn.ReLU()),
        )
        self.last = nn.Linear(84, outputs)
        with torch.no_grad():
            for values in self.parameters():
                reach = (6 / values[0].numel()) ** 0.5 if values.dim() > 1 else 0.0
                values.uniform_(-reach, reach, generator=generator)

    def forward(self, pixels: Tensor) -> Tensor:
        found = self.last(self.layers(pixels))
        return found.softmax(-1) if found.shape[-1] > 1 else found


class Model(nn.Module):
    """A reading of each image, and what makes a result of a sequence of them: ``[rows, steps, 28, 28] -> [rows,
    outputs]``."""

    def __init__(self, task: Task, model: str, generator: torch.Generator) -> None:
        super().__init__()
        self.whole = False  # whether readings are rounded
        self.reading = Reading(task.outputs, generator)
        self.over_time = _over_time(task, model, generator)

    def read(self, pixels: Tensor) -> Tensor:
        found = self.reading(pixels)
        if not self.whole:
            return found
        if found.shape[-1] > 1:
            return nn.functional.one_hot(found.argmax(-1), found.shape[-1]).to(found.dtype)
        return found.round()

    def forward(self, pixels: Tensor) -> Tensor:
        return self.over_time(self.read(pixels.flatten(0, 1)).unflatten(0, pixels.shape[:2]))


class Forgetful(nn.Module):
    """An LSTM with a linear layer on top, for one seed."""

    def __init__(self, outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        self.below = LSTM(outputs, HIDDEN, 1, generator)
        self.above = Dense(HIDDEN, outputs, 1, generator)

    def forward(self, x: Tensor) -> Tensor:
        return self.above(self.below(x[None].to(self.above.weight.dtype)))[0]


def _over_time(task: Task, model: str, generator: torch.Generator) -> nn.Module:
    outputs = task.outputs
    kinds: dict[str, type[Unit]] = {"NAC": NAC, "NALU": NALU, "unit": NMU if task.op == "mul" else NAU}
    if model == "LSTM":
        return Forgetful(outputs, generator)
    cell = kinds[model](2 * outputs, outputs, generator=generator, dtype=torch.float32)
    return Recurrent(cell, outputs, start=1.0 if task.op == "mul" else 0.0)


def train(task: Task, model: Model, shown: Images, steps: int, generator: torch.Generator, batch: RuleShape) -> None:
    """Adam on fresh sequences, the error in deviations of the targets. From the middle on the unit's penalty rises, and
    that of what a weight below 1 would let the network hide (Madsen and Johansen's R_z)."""
    rows = IMAGES // task.short
    spread = task.target(shown.sequences(1000, task.short, generator)[1]).std().float()
    slow = {"params": model.reading.parameters(), "lr": 2e-3}
    optimiser = torch.optim.Adam([slow, {"params": model.over_time.parameters(), "lr": 1e-2}])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps, 1e-5)
    for step in range(steps):
        chosen, digits = shown.sequences(rows, task.short, generator)
        found = model(shown.pixels[chosen])
        loss = ((found - task.target(digits).float()) / spread).square().mean()
        if isinstance(model.over_time, Recurrent):
            loss = loss + 0.1 * max(0.0, 2 * step / steps - 1) * model.over_time.regulariser()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if isinstance(model.over_time, Recurrent):
            model.over_time.project()
        if step % 50 == 0:
            batch.watch(step / steps)


@torch.no_grad()
def harden(task: Task, model: Model, validated: Images, generator: torch.Generator) -> None:
    """Weights and readings made whole, each where that does not raise the error on sequences held back."""
    chosen, digits = validated.sequences(400, task.short, generator)
    wanted = task.target(digits)

    def loss(tried: Model) -> float:
        return float((tried(validated.pixels[chosen]).double() - wanted).square().mean())

    before = loss(model)
    for change in (_whole_weights, _whole_readings):
        tried = copy.deepcopy(model)
        change(tried)
        after = loss(tried)
        if after <= before:
            model.load_state_dict(tried.state_dict())
            model.whole, before = tried.whole, after


@torch.no_grad()
def _whole_weights(model: Model) -> None:
    """What one weight scales a number by goes to the layer that makes the number; then all are rounded."""
    assert isinstance(model.over_time, Recurrent)
    (unit,) = model.over_time.units
    if isinstance(unit, NAU) and unit.out_features == 1:
        weight = unit.weight[0, 0].clone()
        model.reading.last.weight.mul_(weight.abs())
        model.reading.last.bias.mul_(weight.abs())
        unit.weight[0, 0] = weight.sign()
    unit.assign(unit.rounded())


def _whole_readings(model: Model) -> None:
    model.whole = True


@lru_cache
def taught(op: str, seed: int, steps: int) -> Tensor:
    """The digits of the test images as the network reads them that is taught every label."""
    task = next(each for each in TASKS if each.op == op)
    generator = seeded("counting", "taught", op, seed)
    shown = images().part(0, len(images().digits) - HELD_BACK).of(task)
    network = Reading(10, generator)
    optimiser = torch.optim.Adam(network.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps, 1e-5)
    for _ in range(steps):
        chosen = torch.randint(len(shown.digits), (IMAGES,), generator=generator)
        loss = cross_entropy(network(shown.pixels[chosen]).clamp(min=1e-8).log(), shown.digits[chosen])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        return network(_tested(task).pixels).argmax(-1)


def _tested(task: Task) -> Images:
    return images().part(len(images().digits) - HELD_BACK, len(images().digits)).of(task)


def solve(task: Task, batch: RuleShape, *, model: str = "unit", steps: int | None = None) -> list[Outcome]:
    """``model`` is what keeps the result; ``unit`` is that of the operation."""
    outcomes: list[Outcome] = []
    planned = STEPS if model == "unit" else PAPER_STEPS
    taken = planned if steps is None else min(steps, planned)
    end = len(images().digits) - HELD_BACK
    learned = images().part(0, end - VALIDATED).of(task)
    validated = images().part(end - VALIDATED, end).of(task)
    for number in range(batch.count):
        began = time.process_time()
        generator = seeded("counting", task.op, model, batch.first + number)
        trained = Model(task, model, generator)
        train(task, trained, learned, taken, generator, batch)
        if model == "unit":
            harden(task, trained, validated, generator)
        cpu = time.process_time() - began
        digits = taught(task.op, batch.first + number, min(taken, TAUGHT_STEPS))
        error, scores = _scores(task, trained, digits, generator)
        recurrent = trained.over_time
        sparsity = float(recurrent.units[0].sparsity_error()) if isinstance(recurrent, Recurrent) else None
        outcomes.append(
            Outcome(
                solved=error <= BOUND,
                error=error,
                steps=taken,
                samples=taken * (IMAGES // task.short),
                cpu=cpu,
                planned=planned,
                sparsity=sparsity,
                found="readings whole" if trained.whole else "",
                scores=scores,
            )
        )
    return outcomes


@torch.no_grad()
def _scores(task: Task, model: Model, read: Tensor, generator: torch.Generator) -> tuple[float, dict[str, float]]:
    """The error at the greatest length, and all distances to the true results."""
    tested = _tested(task)
    readings = model.read(tested.pixels)
    over_time = copy.deepcopy(model.over_time).double()
    scores: dict[str, float] = {}
    error = torch.inf
    for length in task.lengths:
        chosen, digits = tested.sequences(200, length, generator)
        found = over_time(readings[chosen].double())
        wanted, allowed = task.target(digits), task.target(read[chosen])
        scores[f"true {length}"] = task.distance(found, wanted)
        scores[f"taught {length}"] = task.distance(allowed, wanted)
        if task.op == "mul":
            error = max(scores[f"true {length}"] - scores[f"taught {length}"], 0.0)
        else:
            error = task.distance(found, allowed)
    return error, scores
