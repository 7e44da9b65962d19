"""A number that an operation makes of two sums of operands: what most of the papers' tasks are."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor

from benchmarks.arithmetic.samples import Samples

OPERATIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "square": lambda a, b: a * a,
    "sqrt": lambda a, b: a.sqrt(),
    "reciprocal": lambda a, b: 1 / a,
}


@dataclass(frozen=True)
class Subsets:
    """Two subsets of the features, of ``first`` and ``second`` of them, ``overlap`` in common: neighbours from the
    start on, or from ``anywhere`` on, drawn for each seed, or ``scattered``."""

    first: int
    second: int
    overlap: int
    place: Literal["start", "anywhere", "scattered"] = "start"

    def masks(self, seeds: int, features: int, generator: torch.Generator) -> Tensor:
        """0 and 1, ``[seeds, 2, features]``."""
        used = self.first - self.overlap + self.second
        base = torch.zeros(2, features, dtype=torch.float64)
        base[0, : self.first] = 1
        base[1, self.first - self.overlap : used] = 1
        found = base.repeat(seeds, 1, 1)
        if self.place == "anywhere":
            starts = torch.randint(features - used + 1, (seeds,), generator=generator).tolist()
            return torch.stack([each.roll(start, -1) for each, start in zip(found, starts, strict=True)])
        if self.place == "scattered":
            return torch.stack([each[:, torch.randperm(features, generator=generator)] for each in found])
        return found


@dataclass(frozen=True)
class Regression:
    """``op`` of the sums of two subsets of ``features`` operands.

    Learned on ``inside`` and tested on ``outside``; ``noise`` is added to the targets that are learned from, times
    their standard deviation. A seed counts as solved where the error on ``outside``, the mean of squares or of sizes,
    is below ``limit``: an error, or that of weights that are ``off`` by a little on ``judged`` rows (see
    `nearly_right`).
    """

    task: str
    op: str
    setting: str
    features: int
    subsets: Subsets
    inside: Samples
    outside: Samples
    limit: float | None = None
    off: float = 0.0
    measure: Literal["square", "size"] = "square"
    noise: float = 0.0
    judged: int = 20_000
    published: str = ""

    @property
    def bound(self) -> float:
        if self.limit is not None:
            return self.limit
        return nearly_right(self.op, self.subsets, self.features, self.outside, self.off, self.judged)

    def target(self, x: Tensor, masks: Tensor) -> Tensor:
        """``[seeds, rows, features]``, ``[seeds, 2, features] -> [seeds, rows]``."""
        sums = x @ masks.to(x.dtype).mT
        return OPERATIONS[self.op](sums[..., 0], sums[..., 1])

    def error(self, found: Tensor, wanted: Tensor) -> Tensor:
        """Over the rows, the last dimension."""
        gap = found - wanted
        return (gap.square() if self.measure == "square" else gap.abs()).mean(-1)


def seeded(*names: object) -> torch.Generator:
    """A generator for what has these names: the same on every machine."""
    return torch.Generator().manual_seed(zlib.crc32("/".join(map(str, names)).encode()))


@lru_cache
def nearly_right(op: str, subsets: Subsets, features: int, outside: Samples, off: float, rows: int) -> float:
    """The mean square error on ``outside`` of the right sums with every weight ``off`` by so much: Madsen and
    Johansen's threshold of success."""
    generator = seeded("threshold", op, features)
    x = outside.draw(1, rows, features, generator)
    masks = subsets.masks(1, features, generator)
    bent = masks * (1 - off) + (1 - masks) * off
    function = OPERATIONS[op]
    right, wrong = x @ masks.mT, x @ bent.mT
    return float((function(wrong[..., 0], wrong[..., 1]) - function(right[..., 0], right[..., 1])).square().mean())
