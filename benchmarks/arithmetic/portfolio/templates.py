"""Templates of arithmetic over sums, for an unknown operator.

A template is a stack of a `NAU`, whose rows sum operands, and an `NPU` with fixed powers over those sums; only the sums
are learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True)
class Template:
    """``prod_k z_k^p_k`` of sums ``z_k = W_k x``; roots are of magnitudes."""

    name: str
    powers: tuple[float, ...]

    @property
    def linear(self) -> bool:
        return self.powers == (1,)

    def value(self, sums: Tensor) -> Tensor:
        """``[..., rows] -> [...]``."""
        return torch.stack(self._factors(sums), -1).prod(-1)

    def slopes(self, sums: Tensor) -> Tensor:
        """The derivatives of the value by the sums, ``[..., rows] -> [..., rows]``."""
        factors = self._factors(sums)
        found: list[Tensor] = []
        for place, power in enumerate(self.powers):
            own = sums[..., place]
            slope = power * (own.sign() if power == 0.5 else 1.0) * _power(own, power - 1)
            for other, factor in enumerate(factors):
                slope = slope if other == place else slope * factor
            found.append(slope)
        return torch.stack(found, -1)

    def _factors(self, sums: Tensor) -> list[Tensor]:
        return [_power(sums[..., place], power) for place, power in enumerate(self.powers)]


def _power(base: Tensor, power: float) -> Tensor:
    return base.pow(int(power)) if power == int(power) else base.abs().pow(power)


TEMPLATES = (
    Template("sum", (1,)),
    Template("square", (2,)),
    Template("root", (0.5,)),
    Template("reciprocal", (-1,)),
    Template("product", (1, 1)),
    Template("quotient", (1, -1)),
)
"""Simplest first."""


@dataclass(frozen=True)
class TemplateProblem:
    """Least squares of a template against ``target``, ``[problems, rows]``, over ``operands``, ``[problems, rows, in]``
    or ``[1, rows, in]`` for all. The unknowns are the rows of the sums, one after the other.

    Each residual is divided by ``spread``, the same shape as ``target``.
    """

    template: Template
    operands: Tensor
    target: Tensor
    spread: Tensor

    def sums(self, parameters: Tensor) -> Tensor:
        rows = parameters.unflatten(-1, (len(self.template.powers), -1))
        return self.operands @ rows.mT

    def residuals(self, parameters: Tensor) -> Tensor:
        return (self.template.value(self.sums(parameters)) - self.target) / self.spread

    def jacobian(self, parameters: Tensor) -> Tensor:
        slopes = self.template.slopes(self.sums(parameters)) / self.spread[..., None]
        return (slopes[..., None] * self.operands[..., None, :]).flatten(-2)

    def select(self, problems: Tensor) -> Self:
        operands = self.operands if len(self.operands) == 1 else self.operands[problems]
        return type(self)(self.template, operands, self.target[problems], self.spread[problems])


def cleared_start(problem: TemplateProblem) -> Tensor | None:
    """The least-squares rows of a quotient or reciprocal, from the equation without its denominator: ``z_1 = t z_2`` or
    ``1 = t z_2``; None for other templates. With noisy targets it is only near the solution, but it is robust where
    denominators change sign."""
    above, below = problem.template.powers[:-1], problem.template.powers[-1]
    if below != -1 or above not in ((), (1,)):
        return None
    weight = 1 / problem.spread[..., None]
    denominator = problem.operands * problem.target[..., None] * weight
    if not above:
        return _least_squares(denominator, weight)
    numerator = (problem.operands * weight).expand_as(denominator)
    both = torch.cat([numerator, -denominator], -1)
    # The rows are determined up to a factor: the eigenvector of the least eigenvalue.
    return torch.linalg.eigh(both.mT @ both)[1][..., 0] * both.shape[-1] ** 0.5


def _least_squares(matrix: Tensor, wanted: Tensor) -> Tensor:
    gram = matrix.mT @ matrix
    ridge = 1e-13 * gram.diagonal(dim1=-2, dim2=-1).amax(-1)[..., None]
    return torch.linalg.solve(gram + torch.diag_embed(ridge.expand(gram.shape[:-1])), matrix.mT @ wanted)[..., 0]
