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
from lnnkit.learn.arithmetic.levenberg_marquardt import EXACT, by_chance, minimise, spread_of
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
    spread: Tensor
    held: int

    @property
    def known(self) -> Tensor | None:
        """``[1, rows]``: the side without unknowns, if there is one that has a value in each row."""
        comparison = self.shown.comparison
        for side, term in enumerate((comparison.left, comparison.right)):
            inputs = [comparison.order[index] for _, index in term.numbers]
            if inputs and all(index < len(self.shown.numbers) for index in inputs):
                values = self._sides(torch.ones(1, len(self.names), dtype=torch.float64))[1][side]
                return values if all_set(values.isfinite()) else None
        return None

    def residuals(self, parameters: Tensor) -> Tensor:
        left, right = self._sides(parameters)[1]
        return (left - right) / self.spread

    def jacobian(self, parameters: Tensor) -> Tensor:
        with torch.enable_grad():
            leaves, (left, right) = self._sides(parameters, learning=True)
            return _slopes((left - right) / self.spread, leaves, self.held)

    def select(self, problems: Tensor) -> Self:
        return self

    def _sides(self, parameters: Tensor, *, learning: bool = False) -> tuple[list[Tensor], tuple[Tensor, Tensor]]:
        """The inputs of each row, ``[problems, rows]``, and both terms."""
        shape = len(parameters), len(self.shown.labels)
        free = [each[:, None].expand(shape).clone().requires_grad_(learning) for each in parameters.unbind(1)]
        values = {name: torch.tensor(value, dtype=torch.float64).expand(shape) for name, value in self.fixed.items()}
        return free, self.shown.sides(values | dict(zip(self.names, free, strict=True)), shape[0])


@dataclass(frozen=True)
class LabelProblem(EquationProblem):
    """``sigmoid(s (left - right) / scale) - truth``: a comparison softened by ``scale``, ``[problems, 1]``. ``s`` is 1
    for a comparison that rises with the difference and -1 for one that falls. Rows without a difference have no
    weight."""

    truth: Tensor
    rising: float
    scale: Tensor

    def residuals(self, parameters: Tensor) -> Tensor:
        left, right = self._sides(parameters)[1]
        return (torch.sigmoid(self.rising * (left - right) / self.scale) - self.truth).nan_to_num()

    def jacobian(self, parameters: Tensor) -> Tensor:
        with torch.enable_grad():
            leaves, (left, right) = self._sides(parameters, learning=True)
            return _slopes(torch.sigmoid(self.rising * (left - right) / self.scale), leaves, self.held).nan_to_num()

    def select(self, problems: Tensor) -> Self:
        return replace(self, scale=self.scale[problems])


def fitted_to_labels(
    shown: Examples, truth: Tensor, names: Sequence[str], start: Mapping[str, float], *, rising: bool
) -> dict[str, float]:
    """The parameters ``names`` fitted to the truth (rows,) of labels from ``start`` on, while softening decreases."""
    fixed = {name: value for name, value in start.items() if name not in names}
    values = torch.tensor([[start[name] for name in names]], dtype=torch.float64)
    one = torch.ones(1, 1, dtype=torch.float64)
    problem = LabelProblem(shown, tuple(names), fixed, one, 0, truth, 1.0 if rising else -1.0, one)
    for share in _SHARPER:
        gaps = EquationProblem(shown, tuple(names), fixed, one, 0).residuals(values)
        gaps = gaps[gaps.isfinite()]
        scale = share * float(gaps.std()) if len(gaps) > 1 else 0.0
        if scale <= 0:
            break
        values = _in_reach(
            problem, minimise(replace(problem, scale=scale * one), values, steps=_LABEL_STEPS).parameters
        )
    return dict(zip(names, values[0].tolist(), strict=True))


