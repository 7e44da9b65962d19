"""Terms: arithmetic over the numbers of an instance, upward by interval arithmetic and downward by contraction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from lnnkit.numeric.interval import Contraction, Interval

Operation = Literal["add", "subtract", "multiply", "divide", "power", "negate", "abs", "sqrt"]


@dataclass(frozen=True, slots=True)
class Number:
    """The input with this index."""

    index: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A fixed finite value."""

    value: float


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation on the values of earlier steps. ``add`` and ``multiply`` take any number of operands from one."""

    operation: Operation
    operands: tuple[int, ...]


Step = Number | Constant | Apply


@dataclass(frozen=True)
class Term:
    """A program in post-order: the last step's value is the term's. Each step is the operand of at most one other.

    ``power`` raises its first operand to its second. A negative base has integral powers only; ``0 ^ 0`` is 1.
    """

    steps: tuple[Step, ...]

    def hull(self, inputs: Sequence[Interval]) -> tuple[Interval, Tensor]:
        """The closed hull of the term's values where it is defined on the box of ``inputs``, and whether it is defined
        anywhere on it (``[n]``; if not, the hull is ``[-inf, inf]``).

        Sound to 1e-9 relative. Exact where each number occurs once, but for a negative base with an exponent that is
        not a constant.
        """
        raise NotImplementedError

    def contract(self, inputs: Sequence[Interval], output: Interval) -> Contraction:
        """The closed hull of the inputs for which the term is defined and its value in ``output``: exact under the same
        condition as the hull, else no smaller than that. Where the term is defined nowhere, nothing changes.

        HC4-revise: each step's values are intersected with what its parent leaves them; iterated where a number
        occurs more than once (Benhamou et al. 1999, "Revising hull and box consistency").
        """
        raise NotImplementedError


def number(index: int) -> Term:
    """The term that is an input."""
    return Term((Number(index),))


def constant(value: float) -> Term:
    """The term that is a fixed finite value."""
    return Term((Constant(value),))


def apply(operation: Operation, *operands: Term) -> Term:
    """An operation on terms."""
    steps: list[Step] = []
    tops: list[int] = []
    for operand in operands:
        shift = len(steps)
        steps.extend(
            Apply(step.operation, tuple(place + shift for place in step.operands)) if isinstance(step, Apply) else step
            for step in operand.steps
        )
        tops.append(len(steps) - 1)
    return Term((*steps, Apply(operation, tuple(tops))))


def linear(weights: Sequence[float], operands: Sequence[Term]) -> Term:
    """A frozen NAU: ``sum w_i x_i`` (Madsen and Johansen 2020, arXiv 2001.05016)."""
    raise NotImplementedError


def gated_product(weights: Sequence[float], operands: Sequence[Term]) -> Term:
    """A frozen NMU: ``prod (w_i x_i + 1 - w_i)`` (Madsen and Johansen 2020, arXiv 2001.05016)."""
    raise NotImplementedError


def power_product(powers: Sequence[float], operands: Sequence[Term]) -> Term:
    """A frozen RealNPU with open gates: ``prod x_i ^ w_i`` (Heim et al. 2020, arXiv 2006.01681); where its weights are
    not integral, for operands that are not negative."""
    raise NotImplementedError
