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

from collections.abc import Collection, Sequence
from typing import Protocol

from lnnkit.arrays import Array
from lnnkit.logic.bounds import Bounds, Inverse
from lnnkit.logic.classical_region import Region
from lnnkit.logic.points import Scalar, TruthArithmetic, TruthValue

Weight = float | Array


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

    def classical(self, kind: str, count: int, alpha: float) -> Region | None:
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
    logic: Logic,
    at: TruthArithmetic,
    kind: str,
    weights: Sequence[Scalar],
    bias: Scalar,
    x: Sequence[TruthValue],
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