def _in_reach(problem: EquationProblem, values: Tensor) -> Tensor:
    """``values`` (1, names) divided so that weights of sums are at most 1, if every row then stays on its side of the
    comparison. Labels determine weights and threshold only up to a common factor."""
    sums = {name for unit in problem.shown.comparison.units if unit.kind in ("nau", "nac") for name in unit.names}
    weights = [place for place, name in enumerate(problem.names) if name in sums]
    largest = float(values[0, weights].abs().max()) if weights else 0.0
    if largest <= 1:
        return values
    plain = EquationProblem(problem.shown, problem.names, problem.fixed, torch.ones(1, 1, dtype=torch.float64), 0)
    before, after = (plain.residuals(each).sign().nan_to_num() for each in (values, values / largest))
    return values / largest if torch.equal(before, after) else values


def equation(shown: Examples, names: Sequence[str], fixed: Mapping[str, float], *, held: int = 0) -> EquationProblem:
    """Makes both terms equal; residuals are relative to the side without unknowns, if there is one."""
    blank = EquationProblem(shown, tuple(names), fixed, torch.ones(1, 1, dtype=torch.float64), held)
    known = blank.known
    return blank if known is None else replace(blank, spread=spread_of(known))


def _slopes(found: Tensor, leaves: Sequence[Tensor], held: int) -> Tensor:
    """``[problems, rows, parameters]``: derivatives of entries by their own entries of each leaf, 0 of ``held``
    ones."""
    if not found.requires_grad:
        return found.new_zeros(*found.shape, len(leaves))
    slopes = torch.autograd.grad(found.sum(), list(leaves), allow_unused=True)
    zero = torch.zeros_like(found)
    return torch.stack([zero if each is None or place < held else each for place, each in enumerate(slopes)], -1)


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
    held = len(weights.names)

    def score(candidates: Tensor) -> Tensor:
        found: list[Tensor] = []
        for part in candidates.split(max(1, _CHUNK // len(some.labels))):
            start = torch.cat([part, torch.ones(len(part), len(constants), dtype=torch.float64)], 1)
            problem = equation(some, names, fixed, held=held)
            found.append(-minimise(problem, start, steps=_STEPS if constants else 0).loss)
        return torch.cat(found)

    best, scores = weights.best(score, _STARTS, generator)
    best = best[scores > -torch.inf]
    if not len(best):
        return []
    start = torch.cat([best, torch.ones(len(best), len(constants), dtype=torch.float64)], 1)
    whole = minimise(equation(shown, names, fixed, held=held), start, steps=10 * _STEPS if constants else 0)
    place = int(whole.loss.argmin())
    problem = equation(shown, names, fixed)
    starts = whole.parameters
    if weights.names:
        drawn = torch.rand(_STARTS, len(names), generator=generator, dtype=torch.float64)
        starts = torch.cat([starts, 2 * drawn - 1])
    free = minimise(problem, starts)
    least = int(free.loss.argmin())
    constant = _constant_loss(problem)
    made = [
        _proposal(names, whole.parameters[place], float(whole.loss[place]), constant, rows),
        _proposal(names, free.parameters[least], float(free.loss[least]), constant, rows),
    ]
    limit = max(float(free.loss[least]) * by_chance(rows, len(names)), EXACT)
    return made[:1] if float(whole.loss[place]) <= limit else made[::-1]


def _proposal(names: Sequence[str], values: Tensor, loss: float, constant: float, rows: int) -> Candidate:
    """The candidate, scored by the variance of labels in every row times the share that it explains."""
    told = max(0.0, 1 - loss / constant) if constant > 0 else 1.0
    return Candidate(dict(zip(names, values.tolist(), strict=True)), rows * told / 4)


def _constant_loss(problem: EquationProblem) -> float:
    """The mean square of the relative residuals of the best constant for the learned side; 1 if both are learned."""
    known = problem.known
    if known is None:
        return 1.0
    weight = problem.spread.square().reciprocal()
    best = (weight * known).sum() / weight.sum()
    return float(((known - best) / problem.spread).square().mean())
