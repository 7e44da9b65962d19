"""Arithmetic found from examples when the operator is not known: every template is fitted, rounded, and scored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.learn.levenberg_marquardt import minimise
from lnnkit.learn.templates import TEMPLATES, Template, TemplateProblem, cleared_start, spread_of
from lnnkit.numeric.nau import NAU
from lnnkit.numeric.npu import NPU
from lnnkit.numeric.readout import readout, sum_text

EXACT = 1e-24
"""The mean square of relative residuals up to which a rounded model counts as exact."""
EXPLAINED = 0.9
"""The share of a constant's mean square that a model explains at least, to be accepted."""


@dataclass(frozen=True)
class Effort:
    """How long to look: starts of each template, Levenberg-Marquardt steps of each start, and how many of those may go
    by without gain."""

    starts: int = 4
    steps: int = 60
    patience: int = 15


DEFAULT_EFFORT = Effort()


@dataclass(frozen=True)
class Found:
    """One problem's answer: ``template`` over the sums ``rows``, ``[rows, in]``.

    ``accepted`` says that the rows are whole, and fit the examples as well as any fit does; else they are the plain
    weights of the best fit. ``residual`` is the root of the mean square of the relative residuals. ``steps`` and
    ``starts`` are those of all templates together, ``samples`` the examples that the steps went through.
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
        """As arithmetic of the language."""
        sums = [sum_text(operands, row.tolist()) for row in self.rows]
        (found,) = readout(NPU.given(list(self.template.powers)), sums)
        return found.text


@dataclass(frozen=True)
class _Fits:
    """One template, fitted to each problem: flat rows, mean squares of relative residuals of the best fit and of the
    best rounded rows that come near it (infinite where none do), effort spent."""

    template: Template
    plain: Tensor
    loss: Tensor
    whole: Tensor
    rounded_loss: Tensor
    steps: Tensor
    starts: Tensor


def search(
    operands: Tensor,
    target: Tensor,
    *,
    generator: torch.Generator,
    templates: Sequence[Template] = TEMPLATES,
    effort: Effort = DEFAULT_EFFORT,
) -> list[Found]:
    """The arithmetic of each of many problems: ``operands`` is ``[problems, rows, in]``, or ``[rows, in]`` for all,
    ``target`` ``[problems, rows]``.

    Each template is fitted from random starts, two rows are divided by their sizes, which the other one takes up, and
    rounded. Rounded rows are kept where their mean square is at most `EXACT`, or no more above that of the fit than
    noise explains. Of the templates with rounded rows the one with the least mean square is accepted (at a draw the
    simpler one), unless it explains little, or another template fits better than noise explains. A problem that has an
    exact answer is not tried further. ``generator`` is of the CPU, wherever the examples are.
    Raises ValueError where an example is not finite.
    """
    if not bool(operands.isfinite().all() & target.isfinite().all()):
        raise ValueError("operands and targets to learn from are finite numbers")
    operands = operands[None] if operands.dim() == 2 else operands
    left = torch.arange(len(target), device=target.device)
    whole = TemplateProblem(templates[0], operands, target, spread_of(target))
    tried: list[list[tuple[_Fits, int]]] = [[] for _ in target]
    for template in templates:
        problem = TemplateProblem(template, whole.operands, whole.target, whole.spread).select(left)
        fits = _fit(problem, generator, effort)
        for place, number in enumerate(left.tolist()):
            tried[number].append((fits, place))
        left = left[fits.rounded_loss > EXACT]
        if not len(left):
            break
    constant = _constant_loss(whole)
    examples = operands.expand(len(target), -1, -1)
    return [_chosen(each, float(constant[number]), examples[number]) for number, each in enumerate(tried)]


def _fit(whole: TemplateProblem, generator: torch.Generator, effort: Effort) -> _Fits:
    """One template on all problems; those without rounded rows start again."""
    count, samples = whole.target.shape
    features, width = whole.operands.shape[-1], len(whole.template.powers)
    positive = not bool((whole.operands < 0).any())
    plain = whole.target.new_zeros(count, width * features)
    rows, loss = plain.clone(), whole.target.new_full((count,), torch.inf)
    rounded_loss = loss.clone()
    left, problem = torch.arange(count, device=loss.device), whole
    steps, starts = torch.zeros_like(left), torch.zeros_like(left)
    for attempt in range(effort.starts):
        start = cleared_start(problem) if attempt == 0 else None
        if start is None:
            start = _drawn(len(left), width, features, positive, generator).to(plain)
        done = minimise(problem, start, steps=effort.steps, patience=effort.patience, enough=EXACT / 100)
        rounded = _rounded(whole.template, done.parameters)
        score = problem.residuals(rounded).square().mean(-1).nan_to_num(nan=torch.inf)
        near = score <= (done.loss * _by_chance(samples, width * features)).clamp(min=EXACT)
        better = done.loss < loss[left]
        plain[left] = torch.where(better[:, None], done.parameters, plain[left])
        loss[left] = torch.where(better, done.loss, loss[left])
        rows[left] = torch.where(near[:, None], rounded, rows[left])
        rounded_loss[left] = torch.where(near, score, rounded_loss[left])
        steps[left] += done.steps
        starts[left] += 1
        left = left[~near]
        problem = whole.select(left)
        if not len(left) or whole.template.linear:
            break
    return _Fits(whole.template, plain, loss, rows, rounded_loss, steps, starts)


def _chosen(tried: Sequence[tuple[_Fits, int]], constant: float, operands: Tensor) -> Found:
    """The answer to one problem from what all templates gave; ``operands`` is ``[rows, in]``."""
    samples = len(operands)
    steps = sum(int(fits.steps[place]) for fits, place in tried)
    starts = sum(int(fits.starts[place]) for fits, place in tried)
    least = min(float(fits.loss[place]) for fits, place in tried)
    best, at, loss = tried[0][0], tried[0][1], math.inf
    for fits, place in tried:
        score = max(float(fits.rounded_loss[place]), EXACT)
        if score < 0.9 * loss:
            best, at, loss = fits, place, score
    features = max(fits.plain.shape[-1] for fits, _ in tried)
    accepted = loss <= max((1 - EXPLAINED) * constant, EXACT) and loss <= max(
        least * _by_chance(samples, features), EXACT
    )
    if not accepted:
        best, at = min(tried, key=lambda each: float(each[0].loss[each[1]]))
    flat = (best.whole if accepted else best.plain)[at]
    residual = (best.rounded_loss if accepted else best.loss)[at]
    rows = _oriented(best.template, flat.reshape(len(best.template.powers), -1), operands)
    return Found(best.template, rows, accepted, math.sqrt(float(residual)), steps, starts, steps * samples)


def _drawn(count: int, rows: int, features: int, positive: bool, generator: torch.Generator) -> Tensor:
    """Rows as a `NAU` starts; of positive operands they are sums, so that no quotient or root starts near 0."""
    weight = NAU(features, 2, seeds=count, generator=generator).weight.detach()[:, :rows]
    return (weight.abs() if positive else weight).flatten(1)


def _by_chance(samples: int, unknowns: int) -> float:
    """By how much the mean square of the truth may exceed that of the best fit: the fit bends as many degrees of
    freedom to the noise as it has unknowns, and the rest scatter, here by four standard deviations."""
    free = max(samples - unknowns, 1)
    return samples / free * (1 + 4 * math.sqrt(2 / free))


def _rounded(template: Template, parameters: Tensor) -> Tensor:
    """Whole weights of size up to 1, of two rows after each is divided by its size: the mean of the weights that are
    more than half of its largest. Of a lone sum up to 2, as two rows added give them."""
    rows = parameters.unflatten(-1, (len(template.powers), -1))
    if len(template.powers) == 1:
        reach = 2 if template.linear else 1
        return rows.round().clamp(-reach, reach).flatten(1)
    size = rows.abs()
    large = size > 0.5 * size.amax(-1, keepdim=True)
    mean = (size * large).sum(-1, keepdim=True) / large.sum(-1, keepdim=True).clamp(min=1)
    return (rows / mean.clamp(min=1e-300)).round().clamp(-1, 1).flatten(1)


def _oriented(template: Template, rows: Tensor, operands: Tensor) -> Tensor:
    """The same function with the signs that read best, where they may be turned: a root is of sums that are positive on
    average, a square, product or quotient begins with a positive weight."""
    if template.powers == (0.5,):
        turned = bool((operands @ rows.mT).mean() < 0)
    elif template.powers == (2,) or len(template.powers) == 2:
        weights = rows.flatten()
        turned = bool((weights[weights != 0][:1] < 0).any())
    else:
        turned = False
    return -rows if turned else rows


def _constant_loss(problem: TemplateProblem) -> Tensor:
    """The mean square of the relative residuals of the best constant."""
    weight = problem.spread.square().reciprocal()
    best = (weight * problem.target).sum(-1, keepdim=True) / weight.sum(-1, keepdim=True)
    return ((problem.target - best) / problem.spread).square().mean(-1)
