"""The reads of an instance, which of its premises could be improved, and how far they must be for it to propose more;
with the truth of comparisons that inference did not evaluate because nothing needed them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from lnnkit.answer_table import format_bound, format_bounds
from lnnkit.check.date_terms import numeric_kind
from lnnkit.explain.proof.explanation import set_apart
from lnnkit.explain.proof.sufficient_premises import minimal
from lnnkit.explain.provenance.bound_sources import END, BoundSources, EntityOrVariable, Named, SourcedBound
from lnnkit.explain.provenance.instance_view import EndRead, InstanceView, InstanceViews
from lnnkit.formula.number_terms import comparison
from lnnkit.graph.lifted import COMPARISON
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import NO_VALUE, Interval
from lnnkit.syntax.printer import format_expression

_EXCLUDED = 1e-2  # per excluded premise. Ordering only: 99 of these stay below one missing literal, which costs 1,
_APART = 1e-3  # and the distance of a premise from its goal, at most this, stays below one excluded premise
_GRID, _FINER = 33, 4  # each refinement divides the interval by 32: the fourth finds a truth to 1e-6
_LARGE, _COARSE = 1000, 5  # 33 variants of 1,000 rows are evaluated at once; of more rows, 5 variants at first
_HARDLY = 1 - 1e-4  # stands for any degree below 1; above the tolerance of 1e-9
_ALONE = 32  # premises tried one by one; a limit of work, one evaluation of the instance each
# Premises whose degrees are found one by one; of more, one for all. A forall over 120 orders takes 1.7 CPU s with 16 or
# 64, 3.0 with 256.
_SINGLY = 64
# Degrees at which a premise passes another's value, a limit of work: 16 and 4,096 take as long there; without a limit a
# forall over 3,000 orders had not ended after 12 s.
_PASSED = 256
_CELLS = 1 << 20  # rows of leaves evaluated at once, a limit of memory: with 2 ** 16 and 2 ** 23 1.8 and 1.7 s there


class _Unmet(NamedTuple):
    """A leaf of which a side could be improved at some places: its ends there, the distance between its sides if it is
    a comparison, and whether known bounds rule an improvement out."""

    leaf: int
    side: int
    places: np.ndarray
    ends: np.ndarray
    gaps: np.ndarray
    excluded: np.ndarray


@dataclass(frozen=True, slots=True)
class ImprovablePremise:
    """A premise that could be improved: all reads of an atom that a leaf reads. ``named`` are the entities of variables
    there, ``alike`` the places of each leaf at which the atom is read."""

    leaf: int
    named: Named
    alike: Mapping[int, tuple[int, ...]]
    side: int
    now: float
    other: float  # its other bound
    arrested: bool  # it is contradictory: it reads as unknown in any case
    gap: float  # the distance between the sides of a comparison, relative to the greater
    order: tuple[int, bool]  # the rank of its nearest row, and whether its opposite is known

    def at(self, degree: float) -> float:
        """The bound that the instance gives if the premise is met to this degree."""
        return self.now + degree * ((1.0 - self.side) - self.now)

    def degree(self, bound: float) -> float:
        """The degree to which a bound meets it."""
        return (bound - self.now) / ((1.0 - self.side) - self.now)


@dataclass(frozen=True)
class ExaminedInstance:
    """A ``view`` of a formula at the fixpoint, examined for what it proposes to a ``side`` of a ``target`` leaf outside
    its quantifiers; ``known`` are the entities of its bound variables, the others are ``free``."""

    views: InstanceViews
    view: InstanceView
    target: int
    side: int
    known: Named
    free: frozenset[int]

    def of_target(self, leaf: int) -> np.ndarray:
        """Which rows of a leaf are the target's atom."""
        tables, rows, row = self.view.tables, self.view.rows[leaf], self.view.rows[self.target][0]
        return (rows == row) & bool(row >= 0 and tables[leaf] is tables[self.target])

    def tightness(self, bound: float) -> float:
        """A bound of that side, with its sign chosen such that greater is tighter."""
        return -bound if self.side else bound

    @cached_property
    def reads(self) -> list[EndRead]:
        """All that it reads, except the target atom itself."""
        view, reads = self.view, list[EndRead]()
        for leaf in (leaf for leaf in view.formula.leaves if leaf != self.target):
            reads += self._uninferred(leaf)
            target = self.of_target(leaf)
            for read in (r for side in (0, 1) for r in self.views.reads(view, leaf, side, END, self.known)):
                places = tuple(place for place in read.places if not target[place])
                reads += [replace(read, places=places)] if places else []
        return reads

    @cached_property
    def values(self) -> dict[int, Bounds]:
        """The leaf values (1, rows) as they are."""
        return self.view.values(self.reads)

    def wanted(self, ends: Sequence[tuple[int, int]], nearest: int | None) -> list[ImprovablePremise]:
        """The premises that could be improved, those of the nearest rows first, and among them those whose opposite is
        known last. ``nearest``: only the nearest rows of each quantifier."""
        view, neurons = self.view, self.view.formula.neurons
        unmet = [self._unmet(*end) for end in ends if end[0] != self.target and not neurons[end[0]].numeric]
        costs = [np.zeros(length) for length in view.lengths]
        for leaf, _, places, _, gap, excluded in unmet:
            np.add.at(costs[neurons[leaf].block], places, 1.0 + _EXCLUDED * excluded + _APART * gap / (1 + gap))
        for number in {*range(1, len(costs))} - {block.parent for block in view.formula.blocks}:
            costs[number][costs[number] == 0] = np.inf  # nothing to improve there
        ranks = _row_ranks(view, costs)
        blocks = [ranks[neurons[leaf].block] for leaf, *_ in unmet]
        premises = (self._premises(some, rank, nearest) for some, rank in zip(unmet, blocks, strict=True))
        return sorted(chain.from_iterable(premises), key=lambda premise: premise.order)

    def _unmet(self, leaf: int, side: int) -> _Unmet:
        rows, eps, ends = self.view.rows[leaf], self.views.sources.eps, np.concatenate(self.values[leaf])
        unmet, denied = (np.abs(ends[end] - (1 - side)) > eps for end in (side, 1 - side))
        places = np.flatnonzero(unmet & ~self.of_target(leaf))
        excluded = denied & ~self.unlisted(self.view.table(leaf), side, rows)
        known = self._compared(leaf)
        gaps = np.zeros(len(places)) if known is None else known[2][places]
        return _Unmet(leaf, side, places, ends[:, places], gaps, excluded[places])

    def _premises(self, unmet: _Unmet, rank: np.ndarray, nearest: int | None) -> Iterator[ImprovablePremise]:
        leaf, side, improvable, ends, gaps, excluded = unmet
        columns, crossed = self._atoms(leaf), self.view.tables[leaf].crossed.rows.values
        grouped: dict[tuple[int, ...], list[int]] = {}
        for number, place in enumerate(improvable.tolist()):
            if nearest is None or rank[place] < nearest:
                grouped.setdefault(tuple(int(column[place]) for column in columns), []).append(number)
        for atom, numbers in grouped.items():
            places, first = improvable[numbers], numbers[0]
            named = {**self.known, **self.views.named(self.view, leaf, int(places[0]))}
            now, other = (float(ends[end][first]) for end in (side, 1 - side))
            arrested, gap = bool((crossed == self.view.rows[leaf][places[0]]).any()), float(gaps[first])
            alike = self._alike(leaf, tuple(places.tolist()), atom)
            order = int(rank[places].min()), bool(excluded[first])
            yield ImprovablePremise(leaf, named, alike, side, now, other, arrested, gap, order)

    def _uninferred(self, leaf: int) -> Iterator[EndRead]:
        """The truth of a comparison that inference did not evaluate."""
        known, fresh = self._compared(leaf), self.view.rows[leaf] < 0
        for side, ends in enumerate(() if known is None else known[:2]):
            for value in np.unique(ends[fresh]).tolist():
                places = np.flatnonzero(fresh & (ends == value))
                yield EndRead(leaf, tuple(places.tolist()), side, SourcedBound(value, None))

    def _compared(self, leaf: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """The bounds of a comparison's truth at each place, and how far its two sides are apart there, as a share of
        the greater; None if the leaf is no comparison, or has variables."""
        run, node, neuron = self.views.sources.run, self.view.table(leaf), self.view.formula.neurons[leaf]
        kind = run.plan.lifted.graph.nodes.get(node, {}).get("kind")
        if kind != COMPARISON or not self.free.isdisjoint(neuron.arguments):
            return None
        domain, length = run.grounding.domain, self.view.length(neuron.block)
        columns = self.view.arguments(leaf, domain)
        made, numbers = comparison(run.plan.lifted.graph, node, tuple(range(len(columns))))

        def interval(name: str, terms: Sequence[int | str]) -> Interval:
            ids = [columns[t] if isinstance(t, int) else np.full(length, domain.index[t], np.int32) for t in terms]
            table = run.grounding.atoms.tables[name]
            return Interval(*(end.astype(np.float64) for end in table.read(table.tuples.find(ids, length))))

        inputs = [interval(*atom) for atom in numbers]
        lower, upper = (np.broadcast_to(end, length) for end in made.truth(inputs))
        one, other = (term.hull(inputs)[0] for term in (made.left, made.right))
        apart = np.maximum(other[0] - one[1], one[0] - other[1]).clip(0.0)
        size = np.maximum(*(np.where(np.isfinite(term), abs(np.stack(term)), 0.0).max(0) for term in (one, other)))
        gap = np.nan_to_num(apart / size.clip(1e-9), nan=0.0, posinf=0.0)
        return lower, upper, np.broadcast_to(gap, length)

    def _atoms(self, leaf: int) -> list[np.ndarray]:
        """The entities of a leaf's arguments at each place; unnamed ones are all alike."""
        domain = self.views.sources.run.grounding.domain
        return [np.minimum(column, domain.generic) for column in self.view.arguments(leaf, domain)]

    def _alike(self, leaf: int, places: tuple[int, ...], atom: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        """The places at which the atom of a leaf is read: these, and those of other leaves of its table."""
        formula, generic = self.view.formula, self.views.sources.run.grounding.domain.generic
        alike, source = {leaf: places}, formula.neurons[leaf].source
        for other in formula.leaves if generic not in atom else ():
            if other not in (leaf, self.target) and formula.neurons[other].source == source:
                same = np.ones(len(self.view.rows[other]), bool)
                for column, entity in zip(self._atoms(other), atom, strict=True):
                    same &= column == entity
                alike |= {other: tuple(np.flatnonzero(same).tolist())} if same.any() else {}
        return alike

    def unlisted(self, table: str, side: int, rows: np.ndarray) -> np.ndarray:
        """A mask of the atoms of a closed predicate that are false only by default: no fact lists them."""
        if side or not self.views.sources.run.plan.lifted.graph.nodes.get(table, {}).get("closed"):
            return np.zeros(len(rows), bool)
        return ~self.views.sources.run.grounding.atoms.tables[table].flags("given").take(rows)


def _row_ranks(view: InstanceView, costs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each block the rank of each row among its siblings, by what it lacks: its own ``costs``, to which are added
    those of its best rows in inner blocks. A row's rank follows that of its parent."""
    parents = [block.parent for block in view.formula.blocks]
    groupings = enumerate(view.groupings)
    around = {number: grouping.group for number, grouping in groupings if grouping is not None}
    for number in reversed(around):
        best = np.full(len(costs[parents[number]]), np.inf)
        np.minimum.at(best, around[number], costs[number])
        costs[parents[number]][:] += np.where(np.isfinite(best), best, 0.0)
    ranks = [np.zeros(1, np.int64)]
    for number, group in around.items():
        order = np.lexsort((costs[number], group))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - np.searchsorted(group[order], group[order], "left")
        ranks.append(np.maximum(rank, ranks[parents[number]][group]))
    return ranks


@dataclass(frozen=True)
class Improvement:
    """An instance, and the premises that may be improved for it to tighten its target."""

    instance: ExaminedInstance
    wanted: Sequence[ImprovablePremise]

    def best(self) -> float:
        """The best bound that it proposes with all premises improved alike: more may contradict what is known."""
        return max(self._at_once(self.wanted, self._degrees), key=self.instance.tightness)

    def least(self, reach: float, eps: float) -> list[tuple[ImprovablePremise, float]]:
        """A minimal set of premises for this bound, and the least degrees that suffice together."""

        def enough(value: float) -> bool:
            return self.instance.tightness(value) >= self.instance.tightness(reach) - eps

        def holds(some: Sequence[ImprovablePremise]) -> bool:
            return any(enough(value) for some_of in ([1.0], self._degrees) for value in self._at_once(some, some_of))

        alone = next(([premise] for premise in self.wanted[:_ALONE] if holds([premise])), None)
        needed = minimal(self.wanted, holds) if alone is None else alone
        if self._wholly(needed, enough):
            return [(premise, 1.0 - premise.side) for premise in needed]
        every = _least_degree(self._degrees, lambda degrees: map(enough, self._at_once(needed, degrees)), _FINER)
        met = np.full(len(needed), every)
        if len(needed) > _SINGLY:
            return [(premise, premise.at(degree)) for premise, degree in zip(needed, met.tolist(), strict=True)]
        improved: list[tuple[ImprovablePremise, float]] = []
        for number, premise in enumerate(needed):

            def one_of(degrees: Sequence[float], number: int = number) -> list[bool]:
                ways = np.tile(met, (len(degrees), 1))
                ways[:, number] = degrees
                return [enough(value) for value in self._says(needed, ways)]

            high = _least_degree(np.linspace(0.0, met[number], _GRID).tolist(), one_of, _FINER - 1)
            least = round(premise.at(high), 4)  # a rounded number, if it suffices
            degree = premise.degree(least)
            if not 0 <= degree <= 1 or not one_of([degree])[0]:
                least, degree = premise.at(high), high
            met[number] = degree
            improved.append((premise, least))
        return improved

    def _wholly(self, needed: Sequence[ImprovablePremise], enough: Callable[[float], bool]) -> bool:
        """Whether all are needed, each at full truth: the case of crisp truths, and the cheapest to test."""
        if len(needed) > _SINGLY:
            return False
        less = np.where(np.eye(len(needed), dtype=bool), _HARDLY, 1.0)
        full, *others = self._says(needed, np.vstack([np.ones(len(needed)), less]))
        return enough(full) and not any(map(enough, others))

    @cached_property
    def _degrees(self) -> list[float]:
        """The degrees to try: an even grid, and those at which a premise passes another's value."""
        if any(length > _LARGE for length in self.instance.view.lengths):
            return np.linspace(0.0, 1.0, _COARSE).tolist()
        values = {value for read in self.instance.reads for value in (read.reading.value, 1 - read.reading.value)}
        at = {premise.degree(value) for premise in self.wanted for value in sorted(values)[:_GRID]}
        even = np.linspace(0.0, 1.0, _GRID).tolist()
        passed = sorted(degree for degree in at if 0 < degree < 1)
        return sorted({*even, *passed[:: 1 + len(passed) // _PASSED]})

    def _at_once(self, met: Sequence[ImprovablePremise], degrees: Sequence[float]) -> list[float]:
        """What it proposes with some premises improved, all to the same of these degrees."""
        return self._says(met, np.tile(np.array(degrees)[:, None], (1, len(met))))

    def _says(self, met: Sequence[ImprovablePremise], ways: np.ndarray) -> list[float]:
        """What it proposes with the premises improved to the degrees of each of several ``ways`` (n, k), unless that is
        unsatisfiable."""
        view, target, side = self.instance.view, self.instance.target, self.instance.side
        proposed: list[float] = []
        step = max(1, _CELLS // (1 + sum(map(len, view.rows.values()))))
        for start in range(0, len(ways), step):
            values = self._improved(met, ways[start : start + step])
            said, bad = view.says(values, target, 0, side), view.contradictory(values)
            proposed += np.where(bad, float(side), said).tolist()
        return proposed

    def _improved(self, met: Sequence[ImprovablePremise], ways: np.ndarray) -> dict[int, Bounds]:
        """The leaf values with the premises improved; the other bound of each is relaxed."""
        known = self.instance.values.items()
        values = {leaf: Bounds(*(np.tile(end, (len(ways), 1)) for end in ends)) for leaf, ends in known}
        now, goal = np.array([premise.now for premise in met]), np.array([1.0 - premise.side for premise in met])
        bounds = now + ways * (goal - now)
        improved: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for number, premise in enumerate(met):
            for leaf, places in premise.alike.items():
                improved.setdefault((leaf, premise.side), []).extend((place, number) for place in places)
        at = {key: np.array(pairs).T for key, pairs in improved.items()}
        for (leaf, _), (places, _) in at.items():
            values[leaf].lower[:, places], values[leaf].upper[:, places] = 0.0, 1.0
        for (leaf, side), (places, numbers) in at.items():
            values[leaf][side][:, places] = bounds[:, numbers]
        return values


def _least_degree(degrees: list[float], enough: Callable[[Sequence[float]], Iterable[bool]], finer: int) -> float:
    """The first of these degrees that suffices, else the last; so many times refined between it and the one before."""
    high = degrees[-1]
    for _ in range(1 + finer):
        first = next((i for i, holds in enumerate(enough(degrees)) if holds), len(degrees) - 1)
        low, high = degrees[max(first - 1, 0)], degrees[first]
        degrees = np.linspace(low, high, _GRID).tolist()
    return high


def known_numbers(sources: BoundSources, node: str, arguments: Sequence[EntityOrVariable]) -> tuple[str, ...]:
    """The known bounds of each number in a comparison about these entities, as text."""
    _, numbers = comparison(sources.run.plan.lifted.graph, node, tuple(map(str, arguments)))
    shown: dict[str, None] = {}
    for name, entities in numbers:
        texts, table = list(map(str, entities)), sources.run.grounding.atoms.tables[name]
        low, high = (float(end[0]) for end in table.read(np.array([sources.find(name, texts)])))
        number = sources.wording.conclusion(name, texts)
        numeric = numeric_kind(number, sources.run.plan.lifted.program.predicates)
        known = format_bound(low, numeric) if low == high else f"in {format_bounds(low, high, numeric)}"
        known = {(-np.inf, np.inf): "unknown", NO_VALUE: "without a value"}.get((low, high), known)
        shown[f"{set_apart(number, format_expression(number))} is {known}"] = None
    return tuple(shown)
