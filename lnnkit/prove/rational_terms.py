"""Terms over rational numbers: exact values, the truth of comparisons and connectives over intervals, and expressions
for Z3. A comparison of which a term has no value (a quotient by 0, the root of a negative number) is false. Arithmetic
that is not supported becomes an unknown truth within the enclosure of its numbers' ranges: sound, but weaker."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, partial, reduce
from typing import Any, cast

import numpy as np

from lnnkit.logic import logic_named, truth_at
from lnnkit.logic.logic import Numbers, TruthValue, WeightedTruth
from lnnkit.numeric import Apply, Comparison, Constant, Fixed, Input, Operation, Term, apply, constant
from lnnkit.numeric.interval import Interval, entered, hull
from lnnkit.prove.solving import Z3, solver_module
from lnnkit.syntax.identifiers import COMPARISONS

Box = tuple[float, float]
GroundAtom = tuple[str, tuple[str, ...]]  # a predicate or number, and entities
ZERO, ONE = Fraction(0), Fraction(1)
_WHOLE = 64  # the greatest whole exponent that is worked out
_GREATEST_POWER = 16  # of powers and of roots that are encoded
# Which operand an operation needs above 0 to have a value wherever that is
_POSITIVE: Mapping[object, int] = {"log": 0, "sqrt": 0, "power": 0, "divide": 1}
_WIDER = 1e-9  # relative error of numbers that are not rational: the tolerance of equality in inference


class NotRational(Exception):
    """The value is not rational, or too large."""


class NoValue(Exception):
    """A term has no value."""


class NotListed(NoValue):
    """A closed number has no value: a comparison of it may be true or false."""


@lru_cache(maxsize=4096)
def rational(value: float) -> Fraction:
    """A number as its decimal text reads: 0.1 is 1/10, not the nearest double."""
    return value if isinstance(value, Fraction) else Fraction(repr(float(value)))


def relation(arithmetic: Comparison) -> Callable[[Any, Any], Any] | None:
    """Whether a crisp comparison holds of two values; None if it is not crisp or its relation is not known."""
    fixed = arithmetic.relation
    return COMPARISONS[fixed.sign] if isinstance(fixed, Fixed) and not fixed.scale else None


def term_value(term: Term, values: Sequence[Any], apply: Callable[[object, Sequence[Any]], Any]) -> Any:
    """The value of a term, from those of its numbers and by ``apply`` of operations. Raises `NoValue`."""
    built: list[Any] = []
    for step in term.steps:
        match step:
            case Input():
                built.append(values[step.index])
            case Constant():
                built.append(rational(step.value))
            case Apply():
                built.append(apply(step.operation, [built[place] for place in step.operands]))
    return built[-1]


def points(ranges: Iterable[Box]) -> list[Fraction]:
    """Ranges that are single numbers. Raises `NotRational` if one is not."""
    ends = list(ranges)
    if not all(low == high and math.isfinite(low) for low, high in ends):
        raise NotRational
    return [rational(low) for low, _ in ends]


def aggregated(kind: str, truths: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    """An aggregate of elements with these truths. Raises `NoValue`."""
    inside = [(truth, value) for truth, value in zip(truths, values, strict=True) if truth > 0]
    total = sum((truth * value for truth, value in inside), Fraction(0))
    if kind in ("count", "sum"):
        return total
    if not inside:
        raise NoValue
    if kind == "mean":
        return total / sum(truth for truth, _ in inside)
    return (min if kind == "min" else max)(value for _, value in inside)


@lru_cache(maxsize=65536)
def comparison_box(arithmetic: Comparison, ranges: tuple[Box, ...]) -> Box | None:
    """Bounds of a comparison's truth over ranges; loose if it is not crisp, or if a number is repeated. None if a term
    has no value there."""
    holds, terms = relation(arithmetic), (arithmetic.left, arithmetic.right)
    if holds is None:
        return 0.0, 1.0
    try:
        values = points(ranges)
        held = float(holds(*(term_value(term, values, applied) for term in terms)))
        return held, held
    except NoValue:
        return None
    except NotRational:
        inputs = [Interval(_wider(low, -1), _wider(high, 1)) for low, high in ranges]
    if not (arithmetic.total or all(term.hull([Interval(*map(_array, ends)) for ends in ranges])[1] for term in terms)):
        return None
    low, high = arithmetic.truth(inputs)
    return low.item() if all(_defined(term, inputs) for term in terms) else 0.0, high.item()


def _defined(term: Term, inputs: Sequence[Interval]) -> bool:
    """Whether a term has a value everywhere on a box."""
    ends = [] if term.total else [*map(hull, term.upward([*map(entered, inputs)]))]
    for step in term.folded if ends else ():
        if isinstance(step, Apply) and step.operation in _POSITIVE:
            low, high = ends[step.operands[_POSITIVE[step.operation]]]
            if not low.item() > 0 and not (step.operation == "divide" and high.item() < 0):
                return False
    return True


def connective_box(kind: str, logic: str, weights: Sequence[float], bias: float, x: Sequence[Box]) -> Box:
    """Bounds of the truth of a connective, or of ``not``, over a box; ``iff`` may be loose."""
    if kind == "not":
        return 1 - x[0][1], 1 - x[0][0]
    if kind == "iff":
        there = connective_box("implies", logic, weights, bias, x)
        back = connective_box("implies", logic, weights[::-1], bias, x[::-1])
        return min(there[0], back[0]), min(there[1], back[1])
    least, most = zip(*([x[0][::-1], x[1]] if kind == "implies" else x), strict=True)
    at = Numbers()
    low, high = (at.cut(truth_at(logic_named(logic), at, kind, weights, bias, truths)) for truths in (least, most))
    return low, high


def _array(end: float) -> np.ndarray:
    return np.array([float(end)])


def _wider(end: float, sign: int) -> np.ndarray:
    return _array(end) + sign * _WIDER * max(1.0, abs(float(end)))


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
        case "floor" | "ceil":
            return Fraction(math.floor(x[0]) if operation == "floor" else math.ceil(x[0]))
        case "round":
            size = Fraction(math.floor(abs(x[0]) + Fraction(1, 2)))
            return size if x[0] > 0 else -size
        case "least" | "greatest":
            return min(x) if operation == "least" else max(x)
        case "log" if x[0] <= 0:
            raise NoValue
        case "exp" | "cos" | "sin" if x[0] == 0:
            return Fraction(operation != "sin")
        case "log" if x[0] == 1:
            return Fraction(0)
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
        case "years" | "months" | "timed_years" | "timed_months":  # of known dates
            value = apply(cast("Operation", operation), *[constant(float(day)) for day in x]).value
            if value is not None:
                return rational(value)
    raise NotRational


def _stepwise(z3: Z3, operation: object, x: Sequence[Z3]) -> Z3:
    """A function to whole numbers, or the least or the greatest of several."""
    if operation in ("least", "greatest"):
        before = operator.le if operation == "least" else operator.ge
        return reduce(lambda one, other: z3.If(before(one, other), one, other), x)
    one = x[0]
    if one.is_int():
        return one
    half = z3.RealVal("1/2", one.ctx)
    if operation == "round":
        return z3.If(one >= 0, z3.ToInt(one + half), -z3.ToInt(half - one))
    return z3.ToInt(one) if operation == "floor" else -z3.ToInt(-one)


class ArithmeticEncoding:
    """Encodes numbers for Z3, in a context of its own: reals, or integers if their names are ``whole``; and the
    arithmetic of truths. ``folded``: known values become constants. ``asides`` are constraints that the terms need: the
    ends of numbers, and the definitions of roots. ``multiplied``: whether variables are multiplied; ``nonlinear``:
    whether truths are."""

    def __init__(self, box: Callable[[GroundAtom], Box], whole: Collection[str], *, folded: bool) -> None:
        self.z3 = solver_module()
        self.context = self.z3.Context()
        self.numbers: dict[GroundAtom, Z3] = {}
        self.asides: list[Z3] = []
        self.roots: dict[tuple[Z3, int], Z3] = {}
        self.multiplied = self.nonlinear = self._bound = False
        self._box, self._whole, self._folded = box, whole, folded

    def number(self, key: GroundAtom) -> Fraction | Z3:
        """A number: its known value, or a variable."""
        low, high = self._box(key)
        if self._folded and low == high:
            return rational(low)
        if key not in self.numbers:
            self.numbers[key] = self.z3.Const(f"{key[0]}({', '.join(key[1])})", self.sort(key[0]))
            ends = [self.at_end(key, 0, low), self.at_end(key, 1, high)] if self._folded else []
            self.asides += [end for end in ends if end is not True]
        return self.numbers[key]

    def sort(self, name: str) -> Z3:
        """The sort of a number's values."""
        return (self.z3.IntSort if name in self._whole else self.z3.RealSort)(self.context)

    def at_end(self, key: GroundAtom, end: int, value: float) -> Z3 | bool:
        """The constraint that a variable number is at least (0) or at most (1) ``value``, which may be infinite."""
        made = self.numbers[key]
        if not math.isfinite(value):
            return True
        if key[0] in self._whole:
            limit = self.z3.IntVal(math.floor(value) if end else math.ceil(value), self.context)
        else:
            limit = self.real(rational(value))
        return made <= limit if end else made >= limit

    def comparison(self, arithmetic: Comparison, values: Sequence[Fraction | Z3], conditions: list[Z3]) -> bool | Z3:
        """Whether a comparison holds, and all ``conditions`` of its values. Raises `NoValue`, `NotRational`: it cannot
        be encoded, as roots of variables that a quantifier binds (`_bound`)."""
        holds = relation(arithmetic)
        if holds is None:
            raise NotRational
        left, right = (self.term(side, values, conditions) for side in (arithmetic.left, arithmetic.right))
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            truth = holds(left, right)
            return self.z3.And(conditions) if truth and conditions else truth
        truth = holds(self._term(left), self._term(right))
        return self.z3.And(*conditions, truth) if conditions else truth

    def term(self, term: Term, values: Sequence[Fraction | Z3], conditions: list[Z3]) -> Fraction | Z3:
        """The value of a term where all ``conditions`` hold, to which this adds. Raises `NoValue`, `NotRational`."""
        return term_value(term, values, partial(self._operation, conditions))

    def real(self, value: Fraction) -> Z3:
        """A rational constant."""
        return self.z3.RealVal(f"{value.numerator}/{value.denominator}", self.context)

    def drained(self) -> list[Z3]:
        """The further constraints on what was encoded since the last call."""
        constraints, self.asides = self.asides, []
        return [self.lifted(said) for said in constraints]

    def lifted(self, value: Fraction | Z3 | bool) -> Z3:
        """A value or a constraint as an expression."""
        if isinstance(value, bool):
            return self.z3.BoolVal(value, self.context)
        return self.real(value) if isinstance(value, Fraction) else value

    def _term(self, value: Fraction | Z3) -> Z3:
        if not isinstance(value, Fraction):
            return value
        return self.z3.IntVal(int(value), self.context) if value.denominator == 1 else self.real(value)

    def _operation(self, conditions: list[Z3], operation: object, operands: Sequence[Fraction | Z3]) -> Fraction | Z3:
        """The value of an operation where all ``conditions`` hold. Raises `NoValue`, `NotRational`."""
        known = [operand for operand in operands if isinstance(operand, Fraction)]
        if len(known) == len(operands):
            with suppress(NotRational):  # an irrational root
                return applied(operation, known)
        x: list[Z3] = [self._term(operand) for operand in operands]
        match operation:
            case "add" | "subtract" | "multiply" | "negate":
                self.multiplied |= operation == "multiply" and len(operands) > len(known) + 1
                return applied(operation, x)
            case "abs":
                return self.z3.If(x[0] >= 0, x[0], -x[0])
            case "floor" | "ceil" | "round" | "least" | "greatest":
                return _stepwise(self.z3, operation, x)
            case "divide":
                return self._divided(operands[0], operands[1], conditions)
            case "sqrt":
                return self._raised(x[0], Fraction(1, 2), conditions)
            case "power" if isinstance(operands[1], Fraction):
                return self._raised(x[0], operands[1], conditions)
        raise NotRational

    def _divided(self, dividend: Fraction | Z3, divisor: Fraction | Z3, conditions: list[Z3]) -> Z3:
        if isinstance(divisor, Fraction):
            if divisor == 0:
                raise NoValue
        else:
            self.multiplied = True
            conditions.append(divisor != 0)
        one, other = self._term(dividend), self._term(divisor)
        return (self.z3.ToReal(one) if one.is_int() else one) / (self.z3.ToReal(other) if other.is_int() else other)

    def _raised(self, base: Z3, exponent: Fraction, conditions: list[Z3]) -> Z3:
        size, degree = abs(exponent.numerator), exponent.denominator
        if max(size, degree) > _GREATEST_POWER:
            raise NotRational
        if exponent == 0:
            return self._term(Fraction(1))
        if degree > 1:
            conditions.append(base >= 0)
            base = self._root(base, degree)
        self.multiplied |= size > 1
        raised = math.prod([base] * (size - 1), start=base)
        return raised if exponent > 0 else self._divided(Fraction(1), raised, conditions)

    def _root(self, base: Z3, degree: int) -> Z3:
        if (base, degree) not in self.roots:
            if self._bound:
                raise NotRational
            self.multiplied = True
            root = self.roots[base, degree] = self.z3.Real(f"?root {len(self.roots)}", self.context)
            power = math.prod([root] * (degree - 1), start=root)
            self.asides.append(self.z3.Implies(base >= 0, self.z3.And(root >= 0, power == base)))
        return self.roots[base, degree]

    def at_least(self, one: TruthValue, other: TruthValue) -> Z3 | bool:
        """``one >= other``."""
        if isinstance(one, Fraction) and isinstance(other, Fraction):
            return one >= other
        return self.lifted(one) >= self.lifted(other)

    def sum(self, constant: Fraction, terms: Iterable[WeightedTruth]) -> TruthValue:
        parts: list[Z3] = []
        for weight, truth, complemented in terms:
            if complemented:
                constant, weight = constant + weight, -weight
            if isinstance(truth, Fraction):
                constant += weight * truth
            elif weight:
                parts.append(truth if weight == 1 else weight * truth)
        return self.z3.Sum([*parts, *([constant] if constant else [])]) if parts else constant

    def smaller(self, one: TruthValue, other: TruthValue) -> TruthValue:
        return self.choose(one, other, one, other)

    def choose(self, one: TruthValue, other: TruthValue, then: TruthValue, otherwise: TruthValue) -> TruthValue:
        return self._if(self.at_least(other, one), then, otherwise)

    def _greater(self, one: TruthValue, other: TruthValue) -> TruthValue:
        return self.choose(other, one, one, other)

    def cut(self, value: TruthValue) -> TruthValue:
        return self.smaller(ONE, self._greater(value, ZERO))

    def _if(self, condition: Z3 | bool, one: TruthValue, other: TruthValue) -> TruthValue:
        if isinstance(condition, bool):
            return one if condition else other
        return self.z3.If(condition, self.lifted(one), self.lifted(other))

    def times(self, one: TruthValue, other: TruthValue) -> TruthValue:
        for factor, rest in ((one, other), (other, one)):
            if isinstance(factor, Fraction):
                return ZERO if factor == 0 else rest if factor == 1 else factor * rest
        self.nonlinear = True
        return one * other
