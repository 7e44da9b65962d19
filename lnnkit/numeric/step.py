"""The steps of which terms are composed: inputs, constants, operations, and neural units with fixed weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lnnkit.numeric.interval import Pieces

Operation = Literal["add", "subtract", "multiply", "divide", "power", "negate", "abs", "sqrt", "unknown"]
UnitName = Literal["nalu", "inalu", "npu", "realnpu"]


class FixedUnit(ABC):
    """A neural unit of one output with fixed weights, over intervals; equal objects are the same unit. ``name`` and
    ``attributes`` are those of the language. Units that are sums or products of their operands are no unit here but
    steps (`lnnkit.numeric.fixed_units.frozen`)."""

    name: UnitName

    @property
    def attributes(self) -> Mapping[str, float | tuple[float, ...]]:
        return dict(vars(self))

    @abstractmethod
    def image(self, operands: Sequence[Pieces]) -> Pieces:
        """The values that the unit can take."""

    @abstractmethod
    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        """For each operand, the values that some values of the others complete to one of the unit's values."""


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
