"""Fits weights of units and constants by Levenberg-Marquardt, to labels or to an equation between known numbers.

For an equation, every combination of integral weights is tried with its best constants; from the best of them, and from
random weights, the fit continues without rounding. Integral weights are preferred if they are exact or fit no worse
than noise explains (`by_chance`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from lnnkit.arrays import all_set
from lnnkit.learn.arithmetic.levenberg_marquardt import EXACT, Minimum, by_chance, minimise, spread_of
from lnnkit.learn.starting.candidate_search import Candidate, WeightGrid
from lnnkit.learn.starting.comparison_examples import Examples

# Scales that soften a comparison, relative to the spread of the differences
_SHARPER = (0.5, 0.25, 0.12, 0.06, 0.03, 0.015)
_LABEL_STEPS = 30


@dataclass(frozen=True)
class EquationProblem:
    """``(left - right) / spread`` in each row, as a function of the parameters ``names``. The first ``held`` of them
    are kept constant; parameters outside ``names`` are ``fixed``."""

    shown: Examples
    names: tuple[str, ...]
    fixed: Mapping[str, float]
    spread: Tensor | float = 1.0
    held: int = 0

    @property
    def known(self) -> Tensor | None:
        """``[1, rows]``: the side without unknowns, if there is one that has a value in each row."""
        comparison = self.shown.comparison
        for side, term in enumerate((comparison.left, comparison.right)):
            inputs = [comparison.order[index] for _, index in term.numbers]
            if inputs and all(index < len(self.shown.numbers) for index in inputs):
                values = self._sides(torch.ones(len(self.names), 1, 1, dtype=torch.float64))[side]
                return values if all_set(values.isfinite()) else None
        return None

    def gaps(self, columns: Tensor | Sequence[Tensor]) -> Tensor:
        """``(left - right) / spread``, ``[problems, rows]``, for parameters ``[parameters, problems, 1 or rows]``."""
        left, right = self._sides(columns)
        return (left - right) / self.spread

    def residuals(self, parameters: Tensor) -> Tensor:
        return self._measured(self.gaps(parameters.T[..., None]))

    def jacobian(self, parameters: Tensor) -> Tensor:
        shape = len(parameters), len(self.shown.labels)
        leaves = [column[:, None].expand(shape).clone().requires_grad_() for column in parameters.unbind(1)]
        with torch.enable_grad():
            residuals = self._measured(self.gaps(leaves))
        if not residuals.requires_grad:
            return residuals.new_zeros(*shape, len(leaves))
        slopes = torch.autograd.grad(residuals.sum(), leaves, allow_unused=True)
        zero = torch.zeros_like(residuals)
        return torch.stack(
            [zero if slope is None or place < self.held else slope for place, slope in enumerate(slopes)], -1
        )

    def select(self, problems: Tensor) -> Self:
        return self

    def _measured(self, gaps: Tensor) -> Tensor:
        return gaps

    def _sides(self, columns: Tensor | Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Both terms, ``[problems, rows]``."""
        shape = len(columns[0]) if len(columns) else 1, len(self.shown.labels)
        values = {name: torch.tensor(value, dtype=torch.float64) for name, value in self.fixed.items()}
        values |= dict(zip(self.names, columns, strict=True))
        return self.shown.sides({name: value.expand(shape) for name, value in values.items()}, shape[0])


@dataclass(frozen=True, kw_only=True)
class LabelProblem(EquationProblem):
    """``sigmoid(s (left - right) / scale) - truth``: a comparison softened by ``scale``. ``s`` is 1 for a comparison
    that rises with the difference and -1 for one that falls. Rows without a difference have no weight."""

    truth: Tensor
    rising: float
    scale: float = 1.0

    def _measured(self, gaps: Tensor) -> Tensor:
        return (torch.sigmoid(self.rising * gaps / self.scale) - self.truth).nan_to_num()

    def jacobian(self, parameters: Tensor) -> Tensor:
        return super().jacobian(parameters).nan_to_num()


