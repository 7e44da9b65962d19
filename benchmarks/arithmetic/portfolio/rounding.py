"""Rounding of fitted templates to integer weights."""

from __future__ import annotations

from torch import Tensor

from benchmarks.arithmetic.portfolio.templates import Template
from lnnkit.arrays import any_set


def whole_rows(template: Template, parameters: Tensor) -> Tensor:
    """Integer weights. With two rows, each is divided by its magnitude and weights above half of its largest are
    rounded to the mean of these, up to 1; a single sum has weights up to 2, the sum of two such rows."""
    rows = parameters.unflatten(-1, (len(template.powers), -1))
    if len(template.powers) == 1:
        reach = 2 if template.linear else 1
        return rows.round().clamp(-reach, reach).flatten(1)
    size = rows.abs()
    large = size > 0.5 * size.amax(-1, keepdim=True)
    mean = (size * large).sum(-1, keepdim=True) / large.sum(-1, keepdim=True).clamp(min=1)
    return (rows / mean.clamp(min=1e-300)).round().clamp(-1, 1).flatten(1)


def oriented(template: Template, rows: Tensor, operands: Tensor) -> Tensor:
    """The same function with normalised signs: a root has sums that are positive on average; a square, product or
    quotient begins with a positive weight."""
    if template.powers == (0.5,):
        turned = bool((operands @ rows.mT).mean() < 0)
    elif template.powers == (2,) or len(template.powers) == 2:
        weights = rows.flatten()
        turned = any_set(weights[weights != 0][:1] < 0)
    else:
        turned = False
    return -rows if turned else rows
