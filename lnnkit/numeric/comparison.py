"""Comparisons of two terms: their truth upward, and from a truth downward to the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lnnkit import arrays
from lnnkit.arrays import Array, quietly, replaced, set_at, take, where_set
from lnnkit.numeric import crisp, soft
from lnnkit.numeric.arithmetic import negate, subtract, sum_of
from lnnkit.numeric.comparator import Comparator, Fixed
from lnnkit.numeric.interval import Contraction, Interval, point
from lnnkit.numeric.pieces import Pieces, empty, entered, intersection
from lnnkit.numeric.rounded_off import Errors
from lnnkit.numeric.term import Term, contracted


class ComparisonResult(NamedTuple):
    """The truth, and the narrowed inputs; these are unchanged in rows that are ``crossed``, whose bounds and upward
    truth are disjoint, or ``empty``, without consistent inputs."""

    truth: Interval
    inputs: tuple[Interval, ...]
    empty: Array
    crossed: Array


@dataclass(frozen=True)
class Comparison:
    """``left relation right``. Inputs have the same indices in both terms; without inputs there is one row."""

    left: Term
    right: Term
    relation: Comparator | None  # None: unknown, so nothing is derived

    @quietly
    def truth(self, inputs: Sequence[Interval]) -> Interval:
        """The closed hull of the truth over all values of the terms; ``[0, 1]`` if one has none. Exact if each number
        occurs once in both terms together."""
        nothing = arrays.zeros_like(inputs[0].lower) if inputs else np.zeros(1)
        if self.relation is None:
            return Interval(nothing, arrays.ones_like(nothing))
        if self._alike:
            zero = entered(point(nothing[:1]))
            return self._image(zero, zero, _rows(inputs))
        pairs = [(lower, upper) for lower, upper in inputs if lower is not upper]
        if not pairs or not all(isinstance(lower, np.ndarray) for lower, _ in pairs):  # tensors may have gradients
            return self._truth(inputs)
        single = np.logical_and.reduce([lower == upper for lower, upper in pairs])
        rows, rest = where_set(single), where_set(~single)
        if not len(rest):
            return self._truth([point(lower) for lower, _ in inputs])
        if not len(rows):
            return self._truth(inputs)
        # 65,000 quotients, a tenth of them of intervals: 12 ms, as intervals all of them 33
        ends = np.empty((2, len(single)))
        ends[:, rows] = self._truth([point(lower) for lower, _ in _at(inputs, rows)])
        ends[:, rest] = self._truth(_at(inputs, rest))
        return Interval(*ends.astype(pairs[0][0].dtype, copy=False))

    def _truth(self, inputs: Sequence[Interval]) -> Interval:
        boxes = [entered(interval) for interval in inputs]
        left, right = (term.upward(boxes) for term in self._terms)
        if self._truths is not None:
            one, other = (self._whole(*side) for side in zip(self._terms, (left, right), strict=True))
            return self._image(one, other, _rows(inputs))
        return self._image(left[-1], right[-1], _rows(inputs), self._difference(left, right))

    @quietly
    def contract(self, inputs: Sequence[Interval], bounds: Interval) -> Contraction:
        """The closed hull of the inputs that can give a truth in ``bounds`` while the terms are defined; exact under
        the same condition. Bounds without information (``L <= tol``, ``U >= 1 - tol``) change nothing. An end at 0 or 1
        that the relation approaches but never takes is read as ``tol`` or ``1 - tol``. A strict relation is treated as
        its closure: ``x > 5`` leaves 5 possible."""
        if self.relation is None:
            return Contraction(tuple(inputs), bounds.lower != bounds.lower)
        informative = (bounds.lower > crisp.TOLERANCE) | (bounds.upper < 1 - crisp.TOLERANCE)
        return self._contract_where(informative, inputs, bounds)

    @quietly
    def narrow(self, inputs: Sequence[Interval], truth: Interval, bounds: Interval) -> Contraction:
        """As `contract`, for bounds already intersected with the upward ``truth``. Bounds implied by this truth change
        no input, unless a term may be undefined."""
        lower, upper = bounds
        if self.relation is None or all(interval.lower is interval.upper for interval in inputs):
            return Contraction(tuple(inputs), lower != lower)
        raised, lowered = lower > truth.lower + soft.ROUNDING, upper < truth.upper - soft.ROUNDING
        asked = raised | lowered
        if self.partial:
            asked |= (lower > crisp.TOLERANCE) | (upper < 1 - crisp.TOLERANCE)
        required = Interval(arrays.where(raised, lower, 0.0), arrays.where(lowered, upper, 1.0))
        return self._contract_where(asked, inputs, required)

    def respond(self, inputs: Sequence[Interval], bounds: Interval) -> ComparisonResult:
        """Both steps: the truth upward, then the inputs downward from the intersection of ``bounds`` and that truth."""
        truth = self.truth(inputs)
        lower, upper = arrays.maximum(bounds.lower, truth.lower), arrays.minimum(bounds.upper, truth.upper)
        crossed = lower > upper + crisp.TOLERANCE
        ends = arrays.minimum(lower, upper), arrays.maximum(lower, upper)
        met = Interval(arrays.where(crossed, 0.0, ends[0]), arrays.where(crossed, 1.0, ends[1]))
        return ComparisonResult(truth, *self.narrow(inputs, truth, met), crossed)

    def _contract_where(self, asked: Array, inputs: Sequence[Interval], bounds: Interval) -> Contraction:
        """The contraction of the rows that are ``asked``; the other rows do not change."""
        rows = where_set(asked)
        if not len(rows):
            return Contraction(tuple(inputs), asked)
        if len(rows) == len(asked):
            return self._contract(inputs, bounds)
        contraction = self._contract(_at(inputs, rows), *_at((bounds,), rows))
        intervals = [
            old if old.lower is old.upper else Interval(*(replaced(old[end], rows, new[end]) for end in (0, 1)))
            for old, new in zip(inputs, contraction.inputs, strict=True)
        ]
        return Contraction(tuple(intervals), set_at(_rows(inputs), rows[contraction.empty]))

    def _contract(self, inputs: Sequence[Interval], bounds: Interval) -> Contraction:
        assert self.relation is not None
        truths = self._truths
        difference = crisp.preimage(truths, bounds) if truths else soft.preimage(self.relation, bounds)
        one, other = (() if len(term.steps) == 1 else None for term in self._terms)

        def require(values: Sequence[Pieces]) -> Sequence[Pieces]:
            left, right = values
            narrowed = intersection(left, sum_of(right, difference, other), right, difference)
            if right.point:
                return narrowed, right
            return narrowed, intersection(right, sum_of(left, negate(difference), one), left, difference)

        return contracted(self._terms, inputs, require)

    def _whole(self, term: Term, values: Sequence[Pieces]) -> Pieces:
        """The values of a side as a crisp relation compares them."""
        if len(values) == 1:
            return values[-1]
        rows = where_set(crisp.great(values[-1]))
        return crisp.let_out(values[-1], rows, term.errors(values, rows)) if len(rows) else values[-1]

    def _difference(self, left: Sequence[Pieces], right: Sequence[Pieces]) -> Pieces:
        """The difference of both sides as a soft relation uses it, computed from the values of their steps."""
        assert self.relation is not None
        difference = subtract(left[-1], right[-1])
        if len(left) == len(right) == 1:
            return difference
        most = sum(term.magnitude(side) for term, side in zip(self._terms, (left, right), strict=True) if len(side) > 1)
        rows = where_set(soft.felt(self.relation, difference, most))
        if not len(rows):
            return difference
        one, other = (term.errors(side, rows) for term, side in zip(self._terms, (left, right), strict=True))
        if len(left[-1].lower) > 1 or len(right[-1].lower) > 1:  # Pieces are crossed: take the greatest of each.
            one, other = (Errors(*[arrays.most(arrays.maximum(*error), 0)[None]] * 2) for error in (one, other))
        return soft.let_out(self.relation, difference, rows, Errors(one.lower + other.upper, one.upper + other.lower))

    def _image(self, left: Pieces, right: Pieces, rows: int, difference: Pieces | None = None) -> Interval:
        assert self.relation is not None
        if self._truths:
            lower, upper = crisp.image(self._truths, left, right)
        else:
            lower, upper = soft.image(self.relation, subtract(left, right) if difference is None else difference)
        if not (left.whole and right.whole):
            none = empty(left).all(0) | empty(right).all(0)
            lower, upper = arrays.where(none, 0.0, lower), arrays.where(none, 1.0, upper)
        return Interval(lower, upper).over(rows)

    @cached_property
    def _alike(self) -> bool:
        """Whether both terms are the same and have a value, so that their difference is 0."""
        left, right = self._terms
        return left == right and left.total and left.plain

    @cached_property
    def _truths(self) -> crisp.RelationTruths | None:
        """The truths of a crisp relation."""
        if self.relation is None or self.relation.scale > 0:
            return None
        return crisp.SIGNS[self.relation.sign] if isinstance(self.relation, Fixed) else crisp.hard(self.relation)

    @cached_property
    def _terms(self) -> tuple[Term, Term]:
        """The left and the right term; ``x - y`` against 0 becomes ``x`` and ``y``, so that both forms are treated
        alike."""
        if self.right.value == 0 and (parts := self.left.difference) is not None:
            return parts
        if self.left.value == 0 and (parts := self.right.difference) is not None:
            return parts[1], parts[0]
        return self.left, self.right

    @cached_property
    def partial(self) -> bool:
        """Whether a term may be undefined on a part of a box that contraction should remove."""
        return self.left.partial or self.right.partial

    @cached_property
    def total(self) -> bool:
        """Whether both terms have a value wherever the inputs have one."""
        return self.left.total and self.right.total


def _rows(inputs: Sequence[Interval]) -> int:
    return len(inputs[0].lower) if inputs else 1


def _at(inputs: Sequence[Interval], rows: Array) -> list[Interval]:
    """Some rows of the inputs."""
    return [
        point(take(lower, rows)) if lower is upper else Interval(take(lower, rows), take(upper, rows))
        for lower, upper in inputs
    ]
