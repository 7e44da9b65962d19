"""Numbers, terms and comparisons for Z3. A comparison of which a term has no value (a quotient by 0, the root of a
negative number) is false. Arithmetic that is not supported becomes an unknown truth: sound, but weaker."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial

from lnnkit.numeric import Comparison, Fixed
from lnnkit.prove.ground.ground_reading import GroundAtom, KnownValues
from lnnkit.prove.ground.point_arithmetic import RELATIONS, NotRational, NoValue, applied, comparable, folded, rational
from lnnkit.prove.solving import Z3

_GREATEST_POWER = 16  # of powers and of roots


class _Unsupported(Exception):
    pass


class ArithmeticEncoding:
    """Encodes numbers as reals, or as integers if their names are ``whole``. ``asides`` collects constraints that the
    encoded terms need: the ends of numbers, and the definitions of roots. ``nonlinear`` says whether variables are
    multiplied."""

    def __init__(self, z3: Z3, context: Z3, known: KnownValues, whole: Collection[str], *, folded: bool) -> None:
        self.numbers: dict[GroundAtom, Z3] = {}
        self.asides: list[Z3] = []
        self.roots: dict[tuple[Z3, int], Z3] = {}
        self.nonlinear = self._bound = False
        self._z3, self._context = z3, context
        self._known, self._whole, self._folded = known, whole, folded

    def number(self, key: GroundAtom) -> Fraction | Z3:
        """A number: its known value, or a variable."""
        low, high = self._known.box(key)
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
        if not comparable(arithmetic):
            return None
        there: list[Z3] = []
        self._bound = bound
        try:
            apply = partial(self._applied, there)
            left, right = (folded(side, values, apply) for side in (arithmetic.left, arithmetic.right))
        except NoValue:
            return False
        except _Unsupported:
            return None
        assert isinstance(arithmetic.relation, Fixed)
        holds = RELATIONS[arithmetic.relation.sign]
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
        """The value of an operation where all of ``there`` holds. Raises `NoValue`, `_Unsupported`."""
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
        raise _Unsupported

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
            raise _Unsupported
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
                raise _Unsupported
            self.nonlinear = True
            root = self.roots[base, degree] = self._z3.Real(f"?root {len(self.roots)}", self._context)
            power = math.prod([root] * (degree - 1), start=root)
            self.asides.append(self._z3.Implies(base >= 0, self._z3.And(root >= 0, power == base)))
        return self.roots[base, degree]
