"""Starts for differential equations whose powers are simple: products of powers from the unit's grid.

Over the integrals of the smoothed table the weights are linear: what a column has moved by since the first time is the
sum of the products' integrals up to there, so noise in one row stays in that row (Messenger and Bortz 2021, "Weak
SINDy"). The best sets of one product after the other are kept (a beam); of each set every column takes the products
that pay for their weight by Schwarz's criterion (1978).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from lnnkit.numeric.term import POWERS
from lnnkit.numeric.units.clipped_units import EPSILON

MOST = 3.0
"""The sum of a product's powers, without their signs, at most."""
BEAM = 400
REACH = 1e6
"""A product that is so much greater somewhere than in the middle is left out."""


@lru_cache
def products(columns: int) -> tuple[tuple[float, ...], ...]:
    """The powers of all products that read a column, the simplest first."""
    rows = [row for row in itertools.product(POWERS, repeat=columns) if 0 < sum(map(abs, row)) <= MOST]
    return tuple(sorted(rows, key=effort))


def effort(row: tuple[float, ...]) -> tuple[int, float]:
    """How many columns a product reads, and how far their powers are from 1."""
    return sum(power != 0 for power in row), sum(abs(power - 1) for power in row if power)


def surprise(row: tuple[float, ...]) -> float:
    """Minus twice the logarithm of a product's probability where each is as probable as all that are no less simple
    together (a code for whole numbers; Rissanen 1983, without its smaller terms)."""
    return 2 * math.log(sum(effort(other) <= effort(row) for other in products(len(row))) or 1)


@dataclass(frozen=True)
class Terms:
    """Products over a table: their powers ``[products, columns]``, and their integrals from the first time on,
    ``[times - 1, products]``, evened out by ``size``."""

    powers: Tensor
    integrals: Tensor
    size: Tensor

    @classmethod
    def of(cls, path: Tensor, sums: Tensor) -> Terms:
        """``path`` (points, columns) is not negative, ``sums`` (times - 1, points) takes it to integrals from one time
        to the next."""
        powers = torch.tensor(products(path.shape[1]), dtype=torch.float64)
        values = torch.exp((path + EPSILON).log() @ powers.T)
        kept = values.amax(0) <= REACH * values.median(0).values
        whole = (sums @ values[:, kept]).cumsum(0)
        size = whole.square().sum(0).sqrt().clamp(min=1e-300)
        return cls(powers[kept], whole / size, size)


Start = tuple[Tensor, Tensor]
"""The powers of a set of products, ``[most, columns]``, all 0 where there are fewer, and their weights ``[columns,
most]``, 0 where a column does not read a product."""


def sets(terms: Terms, moved: Tensor, most: int, count: int) -> list[Start]:
    """The best sets of up to ``most`` products, each column with weights of its own. ``moved`` (times - 1, columns) is
    how far each column is from its first value, in what weights are to be measured in."""
    own = terms.integrals
    gram, along, whole = own.T @ own, own.T @ moved, float(moved.square().sum())
    found: list[tuple[float, Tensor, Tensor]] = []
    for beam in _beams(lambda beam: whole - _explained(gram, along, beam), own.shape[1], most):
        found += [_sparse(own, moved, row) for row in beam]
    found.sort(key=lambda each: each[0])
    made: dict[tuple[float, ...], Start] = {}
    for _, row, weights in found:
        used = (weights != 0).any(1)
        read = row[used]
        if not len(read) or len(made) >= count:
            continue
        key = (*read.tolist(), -1.0, *(weights[used] != 0).double().flatten().tolist())
        made.setdefault(key, _start(terms, read, (weights[used] / terms.size[read, None]).T, most))
    return list(made.values())


