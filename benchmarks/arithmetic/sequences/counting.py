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

`solve` trains `NAU`, for products `NMU`, through time, from memory on: what is kept starts with a weight of 1, and each
count with a reading of its own, for with random weights all readings become one and the mean is all that is learned.
Then the weights are made whole, what they were going to the last layer of the network. A sum tells little of what one
image reads, by least squares at least; so where a single number is kept, images are then read anew, as one of ten
digits, by the likelihood of the results: what the unit, now exact, makes of all digits is counted out (as in
Manhaeve and others 2018, arXiv 1805.10872, here over the states of the unit). At last readings are made whole, each of
these where it does not raise the error on sequences held back. Other models have an LSTM, NAC or NALU in the place of
the unit.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.outcome import Outcome
from benchmarks.arithmetic.regression import seeded
from benchmarks.arithmetic.sequences.networks import LSTM, Dense
from benchmarks.mnist_addition import DATA, read_idx
from lnnkit.numeric import NAC, NALU, NAU, NMU, Recurrent, Unit

HELD_BACK, VALIDATED = 1_000, 500
DIGITS = torch.arange(10)
MODELS = ("LSTM", "NAC", "NALU")
STEPS, PAPER_STEPS, TAUGHT_STEPS = 800, 20_000, 500
READ_STEPS = 500
"""Of learning to read anew."""
IMAGES, READ_IMAGES = 256, 640
"""In a step, whatever their sequences' length; in one of learning to read anew."""
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
        self.digits = False  # whether readings are digits, one of ten, and no counts
        self.reading = Reading(task.outputs, generator)
        self.over_time = _over_time(task, model, generator)

    def read(self, pixels: Tensor) -> Tensor:
        found = self.reading(pixels)
        if not self.whole:
            return self._value(found)
        if found.shape[-1] > 1:
            found = nn.functional.one_hot(found.argmax(-1), found.shape[-1]).to(found.dtype)
            return self._value(found)
        return found.round()

    def _value(self, found: Tensor) -> Tensor:
        return (found @ DIGITS.to(found.dtype))[:, None] if self.digits else found

    def forward(self, pixels: Tensor) -> Tensor:
        return self.over_time(self.read(pixels.flatten(0, 1)).unflatten(0, pixels.shape[:2]))


Change = Callable[[Model], None]


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
    if isinstance(cell, NAU | NMU):
        told = torch.eye(outputs) if outputs > 1 else cell.weight.detach()[:, :1]
        cell.assign({"weight": torch.cat([told, torch.eye(outputs)], 1)})
    return Recurrent(cell, outputs, start=1.0 if task.op == "mul" else 0.0)


def train(task: Task, model: Model, shown: Images, steps: int, generator: torch.Generator, batch: Batch) -> None:
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
def harden(model: Model, change: Change, loss: Callable[[Model], float]) -> None:
    """The change, where it does not raise the loss."""
    tried = copy.deepcopy(model)
    change(tried)
    if loss(tried) <= loss(model):
        vars(model).update(vars(tried))


def losses(task: Task, validated: Images, generator: torch.Generator) -> tuple[Callable[[Model], float], ...]:
    """Of sequences held back: the mean squared error, and the share of results that are off by a half or more: whole
    readings are right or wrong, and one that is wrong costs more squares than ten that are a little off."""
    chosen, digits = validated.sequences(400, task.short, generator)
    wanted = task.target(digits)

    def gaps(tried: Model) -> Tensor:
        return tried(validated.pixels[chosen]).double() - wanted

    return lambda tried: float(gaps(tried).square().mean()), lambda tried: float(
        (gaps(tried).abs() >= 0.5).double().mean()
    )


@torch.no_grad()
def whole_weights(model: Model) -> None:
    """What the weight of a number makes of it (``w x``, of an NMU ``w x + 1 - w``) goes to the layer that makes the
    number; then all are rounded."""
    assert isinstance(model.over_time, Recurrent)
    (unit,) = model.over_time.units
    if isinstance(unit, NAU | NMU) and unit.out_features == 1:
        weight = unit.weight[0, 0].clone()
        model.reading.last.weight.mul_(weight)
        model.reading.last.bias.mul_(weight).add_(1 - weight if isinstance(unit, NMU) else 0.0)
        unit.weight[0, 0] = 1.0
    unit.assign(unit.rounded())


def whole_readings(model: Model) -> None:
    model.whole = True


def reading_digits(model: Model, network: Reading) -> None:
    model.reading, model.digits, model.whole = network, True, True


def read_anew(task: Task, model: Model, shown: Images, generator: torch.Generator, steps: int) -> Reading:
    """Another network, of ten digits, trained by minus the logarithm of the results' probabilities."""
    assert isinstance(model.over_time, Recurrent)
    (unit,) = model.over_time.units
    network = Reading(10, generator)
    rows, known = READ_IMAGES // task.short, _Outcomes(unit, model.over_time.start)
    optimiser = torch.optim.Adam(network.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps, 1e-5)
    for _ in range(steps):
        chosen, digits = shown.sequences(rows, task.short, generator)
        read = network(shown.pixels[chosen].flatten(0, 1)).unflatten(0, chosen.shape)
        loss = -known.probability(read, task.target(digits)[:, 0]).clamp(min=1e-12).log().mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    return network


class _Outcomes:
    """The states that a unit can be in after each step of digits, and where it goes from each of them by each digit."""

    def __init__(self, unit: Unit, start: float) -> None:
        self._unit = unit
        self._states = [torch.tensor([start])]
        self._next: list[Tensor] = []

    def probability(self, read: Tensor, wanted: Tensor) -> Tensor:
        """That of the results ``[rows]``, where digits have the probabilities ``[rows, steps, 10]``."""
        weight = read.new_ones(len(read), 1)
        for step in range(read.shape[1]):
            if step == len(self._next):
                self._go_on()
            joint = (weight[:, :, None] * read[:, step, None]).flatten(1)
            size = len(self._states[step + 1])
            weight = read.new_zeros(len(read), size).index_add(1, self._next[step], joint)
        gaps = (self._states[read.shape[1]] - wanted[:, None].float()).abs()
        return torch.where(gaps < 1e-3, weight, 0.0).sum(1)

    @torch.no_grad()
    def _go_on(self) -> None:
        states = self._states[-1]
        pairs = torch.cartesian_prod(states, DIGITS.float()).flip(1)
        found = self._unit(pairs)[:, 0]
        reached, place = (found * 1e3).round().unique(return_inverse=True)
        self._states.append(reached / 1e3)
        self._next.append(place)


def _unsettled(model: Model) -> bool:
    assert isinstance(model.over_time, Recurrent)
    return float(model.over_time.units[0].sparsity_error()) > 0


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


def solve(task: Task, batch: Batch, *, model: str = "unit", steps: int | None = None) -> list[Outcome]:
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
            squares, wrong = losses(task, validated, generator)
            harden(trained, whole_weights, squares)
            if task.outputs == 1 and not _unsettled(trained):
                anew = min(taken, READ_STEPS)
                network = read_anew(task, trained, learned, generator, anew)
                harden(trained, partial(reading_digits, network=network), wrong)
            harden(trained, whole_readings, wrong)
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
