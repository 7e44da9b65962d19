"""Contraction of the inputs of terms by the values that the terms may have.

HC4-revise (Benhamou et al. 1999, "Revising hull and box consistency"): upward through each term to the values of its
steps, which are then narrowed from the last step down. Exact if each number occurs once; in an unbounded box it is
repeated, since not every operation keeps ends that are only approached. If a number occurs more than once, each
occurrence is narrowed independently, once; calling again may narrow further.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Protocol

from lnnkit import arrays
from lnnkit.arrays import Array, all_set, any_set
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
    undefined: Array | None = None
    voids: list[Array] = []
    bounded = all(finite(end) for box in boxes for end in box[:2])
    for _ in range(1 if bounded or _repeat(terms) else SWEEPS):
        values = [term.upward(boxes) for term in terms]
        tops = [each[-1] for each in values]
        undefined = reduce(or_, map(_void, tops)) if undefined is None else undefined
        left = require(tops)
        voids.extend(map(_void, left))
        narrowed = list(boxes)
        for term, own, top in zip(terms, values, left, strict=True):
            own[-1] = top
            term.downward(own)
            for place, index in term.numbers:
                if not boxes[index].point:
                    narrowed[index] = _hulled(intersection(narrowed[index], own[place]))
        if all(
            arrays.equal(a.lower, b.lower) and arrays.equal(a.upper, b.upper)
            for a, b in zip(boxes, narrowed, strict=True)
        ):
            break
        boxes = narrowed
    assert undefined is not None
    return _kept(inputs, boxes, undefined, reduce(or_, map(_void, boxes), reduce(or_, voids)))


def _kept(inputs: Sequence[Interval], boxes: Sequence[Pieces], undefined: Array, void: Array) -> Contraction:
    """The contracted boxes; in rows without any, the inputs unchanged."""
    rows = len(inputs[0].lower) if inputs else len(void & undefined)
    back = undefined | void
    found = []
    for old, box in zip(inputs, boxes, strict=True):
        if box.point:
            found.append(old)
            continue
        lower, upper = box.lower[0], box.upper[0]
        if any_set(back):
            lower, upper = arrays.where(back, old.lower, lower), arrays.where(back, old.upper, upper)
        found.append(Interval(lower, upper))
    return Contraction(tuple(found), arrays.broadcast_to(void & ~undefined, (rows,)))


def _hulled(union: Pieces) -> Pieces:
    if union.point:
        return union
    lower, upper = closed(hull(union))
    return Pieces(lower[None], upper[None], union.whole or all_set(lower <= upper))


def _void(union: Pieces) -> Array:
    """The rows that have no value, ``[n]`` or ``[1]``."""
    return empty(Pieces(*(end[:, :1] for end in union[:2])) if union.whole else union).all(0)


def _repeat(terms: Sequence[Swept]) -> bool:
    """Whether a number occurs more than once in the terms together."""
    return any(count > 1 for count in Counter(index for term in terms for _, index in term.numbers).values())
