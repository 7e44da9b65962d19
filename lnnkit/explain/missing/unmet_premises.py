"""The reads of an instance, and which of its premises could be improved, for why-not explanations; with the truth of
comparisons that inference did not evaluate because nothing needed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lnnkit.analysis.families import Polarity
from lnnkit.answer_table import format_bounds
from lnnkit.engine.inference_run import Run
from lnnkit.explain.proof.explanation import format_bound
from lnnkit.explain.proof.proof import SIDES, ground_atom
from lnnkit.explain.provenance.bound_sources import END, Argument, BoundSources, Reading
from lnnkit.explain.provenance.instance_view import EndRead, InstanceView, InstanceViews
from lnnkit.formula.number_terms import comparison
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import Formula
from lnnkit.graph.lifted import COMPARISON
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import Interval
from lnnkit.syntax.printer import format_expression

_EXCLUDED = 1e-2  # per excluded premise. Ordering only: 99 of these stay below one missing literal, which costs 1,
_APART = 1e-3  # and the distance of a premise from its goal, at most this, stays below one excluded premise


@dataclass(frozen=True, slots=True)
class ImprovablePremise:
    """A premise that could be improved: all reads of its atom, at some places of a leaf. ``named`` are the entities of
    variables there, ``alike`` the places of each leaf at which the same atom is read."""

    leaf: int
    places: tuple[int, ...]
    named: Mapping[int, Argument]
    alike: Mapping[int, tuple[int, ...]]
    side: int
    now: float
    other: float  # its other bound
    arrested: bool  # it is contradictory: it reads as unknown in any case
    gap: float = 0.0  # the distance between the sides of a comparison, relative to the greater

    def at(self, degree: float) -> float:
        """The bound that the instance gives if the premise is met to this degree."""
        return self.now + degree * ((1.0 - self.side) - self.now)


# A leaf of which a side could be improved at some places: the leaf, the side, the places, its ends there, the distance
# between its sides if it is a comparison, and whether known bounds rule it out
_Unmet = tuple[int, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class ExaminedInstance:
    """A ``view`` of a formula at the fixpoint, examined for what it proposes to a ``side`` of a ``target`` leaf, whose
    atom is in ``row`` (-1: none); ``known`` are the entities of its bound variables, the others are ``free``."""

    views: InstanceViews
    view: InstanceView
    target: int
    side: int
    row: int
    known: Mapping[int, Argument]
    free: frozenset[int]

    def of_target(self, leaf: int) -> np.ndarray:
        """Which rows of a leaf are the target's atom."""
        tables, rows = self.view.instances.tables, self.view.rows[leaf]
        return (rows == self.row) & (self.row >= 0 and tables[leaf] is tables[self.target])

    def tightness(self, bound: float) -> float:
        """A bound of that side, with its sign chosen such that greater is tighter."""
        return -bound if self.side else bound

    @cached_property
    def moved(self) -> list[tuple[int, int]]:
        """The ends by which the formula moves that side of its target."""
        return ends(self.view.formula, self.target, self.side)

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

    def wanted(self, ends: Sequence[tuple[int, int]], nearest: int | None) -> list[ImprovablePremise]:
        """The premises that could be improved, those of the nearest rows first, and among them those whose opposite is
        known last. ``nearest``: only the nearest rows of each quantifier."""
        view, neurons = self.view, self.view.formula.neurons
        unmet = [self._unmet(*end) for end in ends if end[0] != self.target and not neurons[end[0]].numeric]
        costs = [np.zeros(length) for length in view.instances.lengths]
        for leaf, _, places, _, gap, excluded in unmet:
            np.add.at(costs[neurons[leaf].block], places, 1.0 + _EXCLUDED * excluded + _APART * gap / (1 + gap))
        for number in {*range(1, len(costs))} - {block.parent for block in view.formula.blocks}:
            costs[number][costs[number] == 0] = np.inf  # nothing to improve there
        ranks = _row_ranks(view, costs)
        premises = [pair for each in unmet for pair in self._premises(each, ranks[neurons[each[0]].block], nearest)]
        return [premise for _, premise in sorted(premises, key=lambda pair: pair[0])]

    def _unmet(self, leaf: int, side: int) -> _Unmet:
        rows, eps = self.view.rows[leaf], self.views.sources.eps
        ends = np.stack([np.zeros(len(rows)), np.ones(len(rows))])
        for read in self.reads:
            if read.leaf == leaf:
                ends[read.side][list(read.places)] = read.reading.value
        unmet, denied = (np.abs(ends[end] - (1 - side)) > eps for end in (side, 1 - side))
        places = np.flatnonzero(unmet & ~self.of_target(leaf))
        excluded = denied & ~self.unlisted(self.view.table(leaf), side, rows)
        known = self._compared(leaf)
        gap = np.zeros(len(places)) if known is None else known[2][places]
        return leaf, side, places, ends[:, places], gap, excluded[places]

    def _premises(
        self, unmet: _Unmet, rank: np.ndarray, nearest: int | None
    ) -> Iterator[tuple[tuple[int, bool], ImprovablePremise]]:
        leaf, side, improvable, ends, gaps, excluded = unmet
        rows = self.view.rows[leaf]
        crossed = {*self.view.instances.tables[leaf].crossed.rows.values.tolist()}
        grouped: dict[object, list[int]] = {}
        for number, place in enumerate(improvable.tolist()):
            if nearest is None or rank[place] < nearest:
                key: object = int(rows[place])
                if rows[place] < 0:  # with many atoms: compared by their arguments
                    named = self._named(leaf, place)
                    arguments = self.view.formula.neurons[leaf].arguments
                    key = tuple(a if isinstance(a, str) else str(named.get(a, a)) for a in arguments)
                grouped.setdefault(key, []).append(number)
        for numbers in grouped.values():
            places, first = tuple(improvable[numbers].tolist()), numbers[0]
            named = self._named(leaf, places[0])
            now, other = (float(ends[end][first]) for end in (side, 1 - side))
            arrested, gap = int(rows[places[0]]) in crossed, float(gaps[first])
            alike = self._alike(leaf, places, named)
            premise = ImprovablePremise(leaf, places, named, alike, side, now, other, arrested, gap)
            yield (min(rank[list(places)].tolist()), bool(excluded[first])), premise

    def _uninferred(self, leaf: int) -> Iterator[EndRead]:
        """The truth of a comparison that inference did not evaluate."""
        known, fresh = self._compared(leaf), self.view.rows[leaf] < 0
        for side, ends in enumerate(() if known is None else known[:2]):
            for value in np.unique(ends[fresh]).tolist():
                places = np.flatnonzero(fresh & (ends == value))
                yield EndRead(leaf, tuple(places.tolist()), side, Reading(value, None))

    def _compared(self, leaf: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """A comparison at each place; None if the leaf is none, or has variables."""
        node, arguments = self.view.table(leaf), self.view.formula.neurons[leaf].arguments
        kind = self.views.sources.run.plan.lifted.graph.nodes.get(node, {}).get("kind")
        if kind != COMPARISON or not self.free.isdisjoint(arguments):
            return None
        return compared(
            self.views.sources.run, node, self.view.instances.arguments(leaf, self.views.sources.run.grounding.domain)
        )

    def _named(self, leaf: int, place: int) -> dict[int, Argument]:
        """The entities of the variables at a leaf, including quantified ones."""
        quantified = self.views.named(self.view, leaf, place) if self.view.formula.neurons[leaf].block else {}
        return {**self.known, **quantified}

    def _alike(self, leaf: int, places: tuple[int, ...], named: Mapping[int, Argument]) -> dict[int, tuple[int, ...]]:
        """The places at which the atom of a leaf is read: these, and those of other leaves of its table."""
        formula, instances, domain = self.view.formula, self.view.instances, self.views.sources.run.grounding.domain
        pattern = self.views.sources.wording.pattern(formula, leaf, named)
        ids = [domain.index[argument] for argument in pattern if isinstance(argument, str)]
        alike, source = {leaf: places}, formula.neurons[leaf].source
        for other in formula.leaves if len(ids) == len(pattern) else ():
            if other not in (leaf, self.target) and formula.neurons[other].source == source:
                columns = zip(instances.arguments(other, domain), ids, strict=True)
                rows = np.ones(len(instances.rows[other]), bool)
                same = np.flatnonzero(np.all([rows, *(column == entity for column, entity in columns)], axis=0))
                alike |= {other: tuple(same.tolist())} if len(same) else {}
        return alike

    def unlisted(self, table: str, side: int, rows: np.ndarray) -> np.ndarray:
        """A mask of the atoms of a closed predicate that are false only by default: no fact lists them."""
        if side or not self.views.sources.run.plan.lifted.graph.nodes.get(table, {}).get("closed"):
            return np.zeros(len(rows), bool)
        return ~self.views.sources.run.grounding.atoms.tables[table].flags("given").take(rows)


def ends(formula: Formula, leaf: int, side: int) -> list[tuple[int, int]]:
    """The other leaves, each with its side, by which a formula moves one side of a leaf."""
    return [(read.leaf, int(read.end == "upper")) for read in Polarity(formula).reads(leaf, SIDES[side])]


def _raised(formula: Formula, moved: Sequence[tuple[int, int]]) -> dict[int, bool]:
    """The inner blocks whose quantifiers these ends move one way, and whether up."""
    raised: dict[int, bool] = {}
    polarity = Polarity(formula)
    for neuron in formula.neurons:
        if neuron.inner > 0:
            signs = polarity.signs_beneath(neuron.operands[0])
            moves = {(side == 0) == (signs[leaf] > 0) if signs[leaf] else None for leaf, side in moved if leaf in signs}
            if len(moves) == 1 and None not in moves:
                raised[neuron.inner] = bool(moves.pop())
    return raised


def unsettled(instance: ExaminedInstance) -> ExaminedInstance:
    """The instance without the rows of quantifiers that change nothing: where the body of a ``forall`` that is to be
    raised is true, or that of an ``exists`` that is to be lowered is false. One row of each quantifier stays, and those
    that read the target."""
    view = instance.view
    formula, instances = view.formula, view.instances
    if not view.has_rows:
        return instance
    raised = _raised(formula, instance.moved)
    known = {leaf: instances.tables[leaf].read(rows) for leaf, rows in view.rows.items()}
    values = view.upward({leaf: Bounds(*(end[None] for end in bounds)) for leaf, bounds in known.items()})
    rows, ids, lengths, groupings = dict(view.rows), [instances.ids[0]], [1], list[Grouping | None]([None])
    quantifiers = {neuron.inner: neuron for neuron in formula.neurons if neuron.inner > 0}
    kept = [np.ones(1, bool)]  # for each block, which of its rows stay; a block comes after those around it
    for number in range(1, len(formula.blocks)):
        grouping, above = instances.groupings[number], kept[formula.blocks[number].parent]
        assert grouping is not None
        leaves = [leaf for leaf in rows if leaf >= 0 and formula.neurons[leaf].block == number]
        stays = above[grouping.group]
        if (up := raised.get(number)) is not None and up == quantifiers[number].least:
            lower, upper = values[quantifiers[number].operands[0]]
            open_ = lower < 1 if up else upper > 0
            for leaf in leaves:
                open_ |= instance.of_target(leaf)
            open_[np.unique(grouping.group, return_index=True)[1]] = True
            stays &= open_
        kept.append(stays)
        parent = (np.cumsum(above) - 1)[grouping.group[stays]]
        flags = grouping.virtual[stays], grouping.stranger[stays]
        groupings.append(Grouping(parent, int(above.sum()), None, *flags))
        ids.append({variable: column[stays] for variable, column in instances.ids[number].items()})
        lengths.append(int(stays.sum()))
        rows.update((leaf, rows[leaf][stays]) for leaf in leaves)
    kept_rows = replace(instances, ids=tuple(ids), lengths=tuple(lengths), rows=rows, groupings=tuple(groupings))
    return replace(instance, view=replace(view, instances=kept_rows))


def _row_ranks(view: InstanceView, costs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each block the rank of each row among its siblings, by what it lacks: its own ``costs``, to which are added
    those of its best rows in inner blocks. A row's rank follows that of its parent."""
    parents = [block.parent for block in view.formula.blocks]
    around = {
        number: grouping.group for number, grouping in enumerate(view.instances.groupings) if grouping is not None
    }
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


def compared(run: Run, node: str, columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n,) the bounds of a comparison's truth for some entities, a column of ids for each argument; and how far its two
    sides are apart, as a share of the greater."""
    places = tuple(f"\0{place}" for place in range(len(columns)))
    made, numbers = comparison(run.plan.lifted.graph, node, places)
    length, index = len(columns[0]) if columns else 1, run.grounding.domain.index
    known: dict[object, np.ndarray] = dict(zip(places, columns, strict=True))

    def column(entity: object) -> np.ndarray:
        return known[entity] if entity in known else np.full(length, index[str(entity)])

    def interval(name: str, entities: Sequence[object]) -> Interval:
        table = run.grounding.atoms.tables[name]
        rows = table.tuples.find([column(entity).astype(np.int32) for entity in entities], length)
        return Interval(*(end.astype(np.float64) for end in table.read(rows)))

    inputs = [interval(*atom) for atom in numbers]
    lower, upper = (np.broadcast_to(end, length) for end in made.truth(inputs))
    one, other = (term.hull(inputs)[0] for term in (made.left, made.right))
    apart = np.maximum(other[0] - one[1], one[0] - other[1]).clip(0.0)
    size = np.maximum(*(np.where(np.isfinite(term), abs(np.stack(term)), 0.0).max(0) for term in (one, other)))
    gap = np.nan_to_num(apart / size.clip(1e-9), nan=0.0, posinf=0.0)
    return lower, upper, np.broadcast_to(gap, length)


def known_numbers(sources: BoundSources, node: str, arguments: Sequence[Argument]) -> tuple[str, ...]:
    """The known bounds of each number in a comparison about these entities, as text."""
    _, numbers = comparison(sources.run.plan.lifted.graph, node, tuple(map(str, arguments)))
    shown: dict[str, None] = {}
    for name, entities in numbers:
        texts, table = list(map(str, entities)), sources.run.grounding.atoms.tables[name]
        low, high = (float(end[0]) for end in table.read(np.array([sources.find(name, texts)])))
        known = format_bound(low) if low == high else f"in {format_bounds(low, high)}"
        known = "unknown" if (low, high) == (-np.inf, np.inf) else known
        shown[f"{format_expression(ground_atom(name, texts))} is {known}"] = None
    return tuple(shown)
