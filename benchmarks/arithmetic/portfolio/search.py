"""Symbolic regression over a portfolio of templates: each is fitted to examples, rounded, and scored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.arithmetic import readout
from benchmarks.arithmetic.portfolio.rounding import oriented
from benchmarks.arithmetic.portfolio.template_fit import Effort, TemplateFits, fit_template
from benchmarks.arithmetic.portfolio.templates import TEMPLATES, Template, TemplateProblem
from lnnkit.learn.comparisons.least_squares import EXACT, by_chance, spread_of

EXPLAINED = 0.9
"""The share of a constant's mean square that a model explains at least, to be accepted."""


DEFAULT_EFFORT = Effort()


@dataclass(frozen=True)
class Found:
    """One problem's answer: ``template`` over the sums ``rows``, ``[rows, in]``.

    ``accepted`` means that the rows have integer weights and fit the examples as well as any fit does; otherwise
    they are the unrounded weights of the best fit. ``residual`` is the root of the mean square of the relative
    residuals. ``steps`` and ``starts`` are those of all templates together, ``samples`` the examples that the steps
    went through.
    """

    template: Template
    rows: Tensor
    accepted: bool
    residual: float
    steps: int
    starts: int
    samples: int

    def __call__(self, operands: Tensor) -> Tensor:
        """``[..., in] -> [...]``."""
        return self.template.value(operands @ self.rows.mT)

    def text(self, operands: Sequence[str]) -> str:
        """The arithmetic as text in the language."""
        sums = [readout.weighed("nau", readout.operands(len(row)), {"weight": row.tolist()}) for row in self.rows]
        return readout.text(readout.weighed("npu", sums, {"power": self.template.powers}), operands)


def search(
    operands: Tensor,
    target: Tensor,
    *,
    generator: torch.Generator,
    templates: Sequence[Template] = TEMPLATES,
    effort: Effort = DEFAULT_EFFORT,
) -> list[Found]:
    """The arithmetic of each of many problems: ``operands`` is ``[problems, rows, in]``, or ``[rows, in]`` for all,
    ``target`` is ``[problems, rows]``.

    Each template is fitted from random starts and rounded; if it has two rows, both are scaled first and the factor
    moves between them. Rounded rows are kept if their mean square is at most `EXACT`, or exceeds that of the fit by no
    more than noise explains. Among templates with rounded rows, the one with the least mean square is accepted (the
    simpler one of equals), unless it explains little or another template fits better than noise explains. Problems
    without an accepted answer are tried in another round; a problem with an exact answer is not.

    ``generator`` is a CPU generator, wherever the examples are. Raises ValueError if an example is not finite.
    """
    if not bool(operands.isfinite().all() & target.isfinite().all()):
        raise ValueError("operands and targets must be finite numbers")
    operands = operands[None] if operands.dim() == 2 else operands
    whole = TemplateProblem(templates[0], operands, target, spread_of(target))
    constant = _constant_loss(whole).tolist()
    examples = operands.expand(len(target), -1, -1)
    tried: list[list[tuple[TemplateFits, int]]] = [[] for _ in target]
    found: list[Found | None] = [None] * len(tried)
    left = list(range(len(tried)))
    for turn in range(effort.rounds):
        looking = left
        for template in templates:
            if not looking or (turn and template.linear):  # a linear template has a single minimum
                continue
            chosen = torch.tensor(looking, device=target.device)
            problem = TemplateProblem(template, whole.operands, whole.target, whole.spread).select(chosen)
            fits = fit_template(problem, generator, effort, informed=turn == 0)
            for place, number in enumerate(looking):
                tried[number].append((fits, place))
            exact = (fits.whole_loss <= EXACT).tolist()
            looking = [number for number, done in zip(looking, exact, strict=True) if not done]
        for number in left:
            found[number] = _chosen(tried[number], constant[number], examples[number])
        left = [number for number in left if not (answer := found[number]) or not answer.accepted]
    return [answer for answer in found if answer is not None]


def _chosen(tried: Sequence[tuple[TemplateFits, int]], constant: float, operands: Tensor) -> Found:
    """The answer to one problem from what all templates gave; ``operands`` is ``[rows, in]``."""
    samples = len(operands)
    steps = sum(int(fits.steps[place]) for fits, place in tried)
    starts = sum(int(fits.starts[place]) for fits, place in tried)
    least = min(float(fits.loss[place]) for fits, place in tried)
    best, at, loss = tried[0][0], tried[0][1], math.inf
    for fits, place in tried:
        score = max(float(fits.whole_loss[place]), EXACT)
        if score < 0.9 * loss:
            best, at, loss = fits, place, score
    features = max(fits.plain.shape[-1] for fits, _ in tried)
    accepted = loss <= max((1 - EXPLAINED) * constant, EXACT) and loss <= max(
        least * by_chance(samples, features), EXACT
    )
    if not accepted:
        best, at = min(tried, key=lambda each: float(each[0].loss[each[1]]))
    flat = (best.whole if accepted else best.plain)[at]
    residual = (best.whole_loss if accepted else best.loss)[at]
    rows = oriented(best.template, flat.reshape(len(best.template.powers), -1), operands)
    return Found(best.template, rows, accepted, math.sqrt(float(residual)), steps, starts, steps * samples)


def _constant_loss(problem: TemplateProblem) -> Tensor:
    """The mean square of the relative residuals of the best constant."""
    weight = problem.spread.square().reciprocal()
    best = (weight * problem.target).sum(-1, keepdim=True) / weight.sum(-1, keepdim=True)
    return ((problem.target - best) / problem.spread).square().mean(-1)
