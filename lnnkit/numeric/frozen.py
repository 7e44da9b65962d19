"""The arithmetic units with fixed weights, as terms. A weight of 0 leaves its operand out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from lnnkit.numeric.term import Term, apply, constant


def linear(weights: Sequence[float], operands: Sequence[Term]) -> Term:
    """A frozen NAU: ``sum w_i x_i`` (Madsen and Johansen 2020, arXiv 2001.05016)."""
    return _together("add", 0.0, [_scaled(weight, x) for weight, x in _present(weights, operands)])


def gated_product(weights: Sequence[float], operands: Sequence[Term]) -> Term:
    """A frozen NMU: ``prod (w_i x_i + 1 - w_i)`` (Madsen and Johansen 2020, arXiv 2001.05016)."""
    factors = [
        x if weight == 1 else apply("add", _scaled(weight, x), constant(1 - weight))
        for weight, x in _present(weights, operands)
    ]
    return _together("multiply", 1.0, factors)


def power_product(powers: Sequence[float], operands: Sequence[Term]) -> Term:
    """A frozen RealNPU with open gates: ``prod x_i ^ w_i`` (Heim et al. 2020, arXiv 2006.01681); where its weights are
    not integral, for operands that are not negative."""
    factors = [x if weight == 1 else apply("power", x, constant(weight)) for weight, x in _present(powers, operands)]
    return _together("multiply", 1.0, factors)


def _present(weights: Sequence[float], operands: Sequence[Term]) -> list[tuple[float, Term]]:
    return [(weight, x) for weight, x in zip(weights, operands, strict=True) if weight != 0]


def _scaled(weight: float, operand: Term) -> Term:
    return operand if weight == 1 else apply("multiply", constant(weight), operand)


def _together(operation: Literal["add", "multiply"], nothing: float, parts: Sequence[Term]) -> Term:
    if not parts:
        return constant(nothing)
    return parts[0] if len(parts) == 1 else apply(operation, *parts)
