"""The units once more, number by number, from the papers' formulas: slow and obvious, for one row of one output."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence

Row = Sequence[float]


def sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-z))


def nau(x: Row, weight: Row) -> float:
    return sum(min(max(w, -1), 1) * each for w, each in zip(weight, x, strict=True))


def nac(x: Row, weight: Row) -> float:
    return sum(w * each for w, each in zip(weight, x, strict=True))


def nmu(x: Row, weight: Row) -> float:
    return math.prod(w * each + 1 - w for w, each in zip(weight, x, strict=True))


def nalu(x: Row, weight: Row, gate: Row) -> float:
    opened = sigmoid(nac(x, gate))
    multiplied = math.prod((abs(each) + 1e-7) ** w for w, each in zip(weight, x, strict=True))
    return opened * nac(x, weight) + (1 - opened) * multiplied


def inalu(x: Row, add: Row, multiply: Row, gate: float) -> float:
    exponent = sum(w * math.log(max(abs(each), 1e-7)) for w, each in zip(multiply, x, strict=True))
    signs = (math.copysign(1, each) if each else 0.0 for each in x)
    sign = math.prod(s * abs(w) + 1 - abs(w) for w, s in zip(multiply, signs, strict=True))
    return gate * nac(x, add) + (1 - gate) * math.exp(min(exponent, 20)) * min(max(sign, -1), 1)


def npu(x: Row, power: Row, imaginary: Row, gate: Row, epsilon: float) -> float:
    """The real part of the product of complex powers, in complex arithmetic."""
    total = complex(1)
    for each, w, v, g in zip(x, power, imaginary, gate, strict=True):
        size, angle = g * (abs(each) + epsilon) + 1 - g, g * math.pi * (each < 0)
        total *= cmath.exp(complex(w, v) * complex(math.log(size), angle))
    return total.real


def nsr(x: Row, first: Sequence[Row], second: Sequence[Row], sign: Row, zero: Row, bias: float, scale: float) -> float:
    total = bias
    for p, q, w, v in zip(first, second, sign, zero, strict=True):
        bit = math.tanh((nac(x, p) - nac(x, q)) / scale)
        total += w * bit + v * (1 - 2 * bit**2)
    return sigmoid(total)
