"""The interface of a logic. The engine calls these functions and does not depend on a particular logic.

Every function is pure and works row by row: an operand is a `Bounds` of two arrays ``[n]``. Weights ``w >= 0`` belong
to operands (``w = 0``: the operand is absent), the bias ``b >= 0`` to the neuron; with all of them 1 the logic is
unweighted.

`Logic.up` returns the closed hull of the image of the operands' box; `Logic.down`, for each operand, the closed
hull of the values within its box that some values of the others complete to a point with truth in ``node``. Boxes must
have gone through `lnnkit.logic.bounds.enter`, and ``node`` must be in order.

A new logic is a file of its own beside this one with a class like `lnnkit.logic.Goedel`, its place in
`lnnkit.logic.LOGICS` and its name in `lnnkit.syntax.ast.LogicName`. Nothing else asks which logic it has, but the
independent checker of proofs (`lnnkit.explain.checker`): it does not verify what rests on a truth function that it has
not been told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol

from lnnkit.arrays import Array
from lnnkit.logic.bounds import Bounds, Inverse
from lnnkit.logic.classical_region import Region

Weight = float | Array
Scalar = Any  # a float or a fraction
TruthValue = Any  # a number, or an expression of a solver
WeightedTruth = tuple[Scalar, TruthValue, bool]  # ``w``, ``x``, and whether its complement counts: ``w (1 - x)``


class TruthArithmetic(Protocol):
    """Arithmetic of truths at a point; weights and biases are numbers always. What stands here is that of `Numbers`;
    `lnnkit.prove` has an arithmetic of a solver's expressions."""

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


class Logic(Protocol):
    """A truth algebra with weights."""

    @property
    def name(self) -> str:
        """Its name in programs."""
        ...

    @property
    def continuous(self) -> Collection[str]:
        """The kinds among ``and``, ``or`` and ``implies`` that do not jump: each end follows from one end of each
        operand. An implication that jumps does so only where its sides are equal."""
        ...

    @property
    def sums(self) -> bool:
        """Whether its connectives are sums that are clamped, as those of Lukasiewicz logic."""
        ...

    @property
    def powers(self) -> bool:
        """Whether its weights are exponents, and a bias ``b`` a factor ``e^(b-1)``, as in product logic."""
        ...

    def among_others(self) -> Logic:
        """Itself for use beside other logics, which may jump at 0 and 1: rounding produces neither."""
        ...

    def value(
        self, at: TruthArithmetic, kind: str, weights: Sequence[Scalar], bias: Scalar, x: Sequence[TruthValue]
    ) -> TruthValue:
        """The truth of ``and`` or ``implies`` at a point; of ``sums``, also of ``or``, and before it is clamped.
        Without weights and bias ``implies`` is the residuum of ``and``."""
        ...

    def classical_region(self, kind: str, count: int, alpha: float) -> Region | None:
        """The weights and biases for which ``and``, ``or`` or ``implies`` of ``count`` operands is classical at
        ``alpha`` (above one half, at most 1); None if there are none, or none are known."""
        ...

    def up(self, kind: str, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> Bounds:
        """The bounds of ``x1 & ... & xk`` (``and``), ``x1 | ... | xk`` (``or``), ``x -> y`` (``implies``) or
        ``x <-> y`` (``iff``: the minimum of both implications)."""
        ...

    def down(
        self,
        kind: str,
        node: Bounds,
        operands: Sequence[Bounds],
        weights: Sequence[Weight],
        bias: Weight,
        wanted: Sequence[bool] | None = None,
    ) -> Inverse:
        """The operands, narrowed by the bounds of the neuron. Those that are not ``wanted`` may stay as they are."""
        ...


def truth_at(
    logic: Logic, at: TruthArithmetic, kind: str, weights: Sequence[Scalar], bias: Scalar, x: Sequence[TruthValue]
) -> TruthValue:
    """The truth of ``and``, ``or``, ``implies``, ``iff`` or ``xor`` at a point; of ``sums``, before it is clamped."""
    if kind == "xor":
        return at.negated(truth_at(logic, at, "iff", weights, bias, x))
    if kind == "iff":
        there = logic.value(at, "implies", weights, bias, x)
        return at.smaller(there, logic.value(at, "implies", weights[::-1], bias, x[::-1]))
    if kind == "or" and not logic.sums:
        return at.negated(logic.value(at, "and", weights, bias, [at.negated(truth) for truth in x]))
    return logic.value(at, kind, weights, bias, x)
