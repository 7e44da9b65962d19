"""Comparisons of two terms: their truth upward, and from a truth downward to the numbers; and which inputs must be
known before a comparison or a term can have bounds tighter than its default."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import or_
from typing import NamedTuple

import numpy as np

from lnnkit import arrays
from lnnkit.arrays import Array, quietly, replaced, set_at, take, where_set
from lnnkit.numeric import crisp, soft
from lnnkit.numeric.arithmetic import negate, subtract, sum_of
from lnnkit.numeric.crisp import Comparator, Fixed
from lnnkit.numeric.interval import Contraction, Interval, Pieces, empty, entered, intersection, point, unknown
from lnnkit.numeric.rounded_off import Errors
from lnnkit.numeric.step import Apply, Input
from lnnkit.numeric.steps import contracted
from lnnkit.numeric.term import Term


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
            truth = crisp.image(self._truths, zero, zero) if self._truths else soft.image(self.relation, zero)
            return truth.over(_rows(inputs))
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
        sides = [term.upward(boxes) for term in self._terms]
        if self._truths is not None:
            lower, upper = crisp.image(self._truths, *map(_whole, self._terms, sides))
        else:
            assert self.relation is not None
            lower, upper = soft.image(self.relation, self._difference(*sides))
        if not all(side[-1].whole for side in sides):
            none = reduce(or_, [empty(side[-1]).all(0) for side in sides])
            lower, upper = arrays.where(none, 0.0, lower), arrays.where(none, 1.0, upper)
        return Interval(lower, upper).over(_rows(inputs))

    @quietly
    def narrow(self, inputs: Sequence[Interval], truth: Interval, bounds: Interval) -> Contraction:
        """The closed hull of the inputs that can give a truth in ``bounds`` while the terms are defined; exact under
        the same condition. Bounds implied by the upward ``truth``, with which they are intersected already, change no
        input, unless a term may be undefined. An end at 0 or 1 that the relation approaches but never takes is read as
        ``tol`` or ``1 - tol``. A strict relation is treated as its closure, ``x > 5`` leaves 5 possible, unless both
        terms are whole numbers. Rows that ask for nothing do not change."""
        lower, upper = bounds
        if self.relation is None or all(interval.lower is interval.upper for interval in inputs):
            return Contraction(tuple(inputs), lower != lower)
        raised, lowered = lower > truth.lower + soft.TRUTH_ROUNDING, upper < truth.upper - soft.TRUTH_ROUNDING
        asked = raised | lowered
        if self.partial:
            asked |= (lower > crisp.TOLERANCE) | (upper < 1 - crisp.TOLERANCE)
        required = Interval(arrays.where(raised, lower, 0.0), arrays.where(lowered, upper, 1.0))
        rows = where_set(asked)
        if not len(rows):
            return Contraction(tuple(inputs), asked)
        if len(rows) == len(asked):
            return self._contract(inputs, required)
        contraction = self._contract(_at(inputs, rows), *_at((required,), rows))
        intervals = [
            old if old.lower is old.upper else Interval(*(replaced(old[end], rows, new[end]) for end in (0, 1)))
            for old, new in zip(inputs, contraction.inputs, strict=True)
        ]
        return Contraction(tuple(intervals), set_at(_rows(inputs), rows[contraction.empty]))

    def respond(self, inputs: Sequence[Interval], bounds: Interval) -> ComparisonResult:
        """Both steps: the truth upward, then the inputs downward from the intersection of ``bounds`` and that truth."""
        truth = self.truth(inputs)
        lower, upper = arrays.maximum(bounds.lower, truth.lower), arrays.minimum(bounds.upper, truth.upper)
        crossed = lower > upper + crisp.TOLERANCE
        ends = arrays.minimum(lower, upper), arrays.maximum(lower, upper)
        met = Interval(arrays.where(crossed, 0.0, ends[0]), arrays.where(crossed, 1.0, ends[1]))
        return ComparisonResult(truth, *self.narrow(inputs, truth, met), crossed)

    def _contract(self, inputs: Sequence[Interval], bounds: Interval) -> Contraction:
        assert self.relation is not None
        truths = self._truths
        apart = float(all(term.integral for term in self._terms))  # the least difference of numbers that are not equal
        difference = crisp.preimage(truths, bounds, apart) if truths else soft.preimage(self.relation, bounds)
        one, other = (() if len(term.steps) == 1 else None for term in self._terms)

        def require(values: Sequence[Pieces]) -> Sequence[Pieces]:
            left, right = values
            narrowed = intersection(left, sum_of(right, difference, other), right, difference)
            if right.point:
                return narrowed, right
            return narrowed, intersection(right, sum_of(left, negate(difference), one), left, difference)

        return contracted([term.folded for term in self._terms], inputs, require)

    def _difference(self, left: Sequence[Pieces], right: Sequence[Pieces]) -> Pieces:
        """The difference of both sides as a soft relation uses it, computed from the values of their steps."""
        assert self.relation is not None
        difference = subtract(left[-1], right[-1])
        if len(left) == len(right) == 1:
            return difference
        most = sum(term.magnitude(side) for term, side in zip(self._terms, (left, right), strict=True) if len(side) > 1)

        def errors(rows: Array) -> Errors:
            one, other = (term.errors(side, rows) for term, side in zip(self._terms, (left, right), strict=True))
            if len(left[-1].lower) > 1 or len(right[-1].lower) > 1:  # Pieces are crossed: take the greatest of each.
                one, other = (Errors(*[arrays.most(arrays.maximum(*error), 0)[None]] * 2) for error in (one, other))
            return Errors(one.lower + other.upper, one.upper + other.lower)

        return soft.let_out(self.relation, difference, most, errors)

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

    @property
    def soft(self) -> bool:
        """Whether its truth is between 0 and 1 for some numbers, or unknown."""
        return self._truths is None

    @cached_property
    def partial(self) -> bool:
        """Whether a term may be undefined on a part of a box that contraction should remove."""
        return self.left.partial or self.right.partial

    @cached_property
    def total(self) -> bool:
        """Whether both terms have a value wherever the inputs have one."""
        return self.left.total and self.right.total


def _whole(term: Term, values: Sequence[Pieces]) -> Pieces:
    """The values of a side as a crisp relation compares them."""
    return values[-1] if len(values) == 1 else crisp.let_out(values[-1], partial(term.errors, values))


def _rows(inputs: Sequence[Interval]) -> int:
    return len(inputs[0].lower) if inputs else 1


def _at(inputs: Sequence[Interval], rows: Array) -> list[Interval]:
    """Some rows of the inputs."""
    return [box.mapped(partial(take, rows=rows)) for box in inputs]


# --- which inputs must be known for bounds tighter than the default ---------------------------------------------------

_TRIED = 6  # up to this many inputs all subsets are tried

InputSets = tuple[frozenset[int], ...]


def informing(arithmetic: Comparison | Term, inputs: int) -> InputSets:
    """The minimal sets of inputs that must be bounded for the truth of a comparison, or the hull of a term, to differ
    from that with every input unknown. There are no other such sets, but some of these may not suffice.

    A sum is unbounded as long as one of its operands is, so ``i - d > 500`` is unknown until ``i`` and ``d`` are both
    known, while ``x y`` may be zero as soon as ``x`` is known."""
    if inputs > _TRIED:
        return tuple(frozenset({index}) for index in range(inputs))
    if isinstance(arithmetic, Comparison):
        sides = (arithmetic.left, arithmetic.right) if arithmetic.relation is not None else ()
    else:
        sides = (arithmetic,)
    upward = [side.upward([entered(unknown(1))] * inputs) for side in sides]
    loose = [(side, list(map(_unbounded, values))) for side, values in zip(sides, upward, strict=True)]
    minimal: list[frozenset[int]] = []
    for size in range(1, inputs + 1):
        for chosen in map(frozenset, itertools.combinations(range(inputs), size)):
            if not any(smaller <= chosen for smaller in minimal) and _inform(loose, chosen):
                minimal.append(chosen)
    return tuple(minimal)


def _inform(sides: Sequence[tuple[Term, Sequence[bool]]], known: Set[int]) -> bool:
    """Whether some of the terms may differ from their defaults while none of the others is unbounded."""
    differ = [_differs(side, free, known) for side, free in sides]
    return any(differ) and not any(free[-1] and not differs for differs, (_, free) in zip(differ, sides, strict=True))


def _differs(term: Term, loose: Sequence[bool], known: Set[int]) -> bool:
    """Whether the term's values can differ from those with every input unknown, where its steps are ``loose`` if they
    can be any number then."""
    differs: list[bool] = []
    for step in term.steps:
        if isinstance(step, Apply):
            free = [loose[place] and not differs[place] for place in step.operands]
            unbounding = (
                free[:1] if step.operation == "divide" else free if step.operation in ("add", "subtract") else []
            )
            bounded = step.operation != "unknown" and not any(unbounding)
            differs.append(bounded and any(differs[place] for place in step.operands))
        else:
            differs.append(isinstance(step, Input) and step.index in known)
    return differs[-1]


def _unbounded(values: Pieces) -> bool:
    return len(values.lower) == 1 and values.lower.item() == -math.inf and values.upper.item() == math.inf
