"""The reads of an instance, and which of its premises could be improved, for why-not explanations; with the truth of
comparisons that inference did not evaluate because nothing needed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lnnkit.answer_table import format_bounds
from lnnkit.engine.inference_run import Run
from lnnkit.explain.missing.premise_improvement import ImprovablePremise
from lnnkit.explain.proof.explanation import format_bound
from lnnkit.explain.proof.proof import ground_atom
from lnnkit.explain.provenance.bound_sources import END, Argument, Reading
from lnnkit.explain.provenance.instance_view import EndRead, InstanceView, InstanceViews
from lnnkit.formula.number_terms import comparison
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.graph.lifted import COMPARISON
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import Interval
from lnnkit.syntax.printer import format_expression

_EXCLUDED = 1e-2  # per excluded premise. Ordering only: 99 of these stay below one missing literal, which costs 1,
_APART = 1e-3  # and the distance of a premise from its goal, at most this, stays below one excluded premise


@dataclass(frozen=True)
class ExaminedInstance:
    """A ``view`` of a formula, examined for what it proposes to a ``target`` leaf, whose atom is in ``row`` (-1:
    none); ``known`` are the entities of its bound variables, the others are ``free``."""

    view: InstanceView
    target: int
    row: int
    known: Mapping[int, Argument]
    free: frozenset[int]

    def of_target(self, leaf: int) -> np.ndarray:
        """Which rows of a leaf are the target's atom."""
        tables, rows = self.view.instances.tables, self.view.rows[leaf]
        return (rows == self.row) & (self.row >= 0 and tables[leaf] is tables[self.target])


class _Unmet(NamedTuple):
    """A leaf whose ``side`` could be improved at ``places``: its ends there, the distance between its sides if it is a
    comparison, and whether known bounds rule it out."""

    leaf: int
    side: int
    places: np.ndarray
    ends: np.ndarray
    gap: np.ndarray
    excluded: np.ndarray


