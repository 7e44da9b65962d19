"""The search for candidate values: the grid of integral weights of units, exhaustive or by hill climbing, and scores by
the sum of squares between the cells into which a comparison divides the rows (Breiman et al. 1984)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lnnkit.learn.arithmetic.learned_comparisons import LearnedUnit
from lnnkit.numeric import same
from lnnkit.numeric.units.clipped_units import NAU, NMU
from lnnkit.numeric.units.gated_units import INALU, NAC, NALU
from lnnkit.numeric.units.npu import NPU

GRIDS: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "nau": NAU.grids,
    "nac": NAC.grids,
    "nmu": NMU.grids,
    "nalu": {**NALU.grids, "gate": (-10.0, 0.0, 10.0)},
    "inalu": INALU.grids,
    "npu": NPU.grids,
    "realnpu": NPU.grids,
}
"""The values of a weight, by the kind of unit and the attribute. A NALU's gate has no grid: these values nearly close
it, leave it half open, or nearly open it at an input of 1."""

MOST = 4096
"""Up to this many combinations the search is exhaustive."""

_CLIMBS = 24  # random starts beside one for each operand; a limit of work
_COSTS = {0.0: 0.0, 1.0: 1.0, -1.0: 1.1, 2.0: 2.0, -2.0: 2.1, 0.5: 4.0, -0.5: 4.1}

CandidateScore = Callable[[Tensor], Tensor]
"""``[candidates, weights] -> [candidates]``, greater is better."""


@dataclass(frozen=True, slots=True)
class WeightGrid:
    """The distinct weights ``names`` of units, and the grid ``values`` of each."""

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]

    def best(self, score: CandidateScore, most: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """The ``most`` best candidates, ``[candidates, weights]``, and their scores; the simpler first among equals."""
        if not self.names:
            only = torch.zeros(1, 0, dtype=torch.float64)
            return only, score(only)
        if math.prod(map(len, self.values)) <= MOST:
            candidates = torch.tensor(list(itertools.product(*self.values)), dtype=torch.float64)
            candidates = candidates[(candidates != 0).any(1)]
        else:
            candidates = self._climbed(score, generator)
        scores = score(candidates)
        costs = torch.tensor([sum(_COSTS.get(weight, 3.0) for weight in row) for row in candidates.tolist()])
        rank = sorted(range(len(candidates)), key=lambda place: (-round(float(scores[place]), 9), float(costs[place])))
        chosen = torch.tensor(rank[:most])
        return candidates[chosen], scores[chosen]

    def _climbed(self, score: CandidateScore, generator: torch.Generator) -> Tensor:
        """The candidates that hill climbing meets, one weight at a time, from each operand alone and random starts."""
        width, drawn, met = len(self.names), list[list[float]](), list[Tensor]()
        for _ in range(_CLIMBS):
            drawn.append([values[int(torch.randint(len(values), (), generator=generator))] for values in self.values])
        now = torch.cat([torch.eye(width, dtype=torch.float64), torch.tensor(drawn, dtype=torch.float64)])
        for _ in range(3):
            before = now.clone()
            for place in torch.randperm(width, generator=generator).tolist():
                values = torch.tensor(self.values[place], dtype=torch.float64)
                tried = now[:, None].repeat(1, len(values), 1)
                tried[..., place] = values
                flat = tried.flatten(0, 1)
                met.append(flat)
                best = score(flat).reshape(len(now), len(values)).argmax(1)
                now = tried[torch.arange(len(now)), best]
            if torch.equal(now, before):
                break
        candidates = torch.unique(torch.cat(met), dim=0)
        return candidates[(candidates != 0).any(1)]


def grid(units: Sequence[LearnedUnit], unstarted: Sequence[str]) -> WeightGrid:
    """The grid of the weights among ``unstarted``; one that several units share takes the values of the first."""
    grids: dict[str, tuple[float, ...]] = {}
    for unit in units:
        for name, key in zip(unit.weights, unit.keys, strict=True):
            if isinstance(name, str) and name in unstarted:
                grids.setdefault(name, GRIDS[unit.kind][key])
    return WeightGrid(tuple(grids), tuple(grids.values()))


@dataclass(frozen=True, slots=True)
class Candidate:
    """Values of parameters, the sum of squares that they explain, and the spread of what each is compared with."""

    values: Mapping[str, float]
    gain: float
    spreads: Mapping[str, float] = field(default_factory=dict)


def split_by_cut(values: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """The best split of each row of ``values`` ``[candidates, rows]``, and its score on ``truth``; NaN is on no
    side."""
    known = values.isfinite()
    ordered, order = torch.where(known, values, torch.inf).sort(1)
    truths = torch.where(known, truth, 0.0).gather(1, order)
    count = known.sum(1, keepdim=True).double()
    left, total = truths.cumsum(1), truths.sum(1, keepdim=True)
    first = torch.arange(1, values.shape[1] + 1, dtype=torch.float64).expand_as(left)
    rest = (count - first).clamp(min=1.0)
    gains = left.square() / first + (total - left).square() / rest - total.square() / count.clamp(min=1.0)
    here, following = ordered[:, :-1], ordered[:, 1:]
    apart = following.isfinite() & ~same(here, following)
    gains = torch.where(apart, gains[:, :-1], -torch.inf)
    if not gains.shape[1]:
        return torch.zeros(len(values), dtype=torch.float64), ordered[:, 0]
    gain, place = gains.max(1)
    cut = ((here + following) / 2).gather(1, place[:, None]).squeeze(1)
    none = gain == -torch.inf
    return torch.where(none, 0.0, gain), torch.where(none, here[:, 0], cut)


def split_by_value(values: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """As `split_by_cut`, for splits into one value and all others."""
    gains, chosen = torch.zeros(2, len(values), dtype=torch.float64)
    for number, row in enumerate(values):
        known = row.isfinite()
        distinct, place = torch.unique(row[known], return_inverse=True)
        if not len(distinct):
            continue
        sums = torch.zeros(len(distinct), dtype=torch.float64).index_add_(0, place, truth[known])
        counts = torch.bincount(place).double()
        total, count = sums.sum(), counts.sum()
        scores = sums.square() / counts + (total - sums).square() / (count - counts).clamp(min=1.0) - total**2 / count
        best = scores.argmax()
        gains[number], chosen[number] = scores[best], distinct[best]
    return gains, chosen


def split_by_cells(cells: Tensor, truth: Tensor) -> Tensor:
    """The score ``[candidates]`` of partitions: cells ``[candidates, rows]``, numbered from 0 (-1: in none)."""
    known = cells >= 0
    inside = torch.where(known, truth, 0.0)
    total, count = inside.sum(1), known.sum(1).double().clamp(min=1.0)
    score = -total.square() / count
    for cell in range(int(cells.max()) + 1 if cells.numel() else 0):
        mine = cells == cell
        size = mine.sum(1).double()
        score = score + torch.where(mine, truth, 0.0).sum(1).square() / size.clamp(min=1.0)
    return score


def signs(difference: Tensor) -> Tensor:
    """0 where a difference is below, 1 where it is at and 2 where it is above 0; -1 where it is NaN."""
    return torch.where(difference.isfinite(), difference.sign().nan_to_num().long() + 1, -1)
