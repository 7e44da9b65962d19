"""Contraction of the inputs of terms by the values that the terms may have.

HC4-revise (Benhamou et al. 1999, "Revising hull and box consistency"): upward through each term to the values of its
steps, which are then narrowed from the last step down. Exact if each number occurs once; in an unbounded box it is
repeated, since not every operation keeps ends that are only approached. If a number occurs more than once, each
occurrence is narrowed independently, once; calling again may narrow further.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from lnnkit.flags import all_set, any_set
from lnnkit.numeric.interval import Contraction, Interval
from lnnkit.numeric.pieces import Pieces, closed, empty, entered, finite, hull, intersection

SWEEPS = 4  # the greatest number of passes, while something changes

Require = Callable[[Sequence[Pieces]], Sequence[Pieces]]


class Swept(Protocol):
    """The interface of a term for contraction: an upward and a downward pass over its steps."""

    @property
    def numbers(self) -> tuple[tuple[int, int], ...]:
        """The indices of steps that are inputs, with the index of the input."""
        ...

    def upward(self, inputs: Sequence[Pieces]) -> list[Pieces]:
        """The values that each step can take."""
        ...

    def downward(self, values: list[Pieces]) -> None:
        """Narrow the values of each step to those that the values of the last step allow."""
        ...


def contracted(terms: Sequence[Swept], inputs: Sequence[Interval], require: Require) -> Contraction:
    """Contract the inputs by ``require``, which narrows the values of all terms at once. Where a term has no value at
    all, nothing changes."""
    boxes = [entered(each) for each in inputs]
    undefined, void = _nowhere(), _nowhere()
    bounded = all(finite(end) for box in boxes for end in box[:2])
    for sweep in range(1 if bounded or _repeat(terms) else SWEEPS):
        values = [term.upward(boxes) for term in terms]
        tops = [each[-1] for each in values]
        if not sweep:
            undefined = _any([_void(top) for top in tops])
        left = require(tops)
        void = void | _any([_void(top) for top in left])
        narrowed = list(boxes)
        for term, own, top in zip(terms, values, left, strict=True):
            own[-1] = top
            term.downward(own)
            for place, index in term.numbers:
                if not boxes[index].point:
                    narrowed[index] = _hulled(intersection(narrowed[index], own[place]))
        if all(
            torch.equal(a.lower, b.lower) and torch.equal(a.upper, b.upper)
            for a, b in zip(boxes, narrowed, strict=True)
        ):
            break
        boxes = narrowed
    void = void | _any([_void(box) for box in boxes])
    return _kept(inputs, boxes, undefined, void)


def _kept(inputs: Sequence[Interval], boxes: Sequence[Pieces], undefined: Tensor, void: Tensor) -> Contraction:
    """The contracted boxes; in rows without any, the inputs unchanged."""
    rows = len(inputs[0].lower) if inputs else len(void)
    back = undefined | void
    found = []
    for old, box in zip(inputs, boxes, strict=True):
        if box.point:
            found.append(old)
            continue
        lower, upper = box.lower.squeeze(0), box.upper.squeeze(0)
        if any_set(back):
            lower, upper = torch.where(back, old.lower, lower), torch.where(back, old.upper, upper)
        found.append(Interval(lower, upper))
    return Contraction(tuple(found), (void & ~undefined).expand(rows))


def _hulled(union: Pieces) -> Pieces:
    if union.point:
        return union
    lower, upper = closed(hull(union))
    return Pieces(lower.unsqueeze(0), upper.unsqueeze(0), union.whole or all_set(lower <= upper))


def _void(union: Pieces) -> Tensor:
    """The rows that have no value, ``[n]`` or ``[1]``."""
    return _nowhere() if union.whole else empty(union).all(0)


def _nowhere() -> Tensor:
    return torch.zeros(1, dtype=torch.bool)


def _any(flags: Sequence[Tensor]) -> Tensor:
    found = _nowhere()
    for each in flags:
        found = found | each
    return found


def _repeat(terms: Sequence[Swept]) -> bool:
    """Whether a number occurs more than once in the terms together."""
    return any(count > 1 for count in Counter(index for term in terms for _, index in term.numbers).values())
