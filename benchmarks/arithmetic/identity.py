"""The identity beyond the range that it is learned on (Trask and others 2018, figure 1): multilayer perceptrons with
nine activations, and the neural accumulator.

Learned on [-5, 5] and tested on [-20, 20] without it. A seed counts as solved where the mean size of its error outside
is below 1 % of the numbers' mean size. ``inside`` and ``outside`` are mean sizes of errors.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn

from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.outcome import Outcome
from benchmarks.arithmetic.regression import seeded
from benchmarks.arithmetic.samples import Uniform, span
from lnnkit.numeric import NAC, NAU

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": nn.functional.relu,
    "relu6": nn.functional.relu6,
    "elu": nn.functional.elu,
    "selu": nn.functional.selu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "hardtanh": nn.functional.hardtanh,
    "softsign": nn.functional.softsign,
    "softplus": nn.functional.softplus,
}
UNITS = ("NAC", "NAU")
MODELS = (*ACTIVATIONS, *UNITS)
INSIDE, OUTSIDE = span(-5, 5), Uniform(((-20, -5), (5, 20)))
WIDTHS = (1, 8, 8, 8, 1)
PAPER_STEPS, ROWS, RATE = 10_000, 64, 1e-2
LATE = 0.9
"""From this share of the steps on the rate is a tenth."""


class Perceptrons(nn.Module):
    """Many seeds of a perceptron of three hidden layers of eight."""

    def __init__(self, activation: Callable[[Tensor], Tensor], seeds: int, generator: torch.Generator) -> None:
        super().__init__()
        self.activation = activation
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for before, after in pairwise(WIDTHS):
            reach = before**-0.5
            for kept, shape in ((self.weights, (seeds, before, after)), (self.biases, (seeds, 1, after))):
                drawn = torch.rand(shape, dtype=torch.float64, generator=generator)
                kept.append(nn.Parameter((2 * drawn - 1) * reach))

    def forward(self, x: Tensor) -> Tensor:
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = x @ weight + bias
            x = self.activation(x) if layer < len(WIDTHS) - 2 else x
        return x


def solve(model: str, batch: Batch, *, steps: int | None) -> list[Outcome]:
    began = time.process_time()
    count, generator = batch.count, seeded("identity", model, batch.first)
    network = _network(model, count, generator)
    taken = PAPER_STEPS if steps is None else min(steps, PAPER_STEPS)
    optimiser = torch.optim.Adam(network.parameters(), lr=RATE)
    for step in range(taken):
        batch.watch(step / taken)
        optimiser.param_groups[0]["lr"] = RATE if step < LATE * taken else RATE / 10
        x = INSIDE.draw(count, ROWS, 1, generator)
        optimiser.zero_grad()
        (network(x) - x).square().mean((-1, -2)).sum().backward()
        optimiser.step()
        if isinstance(network, NAU):
            network.project()
    errors: list[Tensor] = []
    with torch.no_grad():
        for samples in (INSIDE, OUTSIDE):
            x = samples.draw(count, 2000, 1, generator)
            errors.append((network(x) - x).abs().mean((-1, -2)))
    cpu = (time.process_time() - began) / count
    return [
        Outcome(
            solved=outside < 0.01 * 12.5,
            error=outside,
            steps=taken,
            samples=taken * ROWS,
            cpu=cpu,
            planned=PAPER_STEPS,
            scores={"inside": inside, "outside": outside},
        )
        for inside, outside in zip(errors[0].tolist(), errors[1].tolist(), strict=True)
    ]


def _network(model: str, seeds: int, generator: torch.Generator) -> nn.Module:
    if model == "NAC":
        return NAC(1, 1, seeds=seeds, generator=generator)
    if model == "NAU":
        return NAU(1, 1, seeds=seeds, generator=generator)
    return Perceptrons(ACTIVATIONS[model], seeds, generator)
