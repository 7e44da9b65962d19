"""Arithmetic units with fixed weights, as terms. An operand with weight 0 is left out.

The modules of units are imported by the first program that has one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from lnnkit.numeric.term import Term, apply, constant, undetermined

_NEEDED = {
    **dict.fromkeys(("nac", "nau", "nmu"), ("weight",)), **dict.fromkeys(("npu", "realnpu"), ("power",)),
    "nalu": ("weight", "gate"), "inalu": ("add", "multiply", "gate"),
}  # fmt: skip


def frozen(unit: str, given: Mapping[str, float | Sequence[float]], operands: Sequence[Term]) -> Term:
    """The term for a unit, by its name in the language, and its attributes; without required attributes its value is
    unknown."""
    weights = {key: [value] if isinstance(value, (int, float)) else list(value) for key, value in given.items()}
    finite = all(math.isfinite(value) for values in weights.values() for value in values)
    if not finite or not all(key in weights for key in _NEEDED[unit]):
        return undetermined(*operands)
    match unit:
        case "nau" | "nac":
            return linear(weights["weight"], operands)
        case "nmu":
            return gated_product(weights["weight"], operands)
        case "inalu" if weights["gate"][0] == 1:
            return linear(weights["add"], operands)
        case "nalu" | "inalu":
            return gated_sum(weights, operands)
        case _:
            return power_product(weights["power"], operands, weights.get("imaginary"), weights.get("gate"))


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


def power_product(
    powers: Sequence[float],
    operands: Sequence[Term],
    imaginary: Sequence[float] | None = None,
    gates: Sequence[float] | None = None,
) -> Term:
    """A frozen NPU: ``prod x_i ^ w_i`` if powers are integral and gates are 1, otherwise as in `lnnkit.numeric.NPU`
    (Heim et al. 2020, arXiv 2006.01681): the real part of complex powers of partly gated operands."""
    from lnnkit.numeric.fixed_units.fixed_powers import ComplexPower, RealPower

    count = len(operands)
    parts = zip(powers, imaginary or (0.0,) * count, gates or (1.0,) * count, operands, strict=True)
    present = [(w, v, g, x) for w, v, g, x in parts if g and (w or v)]
    if not present:
        return constant(1.0)
    real, twisted, opened, kept = zip(*present, strict=True)
    if any(twisted):
        return apply(ComplexPower(real, twisted, opened), *kept)
    if all(gate == 1 for gate in opened) and all(power == int(power) for power in real):
        factors = [x if power == 1 else apply("power", x, constant(power)) for power, x in zip(real, kept, strict=True)]
        return _together("multiply", 1.0, factors)
    return apply(RealPower(real, opened), *kept)


def gated_sum(weights: Mapping[str, Sequence[float]], operands: Sequence[Term]) -> Term:
    """A frozen NALU (Trask et al. 2018, arXiv 1808.00508) or, where it has weights to ``add``, iNALU (Schlör et al.
    2020, arXiv 2003.07629), as in `lnnkit.numeric.units.gated_units`."""
    from lnnkit.numeric.fixed_units.gated_sum import GatedSum, SignedGatedSum

    if "add" not in weights:
        opened = 0.5  # A half-open gate mixes an empty sum and an empty product.
        first, second = weights["weight"], weights["gate"]
    else:
        opened = weights["gate"][0]
        first, second = weights["add"] if opened else (0.0,) * len(operands), weights["multiply"]
    present = [part for part in zip(first, second, operands, strict=True) if part[0] or part[1]]
    if not present:
        return constant(1 - opened)
    one, other, terms = zip(*present, strict=True)
    return apply(SignedGatedSum(one, other, opened) if "add" in weights else GatedSum(one, other), *terms)


def _present(weights: Sequence[float], operands: Sequence[Term]) -> list[tuple[float, Term]]:
    return [(weight, x) for weight, x in zip(weights, operands, strict=True) if weight != 0]


def _scaled(weight: float, operand: Term) -> Term:
    return operand if weight == 1 else apply("multiply", constant(weight), operand)


def _together(operation: Literal["add", "multiply"], nothing: float, parts: Sequence[Term]) -> Term:
    if not parts:
        return constant(nothing)
    return parts[0] if len(parts) == 1 else apply(operation, *parts)
