"""Proposals for an equation whose numbers are known: units and constants fitted to its rows, whole where that fits.

Every whole weight is tried with the constants that fit best, and Levenberg-Marquardt goes on from the best of them and
from random weights without rounding. Whole weights are proposed first where they are exact, or fit no worse than noise
explains (`lnnkit.learn.arithmetic.rounding.by_chance`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from lnnkit.learn.arithmetic.comparison_fit import EquationProblem, equation
from lnnkit.learn.arithmetic.levenberg_marquardt import minimise
from lnnkit.learn.arithmetic.rounding import EXACT, by_chance
from lnnkit.learn.arithmetic.unit_grid import Grid
from lnnkit.learn.starting.examples import Examples
from lnnkit.learn.starting.proposal import Proposal

_SCANNED = 64  # rows that all whole weights are tried on
_STARTS = 8  # of whole weights, and as many random ones
_STEPS = 12  # for the constants of one of all whole weights
_CHUNK = 100_000  # residuals at once


def equation_proposals(
    shown: Examples,
    truth: Tensor,
    started: Mapping[str, float],
    weights: Grid,
    constants: Sequence[str],
    generator: torch.Generator,
) -> list[Proposal]:
    """For the weights and the constants of an equation: with whole weights where they fit, else without and with. Where
    rows have labels, of those whose label is true; there ``truth`` (labels,) says so."""
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


def _proposal(names: Sequence[str], values: Tensor, loss: float, constant: float, rows: int) -> Proposal:
    """What it explains counts as if every row were a label that is told by so much of its square."""
    told = max(0.0, 1 - loss / constant) if constant > 0 else 1.0
    return Proposal(dict(zip(names, values.tolist(), strict=True)), rows * told / 4)


def _constant_loss(problem: EquationProblem) -> float:
    """The mean square of the relative residuals of the best constant in the place of the side that is learned; 1 where
    both sides are."""
    known = problem.known
    if known is None:
        return 1.0
    weight = problem.spread.square().reciprocal()
    best = (weight * known).sum() / weight.sum()
    return float(((known - best) / problem.spread).square().mean())
