"""The arithmetic units with fixed weights, as terms. A weight of 0 leaves its operand out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from lnnkit.numeric.term import Term, apply, constant, undetermined


def frozen(unit: str, given: Mapping[str, Sequence[float]], operands: Sequence[Term]) -> Term:
    """A unit of the language by its name, with its attributes. It may be anything where it lacks its weights, or where
    they are not those of arithmetic: of ``nalu`` and ``inalu``, of gates that are half open, of imaginary powers."""
    if unit in ("nau", "nac") and "weight" in given:
        return linear(given["weight"], operands)
    if unit == "nmu" and "weight" in given:
        return gated_product(given["weight"], operands)
    if unit in ("npu", "realnpu") and "power" in given:
        gates = given.get("gate", (1.0,) * len(operands))
        if set(gates) <= {0.0, 1.0} and not any(given.get("imaginary", ())):
            powers = [power if gate else 0.0 for power, gate in zip(given["power"], gates, strict=True)]
            return power_product(powers, operands)
    return undetermined(*operands)


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
