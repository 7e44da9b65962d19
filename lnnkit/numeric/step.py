"""The steps of which terms are composed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from lnnkit.numeric.fixed_unit import FixedUnit

Operation = Literal["add", "subtract", "multiply", "divide", "power", "negate", "abs", "sqrt", "unknown"]


@dataclass(frozen=True, slots=True)
class Number:
    """The input with this index."""

    index: int


class Constant(NamedTuple):
    """A fixed finite value; ``rounded`` if it is the result of an operation."""

    value: float
    rounded: bool = False


class Apply(NamedTuple):
    """An operation on the values of earlier steps, or a neural unit. ``add`` and ``multiply`` take one or more
    operands; ``unknown`` may have any value, whatever its operands are."""

    operation: Operation | FixedUnit
    operands: tuple[int, ...]


Step = Number | Constant | Apply
