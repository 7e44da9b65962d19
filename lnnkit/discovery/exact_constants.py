"""Constants of formulas: exact (``p / q * pi^k``, or its square root) where possible, else floating-point."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

_MOST = 10**7  # greatest numerator times denominator; a larger fraction is no simpler than digits


@dataclass(frozen=True, slots=True)
class Constant:
    """``numerator / denominator * pi ^ pi``, or the square root of that if ``root``, with the sign in front. ``value``
    is the number in every case; a denominator of 0 marks an inexact constant, which has nothing else."""

    value: float
    numerator: int = 0
    denominator: int = 0
    pi: int = 0
    root: bool = False

    @property
    def exact(self) -> bool:
        return self.denominator != 0

    @property
    def cost(self) -> int:
        """Its share of a formula's size: from 1 for a small whole number to 3 for a number with many digits."""
        if not self.exact:
            return 3
        plain = self.denominator == 1 and self.pi == 0 and not self.root
        return 1 if plain and abs(self.numerator) < 100 else 2


def number(value: float) -> Constant:
    """The constant for a number: exact for an integer."""
    return Constant(float(value), int(value), 1) if value.is_integer() and abs(value) < 2**53 else Constant(value)


ONE, MINUS_ONE = number(1.0), number(-1.0)


def multiplied(left: Constant, right: Constant) -> Constant:
    """The product: exact if both are exact without roots, or if one is 1, or -1 and the other exact."""
    for one, other in ((left, right), (right, left)):
        if one == ONE:
            return other
        if one == MINUS_ONE and other.exact:
            return Constant(-other.value, -other.numerator, other.denominator, other.pi, other.root)
    if left.exact and right.exact and not left.root and not right.root:
        fraction = Fraction(left.numerator * right.numerator, left.denominator * right.denominator)
        if max(abs(fraction.numerator), fraction.denominator) < 2**53:
            return _of(fraction.numerator, fraction.denominator, left.pi + right.pi)
    return Constant(left.value * right.value)


def raised(base: Constant, power: float) -> Constant:
    """The power. It is exact for integral powers of small fractions."""
    if base == ONE or power == 1:
        return base if power == 1 else ONE
    if base.exact and not base.root and power == int(power) and abs(power) <= 8 and base.numerator:
        fraction = Fraction(base.numerator, base.denominator) ** int(power)
        if max(abs(fraction.numerator), fraction.denominator) < 2**53:
            return _of(fraction.numerator, fraction.denominator, base.pi * int(power))
    if base.exact and not base.root and power in (0.5, -0.5) and base.numerator > 0:
        top, bottom = base.numerator, base.denominator
        top, bottom, pi = (top, bottom, base.pi) if power > 0 else (bottom, top, -base.pi)
        if pi == 0 and math.isqrt(top) ** 2 == top and math.isqrt(bottom) ** 2 == bottom:
            return _of(math.isqrt(top), math.isqrt(bottom))
        return _of(top, bottom, pi, True)
    try:
        return Constant(base.value**power if base.value > 0 or power == int(power) else math.nan)
    except (OverflowError, ZeroDivisionError):
        return Constant(math.inf)


def _of(top: int, bottom: int, pi: int = 0, root: bool = False) -> Constant:
    """An exact constant; ``top`` carries the sign, which stands in front of a root."""
    value = abs(top) / bottom * math.pi**pi
    return Constant(math.copysign(math.sqrt(value) if root else value, top), top, bottom, pi, root)


def snapped(value: float, error: float) -> Constant | None:
    """The simplest exact constant near ``value``, whose standard error is ``error``; None if no simple one is near.

    A candidate at a distance of z standard errors is scored by ``2 n d w exp(z^2 / 2) / |value|``, where n is its
    numerator times its denominator, d the error and w a weight for powers of pi and for roots. This is the number of
    equally simple constants that chance would put this near, divided by the likelihood: about ``N d log N`` fractions
    whose numerator times denominator is at most N lie within a relative distance d of a number. The candidate with the
    least score is taken, if that score is small.
    """
    if not LEAST < abs(value) < 1 / LEAST or error <= 0 or error > 0.1 * abs(value):
        return None
    least, best = _SURPRISE, None
    for width in (0.5, 1.0, 2.0, 3.0):
        for simplicity, constant in _near(value, width * error / abs(value)):
            z = (constant.value - value) / error
            surprise = simplicity * error / abs(value) * math.exp(z * z / 2)
            if surprise < least:
                least, best = surprise, constant
    return best


_SURPRISE = 0.4
LEAST = 1e-100  # beyond, squares and powers of constants leave the range of numbers
_FORMS = ((0, False, 1), (1, False, 4), (-1, False, 4), (0, True, 20), (1, True, 40), (-1, True, 40))
_FORMS += ((2, False, 200), (-2, False, 200), (3, False, 500), (-3, False, 500))
"""The power of pi, whether it is a root, and the weight: how much rarer it is among constants than a fraction. A square
of pi, 9.87, is taken only where the data tell it from 9.8."""


def _near(value: float, relative: float) -> Iterator[tuple[float, Constant]]:
    size = abs(value)
    for pi, root, weight in _FORMS:
        inner = (size * size if root else size) / math.pi**pi
        spread = relative * (2 if root else 1)
        top, bottom = simplest_fraction(inner * (1 - spread), inner * (1 + spread))
        if bottom and top * bottom <= _MOST:
            yield 2.0 * weight * top * bottom, _of(top if value > 0 else -top, bottom, pi, root)
    for digits in range(1, 8):
        text = f"{value:.{digits - 1}e}"
        if abs(float(text) - value) <= relative * size:
            mantissa, _, exponent = text.partition("e")
            readable = abs(int(exponent) - digits + 1) <= 15  # a larger fraction is written as digits
            made = _of(*Fraction(text).as_integer_ratio()) if readable else Constant(float(text))
            yield 8.0 * abs(int(mantissa.replace(".", ""))), made
            return


def simplest_fraction(low: float, high: float, steps: int = 40) -> tuple[int, int]:
    """The fraction with the smallest denominator in ``[low, high]``, both positive, by so many steps of continued
    fractions; else ``(0, 0)``."""
    below = math.ceil(low) - 1
    if below + 1 <= high:
        return below + 1, 1
    top, bottom = simplest_fraction(1 / (high - below), 1 / (low - below), steps - 1) if steps else (0, 0)
    return below * top + bottom, top