def transfers(terms: Terms, moved: Tensor, scale: Tensor, most: int, count: int) -> list[Start]:
    """The best sets of up to ``most`` products of which each leaves one column and enters another: its weights are w
    and -w. ``moved`` is measured in ``scale``, one a column."""
    columns = moved.shape[1]
    pairs = list(itertools.combinations(range(columns), 2))
    ways = torch.zeros(len(pairs), columns, dtype=torch.float64)
    for place, (left, entered) in enumerate(pairs):
        ways[place, left], ways[place, entered] = -1 / scale[left], 1 / scale[entered]
    own = (terms.integrals[:, None, :, None] * ways.T[None, :, None]).flatten(2).flatten(0, 1)
    size = own.square().sum(0).sqrt()
    own, target = own / size, moved.flatten()[:, None]
    gram, along, whole = own.T @ own, own.T @ target, float(target.square().sum())
    samples = moved.numel()
    found: list[tuple[float, Tensor, Tensor]] = []
    costs = torch.tensor([surprise(tuple(row)) for row in terms.powers.tolist()]).repeat_interleave(len(pairs))
    for beam in _beams(lambda beam: whole - _explained(gram, along, beam), own.shape[1], most):
        for row in beam:
            weights = torch.linalg.lstsq(own[:, row], target).solution
            left = float((own[:, row] @ weights - target).square().mean())
            criterion = samples * math.log(left + 1e-16) + len(row) * math.log(samples) + float(costs[row].sum())
            found.append((criterion, row, weights[:, 0] / size[row]))
    found.sort(key=lambda each: each[0])
    made: list[Start] = []
    for _, row, values in found[:count]:
        read, way = row // len(pairs), row % len(pairs)
        weights = torch.zeros(columns, len(row), dtype=torch.float64)
        for place, (number, value) in enumerate(zip(way.tolist(), values.tolist(), strict=True)):
            left, entered = pairs[number]
            weights[left, place], weights[entered, place] = -value, value
        made.append(_start(terms, read, weights / terms.size[read], most))
    return made


def _start(terms: Terms, read: Tensor, weights: Tensor, most: int) -> Start:
    powers = torch.zeros(most, terms.powers.shape[1], dtype=torch.float64)
    powers[: len(read)] = terms.powers[read]
    whole = torch.zeros(len(weights), most, dtype=torch.float64)
    whole[:, : len(read)] = weights
    return powers, whole


def _beams(left: Callable[[Tensor], Tensor], count: int, most: int) -> Iterator[Tensor]:
    """Of each number of places the sets that leave least, ``[sets, places]``."""
    beam = torch.arange(count)[:, None]
    for chosen in range(1, most + 1):
        if chosen > 1:
            beam = _grown(beam, count)
        beam = beam[left(beam).argsort()[:BEAM]]
        yield beam


def _grown(beam: Tensor, count: int) -> Tensor:
    """Every set with one product more, each once."""
    more = torch.arange(count).repeat(len(beam))[:, None]
    grown = torch.cat([beam.repeat_interleave(count, 0), more], 1).sort(1).values
    return grown[(grown.diff(dim=1) > 0).all(1)].unique(dim=0)


def _explained(gram: Tensor, along: Tensor, beam: Tensor) -> Tensor:
    """The squares that each set takes of all columns, ``[sets]``."""
    own = gram[beam[:, :, None], beam[:, None]] + 1e-10 * torch.eye(beam.shape[1], dtype=gram.dtype)
    side = along[beam]
    return (torch.linalg.solve(own, side) * side).sum((1, 2))


def _sparse(terms: Tensor, moved: Tensor, row: Tensor) -> tuple[float, Tensor, Tensor]:
    """The criterion of a set, its products, and their weights, ``[products, columns]``: of each column those that take
    more squares than a weight costs at the noise that the whole set leaves."""
    own = terms[:, row]
    samples = moved.numel()
    noise = float((own @ torch.linalg.lstsq(own, moved).solution - moved).square().mean()) + 1e-16
    weights = torch.zeros(len(row), moved.shape[1], dtype=torch.float64)
    rest, unknowns = 0.0, 0
    subsets = [places for size in range(len(row) + 1) for places in itertools.combinations(range(len(row)), size)]
    for column in range(moved.shape[1]):
        target = moved[:, column]
        least, best, taken = math.inf, 0.0, ((), torch.zeros(0, dtype=torch.float64))
        for places in subsets:
            part = own[:, list(places)]
            values = torch.linalg.lstsq(part, target[:, None]).solution[:, 0] if places else taken[1][:0]
            square = float((part @ values - target).square().sum())
            if square + noise * len(places) * math.log(samples) < least:
                least, best, taken = square + noise * len(places) * math.log(samples), square, (places, values)
        rest, unknowns = rest + best, unknowns + len(taken[0])
        weights[list(taken[0]), column] = taken[1]
    return samples * math.log(rest / samples + 1e-16) + unknowns * math.log(samples), row, weights