class UnmetPremises:
    """Finds the unmet premises of instances of one fixpoint."""

    def __init__(self, views: InstanceViews) -> None:
        self._views = views
        self._run = views.sources.run
        self._domain = views.sources.run.grounding.domain
        self._eps = views.sources.eps

    def reads(self, instance: ExaminedInstance) -> list[EndRead]:
        """All that the instance reads at the fixpoint, except the target atom itself."""
        view, reads = instance.view, list[EndRead]()
        for leaf in (leaf for leaf in view.formula.leaves if leaf != instance.target):
            reads += self._uninferred(instance, leaf)
            target = instance.of_target(leaf)
            for read in (r for side in (0, 1) for r in self._views.reads(view, leaf, side, END, instance.known)):
                places = tuple(place for place in read.places if not target[place])
                reads += [replace(read, places=places)] if places else []
        return reads

    def wanted(
        self, instance: ExaminedInstance, reads: Sequence[EndRead], ends: Sequence[tuple[int, int]], nearest: int | None
    ) -> list[ImprovablePremise]:
        """The premises that could be improved, those of the nearest rows first, and among them those whose opposite is
        known last. ``nearest``: only the nearest rows of each quantifier."""
        view = instance.view
        neurons = view.formula.neurons
        aims = ((leaf, side) for leaf, side in ends if leaf != instance.target and not neurons[leaf].numeric)
        unmet = [self._unmet(instance, reads, *aim) for aim in aims]
        costs = {number: np.zeros(length) for number, length in enumerate(view.instances.lengths) if number}
        for improvable in unmet:
            block = neurons[improvable.leaf].block
            if block:
                apart = _APART * improvable.gap / (1 + improvable.gap)
                np.add.at(costs[block], improvable.places, 1.0 + _EXCLUDED * improvable.excluded + apart)
        for number in costs.keys() - {block.parent for block in view.formula.blocks}:
            costs[number][costs[number] == 0] = np.inf  # nothing to improve there
        ranks = row_ranks(view, costs)
        premises: list[tuple[tuple[int, bool], ImprovablePremise]] = []
        for improvable in unmet:
            block = neurons[improvable.leaf].block
            rank = ranks[block - 1] if block else np.zeros(len(view.rows[improvable.leaf]), np.int64)
            premises += self._premises(instance, improvable, rank, nearest)
        return [premise for _, premise in sorted(premises, key=lambda pair: pair[0])]

    def _unmet(self, instance: ExaminedInstance, reads: Sequence[EndRead], leaf: int, side: int) -> _Unmet:
        view, rows = instance.view, instance.view.rows[leaf]
        ends = np.stack([np.zeros(len(rows)), np.ones(len(rows))])
        for read in reads:
            if read.leaf == leaf:
                ends[read.side][list(read.places)] = read.reading.value
        unmet, denied = (np.abs(ends[end] - (1 - side)) > self._eps for end in (side, 1 - side))
        places = np.flatnonzero(unmet & ~instance.of_target(leaf))
        excluded = denied & ~self.unlisted(view.table(leaf), side, rows)
        known = self._compared(instance, leaf)
        gap = np.zeros(len(places)) if known is None else known[2][places]
        return _Unmet(leaf, side, places, ends[:, places], gap, excluded[places])

    def _premises(
        self, instance: ExaminedInstance, unmet: _Unmet, rank: np.ndarray, nearest: int | None
    ) -> Iterator[tuple[tuple[int, bool], ImprovablePremise]]:
        leaf, side, rows = unmet.leaf, unmet.side, instance.view.rows[unmet.leaf]
        crossed = {*instance.view.instances.tables[leaf].crossed.rows.values.tolist()}
        grouped: dict[object, list[int]] = {}
        for number, place in enumerate(unmet.places.tolist()):
            if nearest is None or rank[place] < nearest:
                key: object = int(rows[place])
                if rows[place] < 0:  # with many atoms: compared by their arguments
                    named = self._named(instance, leaf, place)
                    arguments = instance.view.formula.neurons[leaf].arguments
                    key = tuple(a if isinstance(a, str) else str(named.get(a, a)) for a in arguments)
                grouped.setdefault(key, []).append(number)
        for numbers in grouped.values():
            places, first = tuple(unmet.places[numbers].tolist()), numbers[0]
            named = self._named(instance, leaf, places[0])
            alike = self._alike(instance, leaf, places, named)
            now, other = (float(unmet.ends[end][first]) for end in (side, 1 - side))
            arrested, gap = int(rows[places[0]]) in crossed, float(unmet.gap[first])
            premise = ImprovablePremise(leaf, places, named, alike, side, now, other, arrested, gap)
            yield (min(rank[list(places)].tolist()), bool(unmet.excluded[first])), premise

    def unlisted(self, table: str, side: int, rows: np.ndarray) -> np.ndarray:
        """A mask of the atoms of a closed predicate that are false only by default: no fact lists them."""
        if side or not self._run.plan.lifted.graph.nodes.get(table, {}).get("closed"):
            return np.zeros(len(rows), bool)
        return ~self._run.grounding.atoms.tables[table].flags("given").take(rows)

    def _uninferred(self, instance: ExaminedInstance, leaf: int) -> Iterator[EndRead]:
        """The truth of a comparison that inference did not evaluate."""
        view, known = instance.view, self._compared(instance, leaf)
        fresh = view.rows[leaf] < 0
        for side, ends in enumerate(() if known is None else known[:2]):
            for value in np.unique(ends[fresh]).tolist():
                places = np.flatnonzero(fresh & (ends == value))
                yield EndRead(leaf, tuple(places.tolist()), side, Reading(value, None))

    def _compared(self, instance: ExaminedInstance, leaf: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """A comparison at each place; None if the leaf is none, or has variables."""
        view = instance.view
        kind = self._run.plan.lifted.graph.nodes.get(view.table(leaf), {}).get("kind")
        if kind != COMPARISON or any(argument in instance.free for argument in view.formula.neurons[leaf].arguments):
            return None
        return compared(self._run, view.table(leaf), view.instances.arguments(leaf, self._domain))

    def _named(self, instance: ExaminedInstance, leaf: int, place: int) -> dict[int, Argument]:
        """The entities of the variables at a leaf, including quantified ones."""
        quantified = self._views.named(instance.view, leaf, place) if instance.view.formula.neurons[leaf].block else {}
        return {**instance.known, **quantified}

    def _alike(
        self, instance: ExaminedInstance, leaf: int, places: tuple[int, ...], named: Mapping[int, Argument]
    ) -> dict[int, tuple[int, ...]]:
        """The places at which the atom of a leaf is read: these, and those of other leaves of its table."""
        formula, instances = instance.view.formula, instance.view.instances
        pattern = self._views.sources.wording.pattern(formula, leaf, named)
        ids = [self._domain.index[argument] for argument in pattern if isinstance(argument, str)]
        alike, source = {leaf: places}, formula.neurons[leaf].source
        for other in formula.leaves if len(ids) == len(pattern) else ():
            if other not in (leaf, instance.target) and formula.neurons[other].source == source:
                columns = zip(instances.arguments(other, self._domain), ids, strict=True)
                rows = np.ones(len(instances.rows[other]), bool)
                same = np.flatnonzero(np.all([rows, *(column == entity for column, entity in columns)], axis=0))
                alike |= {other: tuple(same.tolist())} if len(same) else {}
        return alike


def unsettled(instance: ExaminedInstance, raised: Mapping[int, bool]) -> ExaminedInstance:
    """The instance without the rows of quantifiers that change nothing: where the body of a ``forall`` that
    is ``raised`` is true, or that of an ``exists`` that is lowered is false. ``raised`` says so by block, where either
    is the aim. One row of each quantifier stays, and those that read the target."""
    view = instance.view
    formula, instances = view.formula, view.instances
    if not view.has_rows:
        return instance
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


def row_ranks(view: InstanceView, costs: Mapping[int, np.ndarray]) -> list[np.ndarray]:
    """For each inner block the rank of each row among its siblings, by what it lacks: its own ``costs`` (by block) plus
    those of its best rows in inner blocks. A row's rank follows that of its parent."""
    blocks = view.formula.blocks

    def parents(number: int) -> np.ndarray:
        """The row around each row of an inner block."""
        grouping = view.instances.groupings[number]
        assert grouping is not None
        return grouping.group

    total = {number: costs[number].copy() for number in range(1, len(blocks))}
    for number in reversed(range(1, len(blocks))):
        parent = blocks[number].parent
        if parent:
            best = np.full(len(total[parent]), np.inf)
            np.minimum.at(best, parents(number), total[number])
            total[parent] += np.where(np.isfinite(best), best, 0.0)
    ranks: list[np.ndarray] = []
    for number in range(1, len(blocks)):
        around = parents(number)
        order = np.lexsort((np.arange(len(around)), total[number], around))
        start = np.searchsorted(around[order], around[order], "left")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - start
        above = blocks[number].parent
        ranks.append(rank if not above else np.maximum(rank, ranks[above - 1][around]))
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

    inputs = [Interval(*_ends(run, name, list(map(column, entities)), length)) for name, entities in numbers]
    lower, upper = (np.broadcast_to(end, length) for end in made.truth(inputs))
    one, other = (term.hull(inputs)[0] for term in (made.left, made.right))
    apart = np.maximum(other[0] - one[1], one[0] - other[1]).clip(0.0)
    size = np.maximum(*(np.where(np.isfinite(term), abs(np.stack(term)), 0.0).max(0) for term in (one, other)))
    gap = np.nan_to_num(apart / size.clip(1e-9), nan=0.0, posinf=0.0)
    return lower, upper, np.broadcast_to(gap, length)


def known_numbers(run: Run, node: str, arguments: Sequence[Argument]) -> tuple[str, ...]:
    """The known bounds of each number in a comparison about these entities, as text."""
    _, numbers = comparison(run.plan.lifted.graph, node, tuple(map(str, arguments)))
    shown: dict[str, None] = {}
    for name, entities in numbers:
        texts = list(map(str, entities))
        ids = [np.array([run.grounding.domain.index[text]]) for text in texts]
        low, high = (float(end[0]) for end in _ends(run, name, ids, 1))
        known = format_bound(low) if low == high else f"in {format_bounds(low, high)}"
        known = "unknown" if (low, high) == (-np.inf, np.inf) else known
        shown[f"{format_expression(ground_atom(name, texts))} is {known}"] = None
    return tuple(shown)


def _ends(run: Run, name: str, ids: Sequence[np.ndarray], length: int) -> list[np.ndarray]:
    """The bounds of a number of some entities."""
    table = run.grounding.atoms.tables[name]
    rows = table.tuples.find([column.astype(np.int32) for column in ids], length)
    return [end.astype(np.float64) for end in table.read(rows)]
