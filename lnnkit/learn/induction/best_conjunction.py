"""The conjunction of one or two literals that is right most often, among all cuts between neighbouring values and all
values of categories: what a decision stump is, and a pair of them.

A row counts ``+weight`` where it is true and ``-weight`` where it is false; the best conjunction is the one whose rows
have the greatest sum. For one literal that is a running sum over the sorted rows. For two cuts, ranges of the
first are split as long as the sum of some pair may be greater than the greatest found: a cut inside a range takes the
true rows of the range at most (branch and bound; Land and Doig 1960). Where a literal is unknown, the conjunction is
taken as false everywhere, or as true, whichever is right more often.

The literals of a disjunction are moved to the best cuts of their columns, each in turn (`refined`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import combinations

import numpy as np

from lnnkit.learn.induction.table_literals import Conjunction, Literal, TableColumn, certain, missing, short_cut

_PARTS = 4  # into which a range of cuts is split
_VALUES = 1000  # values of a category, the most frequent ones
_SWEEPS = 4  # in which each literal of a disjunction is moved once

Best = tuple[float, int, bool]  # the sum of a literal's rows, its cut, and whether it holds above it, or at that value


@dataclass(frozen=True, slots=True)
class Found:
    """Literals, at most two, the sum of their rows, and whether unknown rows are taken as true."""

    total: float
    cuts: Conjunction = ()
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A column as ``codes`` (n,): 0 where it is missing, else one more than the index of the row's value among its
    ``values``. Truth values may be those of two columns ``compared``."""

    place: int
    codes: np.ndarray
    values: np.ndarray
    numeric: bool
    compared: Literal | None = None

    def best(self, signed: np.ndarray, unknown: bool) -> Best:
        """The literal whose rows, with the ``unknown`` ones if that is said, have the greatest sum of ``signed``
        (n,). Among equals the middle one: a margin on both sides."""
        base, sums = self._sums(signed, unknown)
        held = np.cumsum(sums)[:-1] if self.numeric else sums
        failed = sums.sum() - held
        high, low = (failed, held) if self.numeric else (held, failed)  # of the literal, and of its negation
        wanted = bool(high.max() >= low.max())
        own = high if wanted else low
        equal = np.flatnonzero(own >= own.max() - 1e-9)
        between = self.numeric and equal[-1] - equal[0] == len(equal) - 1
        return float(own.max()) + base, int(equal[len(equal) // 2 if between else 0]), wanted

    def twice(self, signed: np.ndarray, unknown: bool) -> tuple[float, tuple[tuple[int, bool], ...]]:
        """The same of two literals of this column: an interval, or all values but two."""
        base, sums = self._sums(signed, unknown)
        if len(sums) < 3:
            return -np.inf, ()
        if self.numeric:
            below = np.cumsum(sums)[:-1]
            least = np.minimum.accumulate(below)[:-1]
            high = int((below[1:] - least).argmax()) + 1
            low = int(below[:high].argmin())
            return float(below[high] - below[low]) + base, ((low, True), (high, False))
        first, second = np.argsort(sums, kind="stable")[:2].tolist()
        return float(sums.sum() - sums[first] - sums[second]) + base, ((first, False), (second, False))

    def _sums(self, signed: np.ndarray, unknown: bool) -> tuple[float, np.ndarray]:
        """The sum of the unknown rows if that is wanted, and of those with each value."""
        sums = np.bincount(self.codes, signed, len(self.values) + 1)
        return float(sums[0]) if unknown else 0.0, sums[1:]

    @property
    def count(self) -> int:
        """The number of cuts between values, or of values of a category."""
        return len(self.values) - self.numeric

    def cut(self, place: int, wanted: bool) -> tuple[Literal, bool]:
        """The literal of the values above that of rank ``place``, or of that value of a category."""
        if self.compared is not None:
            return self.compared, wanted
        known = self.codes[self.codes > 0] - 1
        if self.numeric:
            return Literal(self.place, short_cut(self.values, place + 1), None, float(np.mean(known > place))), wanted
        return Literal(self.place, None, str(self.values[place]), float(np.mean(known == place))), wanted

    def covered(self, first: int, end: int, wanted: bool) -> tuple[np.ndarray, np.ndarray]:
        """(n,) the rows where all the literals of these cuts hold, and those where some do and others fail."""
        inside = (self.codes > first + self.numeric) & (self.codes <= end)
        if self.numeric:
            return self.codes > end if wanted else (self.codes > 0) & (self.codes <= first + 1), inside
        alone = end == first + 1
        return inside & alone if wanted else (self.codes > 0) & ~inside, inside & (not alone)


def best_conjunctions(
    columns: Sequence[TableColumn], compared: Sequence[Literal], positive: np.ndarray, weight: np.ndarray, longest: int
) -> list[Found]:
    """The best conjunction of at most one literal, and of at most two if ``longest`` is more. Those of no literals are
    false everywhere. ``compared`` are comparisons of two columns, which count as literals too."""
    signed = np.where(positive, weight, -weight)
    ranked = [_ranks_of(place, each) for place, each in enumerate(columns)]
    ranked += [_comparison(each, columns) for each in compared]
    ranked = [each for each in ranked if each.count > 0 and (len(each.values) > 1 or not each.codes.all())]
    ways = (False, True) if any(not each.codes.all() for each in ranked) else (False,)
    one = Found(0.0)
    for unknown in ways:
        for each in ranked:
            total, place, wanted = each.best(signed, unknown)
            one = _better(one, total, unknown, (each, place, wanted))
    two = one
    for unknown in ways if longest > 1 else ():
        for each in ranked:
            total, both = each.twice(signed, unknown)
            two = _better(two, total, unknown, *((each, *cut) for cut in both))
        two = _best_pair(ranked, signed, two, unknown)
    return [one] if longest == 1 else [one, two]


def _better(found: Found, total: float, unknown: bool, *cuts: tuple[_Ranked, int, bool]) -> Found:
    if total <= found.total + 1e-9:
        return found
    return Found(total, tuple(column.cut(place, wanted) for column, place, wanted in cuts), unknown)


def _best_pair(ranked: Sequence[_Ranked], signed: np.ndarray, found: Found, unknown: bool) -> Found:
    """The best pair of literals of two columns, if it is better than what was ``found``: the ranges of cuts by their
    bounds, until none can be better."""
    most = np.maximum(signed, 0.0)
    pairs = [sorted(each, key=lambda one: one.count) for each in combinations(ranked, 2)]
    waiting = [(-np.inf, at, wanted, 0, one.count) for at, (one, _) in enumerate(pairs) for wanted in (True, False)]
    while waiting and -waiting[0][0] > found.total + 1e-9:
        _, at, wanted, first, end = heappop(waiting)
        one, two = pairs[at]
        step = -(-(end - first) // _PARTS)
        for start in range(first, end, step):
            stop = min(start + step, end)
            sure, perhaps = one.covered(start, stop, wanted)
            inside = np.where(sure | (one.codes == 0) if unknown else sure, signed, np.where(perhaps, most, 0.0))
            total, place, held = two.best(inside, unknown)
            if stop == start + 1:
                found = _better(found, total, unknown, (one, start, wanted), (two, place, held))
            else:
                heappush(waiting, (-total, at, wanted, start, stop))
    return found


def _ranks_of(place: int, column: TableColumn) -> _Ranked:
    """The column of that place; of a category with very many values, the rarer ones as one."""
    known = ~missing(column)
    cells = column.values[known]
    values, inverse = np.unique(cells if column.numeric else cells.astype(str), return_inverse=True)
    if not column.numeric and len(values) > _VALUES:
        often = np.sort(np.argsort(-np.bincount(inverse), kind="stable")[:_VALUES])
        renamed = np.full(len(values), _VALUES)  # the rest, as one
        renamed[often] = np.arange(_VALUES)
        values, inverse = np.append(values[often], ""), renamed[inverse]
    codes = np.zeros(len(known), np.int64)
    codes[known] = inverse + 1
    return _Ranked(place, codes, values, column.numeric)


def _comparison(literal: Literal, columns: Sequence[TableColumn]) -> _Ranked:
    one, two = (columns[at].values for at in literal.columns)
    truth = np.where(np.isnan(one) | np.isnan(two), np.nan, (one >= two).astype(np.float64))
    return replace(_ranks_of(-1, TableColumn("", truth)), compared=literal)


def refined(
    conjunctions: Sequence[Conjunction], columns: Sequence[TableColumn], positive: np.ndarray, weight: np.ndarray
) -> tuple[Conjunction, ...]:
    """The same disjunction of crisp literals with those cuts by which it is right most often on these rows."""
    signed = np.where(positive, weight, -weight)
    parts = [list(each) for each in conjunctions]
    masks = [[certain(*each, columns) for each in part] for part in parts]
    ranked: dict[int, _Ranked] = {}
    for _ in range(_SWEEPS):
        before = [list(each) for each in parts]
        for at, part in enumerate(parts):
            others = [np.logical_and.reduce(each) for place, each in enumerate(masks) if place != at]
            rest = ~np.logical_or.reduce(others) if others else np.ones(len(signed), bool)
            for place, (literal, _) in enumerate(part):
                if literal.threshold is None:
                    continue
                if literal.column not in ranked:
                    ranked[literal.column] = _ranks_of(literal.column, columns[literal.column])
                inside = np.logical_and.reduce([rest, *masks[at][:place], *masks[at][place + 1 :]])
                own = ranked[literal.column]
                worth, cut, held = own.best(np.where(inside, signed, 0.0), False)
                if worth > float(signed[inside & masks[at][place]].sum()) + 1e-9:
                    part[place] = own.cut(cut, held)
                    masks[at][place] = certain(*part[place], columns)
        if parts == before:
            break
    return tuple(tuple(each) for each in parts)
