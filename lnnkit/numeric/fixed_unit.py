"""Neural units of one output with fixed weights, as operations of terms, evaluated over intervals.

Sums and products of operands are operations already; this covers the units that are neither (`lnnkit.numeric.frozen`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from lnnkit import arrays
from lnnkit.numeric.interval import Interval
from lnnkit.numeric.pieces import Pieces, closed, hull, points


class FixedUnit(Protocol):
    """``name`` and ``attributes`` are those of the language. Equal objects are the same unit."""

    @property
    def name(self) -> Literal["nalu", "inalu", "npu", "realnpu"]: ...

    @property
    def attributes(self) -> Mapping[str, float | tuple[float, ...]]: ...

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        """The values that the unit can take."""
        ...

    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        """For each operand, the values that some values of the others complete to one of the unit's values."""
        ...


def boxes(operands: Sequence[Pieces]) -> list[Interval]:
    """The hulls of the operands, broadcast to the same number of rows."""
    hulls = [closed(hull(each)) for each in operands]
    rows = next((len(low) for low, _ in hulls if len(low) != 1), 1)
    return [Interval(arrays.broadcast_to(low, (rows,)), arrays.broadcast_to(high, (rows,))) for low, high in hulls]


def told(union: Pieces) -> Pieces:
    """The same union; if every row is a point, both ends are one array, which marks it as points."""
    if not union.point and len(union.lower) == 1 and arrays.equal(union.lower, union.upper):
        return points(union.lower)
    return union
