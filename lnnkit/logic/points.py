"""Truth at a point: what a logic's connectives are made of, over any arithmetic.

`Numbers` works on floats and on fractions, `lnnkit.prove` has an arithmetic of a solver's expressions. Weights and
biases are numbers always.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

Number = Any  # a float or a fraction
Truth = Any  # a number, or an expression of a solver
Term = tuple[Number, Truth, bool]  # a weight, a truth, and whether its complement counts: ``w x``, or ``w (1 - x)``


class TruthArithmetic(Protocol):
    """Arithmetic of truths."""

    one: Truth

    def sum(self, constant: Number, terms: Iterable[Term]) -> Truth:
        """The constant and all terms, added."""
        ...

    def negated(self, truth: Truth) -> Truth:
        """``1 - x``."""
        ...

    def smaller(self, one: Truth, other: Truth) -> Truth:
        """The minimum of two."""
        ...

    def cut(self, value: Truth) -> Truth:
        """A value clamped to [0, 1]."""
        ...

    def choose(self, one: Truth, other: Truth, then: Truth, otherwise: Truth) -> Truth:
        """``then`` where ``one <= other``, ``otherwise`` elsewhere."""
        ...

    def times(self, one: Truth, other: Truth) -> Truth:
        """The product of two."""
        ...

    def power(self, base: Truth, exponent: Number) -> Truth:
        """The power of a truth, with ``0^0 = 1``."""
        ...

    def quotient(self, dividend: Truth, divisor: Truth) -> Truth:
        """1 where the dividend is no less than the divisor, their quotient elsewhere."""
        ...


class Numbers:
    """The arithmetic of floats, or of fractions: exact for these but for powers with roots."""

    one: Number = 1

    @staticmethod
    def sum(constant: Number, terms: Iterable[Term]) -> Number:
        for weight, truth, complemented in terms:
            constant += weight * (1 - truth if complemented else truth)
        return constant

    @staticmethod
    def negated(truth: Number) -> Number:
        return 1 - truth

    @staticmethod
    def smaller(one: Number, other: Number) -> Number:
        return min(one, other)

    @staticmethod
    def cut(value: Number) -> Number:
        return 0 if value < 0 else 1 if value > 1 else value

    @staticmethod
    def choose(one: Number, other: Number, then: Number, otherwise: Number) -> Number:
        return then if one <= other else otherwise

    @staticmethod
    def times(one: Number, other: Number) -> Number:
        return one * other

    @staticmethod
    def power(base: Number, exponent: Number) -> Number:
        return base**exponent

    @staticmethod
    def quotient(dividend: Number, divisor: Number) -> Number:
        return 1 if dividend >= divisor else dividend / divisor
