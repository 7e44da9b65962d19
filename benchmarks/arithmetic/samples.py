"""Where the operands of a task are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Samples(Protocol):
    def draw(self, seeds: int, rows: int, features: int, generator: torch.Generator) -> Tensor:
        """``[seeds, rows, features]`` in float64; a grid gives its own number of rows."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Evenly from spans of the same length, each chosen as often."""

    spans: tuple[tuple[float, float], ...]

    def draw(self, seeds: int, rows: int, features: int, generator: torch.Generator) -> Tensor:
        shape = (seeds, rows, features)
        spans = torch.tensor(self.spans, dtype=torch.float64)
        chosen = spans[torch.randint(len(spans), shape, generator=generator)]
        share = torch.rand(shape, dtype=torch.float64, generator=generator)
        return chosen[..., 0] + share * (chosen[..., 1] - chosen[..., 0])


@dataclass(frozen=True)
class Sobol:
    """A scrambled Sobol sequence over ``[low, high]`` in each feature."""

    low: float
    high: float

    def draw(self, seeds: int, rows: int, features: int, generator: torch.Generator) -> Tensor:
        starts = torch.randint(2**31, (seeds,), generator=generator).tolist()
        engines = [torch.quasirandom.SobolEngine(features, scramble=True, seed=start) for start in starts]
        drawn = torch.stack([engine.draw(rows, dtype=torch.float64) for engine in engines])
        return self.low + drawn * (self.high - self.low)


@dataclass(frozen=True)
class Grid:
    """All points of a square grid of two features, ends included."""

    low: float
    high: float
    step: float

    def draw(self, seeds: int, rows: int, features: int, generator: torch.Generator) -> Tensor:
        if features != 2:
            raise ValueError(f"a grid is of two features, not {features}")
        axis = torch.arange(self.low, self.high + self.step / 2, self.step, dtype=torch.float64)
        return torch.cartesian_prod(axis, axis).expand(seeds, -1, -1)


def span(low: float, high: float) -> Uniform:
    return Uniform(((low, high),))
