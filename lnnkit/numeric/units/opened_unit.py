"""Units that the language's arithmetic cannot express, with their weights as operands: NALU, iNALU, and NPU with
gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from lnnkit.arrays import all_set
from lnnkit.numeric.fixed_units.frozen import frozen
from lnnkit.numeric.interval import Interval
from lnnkit.numeric.pieces import Pieces, bounded, boxes, closed, hull, points_if_equal
from lnnkit.numeric.term import Term, number
from lnnkit.numeric.units.gated_units import inalu, nalu
from lnnkit.numeric.units.npu import npu

UnitName = Literal["nalu", "inalu", "npu", "realnpu"]


@dataclass(frozen=True)
class OpenedUnit:
    """A unit whose operands are ``count`` numbers followed by its weights, which are points: those of each attribute of
    ``keys``, one for each number, but a single gate of an iNALU. Where the numbers are known, its value is that of the
    unit with the row's weights, and gradients pass. Otherwise it is the interval with the weights of the first row."""

    name: UnitName
    keys: tuple[str, ...]
    count: int

    @property
    def attributes(self) -> Mapping[str, float | tuple[float, ...]]:
        return {}

    def image(self, operands: Sequence[Pieces]) -> Pieces:
        all_boxes = boxes(operands)
        numbers, weights = all_boxes[: self.count], self._weights(all_boxes)
        known = torch.stack([low == high for low, high in numbers]).all(0)
        value = self._value(torch.stack([torch.where(known, low, 1.0) for low, _ in numbers], -1), weights)
        lower, upper, undefined = value, value, ~value.isfinite()
        if not all_set(known):
            (low, high), defined = self._frozen(weights).hull([_detached(box) for box in numbers])
            lower, upper = torch.where(known, value, low), torch.where(known, value, high)
            undefined = torch.where(known, undefined, ~defined)
        return points_if_equal(bounded(lower[None].clone(), upper[None].clone(), undefined[None]))

    def left(self, value: Pieces, operands: Sequence[Pieces]) -> Sequence[Pieces]:
        """No gradients pass."""
        all_boxes = boxes(operands)
        term, output = self._frozen(self._weights(all_boxes)), _detached(closed(hull(value)))
        inputs = term.contract([_detached(box) for box in all_boxes[: self.count]], output).inputs
        return [*(Pieces(low[None], high[None]) for low, high in inputs), *operands[self.count :]]

    def _weights(self, all_boxes: Sequence[Interval]) -> dict[str, Tensor]:
        """The weights of each attribute, ``[rows, weights]``."""
        rest = torch.stack([low for low, _ in all_boxes[self.count :]], -1)
        sizes = [1 if (self.name, key) == ("inalu", "gate") else self.count for key in self.keys]
        return dict(zip(self.keys, rest.split(sizes, -1), strict=True))

    def _value(self, x: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
        """``[rows, count] -> [rows]``"""
        rows = {key: values.unsqueeze(-2) for key, values in weights.items()}
        x = x.unsqueeze(-2)
        if self.name == "nalu":
            value = nalu(x, rows["weight"], rows["gate"])
        elif self.name == "inalu":
            value = inalu(x, rows["add"], rows["multiply"], weights["gate"])
        else:
            value = npu(x, rows["power"], rows.get("imaginary"), weights.get("gate"))
        return value.reshape(len(x))

    def _frozen(self, weights: Mapping[str, Tensor]) -> Term:
        given = {key: values[0].detach().tolist() for key, values in weights.items()}
        return frozen(self.name, given, [number(place) for place in range(self.count)])


def _detached(interval: Interval) -> Interval:
    return Interval(interval.lower.detach(), interval.upper.detach())
