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
    """Arithmetic of truths. What stands here is that of `Numbers`."""

    one: TruthValue = 1

    def sum(self, constant: Scalar, terms: Iterable[WeightedTruth]) -> TruthValue:
        """The constant and all terms, added."""
        for weight, truth, complemented in terms:
            constant += weight * (1 - truth if complemented else truth)
        return constant

    def negated(self, truth: TruthValue) -> TruthValue:
        """``1 - x``."""
        return 1 - truth

    def smaller(self, one: TruthValue, other: TruthValue) -> TruthValue:
        """The minimum of two."""
        return min(one, other)

    def cut(self, value: TruthValue) -> TruthValue:
        """A value clamped to [0, 1]."""
        return 0 if value < 0 else 1 if value > 1 else value

    def choose(self, one: TruthValue, other: TruthValue, then: TruthValue, otherwise: TruthValue) -> TruthValue:
        """``then`` where ``one <= other``, ``otherwise`` elsewhere."""
        return then if one <= other else otherwise

    def times(self, one: TruthValue, other: TruthValue) -> TruthValue:
        """The product of two."""
        return one * other

    def power(self, base: TruthValue, exponent: Scalar) -> TruthValue:
        """The power of a truth, with ``0^0 = 1``."""
        return base**exponent

    def quotient(self, dividend: TruthValue, divisor: TruthValue) -> TruthValue:
        """1 where the dividend is no less than the divisor, their quotient elsewhere."""
        return 1 if dividend >= divisor else dividend / divisor


class Numbers(TruthArithmetic):
    """The arithmetic of floats, or of fractions: exact for these but for powers with roots."""
