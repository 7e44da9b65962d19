"""The conjunction of one or two literals that is right most often, among all cuts between neighbouring values and all
values of categories.

A row counts ``+weight`` where it is true and ``-weight`` where it is false; the best conjunction is the one whose rows
have the greatest sum. For one literal that is a running sum over the sorted rows; for two, branch and bound. Unknown
rows are taken as false everywhere, or as true, whichever is right more often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import combinations, count, product
from typing import NamedTuple

import numpy as np

from lnnkit.learn.induction.table_literals import Conjunction, LabelledTable, TableColumn, TableLiteral, short_cut

_VALUES = 1000  # values of a category, the most frequent ones
_SWEEPS = 4  # in which each literal of a disjunction is moved once


@dataclass(frozen=True, slots=True)
class BestConjunction:
    """Literals, at most two, the sum of their rows, and whether unknown rows are taken as true."""

    total: float
    cuts: Conjunction = ()
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A column as ranks (n,) of its ``values``, -1 where it is missing. Truth values may be those of two columns
    ``compared``."""

    place: int
    ranks: np.ndarray
    values: np.ndarray
    numeric: bool
    compared: TableLiteral | None = None

    def sums(self, signed: np.ndarray) -> np.ndarray:
        """(k,) the sum of ``signed`` (n,) over the rows of each value."""
        return np.bincount(self.ranks + 1, signed, len(self.values) + 1)[1:]

    def rows(self, place: int, wanted: bool) -> np.ndarray:
        """(n,) the rows of the literal `cut`."""
        rows = self.ranks > place if self.numeric else self.ranks == place
        return (rows == wanted) & (self.ranks >= 0)

    def base(self, signed: np.ndarray, unknown: bool) -> float:
        """The sum of ``signed`` (n,) over the rows where the column is missing, if ``unknown`` rows count as true."""
        return float(signed[self.ranks < 0].sum()) if unknown else 0.0

    def best(self, signed: np.ndarray, base: float, least: float = -np.inf) -> tuple[float, Conjunction]:
        """The greatest sum of ``signed`` (n,) over a literal's rows, beside ``base`` for unknown rows; and the literal,
        if that is more than ``least``."""
        sums = self.sums(signed)
        if len(sums) < 1 + self.numeric:  # one value of a category still tells the known rows from the unknown ones
            return -np.inf, ()
        if self.numeric:
            below = np.cumsum(sums)[:-1]
            return self._greatest(np.stack([below[-1] + sums[-1] - below, below]), base, least)
        return self._greatest(np.stack([sums, sums.sum() - sums]), base, least)

    def twice(self, signed: np.ndarray, base: float) -> tuple[float, Conjunction]:
        """The same of two literals of this column: an interval, or all values but two."""
        sums = self.sums(signed)
        if len(sums) < 3:
            return -np.inf, ()
        if self.numeric:
            below = np.cumsum(sums)[:-1]
            least = np.minimum.accumulate(below)[:-1]
            high = int((below[1:] - least).argmax()) + 1
            low = int(below[:high].argmin())
            return float(below[high] - below[low]) + base, (self.cut(low, True), self.cut(high, False))
        first, second = np.argsort(sums, kind="stable")[:2].tolist()
        both = sums.sum() - sums[first] - sums[second]
        return float(both) + base, (self.cut(first, False), self.cut(second, False))

    def _greatest(self, sums: np.ndarray, base: float, least: float) -> tuple[float, Conjunction]:
        """Of sums (2, k) of literals and of their negations. Among equals the middle one: a margin on both sides."""
        best, sign = sums.max(), int(sums[1].max() > sums[0].max())
        if best + base <= least:
            return float(best) + base, ()
        equal = np.flatnonzero(sums[sign] >= best - 1e-9)
        middle = self.numeric and equal[-1] - equal[0] == len(equal) - 1
        return float(best) + base, (self.cut(int(equal[len(equal) // 2 if middle else 0]), sign == 0),)

    def cut(self, place: int, wanted: bool) -> tuple[TableLiteral, bool]:
        """The literal of the values above that of rank ``place``, or of that value of a category."""
        if self.compared is not None:
            return self.compared, wanted
        known = self.ranks[self.ranks >= 0]
        if self.numeric:
            literal = TableLiteral(self.place, short_cut(self.values, place + 1), None, float(np.mean(known > place)))
        else:
            literal = TableLiteral(self.place, None, str(self.values[place]), float(np.mean(known == place)))
        return literal, wanted


def best_conjunctions(table: LabelledTable, compared: Sequence[TableLiteral], longest: int) -> list[BestConjunction]:
    """The best conjunction of at most one literal, and of at most two if ``longest`` is more. Those of no literals are
    false everywhere. ``compared`` are comparisons of two columns, which count as literals too."""
    signed = table.signed
    ranked = [_ranks_of(place, column) for place, column in enumerate(table.columns)]
    ranked += [_comparison(literal, table.columns) for literal in compared]
    gaps = [(column.ranks < 0).any() for column in ranked]
    ranked = [column for column, some in zip(ranked, gaps, strict=True) if len(column.values) > 1 or some]
    ways = (False, True) if any(gaps) else (False,)
    one = BestConjunction(0.0)
    for unknown, column in product(ways, ranked):
        one = _better(one, *column.best(signed, column.base(signed, unknown)), unknown)
    two = one
    for unknown in ways if longest > 1 else ():
        for column in ranked:
            two = _better(two, *column.twice(signed, column.base(signed, unknown)), unknown)
        two = _best_pair(ranked, signed, two, unknown)
    return [one] if longest == 1 else [one, two]


def _better(best: BestConjunction, total: float, cuts: Conjunction, unknown: bool) -> BestConjunction:
    return BestConjunction(total, cuts, unknown) if total > best.total + 1e-9 else best


def _best_pair(ranked: Sequence[_Ranked], signed: np.ndarray, best: BestConjunction, unknown: bool) -> BestConjunction:
    """The best pair of literals of two columns, if better than ``best``: branch and bound over the literals of one of
    them, each beside the best literal of the other. Of a number, the middle cut is tried, and those on either side of
    it wait: a cut has at most the sum of a narrower one and of the true rows between them, and at most that of a wider
    one without the false rows between them."""
    waiting: list[tuple[float, int, _Cuts]] = []
    numbers = count()
    for pair, wanted in product(combinations(ranked, 2), (True, False)):
        one, two = sorted(pair, key=lambda column: (not column.numeric, len(column.values)))
        places = len(one.values)
        true, false = (one.sums(part)[:: -1 if wanted else 1] for part in np.maximum((signed, -signed), 0.0))
        steps = np.cumsum([np.append(0.0, true), np.append(0.0, false)], axis=1)
        ranges = [(0, places)] if one.numeric else [(place, place + 2) for place in range(places)]
        every = [_Cuts(one, two, wanted, steps, *ends) for ends in ranges if places > one.numeric]
        waiting += ((-np.inf, next(numbers), cuts) for cuts in every)
    while waiting and -waiting[0][0] > best.total + 1e-9:
        _, _, cuts = heappop(waiting)
        one, two, middle = cuts.one, cuts.two, (cuts.low + cuts.high) // 2
        place = (len(one.values) - middle if cuts.wanted and one.numeric else middle) - 1
        rows = one.rows(place, cuts.wanted)
        inside = np.where(rows | (one.ranks < 0) if unknown else rows, signed, 0.0)
        total, other = two.best(inside, two.base(inside, unknown), best.total)
        if other:
            best = _better(best, total, (one.cut(place, cuts.wanted), *other), unknown)
        for half in (cuts._replace(high=middle, wide=total), cuts._replace(low=middle, narrow=total)):
            if half.high - half.low > 1:
                true, false = half.steps[:, half.high] - half.steps[:, half.low]
                heappush(waiting, (-min(half.narrow + true, half.wide + false), next(numbers), half))
    return best


class _Cuts(NamedTuple):
    """The literals of ``one`` between those of its first ``low`` and its first ``high`` values, ascending, or, for
    ``wanted`` ones, descending; of a category, that of the value between them. ``narrow`` and ``wide`` are the sums of
    both ends beside the best literal of ``two``, ``steps`` (2, k + 1) the true and the false rows of the first
    values."""

    one: _Ranked
    two: _Ranked
    wanted: bool
    steps: np.ndarray
    low: int
    high: int
    narrow: float = np.inf
    wide: float = np.inf


def _ranks_of(place: int, column: TableColumn) -> _Ranked:
    """The column of that place; of a category with very many values, the rarer ones as one."""
    unknown = column.missing
    known = column.values[~unknown]
    values, inverse = np.unique(known if column.numeric else known.astype(str), return_inverse=True)
    if not column.numeric and len(values) > _VALUES:
        often = np.sort(np.argsort(-np.bincount(inverse), kind="stable")[:_VALUES])
        renamed = np.full(len(values), _VALUES)  # the rest, as one
        renamed[often] = np.arange(_VALUES)
        values, inverse = np.append(values[often], ""), renamed[inverse]
    ranks = np.full(len(unknown), -1)
    ranks[~unknown] = inverse
    return _Ranked(place, ranks, values, column.numeric)


def _comparison(literal: TableLiteral, columns: Sequence[TableColumn]) -> _Ranked:
    one, two = (columns[at].values for at in literal.columns)
    truth = np.where(np.isnan(one) | np.isnan(two), np.nan, (one >= two).astype(np.float64))
    return replace(_ranks_of(-1, TableColumn("", truth)), compared=literal)


def refined(conjunctions: Sequence[Conjunction], table: LabelledTable) -> tuple[Conjunction, ...]:
    """The same disjunction of crisp literals with those cuts by which it is right most often on these rows."""
    signed, columns = table.signed, table.columns
    parts = [list(conjunction) for conjunction in conjunctions]
    masks = [[literal.certain(wanted, columns) for literal, wanted in part] for part in parts]
    ranked: dict[int, _Ranked] = {}
    for _ in range(_SWEEPS):
        before = [list(part) for part in parts]
        for at, part in enumerate(parts):
            others = [np.logical_and.reduce(held) for place, held in enumerate(masks) if place != at]
            rest = ~np.logical_or.reduce(others) if others else np.ones(len(signed), bool)
            for place, (literal, _) in enumerate(part):
                if literal.threshold is None:
                    continue
                if literal.column not in ranked:
                    ranked[literal.column] = _ranks_of(literal.column, columns[literal.column])
                inside = np.logical_and.reduce([rest, *masks[at][:place], *masks[at][place + 1 :]])
                worth, best = ranked[literal.column].best(np.where(inside, signed, 0.0), 0.0)
                if worth > float(signed[inside & masks[at][place]].sum()) + 1e-9:
                    part[place] = best[0]
                    masks[at][place] = best[0][0].certain(best[0][1], columns)
        if parts == before:
            break
    return tuple(tuple(part) for part in parts)
