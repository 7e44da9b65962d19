"""A neural unit of one output with fixed weights, as an operation of a term: what its gates and phases do to intervals.

Sums and products of operands are operations of their own; these are the units that are not (`lnnkit.numeric.frozen`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import torch

from lnnkit.numeric.interval import Interval
from lnnkit.numeric.pieces import Pieces, closed, hull, points


class FixedUnit(Protocol):
    """``name`` and ``attributes`` are those of the language; a value of it is the same unit as an equal one."""

    @property
    def name(self) -> Literal["nalu", "inalu", "npu", "realnpu"]: ...

    @property
    def attributes(self) -> Mapping[str, float | tuple[float, ...]]: ...

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        """The values that it can take."""
        ...

    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        """Of each operand, what can give some of the values with some of the others."""
        ...


def boxes(operands: Sequence[Pieces]) -> list[Interval]:
    """The hulls of the operands, as many rows of each."""
    hulls = [closed(hull(each)) for each in operands]
    rows = next((len(low) for low, _ in hulls if len(low) != 1), 1)
    return [Interval(low.expand(rows), high.expand(rows)) for low, high in hulls]


def told(union: Pieces) -> Pieces:
    """The same union, as points where every row is one."""
    if not union.point and len(union.lower) == 1 and torch.equal(union.lower, union.upper):
        return points(union.lower)
    return union
