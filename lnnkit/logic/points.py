"""Truth at a point: what a logic's connectives are made of, over any arithmetic.

`Numbers` works on floats and on fractions, `lnnkit.prove` has an arithmetic of a solver's expressions. Weights and
biases are numbers always.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

Scalar = Any  # a float or a fraction
TruthValue = Any  # a number, or an expression of a solver
WeightedTruth = tuple[
    Scalar, TruthValue, bool
]  # a weight, a truth, and whether its complement counts: ``w x``, or ``w (1 - x)``


class TruthArithmetic(Protocol):
    """Arithmetic of truths."""

    one: TruthValue

    def sum(self, constant: Scalar, terms: Iterable[WeightedTruth]) -> TruthValue:
        """The constant and all terms, added."""
        ...

    def negated(self, truth: TruthValue) -> TruthValue:
        """``1 - x``."""
        ...

    def smaller(self, one: TruthValue, other: TruthValue) -> TruthValue:
        """The minimum of two."""
        ...

    def cut(self, value: TruthValue) -> TruthValue:
        """A value clamped to [0, 1]."""
        ...

    def choose(self, one: TruthValue, other: TruthValue, then: TruthValue, otherwise: TruthValue) -> TruthValue:
        """``then`` where ``one <= other``, ``otherwise`` elsewhere."""
        ...

    def times(self, one: TruthValue, other: TruthValue) -> TruthValue:
        """The product of two."""
        ...

    def power(self, base: TruthValue, exponent: Scalar) -> TruthValue:
        """The power of a truth, with ``0^0 = 1``."""
        ...

    def quotient(self, dividend: TruthValue, divisor: TruthValue) -> TruthValue:
        """1 where the dividend is no less than the divisor, their quotient elsewhere."""
        ...


class Numbers:
    """The arithmetic of floats, or of fractions: exact for these but for powers with roots."""

    one: Scalar = 1

    @staticmethod
    def sum(constant: Scalar, terms: Iterable[WeightedTruth]) -> Scalar:
        for weight, truth, complemented in terms:
            constant += weight * (1 - truth if complemented else truth)
        return constant

    @staticmethod
    def negated(truth: Scalar) -> Scalar:
        return 1 - truth

    @staticmethod
    def smaller(one: Scalar, other: Scalar) -> Scalar:
        return min(one, other)

    @staticmethod
    def cut(value: Scalar) -> Scalar:
        return 0 if value < 0 else 1 if value > 1 else value

    @staticmethod
    def choose(one: Scalar, other: Scalar, then: Scalar, otherwise: Scalar) -> Scalar:
        return then if one <= other else otherwise

    @staticmethod
    def times(one: Scalar, other: Scalar) -> Scalar:
        return one * other

    @staticmethod
    def power(base: Scalar, exponent: Scalar) -> Scalar:
        return base**exponent

    @staticmethod
    def quotient(dividend: Scalar, divisor: Scalar) -> Scalar:
        return 1 if dividend >= divisor else dividend / divisor
