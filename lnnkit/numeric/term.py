"""Terms: arithmetic over the numbers of an instance, and how the values of terms contract their inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

from lnnkit import arrays
from lnnkit.arrays import Array, all_set, any_set, quietly
from lnnkit.numeric.interval import Contraction, Interval, Pieces, closed, empty, entered, finite, hull, intersection
from lnnkit.numeric.rounded_off import Errors, at_rows, errors, magnitude
from lnnkit.numeric.step import Apply, Constant, FixedUnit, Number, Operation, Step
from lnnkit.numeric.steps import constant_at, downward, folded, upward


@dataclass(frozen=True)
class Term:
    """A program in post-order: the last step's value is the term's. Each step is the operand of at most one other.

    ``power`` raises its first operand to its second. A negative base has integral powers only; ``0 ^ 0`` is 1.
    """

    steps: tuple[Step, ...]

    @quietly
    def hull(self, inputs: Sequence[Interval]) -> tuple[Interval, Array]:
        """The closed hull of the term's values where it is defined on the box of ``inputs``, and whether it is defined
        anywhere on it (``[n]``; if not, the hull is ``[-inf, inf]``).

        Sound to 1e-9 relative. Exact if each number occurs once, except for a negative base with an exponent that is
        not constant.
        """
        box = closed(hull(self.upward([entered(interval) for interval in inputs])[-1]))
        lower, upper = box.over(len(inputs[0].lower)) if inputs else box
        defined = lower <= upper
        if lower is not upper and not all_set(defined):
            lower, upper = arrays.where(defined, lower, -math.inf), arrays.where(defined, upper, math.inf)
        return Interval(lower, upper), defined

    @quietly
    def contract(self, inputs: Sequence[Interval], output: Interval) -> Contraction:
        """The closed hull of the inputs for which the term is defined and its value is in ``output``. Exact under the
        same condition as `hull`, otherwise an enclosure. Where the term is not defined anywhere, nothing changes."""
        box = entered(output)
        return contracted((self,), inputs, lambda values: (intersection(values[0], box),))

    @quietly
    def upward(self, inputs: Sequence[Pieces]) -> list[Pieces]:
        """The values that each step can take."""
        return upward(self._folded, inputs)

    @quietly
    def errors(self, values: Sequence[Pieces], rows: Array) -> Errors:
        """How far the ends of the term's values, in some of the rows, may be from those without rounding."""
        return errors(self._folded, at_rows(values, rows), len(self._folded) - 1)

    def magnitude(self, values: Sequence[Pieces]) -> Array:
        """For each row, the magnitude to which `errors` are relative."""
        return magnitude(self._folded, at_rows(values, None), len(self._folded) - 1)

    @property
    def numbers(self) -> tuple[tuple[int, int], ...]:
        """The indices of steps that are inputs, with the index of the input."""
        return tuple((place, step.index) for place, step in enumerate(self.steps) if isinstance(step, Number))

    @cached_property
    def partial(self) -> bool:
        """Whether the term may be undefined on a part of a box that contraction should remove. An integral power is
        defined everywhere except, if negative, at 0, which is never an end that contraction could remove."""
        return any(
            step.operation == "sqrt" or (step.operation == "power" and (last is None or last % 1 != 0))
            for step, last in self._applied
        )

    @cached_property
    def total(self) -> bool:
        """Whether the term has a value wherever its inputs have one; units count as total."""
        return not self.partial and not any(
            (step.operation == "power" and (-1.0 if last is None else last) < 0)
            or (step.operation == "divide" and not last)
            for step, last in self._applied
        )

    @property
    def plain(self) -> bool:
        """Whether the term contains no unit."""
        return all(isinstance(step.operation, str) for step in self.steps if isinstance(step, Apply))

    @cached_property
    def value(self) -> float | None:
        """The value of a constant; None for any other term."""
        top = self._folded[-1]
        return top.value if isinstance(top, Constant) else None

    @cached_property
    def difference(self) -> tuple[Term, Term] | None:
        """The two terms whose difference the term is; None if it is not a difference."""
        top = self.steps[-1]
        if not isinstance(top, Apply) or top.operation != "subtract":
            return None
        start = top.operands[0] + 1  # operands stand one after the other
        return Term(self.steps[:start]), Term(tuple(_moved(self.steps[start:-1], -start)))

    @cached_property
    def _folded(self) -> tuple[Step, ...]:
        return folded(self.steps)

    @cached_property
    def _applied(self) -> list[tuple[Apply, float | None]]:
        """The operations that are left, with the last operand if there is one and it is a constant."""
        steps = [step for step in self._folded if isinstance(step, Apply)]
        return [(s, constant_at(self._folded, s.operands[-1]) if s.operands else None) for s in steps]


