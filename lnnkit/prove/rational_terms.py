"""Terms over rational numbers: exact values, the truth of comparisons and connectives over intervals, and expressions
for Z3. A comparison of which a term has no value (a quotient by 0, the root of a negative number) is false. Arithmetic
that is not supported becomes an unknown truth: sound, but weaker."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from lnnkit.logic import logic_named, truth_at
from lnnkit.logic.logic import Numbers
from lnnkit.numeric import Apply, Comparison, Constant, Fixed, Number
from lnnkit.numeric.interval import Interval
from lnnkit.prove.solving import Z3

Box = tuple[float, float]
GroundAtom = tuple[str, tuple[str, ...]]  # a predicate or number, and entities
RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "=": operator.eq, "!=": operator.ne
}  # fmt: skip
_WHOLE = 64  # the greatest whole exponent that is worked out
_GREATEST_POWER = 16  # of powers and of roots that are encoded
_WIDER = 1e-9  # relative error of numbers that are not rational: the tolerance of equality in inference


class NotRational(Exception):
    """The value is not rational, or too large."""


class NoValue(Exception):
    """A term has no value."""


@lru_cache(maxsize=4096)
def rational(value: float) -> Fraction:
    """A number as its decimal text reads: 0.1 is 1/10, not the nearest double."""
    return value if isinstance(value, Fraction) else Fraction(repr(float(value)))


def relation(arithmetic: Comparison) -> Callable[[Any, Any], Any] | None:
    """Whether a crisp comparison holds of two values; None if it is not crisp or its relation is not known."""
    fixed = arithmetic.relation
    return RELATIONS[fixed.sign] if isinstance(fixed, Fixed) and not fixed.scale else None


def _terms(
    arithmetic: Comparison, values: Sequence[Any], apply: Callable[[object, Sequence[Any]], Any]
) -> list[Any] | None:
    """The values of both terms, from those of their numbers and by ``apply`` of operations; None if one has none."""
    terms: list[Any] = []
    for term in (arithmetic.left, arithmetic.right):
        built: list[Any] = []
        for step in term.steps:
            match step:
                case Number():
                    built.append(values[step.index])
                case Constant():
                    built.append(rational(step.value))
                case Apply():
                    try:
                        built.append(apply(step.operation, [built[place] for place in step.operands]))
                    except NoValue:
                        return None
        terms.append(built[-1])
    return terms


@lru_cache(maxsize=65536)
def comparison_box(arithmetic: Comparison, ranges: tuple[Box, ...]) -> Box:
    """Bounds of a comparison's truth over ranges; loose if it is not crisp, or if a number is repeated."""
    holds = relation(arithmetic)
    if holds is None:
        return 0.0, 1.0
    if all(low == high and math.isfinite(low) for low, high in ranges):
        with suppress(NotRational):
            terms = _terms(arithmetic, [rational(low) for low, _ in ranges], applied)
            held = float(terms is not None and holds(*terms))
            return held, held
    low, high = arithmetic.truth([Interval(_wider(low, -1), _wider(high, 1)) for low, high in ranges])
    return low.item() if arithmetic.total else 0.0, high.item()


def connective_box(kind: str, logic: str, weights: Sequence[float], bias: float, x: Sequence[Box]) -> Box:
    """Bounds of the truth of a connective, or of ``not``, over a box; ``iff`` and ``xor`` may be loose."""
    if kind in ("not", "xor"):
        low, high = x[0] if kind == "not" else connective_box("iff", logic, weights, bias, x)
        return 1 - high, 1 - low
    if kind == "iff":
        there = connective_box("implies", logic, weights, bias, x)
        back = connective_box("implies", logic, weights[::-1], bias, x[::-1])
        return min(there[0], back[0]), min(there[1], back[1])
    least, most = zip(*([x[0][::-1], x[1]] if kind == "implies" else x), strict=True)
    at = Numbers()
    low, high = (at.cut(truth_at(logic_named(logic), at, kind, weights, bias, truths)) for truths in (least, most))
    return low, high


def _wider(end: float, sign: int) -> np.ndarray:
    return np.array([float(end) + sign * _WIDER * max(1.0, abs(float(end)))])


def applied(operation: object, x: Sequence[Any]) -> Any:
    """The value of an operation on fractions, or a sum or product of any. Raises `NotRational`, `NoValue`."""
    match operation:
        case "add":
            return sum(x[1:], x[0])
        case "subtract":
            return x[0] - x[1]
        case "multiply":
            return math.prod(x[1:], start=x[0])
        case "negate":
            return -x[0]
        case "abs":
            return abs(x[0])
        case "divide":
            if x[1] == 0:
                raise NoValue
            return x[0] / x[1]
        case "sqrt" | "power":
            base, exponent = x if operation == "power" else (x[0], Fraction(1, 2))
            if (base == 0 and exponent < 0) or (base < 0 and exponent.denominator > 1):
                raise NoValue
            if exponent.denominator == 1 and abs(exponent) <= _WHOLE:
                return base ** int(exponent)
            if exponent.denominator == 2 and abs(exponent) <= _WHOLE:
                root = Fraction(*map(math.isqrt, (base.numerator, base.denominator)))
                if root**2 == base:
                    return root**exponent.numerator
    raise NotRational


