"""Numbers, terms and comparisons for Z3. Unsupported arithmetic becomes an unknown number, or an unknown truth: sound,
but weaker."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction

from lnnkit.numeric import Apply, Comparison, Constant, Fixed, Number, Term
from lnnkit.prove.ground.known_values import Key, KnownValues
from lnnkit.prove.ground.point_arithmetic import Inexact, comparable, holds, rational
from lnnkit.prove.solving import Z3

_GREATEST_POWER = 16


class ArithmeticEncoding:
    """Encodes numbers as reals, or as integers if their names are ``whole``. ``asides`` collects constraints that the
    encoded terms need: the ends of numbers, and the definitions of quotients and roots."""

    def __init__(self, z3: Z3, context: Z3, known: KnownValues, whole: Collection[str], *, folded: bool) -> None:
        self.numbers: dict[Key, Z3] = {}
        self.asides: list[Z3] = []
        self._z3 = z3
        self._context = context
        self._known = known
        self._whole = whole
        self._folded = folded
        self._fresh = 0

    def number(self, key: Key) -> Fraction | Z3:
        """A number: its known value, or a variable."""
        low, high = self._known.box(key)
        if self._folded and low == high:
            return rational(low)
        if key not in self.numbers:
            text = f"{key[0]}({', '.join(key[1])})"
            whole = key[0] in self._whole
            made = (self._z3.Int if whole else self._z3.Real)(text, self._context)
            self.numbers[key] = made
            if self._folded:
                self.asides += [*self.at_end(key, 0, low), *self.at_end(key, 1, high)]
        return self.numbers[key]

    def at_end(self, key: Key, end: int, value: float) -> list[Z3]:
        """The constraint that a variable number is at least (0) or at most (1) ``value``; None if that is infinite."""
        made = self.numbers[key]
        if not math.isfinite(value):
            return []
        if key[0] in self._whole:
            limit = self._z3.IntVal(math.floor(value) if end else math.ceil(value), self._context)
        else:
            limit = self.real(rational(value))
        return [made <= limit if end else made >= limit]

    def comparison(self, arithmetic: Comparison, keys: Sequence[Key | None]) -> bool | Z3 | None:
        """Whether a comparison of numbers holds; None if it cannot be encoded."""
        if not comparable(arithmetic) or any(key is None for key in keys):
            return None
        values = [self.number(key) for key in keys if key is not None]
        if all(isinstance(value, Fraction) for value in values):
            try:
                return holds(arithmetic, values)
            except Inexact:
                return None
        left, right = self._term(arithmetic.left, values), self._term(arithmetic.right, values)
        if left is None or right is None:
            return None
        assert isinstance(arithmetic.relation, Fixed)
        one, other = self._pair(left, right)
        found = {
            ">": lambda: one > other,
            ">=": lambda: one >= other,
            "<": lambda: one < other,
            "<=": lambda: one <= other,
            "=": lambda: one == other,
            "!=": lambda: one != other,
        }[arithmetic.relation.sign]()
        return found

    def real(self, value: Fraction) -> Z3:
        """A rational constant."""
        return self._z3.RealVal(f"{value.numerator}/{value.denominator}", self._context)

    def unknown(self, *, whole: bool = False) -> Z3:
        """A new unconstrained number."""
        self._fresh += 1
        return (self._z3.Int if whole else self._z3.Real)(f"?number {self._fresh}", self._context)

    def _pair(self, one: Fraction | Z3, other: Fraction | Z3) -> tuple[Z3, Z3]:
        return self._lifted(one), self._lifted(other)

    def _lifted(self, value: Fraction | Z3) -> Z3:
        if not isinstance(value, Fraction):
            return value
        return self._z3.IntVal(int(value), self._context) if value.denominator == 1 else self.real(value)

    def _term(self, term: Term, values: Sequence[Fraction | Z3]) -> Fraction | Z3 | None:
        built: list[Fraction | Z3 | None] = []
        for step in term.steps:
            match step:
                case Number():
                    built.append(values[step.index])
                case Constant():
                    built.append(rational(step.value))
                case Apply():
                    built.append(self._applied(step.operation, [built[place] for place in step.operands]))
        return built[-1]

    def _applied(self, operation: object, operands: Sequence[Fraction | Z3 | None]) -> Fraction | Z3 | None:
        if any(each is None for each in operands):
            return None
        x: list[Z3] = [self._lifted(each) for each in operands]
        match operation:
            case "add":
                return sum(x[1:], x[0])
            case "subtract":
                return x[0] - x[1]
            case "negate":
                return -x[0]
            case "multiply":
                return math.prod(x[1:], start=x[0])
            case "abs":
                return self._z3.If(x[0] >= 0, x[0], -x[0])
            case "divide" if isinstance(operands[1], Fraction) and operands[1] != 0:
                return (
                    self._z3.ToReal(x[0]) / self.real(operands[1]) if x[0].is_int() else x[0] / self.real(operands[1])
                )
            case "power" if isinstance(operands[1], Fraction) and operands[1].denominator == 1:
                exponent = int(operands[1])
                if 1 <= exponent <= _GREATEST_POWER:
                    return math.prod([x[0]] * (exponent - 1), start=x[0])
        return None