def number(index: int) -> Term:
    """The term for an input."""
    return Term((Number(index),))


def constant(value: float) -> Term:
    """The term for a fixed finite value."""
    return Term((Constant(value),))


def apply(operation: Operation | FixedUnit, *operands: Term) -> Term:
    """The term for an operation, or a neural unit, on terms."""
    steps: list[Step] = []
    tops: list[int] = []
    for operand in operands:
        steps += _moved(operand.steps, len(steps))
        tops.append(len(steps) - 1)
    return Term((*steps, Apply(operation, tuple(tops))))


def _moved(steps: Sequence[Step], by: int) -> list[Step]:
    """Steps as they are when they stand ``by`` places further on in a program."""
    return [
        Apply(step.operation, tuple(place + by for place in step.operands)) if isinstance(step, Apply) else step
        for step in steps
    ]


def undetermined(*operands: Term) -> Term:
    """A term with unknown value, of which only the numbers that it mentions are known."""
    return apply("unknown", *operands)


# --- contraction ------------------------------------------------------------------------------------------------------

SWEEPS = 4  # the greatest number of passes, while something changes

Require = Callable[[Sequence[Pieces]], Sequence[Pieces]]


def contracted(terms: Sequence[Term], inputs: Sequence[Interval], require: Require) -> Contraction:
    """Contract the inputs by ``require``, which narrows the values of all terms at once. Where a term has no value at
    all, nothing changes.

    HC4-revise (Benhamou et al. 1999, "Revising hull and box consistency"): upward through each term to the values of
    its steps, which are then narrowed from the last step down. Exact if each number occurs once; in an unbounded box it
    is repeated, since not every operation keeps ends that are only approached. If a number occurs more than once, each
    occurrence is narrowed independently, once; calling again may narrow further.
    """
    boxes = [entered(interval) for interval in inputs]
    undefined: Array | None = None
    voids: list[Array] = []
    bounded = all(finite(end) for box in boxes for end in box[:2])
    numbers = [index for term in terms for _, index in term.numbers]
    for _ in range(1 if bounded or len(numbers) > len(set(numbers)) else SWEEPS):
        values = [term.upward(boxes) for term in terms]
        tops = [unions[-1] for unions in values]
        undefined = reduce(or_, map(_void, tops)) if undefined is None else undefined
        left = require(tops)
        voids.extend(map(_void, left))
        narrowed = list(boxes)
        for term, unions, top in zip(terms, values, left, strict=True):
            unions[-1] = top
            downward(term._folded, unions)
            for place, index in term.numbers:
                if not boxes[index].point:
                    narrowed[index] = _hulled(intersection(narrowed[index], unions[place]))
        if all(arrays.equal(a[end], b[end]) for a, b in zip(boxes, narrowed, strict=True) for end in (0, 1)):
            break
        boxes = narrowed
    assert undefined is not None
    return _kept(inputs, boxes, undefined, reduce(or_, map(_void, boxes), reduce(or_, voids)))


def _kept(inputs: Sequence[Interval], boxes: Sequence[Pieces], undefined: Array, void: Array) -> Contraction:
    """The contracted boxes; in rows without any, the inputs unchanged."""
    rows = len(inputs[0].lower) if inputs else len(void & undefined)
    back, intervals = undefined | void, []
    for old, box in zip(inputs, boxes, strict=True):
        new = old if box.point else Interval(box.lower[0], box.upper[0])
        if any_set(back) and not box.point:
            new = Interval(*(arrays.where(back, old[end], new[end]) for end in (0, 1)))
        intervals.append(new)
    return Contraction(tuple(intervals), arrays.broadcast_to(void & ~undefined, (rows,)))


def _hulled(union: Pieces) -> Pieces:
    if union.point:
        return union
    lower, upper = closed(hull(union))
    return Pieces(lower[None], upper[None], union.whole or all_set(lower <= upper))


def _void(union: Pieces) -> Array:
    """The rows that have no value, ``[n]`` or ``[1]``."""
    return empty(Pieces(*(end[:, :1] for end in union[:2])) if union.whole else union).all(0)
