"""The interface of a logic. The engine calls these functions and does not depend on a particular logic.

Every function is pure and works row by row: an operand is a `Bounds` of two arrays ``[n]``. Weights ``w >= 0`` belong
to operands (``w = 0``: the operand is absent), the bias ``b >= 0`` to the neuron; with all of them 1 the logic is
unweighted.

Upward functions return the closed hull of the image of the operands' box. Inverses return, for each operand, the closed
hull of the values within its box that some values of the others complete to a point with truth in ``node``. Boxes must
have gone through `lnnkit.logic.bounds.enter`, and ``node`` must be in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lnnkit.arrays import Array
from lnnkit.logic.bounds import Bounds, Inverse

Weight = float | Array


class Logic(Protocol):
    """A truth algebra with weights."""

    @property
    def name(self) -> str:
        """Its name in programs."""
        ...

    def conjunction(self, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> Bounds:
        """``x1 & ... & xk``."""
        ...

    def conjunction_inverse(
        self,
        node: Bounds,
        operands: Sequence[Bounds],
        weights: Sequence[Weight],
        bias: Weight,
        wanted: Sequence[bool] | None = None,
    ) -> Inverse:
        """Downward through ``x1 & ... & xk``. Operands that are not ``wanted`` may stay as they are."""
        ...

    def disjunction(self, operands: Sequence[Bounds], weights: Sequence[Weight], bias: Weight) -> Bounds:
        """``x1 | ... | xk``."""
        ...

    def disjunction_inverse(
        self,
        node: Bounds,
        operands: Sequence[Bounds],
        weights: Sequence[Weight],
        bias: Weight,
        wanted: Sequence[bool] | None = None,
    ) -> Inverse:
        """Downward through ``x1 | ... | xk``. Operands that are not ``wanted`` may stay as they are."""
        ...

    def implication(
        self, antecedent: Bounds, consequent: Bounds, weights: tuple[Weight, Weight], bias: Weight
    ) -> Bounds:
        """``x -> y``."""
        ...

    def implication_inverse(
        self, node: Bounds, antecedent: Bounds, consequent: Bounds, weights: tuple[Weight, Weight], bias: Weight
    ) -> Inverse:
        """Downward through ``x -> y``; operands in the order antecedent, consequent."""
        ...

    def equivalence(self, left: Bounds, right: Bounds, weights: tuple[Weight, Weight], bias: Weight) -> Bounds:
        """``x <-> y``, the minimum of both implications; its complement is ``x xor y``."""
        ...

    def equivalence_inverse(
        self, node: Bounds, left: Bounds, right: Bounds, weights: tuple[Weight, Weight], bias: Weight
    ) -> Inverse:
        """Downward through ``x <-> y``."""
        ...
