"""Weights and constants by least squares: Levenberg-Marquardt for many small problems at once (Marquardt 1963; Nocedal
and Wright 2006, chapter 10); the grid of integral weights of units, searched exhaustively or by hill climbing; and fits
of both to labels, or to an equation between known numbers.

For an equation, every combination of integral weights is tried with its best constants; from the best of them, and from
random weights, the fit continues without rounding. Integral weights are preferred if they are exact or fit no worse
than noise explains (`by_chance`)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, Self

import torch
from torch import Tensor

from lnnkit.arrays import all_set
from lnnkit.learn.comparisons.comparison_examples import Examples
from lnnkit.learn.comparisons.learned_comparisons import LearnedUnit
from lnnkit.numeric.term import GRIDS

EASED, TIGHTENED = 0.2, 4.0  # factors of the damping after a successful and after a failed step


class Problem(Protocol):
    """``[problems]`` of ``[rows]`` residuals each, in ``[parameters]`` unknowns."""

    def residuals(self, parameters: Tensor) -> Tensor:
        """``[problems, parameters] -> [problems, rows]``."""
        ...

    def jacobian(self, parameters: Tensor) -> Tensor:
        """``[problems, parameters] -> [problems, rows, parameters]``: the derivatives of the residuals."""
        ...

    def select(self, problems: Tensor) -> Self:
        """The problems with these numbers only."""
        ...


class Minimum(NamedTuple):
    """Of each problem: the parameters found (problems, parameters), the mean square of its residuals there, and the
    number of steps tried."""

    parameters: Tensor
    loss: Tensor
    steps: Tensor


def minimise(
    problem: Problem, parameters: Tensor, *, steps: int = 100, patience: int = 15, enough: float = 1e-28
) -> Minimum:
    """Iterate from ``parameters`` until each problem has had ``steps`` steps, has gained less than a hundredth in each
    of ``patience``, or its loss is at most ``enough``. Finished problems cost nothing. A step tries
    ``p - (A + d diag A)^-1 J^T r`` with ``A = J^T J``, and is kept in each problem whose loss falls."""
    parameters, loss = parameters.clone(), _loss(problem, parameters)
    damping, (tried, stalled) = torch.full_like(loss, 1e-2), torch.zeros(2, len(loss), dtype=torch.int64)
    active, left = problem, torch.arange(len(parameters), device=parameters.device)
    for _ in range(steps):
        running = (loss[left] > enough) & (stalled[left] < patience)
        if not all_set(running):
            left = left[running]
            active = problem.select(left)
        if not len(left):
            break
        tried[left] += 1
        now, least, damped = parameters[left], loss[left], damping[left]
        trial, failed = _trial(active, now, damped)
        after = _loss(active, trial)
        better = ~failed & (after < least)
        parameters[left] = torch.where(better[..., None], trial, now)
        loss[left] = torch.where(better, after, least)
        damping[left] = (damped * torch.where(better, EASED, TIGHTENED)).clamp(1e-14, 1e14)
        stalled[left] = torch.where(better & (after < 0.99 * least), 0, stalled[left] + 1)
    return Minimum(parameters, loss, tried)


def _trial(problem: Problem, parameters: Tensor, damping: Tensor) -> tuple[Tensor, Tensor]:
    """The parameters after a damped step, and a mask of the problems that have none."""
    residuals, jacobian = problem.residuals(parameters), problem.jacobian(parameters)
    gram = jacobian.mT @ jacobian
    slope = (jacobian.mT @ residuals[..., None])[..., 0]
    diagonal = gram.diagonal(dim1=-2, dim2=-1)
    # A parameter without influence would make the matrix singular; damping it by the scale of the others leaves it in
    # place.
    weighed = torch.maximum(diagonal, 1e-12 * diagonal.amax(-1, keepdim=True)).clamp(min=1e-300)
    factor, failed = torch.linalg.cholesky_ex(gram + torch.diag_embed(damping[..., None] * weighed))
    return parameters - torch.cholesky_solve(slope[..., None], factor)[..., 0], failed != 0


def _loss(problem: Problem, parameters: Tensor) -> Tensor:
    """The mean squared residual; NaN becomes infinity, so that no step is accepted there."""
    return problem.residuals(parameters).square().mean(-1).nan_to_num(nan=torch.inf)


EXACT = 1e-24
"""The mean square of relative residuals up to which a model counts as exact."""


def spread_of(target: Tensor) -> Tensor:
    """The scale of residuals: the size of each target, at least the median one, lest quotients near 0 dominate."""
    size = target.abs()
    return torch.maximum(size, size.median(-1, keepdim=True).values).clamp(min=1e-300)


def by_chance(samples: int, unknowns: int) -> float:
    """How far the mean square of the true model may exceed that of the best fit, which absorbs a degree of freedom of
    the noise for each unknown; the rest scatters, here by four standard deviations. 0 if none is left."""
    free = samples - unknowns
    if free <= 0:
        return 1.0
    return samples / free * (1 + 4 * math.sqrt(2 / free))


_GRIDS = {**GRIDS, "nalu": {**GRIDS["nalu"], "gate": (-10.0, 0.0, 10.0)}}
"""A NALU's gate is not rounded: these values nearly close it, leave it half open, or nearly open it at an input of
1."""

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
            candidates = torch.tensor([*itertools.product(*self.values)], dtype=torch.float64)
        else:
            candidates = self._climbed(score, generator)
        candidates = candidates[(candidates != 0).any(1)]
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
        return torch.unique(torch.cat(met), dim=0)


def grid(units: Sequence[LearnedUnit], unstarted: Sequence[str]) -> WeightGrid:
    """The grid of the weights among ``unstarted``; one that several units share takes the values of the first."""
    grids: dict[str, tuple[float, ...]] = {}
    for unit in units:
        for name, key in unit.keys.items():
            if name in unstarted:
                grids.setdefault(name, _GRIDS[unit.kind][key])
    return WeightGrid(tuple(grids), tuple(grids.values()))


@dataclass(frozen=True, slots=True)
class Candidate:
    """Values of parameters, the sum of squares that they explain, and the spread of what each is compared with."""

    values: Mapping[str, float]
    gain: float
    spreads: Mapping[str, float] = field(default_factory=dict)


# Scales that soften a comparison, relative to the spread of the differences
_SHARPER = (0.5, 0.25, 0.12, 0.06, 0.03, 0.015)
_LABEL_STEPS = 30


@dataclass(frozen=True)
class ComparisonProblem:
    """Residuals of a comparison in each row, as a function of the parameters ``names``: its ``left - right`` as
    ``measured``. The first ``held`` parameters are kept constant; parameters outside ``names`` are ``fixed``."""

    shown: Examples
    names: tuple[str, ...]
    fixed: Mapping[str, float]
    measured: Callable[[Tensor], Tensor]
    held: int = 0

    def gaps(self, columns: Tensor | Sequence[Tensor]) -> Tensor:
        """``left - right``, ``[problems, rows]``, for parameters ``[parameters, problems, 1 or rows]``."""
        left, right = _sides(self.shown, self.names, self.fixed, columns)
        return left - right

    def residuals(self, parameters: Tensor) -> Tensor:
        return self.measured(self.gaps(parameters.T[..., None]))

    def jacobian(self, parameters: Tensor) -> Tensor:
        shape = len(parameters), len(self.shown.labels)
        leaves = [column[:, None].expand(shape).clone().requires_grad_() for column in parameters.unbind(1)]
        with torch.enable_grad():
            residuals = self.measured(self.gaps(leaves))
        if not residuals.requires_grad:
            return residuals.new_zeros(*shape, len(leaves))
        slopes = torch.autograd.grad(residuals.sum(), leaves, allow_unused=True, materialize_grads=True)
        slopes = (slope if place >= self.held else torch.zeros_like(slope) for place, slope in enumerate(slopes))
        return torch.stack([*slopes], -1)

    def select(self, problems: Tensor) -> Self:
        return self


def _sides(
    shown: Examples, names: Sequence[str], fixed: Mapping[str, float], columns: Tensor | Sequence[Tensor]
) -> tuple[Tensor, Tensor]:
    """Both terms, ``[problems, rows]``, for values ``[parameters, problems, 1 or rows]`` of ``names``."""
    values = {name: torch.tensor(value, dtype=torch.float64) for name, value in fixed.items()}
    return shown.sides(values | dict(zip(names, columns, strict=True)), len(columns[0]) if len(columns) else 1)


def fitted_to_labels(
    shown: Examples, truth: Tensor, names: Sequence[str], start: Mapping[str, float], *, rising: bool
) -> dict[str, float]:
    """The parameters ``names`` fitted to the truth (rows,) of labels from ``start`` on, while softening decreases.
    ``rising``: the comparison rises with the difference. Rows without a difference have no weight."""
    fixed = {name: value for name, value in start.items() if name not in names}
    values = torch.tensor([[start[name] for name in names]], dtype=torch.float64)
    scale = 1.0

    def wrong(gaps: Tensor) -> Tensor:
        return (torch.sigmoid((gaps if rising else -gaps) / scale) - truth).nan_to_num()

    problem = ComparisonProblem(shown, tuple(names), fixed, wrong)
    for share in _SHARPER:
        gaps = problem.gaps(values.T[..., None])
        gaps = gaps[gaps.isfinite()]
        scale = share * float(gaps.std()) if len(gaps) > 1 else 0.0
        if scale <= 0:
            break
        values = _in_reach(problem, minimise(problem, values, steps=_LABEL_STEPS).parameters)
    return dict(zip(names, values[0].tolist(), strict=True))


def _in_reach(problem: ComparisonProblem, values: Tensor) -> Tensor:
    """``values`` (1, names) divided so that weights of sums are at most 1, if every row then stays on its side of the
    comparison. Labels determine weights and threshold only up to a common factor."""
    sums = {name for unit in problem.shown.comparison.units if unit.kind in ("nau", "nac") for name in unit.keys}
    weights = [place for place, name in enumerate(problem.names) if name in sums]
    smaller = values / max(1.0, float(values[0, weights].abs().max()) if weights else 0.0)
    before, after = (problem.gaps(point.T[..., None]).sign().nan_to_num() for point in (values, smaller))
    return smaller if torch.equal(before, after) else values


_SCANNED = 64  # rows on which all integer weights are tried
_STARTS = 8  # starts from integer weights, and as many random ones
_STEPS = 12  # steps for the constants, with fixed integer weights
_CHUNK = 100_000  # residuals at a time


def equation_proposals(
    shown: Examples,
    truth: Tensor,
    started: Mapping[str, float],
    weights: WeightGrid,
    constants: Sequence[str],
    generator: torch.Generator,
) -> list[Candidate]:
    """Candidates for the weights and the constants of an equation: with integral weights if they fit, otherwise both
    without and with them. If rows have labels, only rows with a true label (``truth``, (labels,)) are used."""
    if shown.labelled:
        shown = shown.at(truth[shown.labels] > 0.5)
    rows = len(shown.labels)
    names = (*weights.names, *constants)
    if not rows:
        return []
    fixed = {name: value for name, value in started.items() if name not in names}
    some = shown.at(torch.randperm(rows, generator=generator)[:_SCANNED])

    def problem(shown: Examples, held: int = 0) -> ComparisonProblem:
        """Makes both terms equal; residuals are relative to the side without unknowns, if there is one."""
        known = _known_side(shown, names, fixed)
        spread = torch.ones(1, dtype=torch.float64) if known is None else spread_of(known)
        return ComparisonProblem(shown, names, fixed, lambda gaps: gaps / spread, held)

    def with_constants(shown: Examples, candidates: Tensor, steps: int) -> Minimum:
        """Integral weights with the constants that fit them."""
        start = torch.cat([candidates, torch.ones(len(candidates), len(constants), dtype=torch.float64)], 1)
        return minimise(problem(shown, len(weights.names)), start, steps=steps if constants else 0)

    def score(candidates: Tensor) -> Tensor:
        parts = candidates.split(max(1, _CHUNK // len(some.labels)))
        return -torch.cat([with_constants(some, part, _STEPS).loss for part in parts])

    best, scores = weights.best(score, _STARTS, generator)
    best = best[scores > -torch.inf]
    if not len(best):
        return []
    whole = with_constants(shown, best, 10 * _STEPS)
    starts = whole.parameters
    if weights.names:
        starts = torch.cat([starts, 2 * torch.rand(_STARTS, len(names), generator=generator, dtype=torch.float64) - 1])
    free = minimise(problem(shown), starts)
    constant = _constant_loss(_known_side(shown, names, fixed))
    made: list[Candidate] = []
    for minimum in (whole, free):
        least = int(minimum.loss.argmin())
        explained = max(0.0, 1 - float(minimum.loss[least]) / constant) if constant > 0 else 1.0
        values = dict(zip(names, minimum.parameters[least].tolist(), strict=True))
        made.append(Candidate(values, rows * explained / 4))  # the variance of labels in every row, times that share
    limit = max(float(free.loss.min()) * by_chance(rows, len(names)), EXACT)
    return made[:1] if float(whole.loss.min()) <= limit else made[::-1]


def _known_side(shown: Examples, names: Sequence[str], fixed: Mapping[str, float]) -> Tensor | None:
    """``[1, rows]``: the side without unknowns, if there is one that has a value in each row."""
    comparison = shown.comparison
    for side, term in enumerate((comparison.left, comparison.right)):
        inputs = [comparison.order[index] for _, index in term.numbers]
        if inputs and max(inputs) < len(shown.numbers):
            values = _sides(shown, names, fixed, torch.ones(len(names), 1, 1, dtype=torch.float64))[side]
            return values if all_set(values.isfinite()) else None
    return None


def _constant_loss(known: Tensor | None) -> float:
    """The mean square of the relative residuals of the best constant for the learned side, against the ``known`` one;
    1 if both are learned."""
    if known is None:
        return 1.0
    spread = spread_of(known)
    weight = spread.square().reciprocal()
    best = (weight * known).sum() / weight.sum()
    return float(((known - best) / spread).square().mean())