def fitted_to_labels(
    shown: Examples, truth: Tensor, names: Sequence[str], start: Mapping[str, float], *, rising: bool
) -> dict[str, float]:
    """The parameters ``names`` fitted to the truth (rows,) of labels from ``start`` on, while softening decreases."""
    fixed = {name: value for name, value in start.items() if name not in names}
    values = torch.tensor([[start[name] for name in names]], dtype=torch.float64)
    problem = LabelProblem(shown, tuple(names), fixed, truth=truth, rising=1.0 if rising else -1.0)
    for share in _SHARPER:
        gaps = problem.gaps(values.T[..., None])
        gaps = gaps[gaps.isfinite()]
        scale = share * float(gaps.std()) if len(gaps) > 1 else 0.0
        if scale <= 0:
            break
        minimum = minimise(replace(problem, scale=scale), values, steps=_LABEL_STEPS)
        values = _in_reach(problem, minimum.parameters)
    return dict(zip(names, values[0].tolist(), strict=True))


def _in_reach(problem: EquationProblem, values: Tensor) -> Tensor:
    """``values`` (1, names) divided so that weights of sums are at most 1, if every row then stays on its side of the
    comparison. Labels determine weights and threshold only up to a common factor."""
    sums = {name for unit in problem.shown.comparison.units if unit.kind in ("nau", "nac") for name in unit.names}
    weights = [place for place, name in enumerate(problem.names) if name in sums]
    largest = float(values[0, weights].abs().max()) if weights else 0.0
    if largest <= 1:
        return values
    before, after = (problem.gaps(point.T[..., None]).sign().nan_to_num() for point in (values, values / largest))
    return values / largest if torch.equal(before, after) else values


def equation(shown: Examples, names: Sequence[str], fixed: Mapping[str, float], *, held: int = 0) -> EquationProblem:
    """Makes both terms equal; residuals are relative to the side without unknowns, if there is one."""
    blank = EquationProblem(shown, tuple(names), fixed, held=held)
    known = blank.known
    return blank if known is None else replace(blank, spread=spread_of(known))


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

    def with_constants(shown: Examples, candidates: Tensor, steps: int) -> Minimum:
        """Integral weights with the constants that fit them."""
        start = torch.cat([candidates, torch.ones(len(candidates), len(constants), dtype=torch.float64)], 1)
        problem = equation(shown, names, fixed, held=len(weights.names))
        return minimise(problem, start, steps=steps if constants else 0)

    def score(candidates: Tensor) -> Tensor:
        parts = candidates.split(max(1, _CHUNK // len(some.labels)))
        return -torch.cat([with_constants(some, part, _STEPS).loss for part in parts])

    best, scores = weights.best(score, _STARTS, generator)
    best = best[scores > -torch.inf]
    if not len(best):
        return []
    whole, problem = with_constants(shown, best, 10 * _STEPS), equation(shown, names, fixed)
    starts = whole.parameters
    if weights.names:
        starts = torch.cat([starts, 2 * torch.rand(_STARTS, len(names), generator=generator, dtype=torch.float64) - 1])
    free = minimise(problem, starts)
    constant = _constant_loss(problem)
    made: list[Candidate] = []
    for minimum in (whole, free):
        least = int(minimum.loss.argmin())
        explained = max(0.0, 1 - float(minimum.loss[least]) / constant) if constant > 0 else 1.0
        values = dict(zip(names, minimum.parameters[least].tolist(), strict=True))
        made.append(Candidate(values, rows * explained / 4))  # the variance of labels in every row, times that share
    limit = max(float(free.loss.min()) * by_chance(rows, len(names)), EXACT)
    return made[:1] if float(whole.loss.min()) <= limit else made[::-1]


def _constant_loss(problem: EquationProblem) -> float:
    """The mean square of the relative residuals of the best constant for the learned side; 1 if both are learned."""
    known = problem.known
    if known is None:
        return 1.0
    assert isinstance(problem.spread, Tensor)
    weight = problem.spread.square().reciprocal()
    best = (weight * known).sum() / weight.sum()
    return float(((known - best) / problem.spread).square().mean())
