"""Formulas with numbers at a point, exactly: fractions where values are rational, else 1,000 digits.

The definitions are those of docs/reference/semantics.md. That many digits distinguish a truth 900 scales out, which is
not exactly 0, from 0; what they do not distinguish is refused (`Unclear`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath

from tests.oracle.program import Formula, operands, weights

DIGITS = 1000
FAR = 900  # scales
Real = Fraction | Any  # or a number of mpmath
ReadNumber = Callable[[Formula], float]
ReadAtom = Callable[[Formula], float]

_context = mpmath.mp.clone() if hasattr(mpmath.mp, "clone") else mpmath.mp
_context.dps = DIGITS
_SAME, _ROUNDED = 1e-9, 1e-15  # relative; numbers between the two are equal by the tolerance alone
_UNCLEAR = _context.mpf(10) ** -(DIGITS - 50)


class Undefined(Exception):
    """A term has no value at the point."""


class Unclear(Exception):
    """The digits do not tell on which side of a jump the point is."""


# --- terms ------------------------------------------------------------------------------------------------------------


def exact_value(term: Formula, read: ReadNumber) -> Real:
    """The value of a term. Raises `Undefined`, `Unclear`."""
    match term[0]:
        case "number":
            return Fraction(read(term))
        case "constant":
            return Fraction(term[1])
        case "nau" | "nmu" | "realnpu":
            pairs = [
                (Fraction(weight), exact_value(part, read))
                for weight, part in zip(term[1], term[2], strict=True)
                if weight
            ]
            if term[0] == "nau":
                return _total([_times(w, x) for w, x in pairs])
            found: Real = Fraction(1)
            for w, x in pairs:
                found = _times(found, _plus(_times(w, x), 1 - w) if term[0] == "nmu" else _power(x, w))
            return found
    below = [exact_value(part, read) for part in term[1:]]
    match term[0], *below:
        case "add", a, b:
            return _plus(a, b)
        case "subtract", a, b:
            return _plus(a, -b)
        case "multiply", a, b:
            return _times(a, b)
        case "divide", a, b:
            if b == 0:
                raise Undefined
            return a / b if _rational(a, b) else mpf(a) / mpf(b)
        case "power", a, b:
            return _power(a, b)
        case "negate", a:
            return -a
        case "abs", a:
            return abs(a)
        case "sqrt", a:
            return _power(a, Fraction(1, 2))
        case "least" | "greatest", a, b:
            return (min if term[0] == "least" else max)(a, b, key=mpf)
        case "floor" | "ceil" | "round", a:
            return _whole(term[0], a)
        case "log", a:
            if a <= 0:
                raise Undefined
            return Fraction(0) if a == 1 else _context.log(mpf(a))
        case "exp" | "sin" | "cos", a:
            if abs(a) > (700 if term[0] == "exp" else 10**12):
                raise Unclear
            return getattr(_context, term[0])(mpf(a))
    raise ValueError(term[0])


def _whole(function: str, value: Real) -> Fraction:
    """``value`` rounded; halves away from zero. Beside a number at which it jumps, the tolerance would decide."""
    parts = (value.numerator, 1) if isinstance(value, Fraction) else value.man_exp
    given = value if isinstance(value, Fraction) else Fraction(parts[0]) * Fraction(2) ** parts[1]
    jump = Fraction(math.floor(given)) + Fraction(1, 2) if function == "round" else Fraction(round(given))
    if given != jump and abs(given - jump) <= 1e-8 * max(abs(given), Fraction(1, 100)):
        raise Unclear
    if function == "round":
        return (1 if given > 0 else -1) * Fraction(math.floor(abs(given) + Fraction(1, 2)))
    return Fraction(math.floor(given) if function == "floor" else math.ceil(given))


def mpf(value: Real) -> Any:
    if isinstance(value, Fraction):
        return _context.mpf(value.numerator) / value.denominator
    return _context.mpf(value)


def _rational(*values: Real) -> bool:
    return all(isinstance(value, Fraction) for value in values)


def _plus(a: Real, b: Real) -> Real:
    return a + b if _rational(a, b) else mpf(a) + mpf(b)


def _times(a: Real, b: Real) -> Real:
    return a * b if _rational(a, b) else mpf(a) * mpf(b)


def _total(values: Sequence[Real]) -> Real:
    found: Real = Fraction(0)
    for value in values:
        found = _plus(found, value)
    return found


def _power(base: Real, exponent: Real) -> Real:
    whole = exponent == int(exponent)
    if (base == 0 and exponent < 0) or (base < 0 and not whole):
        raise Undefined
    if exponent == 0:
        return Fraction(1)
    if base == 0:
        return Fraction(0)
    if whole and abs(exponent) <= 8 and _rational(base):
        return base ** int(exponent)
    if exponent == Fraction(1, 2) and _rational(base):
        roots = [math.isqrt(part) for part in (base.numerator, base.denominator)]
        if Fraction(*roots) ** 2 == base:
            return Fraction(*roots)
    if abs(exponent) > 10**4:
        raise Unclear
    return mpf(base) ** (int(exponent) if whole else mpf(exponent))


# --- truth ------------------------------------------------------------------------------------------------------------


def exact_truth(formula: Formula, number: ReadNumber, atom: ReadAtom, logic: str) -> Any:
    """The truth of a formula without quantifiers, a number of mpmath in [0, 1]. Raises `Undefined`, `Unclear`."""
    match formula[0]:
        case "atom":
            return mpf(atom(formula))
        case "not":
            return 1 - exact_truth(formula[1], number, atom, logic)
        case "compare":
            return comparison_truth(formula, number)
    parts = [exact_truth(part, number, atom, logic) for part in operands(formula)]
    return connective(formula[0], formula[-1] or logic, weights(formula), formula[-2], parts)


def comparison_truth(formula: Formula, read: ReadNumber) -> Any:
    _, operator, left, right, scale, weight = formula
    if right == ("constant", 0.0) and left[0] == "subtract":  # of x - y against 0, x and y are compared
        left, right = left[1:]
    elif left == ("constant", 0.0) and right[0] == "subtract":
        right, left = right[1:]
    a, b = exact_value(left, read), exact_value(right, read)
    gap = _plus(a, -b)
    if scale is None and a != b and _told_apart(left, right, a, b):
        raise Unclear
    equal = _same(a, b)
    if operator == "<?>":
        t = _tanh(gap, scale) if scale else mpf(0 if equal else 1 if gap > 0 else -1)
        plus, zero, bias = (mpf(Fraction(each)) for each in weight)
        return _sigmoid(bias + plus * t + zero * (1 - 2 * t * t))
    if scale is None:
        held = {"=": equal, "!=": not equal, ">": gap > 0 and not equal, "<": gap < 0 and not equal}
        return mpf(int(held.get(operator, equal or (gap > 0 if operator == ">=" else gap < 0))))
    if operator in ("=", "!="):
        dent = _tanh(gap, scale) ** 2  # itself, since so many digits do not show it in its complement
        return 1 - dent if operator == "=" else dent
    x = mpf(gap) / mpf(Fraction(scale))
    if abs(x) > FAR:
        raise Unclear
    return _sigmoid(x if operator in (">", ">=") else -x)


def _told_apart(left: Formula, right: Formula, a: Real, b: Real) -> bool:
    """Whether different sides are equal by the tolerance and yet no rounding makes them so: both are given, or they
    round to whole numbers or other multiples of 2^-10, which count as what they are. An engine reads such an equality
    as that of reals."""
    gap, size = abs(_plus(a, -b)), max(abs(mpf(a)), abs(mpf(b)))
    if mpf(gap) > size * _SAME * 2:
        return False
    given = all(side[0] in ("number", "constant") for side in (left, right))
    return given or all(_on_grid(_nearest(x)) for x in (a, b))


def _on_grid(value: float) -> bool:
    return (value.is_integer() and abs(value) <= 2**53) or ((value * 1024).is_integer() and abs(value) <= 2**32)


def _same(a: Real, b: Real) -> bool:
    """Semantics 20. Numbers that rounding does not make the same, but the tolerance does, are refused."""
    if a == b:
        return True
    gap, size = abs(_plus(a, -b)), max(abs(mpf(a)), abs(mpf(b)))
    if all(x == int(x) for x in (a, b)) and size <= 2**53:
        return False
    apart = mpf(gap) / size
    if _ROUNDED < apart < _SAME * 2:
        raise Unclear
    return apart < _SAME


def _tanh(gap: Real, scale: float) -> Any:
    x = mpf(gap) / mpf(Fraction(scale))
    if abs(x) > FAR / 2:
        raise Unclear
    return _context.tanh(x)


def _sigmoid(x: Any) -> Any:
    if abs(x) > FAR:
        raise Unclear
    return 1 / (1 + _context.exp(-x))


def connective(kind: str, logic: str, w: Sequence[float], bias: float, x: Sequence[Any]) -> Any:
    """A weighted connective at a point (P2; semantics 1 to 4)."""
    v, b = [mpf(Fraction(each)) for each in w], mpf(Fraction(bias))
    match kind:
        case "and" if logic == "lukasiewicz":
            return _clamp(b - sum(a * (1 - y) for a, y in zip(v, x, strict=True)))
        case "and" if logic == "product":
            found = _context.exp(b - 1)
            for a, y in zip(v, x, strict=True):
                found *= _raised(y, a)
            return _clamp(found)
        case "and":
            return _clamp(min([b, *(b - a * (1 - y) for a, y in zip(v, x, strict=True))]))
        case "or":
            return 1 - connective("and", logic, w, bias, [1 - y for y in x])
        case "implies" if logic == "lukasiewicz":
            return _clamp(1 - b + v[0] * (1 - x[0]) + v[1] * x[1])
        case "implies" if logic == "product":
            n, d = _context.exp(1 - b) * _raised(x[1], v[1]), _raised(x[0], v[0])
            return mpf(1) if _reaches(n, d) else n / d
        case "implies":
            low, high = _clamp(b - v[0] * (1 - x[0])), _clamp(1 - v[1] * (1 - x[1]))
            return mpf(1) if _reaches(high, low) else _clamp(high + 1 - b)
        case "iff":
            there = connective("implies", logic, w, bias, x)
            return min(there, connective("implies", logic, w[::-1], bias, x[::-1]))
        case "xor":
            return 1 - connective("iff", logic, w, bias, x)
    raise ValueError(kind)


def _raised(x: Any, weight: Any) -> Any:
    return mpf(1) if weight == 0 else mpf(0) if x == 0 else x**weight


def _clamp(x: Any) -> Any:
    return max(mpf(0), min(mpf(1), x))


def _reaches(a: Any, b: Any) -> bool:
    """``a >= b``."""
    if a != b and abs(a - b) < _UNCLEAR:
        raise Unclear
    return a >= b


# --- floats around a number -------------------------------------------------------------------------------------------


def floor_float(value: Real) -> float:
    """The greatest float that is not over it."""
    near = _nearest(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def ceil_float(value: Real) -> float:
    """The least float that is not under it."""
    near = _nearest(value)
    return near if near >= value else math.nextafter(near, math.inf)


def _nearest(value: Real) -> float:
    return float(mpf(value))
