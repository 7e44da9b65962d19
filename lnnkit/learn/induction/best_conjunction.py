"""The conjunction of one or two literals that is right most often, among all cuts between neighbouring values and all
values of categories.

A row counts ``+weight`` where it is true and ``-weight`` where it is false; the best conjunction is the one whose rows
have the greatest sum. For one literal that is a running sum over the sorted rows. For two cuts the rows enter in the
order of the first column, and a tree of sums over the ranks of the second keeps the best cut there (the greatest prefix
sum, as in Bentley, "Programming pearls: algorithm design techniques", 1984); all versions of the tree are worked out
level by level. Unknown rows are taken as false everywhere, or as true, whichever is right more often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from lnnkit.learn.induction.table_literals import (
    Conjunction,
    LabelledTable,
    TableColumn,
    TableLiteral,
    certain,
    missing,
    short_cut,
)

_BINS = 256  # of each column, for the bound that leaves pairs of columns out
_VALUES = 1000  # values of a category, the most frequent ones
_SWEEPS = 4  # in which each literal of a disjunction is moved once
_FEW = 16  # values of a number whose cuts are tried one by one


@dataclass(frozen=True, slots=True)
class BestConjunction:
    """Literals, at most two, the sum of their rows, and whether unknown rows are taken as true."""

    total: float
    cuts: Conjunction = ()
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A column as ranks (n,) of its ``values``, -1 where it is missing; ``order``: the known rows by rank. Truth values
    may be those of two columns ``compared``."""

    place: int
    ranks: np.ndarray
    values: np.ndarray
    order: np.ndarray
    numeric: bool
    compared: TableLiteral | None = None

    def base(self, signed: np.ndarray, unknown: bool) -> float:
        """The sum of ``signed`` (n,) over the rows where the column is missing, if ``unknown`` rows count as true."""
        return float(signed[self.ranks < 0].sum()) if unknown else 0.0

    def best(self, signed: np.ndarray, base: float) -> tuple[float, Conjunction]:
        """The literal whose rows have the greatest sum of ``signed`` (n,), beside ``base`` for unknown rows."""
        known = self.order
        sums = np.bincount(self.ranks[known], signed[known], len(self.values))
        if len(sums) < 1 + self.numeric:  # one value of a category still tells the known rows from the unknown ones
            return -np.inf, ()
        if self.numeric:
            below = np.cumsum(sums)[:-1]
            return self._greatest(np.stack([below[-1] + sums[-1] - below, below]), base)
        return self._greatest(np.stack([sums, sums.sum() - sums]), base)

    def twice(self, signed: np.ndarray, base: float) -> tuple[float, Conjunction]:
        """The same of two literals of this column: an interval, or all values but two."""
        known = self.order
        sums = np.bincount(self.ranks[known], signed[known], len(self.values))
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

    def _greatest(self, sums: np.ndarray, base: float) -> tuple[float, Conjunction]:
        """Of sums (2, k) of literals and of their negations. Among equals the middle one: a margin on both sides."""
        best, sign = sums.max(), int(sums[1].max() > sums[0].max())
        equal = np.flatnonzero(sums[sign] >= best - 1e-9)
        middle = self.numeric and equal[-1] - equal[0] == len(equal) - 1
        return float(best) + base, (self.cut(int(equal[len(equal) // 2 if middle else 0]), sign == 0),)

    def cut(self, place: int, wanted: bool) -> tuple[TableLiteral, bool]:
        """The literal of the values above that of rank ``place``, or of that value of a category."""
        if self.compared is not None:
            return self.compared, wanted
        known = self.ranks[self.order]
        if self.numeric:
            literal = TableLiteral(self.place, short_cut(self.values, place + 1), None, float(np.mean(known > place)))
        else:
            literal = TableLiteral(self.place, None, str(self.values[place]), float(np.mean(known == place)))
        return literal, wanted

    def literals(self) -> Iterator[tuple[tuple[TableLiteral, bool], np.ndarray]]:
        """The literals of a category, and of a number with few values, each with its rows (n,)."""
        for place in range(len(self.values) - self.numeric):
            rows = self.ranks > place if self.numeric else self.ranks == place
            for wanted in (True, False):
                yield self.cut(place, wanted), (rows == wanted) & (self.ranks >= 0)


def best_conjunctions(table: LabelledTable, compared: Sequence[TableLiteral], longest: int) -> list[BestConjunction]:
    """The best conjunction of at most one literal, and of at most two if ``longest`` is more. Those of no literals are
    false everywhere. ``compared`` are comparisons of two columns, which count as literals too."""
    signed = table.signed
    ranked = [_ranks_of(place, column) for place, column in enumerate(table.columns)]
    ranked += [_comparison(literal, table.columns) for literal in compared]
    ranked = [column for column in ranked if len(column.values) > 1 or len(column.order) < len(signed)]
    ways = (False, True) if any(len(column.order) < len(signed) for column in ranked) else (False,)
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
    """The best pair of literals of two columns, if better than ``best``: pairs of columns by their bounds."""
    pairs = [(_bound(*pair, signed, unknown), *pair) for pair in combinations(ranked, 2)]
    for bound, one, two in sorted(pairs, key=lambda pair: -pair[0]):
        if bound <= best.total + 1e-9:
            break
        if one.numeric and two.numeric and min(len(one.values), len(two.values)) > _FEW:
            total, cuts = _two_cuts(one, two, signed, unknown)
            best = _better(best, total, cuts, unknown)
            continue
        if two.numeric < one.numeric or (two.numeric == one.numeric and len(two.values) < len(one.values)):
            one, two = two, one
        for cut, rows in one.literals():
            inside = np.where(rows | (one.ranks < 0) if unknown else rows, signed, 0.0)
            total, cuts = two.best(inside, two.base(inside, unknown))
            best = _better(best, total, (cut, *cuts), unknown)
    return best


def _bound(one: _Ranked, two: _Ranked, signed: np.ndarray, unknown: bool) -> float:
    """An upper bound for any pair of literals of two columns: a cut takes the true rows of its bin of a grid at
    most."""
    if not (one.numeric and two.numeric):
        return np.inf
    widths = [max(1, -(-len(column.values) // _BINS)) for column in (one, two)]
    bins = [np.where(of.ranks < 0, 0, of.ranks // width + 1) for of, width in zip((one, two), widths, strict=True)]
    if not unknown:
        signed = np.where((one.ranks < 0) | (two.ranks < 0), 0.0, signed)
    high = [int(places.max(initial=0)) + 1 for places in bins]
    cells = bins[0] * high[1] + bins[1]
    sums = np.bincount(cells, signed, high[0] * high[1]).reshape(high)
    most = np.bincount(cells, np.maximum(signed, 0.0), high[0] * high[1]).reshape(high)
    best = -np.inf
    for order in product(*((np.r_[0, 1:count], np.r_[0, count - 1 : 0 : -1]) for count in high)):  # or negated
        total, most_ = (grid[np.ix_(*order)] for grid in (sums, most))
        before = total.cumsum(0).cumsum(1)[:-1, :-1]  # unknown rows, and the bins before both cuts
        strips = most_.cumsum(1)[1:, 1:] + most_.cumsum(0)[1:, 1:]
        best = max(best, float((before + strips).max(initial=-np.inf)))
    return best


def _two_cuts(one: _Ranked, two: _Ranked, signed: np.ndarray, unknown: bool) -> tuple[float, Conjunction]:
    """The best cut of two numbers: rows enter in the order of ``one``, ascending and descending."""
    best: tuple[float, Conjunction] = (-np.inf, ())
    always = np.flatnonzero((one.ranks < 0) & unknown)
    for wanted in (False, True):
        entering = one.order[::-1] if wanted else one.order
        rows = np.concatenate([always, entering])
        ranks = two.ranks[rows]
        changed = np.diff(one.ranks[entering], append=-2) != 0
        changed[-1:] = False  # all rows: no cut
        ends = np.flatnonzero(changed) + len(always)
        if not len(ends):
            continue
        base = np.cumsum(np.where((ranks < 0) & unknown, signed[rows], 0.0))
        inner = np.flatnonzero(ranks >= 0)
        totals = (base + _greatest_ends(ranks[inner], inner, signed[rows[inner]], len(rows)))[ends]
        at = int(totals.argmax())
        if totals[at] > best[0]:
            entered = np.zeros(len(signed), bool)
            entered[rows[: ends[at] + 1]] = True
            inside = np.where(entered, signed, 0.0)
            last = int(one.ranks[rows[ends[at]]])
            first = one.cut(last - wanted, wanted)
            total, cuts = two.best(inside, two.base(inside, unknown))
            if total > best[0]:
                best = total, (first, *cuts)
    return best


def _greatest_ends(ranks: np.ndarray, times: np.ndarray, amounts: np.ndarray, count: int) -> np.ndarray:
    """(count,) after each time, the greatest sum of the amounts so far with ranks up to, or from, some rank on."""
    greatest = np.zeros(count)
    if not len(ranks):
        return greatest
    order = np.lexsort((times, ranks))
    node, time, total = ranks[order], times[order], amounts[order].astype(np.float64)
    start = np.flatnonzero(np.diff(node, prepend=-1))
    running = np.cumsum(total)
    group = np.repeat(np.arange(len(start)), np.diff(start, append=len(node)))
    total = running - (running - total)[start][group]
    prefix, suffix = np.maximum(total, 0.0), np.maximum(total, 0.0)
    places = np.arange(len(node))
    while node.max() > 0:
        right = node & 1
        node = node >> 1
        order = np.argsort(node * count + time, kind="stable")
        node, time, right = node[order], time[order], right[order]
        total, prefix, suffix = total[order], prefix[order], suffix[order]
        group = np.repeat(start := np.flatnonzero(np.diff(node, prepend=-1)), np.diff(start, append=len(node)))
        states = []
        for side in (0, 1):
            at = np.maximum.accumulate(np.where(right == side, places, -1))  # the latest of each side
            states.append([np.where(at >= group, values[at], 0.0) for values in (total, prefix, suffix)])
        (left_sum, left_prefix, left_suffix), (right_sum, right_prefix, right_suffix) = states
        total = left_sum + right_sum
        prefix = np.maximum(left_prefix, left_sum + right_prefix)
        suffix = np.maximum(right_suffix, right_sum + left_suffix)
    greatest[time] = np.maximum(prefix, suffix)
    last = np.maximum.accumulate(np.where(np.isin(np.arange(count), time), np.arange(count), -1))
    return np.where(last >= 0, greatest[last], 0.0)


def _ranks_of(place: int, column: TableColumn) -> _Ranked:
    """The column of that place; of a category with very many values, the rarer ones as one."""
    unknown = missing(column)
    known = column.values[~unknown]
    values, inverse = np.unique(known if column.numeric else known.astype(str), return_inverse=True)
    if not column.numeric and len(values) > _VALUES:
        often = np.sort(np.argsort(-np.bincount(inverse), kind="stable")[:_VALUES])
        renamed = np.full(len(values), _VALUES)  # the rest, as one
        renamed[often] = np.arange(_VALUES)
        values, inverse = np.append(values[often], ""), renamed[inverse]
    ranks = np.full(len(unknown), -1)
    ranks[~unknown] = inverse
    rows = np.flatnonzero(~unknown)
    return _Ranked(place, ranks, values, rows[np.argsort(inverse, kind="stable")], column.numeric)


def _comparison(literal: TableLiteral, columns: Sequence[TableColumn]) -> _Ranked:
    one, two = (columns[at].values for at in literal.columns)
    truth = np.where(np.isnan(one) | np.isnan(two), np.nan, (one >= two).astype(np.float64))
    return replace(_ranks_of(-1, TableColumn("", truth)), compared=literal)


def refined(conjunctions: Sequence[Conjunction], table: LabelledTable) -> tuple[Conjunction, ...]:
    """The same disjunction of crisp literals with those cuts by which it is right most often on these rows."""
    signed, columns = table.signed, table.columns
    parts = [list(conjunction) for conjunction in conjunctions]
    masks = [[certain(*pair, columns) for pair in part] for part in parts]
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
                    masks[at][place] = certain(*best[0], columns)
        if parts == before:
            break
    return tuple(tuple(part) for part in parts)