class ArithmeticEncoding:
    """Encodes numbers for Z3: reals, or integers if their names are ``whole``. ``asides`` are constraints that the
    terms need: the ends of numbers, and the definitions of roots. ``nonlinear``: whether variables are multiplied."""

    def __init__(
        self, z3: Z3, context: Z3, box: Callable[[GroundAtom], Box], whole: Collection[str], *, folded: bool
    ) -> None:
        self.numbers: dict[GroundAtom, Z3] = {}
        self.asides: list[Z3] = []
        self.roots: dict[tuple[Z3, int], Z3] = {}
        self.nonlinear = self._bound = False
        self._z3, self._context = z3, context
        self._box, self._whole, self._folded = box, whole, folded

    def number(self, key: GroundAtom) -> Fraction | Z3:
        """A number: its known value, or a variable."""
        low, high = self._box(key)
        if self._folded and low == high:
            return rational(low)
        if key not in self.numbers:
            self.numbers[key] = self._z3.Const(f"{key[0]}({', '.join(key[1])})", self.sort(key[0]))
            ends = [self.at_end(key, 0, low), self.at_end(key, 1, high)] if self._folded else []
            self.asides += [end for end in ends if end is not True]
        return self.numbers[key]

    def sort(self, name: str) -> Z3:
        """The sort of a number's values."""
        return (self._z3.IntSort if name in self._whole else self._z3.RealSort)(self._context)

    def at_end(self, key: GroundAtom, end: int, value: float) -> Z3 | bool:
        """The constraint that a variable number is at least (0) or at most (1) ``value``, which may be infinite."""
        made = self.numbers[key]
        if not math.isfinite(value):
            return True
        if key[0] in self._whole:
            limit = self._z3.IntVal(math.floor(value) if end else math.ceil(value), self._context)
        else:
            limit = self.real(rational(value))
        return made <= limit if end else made >= limit

    def comparison(
        self, arithmetic: Comparison, values: Sequence[Fraction | Z3], *, bound: bool = False
    ) -> bool | Z3 | None:
        """Whether a comparison holds; None if it cannot be encoded, as roots of variables ``bound`` by a quantifier."""
        holds = relation(arithmetic)
        if holds is None:
            return None
        there: list[Z3] = []
        self._bound = bound
        try:
            terms = _terms(arithmetic, values, partial(self._applied, there))
        except NotRational:
            return None
        if terms is None:
            return False
        left, right = terms
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            truth = holds(left, right)
            return self._z3.And(there) if truth and there else truth
        truth = holds(self._lifted(left), self._lifted(right))
        return self._z3.And(*there, truth) if there else truth

    def real(self, value: Fraction) -> Z3:
        """A rational constant."""
        return self._z3.RealVal(f"{value.numerator}/{value.denominator}", self._context)

    def _lifted(self, value: Fraction | Z3) -> Z3:
        if not isinstance(value, Fraction):
            return value
        return self._z3.IntVal(int(value), self._context) if value.denominator == 1 else self.real(value)

    def _applied(self, there: list[Z3], operation: object, operands: Sequence[Fraction | Z3]) -> Fraction | Z3:
        """The value of an operation where all of ``there`` holds. Raises `NoValue`, `NotRational`."""
        known = [operand for operand in operands if isinstance(operand, Fraction)]
        if len(known) == len(operands):
            with suppress(NotRational):  # an irrational root
                return applied(operation, known)
        x: list[Z3] = [self._lifted(operand) for operand in operands]
        match operation:
            case "add" | "subtract" | "multiply" | "negate":
                self.nonlinear |= operation == "multiply" and len(operands) > len(known) + 1
                return applied(operation, x)
            case "abs":
                return self._z3.If(x[0] >= 0, x[0], -x[0])
            case "divide":
                return self._quotient(operands[0], operands[1], there)
            case "sqrt":
                return self._power(x[0], Fraction(1, 2), there)
            case "power" if isinstance(operands[1], Fraction):
                return self._power(x[0], operands[1], there)
        raise NotRational

    def _quotient(self, dividend: Fraction | Z3, divisor: Fraction | Z3, there: list[Z3]) -> Z3:
        if isinstance(divisor, Fraction):
            if divisor == 0:
                raise NoValue
        else:
            self.nonlinear = True
            there.append(divisor != 0)
        one, other = self._lifted(dividend), self._lifted(divisor)
        return (self._z3.ToReal(one) if one.is_int() else one) / (self._z3.ToReal(other) if other.is_int() else other)

    def _power(self, base: Z3, exponent: Fraction, there: list[Z3]) -> Z3:
        size, degree = abs(exponent.numerator), exponent.denominator
        if max(size, degree) > _GREATEST_POWER:
            raise NotRational
        if exponent == 0:
            return self._lifted(Fraction(1))
        if degree > 1:
            there.append(base >= 0)
            base = self._root(base, degree)
        self.nonlinear |= size > 1
        raised = math.prod([base] * (size - 1), start=base)
        return raised if exponent > 0 else self._quotient(Fraction(1), raised, there)

    def _root(self, base: Z3, degree: int) -> Z3:
        if (base, degree) not in self.roots:
            if self._bound:
                raise NotRational
            self.nonlinear = True
            root = self.roots[base, degree] = self._z3.Real(f"?root {len(self.roots)}", self._context)
            power = math.prod([root] * (degree - 1), start=root)
            self.asides.append(self._z3.Implies(base >= 0, self._z3.And(root >= 0, power == base)))
        return self.roots[base, degree]
