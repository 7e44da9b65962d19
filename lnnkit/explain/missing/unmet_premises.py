"""What an instance reads, and which of its premises could be met better: for why an atom is no truer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.engine.start.prepared import Prepared
from lnnkit.explain.missing.comparison_values import compared
from lnnkit.explain.missing.premise_improvement import Wanted
from lnnkit.explain.missing.quantifier_rows import row_ranks
from lnnkit.explain.provenance.bound_history import END
from lnnkit.explain.provenance.bound_sources import Reading, Readings
from lnnkit.explain.provenance.ground_text import Argument, Wording
from lnnkit.explain.provenance.instance_reads import Read, leaf_reads
from lnnkit.explain.provenance.instance_view import Sight
from lnnkit.graph.lifted import COMPARISON
from lnnkit.logic.bounds import tolerance

_EXCLUDED = 1e-2  # of a literal; a row that lacks fewer comes first whatever they are
_APART = 1e-3


@dataclass(frozen=True)
class Instance:
    """A ``sight`` of a formula that is looked at for what it says of a ``target`` leaf, whose atom is behind row
    ``own`` (-1: it has none); ``known`` are the entities of its bound variables, the others are ``free``."""

    sight: Sight
    target: int
    own: int
    known: Mapping[int, Argument]
    free: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Unmet:
    """A leaf whose ``side`` could be met better at ``places``: its ends there, and how far its numbers are apart."""

    leaf: int
    side: int
    places: np.ndarray
    ends: np.ndarray
    gap: np.ndarray
    excluded: np.ndarray


class Premises:
    """Of one fixpoint."""

    def __init__(self, prepared: Prepared, readings: Readings, wording: Wording) -> None:
        self._prepared = prepared
        self._grounding = prepared.grounding
        self._readings = readings
        self._wording = wording
        self._eps = tolerance(prepared.state.dtype)
        self._crossed = prepared.state.crossed.flags(len(prepared.grounding.atoms))
        self._given = prepared.grounding.atoms.flags("given")

    def reads(self, instance: Instance) -> list[Read]:
        """All that the instance reads in the end, but of the atom itself: what that says of itself is no premise."""
        sight = instance.sight
        found: list[Read] = []
        for leaf in sight.formula.leaves:
            if leaf == instance.target:
                continue
            about = self._wording.pattern(sight.formula, leaf, instance.known)
            found += self._compared(instance, leaf)
            for side in (0, 1):
                for read in leaf_reads(
                    self._grounding, self._readings, sight, leaf, side, END, lambda _, about=about: about
                ):
                    places = tuple(p for p in read.places if int(sight.rows[leaf][p]) != instance.own)
                    if places:
                        found.append(Read(leaf, places, side, read.reading))
        return found

    def wanted(
        self, instance: Instance, reads: Sequence[Read], ends: Sequence[tuple[int, int]], nearest: int | None
    ) -> list[Wanted]:
        """The premises at leaves that could be met better: those of the rows that lack least first, and among them
        those last of which the opposite is known. Of the rows of each quantifier, only the ``nearest``."""
        unmet = [each for leaf, side in ends for each in self._unmet(instance, reads, leaf, side)]
        sight = instance.sight
        costs = {number: np.zeros(len(own.rows)) for number, own in enumerate(sight.inner, 1)}
        for each in unmet:
            block = sight.formula.neurons[each.leaf].block
            if block:
                apart = _APART * each.gap / (1 + each.gap)
                np.add.at(costs[block], each.places, 1.0 + _EXCLUDED * each.excluded + apart)
        ranks = row_ranks(sight, costs)
        found: list[tuple[tuple[int, bool], Wanted]] = []
        for each in unmet:
            block = sight.formula.neurons[each.leaf].block
            rank = ranks[block - 1] if block else np.zeros(len(sight.rows[each.leaf]), np.int64)
            found += self._premises(instance, each, rank, nearest)
        return [premise for _, premise in sorted(found, key=lambda pair: pair[0])]

    def _unmet(self, instance: Instance, reads: Sequence[Read], leaf: int, side: int) -> Iterator[_Unmet]:
        sight = instance.sight
        if leaf == instance.target or sight.formula.neurons[leaf].numeric:
            return
        rows = sight.rows[leaf]
        ends = np.stack([np.zeros(len(rows)), np.ones(len(rows))])
        for read in reads:
            if read.leaf == leaf:
                ends[read.side][list(read.places)] = read.reading.value
        met = float(1 - side)
        places = np.flatnonzero((np.abs(ends[side] - met) > self._eps) & (rows != instance.own))
        excluded = (np.abs(ends[1 - side] - met) > self._eps) & ~self.unlisted(sight.table(leaf), rows)
        yield _Unmet(leaf, side, places, ends[:, places], self._gaps(instance, leaf)[places], excluded[places])

    def _premises(
        self, instance: Instance, unmet: _Unmet, rank: np.ndarray, nearest: int | None
    ) -> Iterator[tuple[tuple[int, bool], Wanted]]:
        sight, leaf, side = instance.sight, unmet.leaf, unmet.side
        default_row = self._grounding.atoms.tables[sight.table(leaf)].default_row
        alone = sight.formula.neurons[leaf].arguments
        grouped: dict[object, list[int]] = {}
        for number, place in enumerate(unmet.places.tolist()):
            if nearest is not None and rank[place] >= nearest:
                continue
            row = int(sight.rows[leaf][place])
            key: object = row
            if row == default_row:  # of many atoms: told apart by what they are about
                named = self._named(instance, leaf, place)
                key = tuple(a if isinstance(a, str) else str(named.get(a, a)) for a in alone)
            grouped.setdefault(key, []).append(number)
        for numbers in grouped.values():
            mine = tuple(int(unmet.places[number]) for number in numbers)
            first = numbers[0]
            named = self._named(instance, leaf, mine[0])
            alike = self._alike(instance, leaf, mine, named)
            now, other = float(unmet.ends[side][first]), float(unmet.ends[1 - side][first])
            crossed = bool(self._crossed[int(sight.rows[leaf][mine[0]])])
            premise = Wanted(leaf, mine, named, alike, side, now, other, crossed, float(unmet.gap[first]))
            yield (min(int(rank[place]) for place in mine), bool(unmet.excluded[first])), premise

    def unlisted(self, table: str, rows: np.ndarray) -> np.ndarray:
        """Which atoms of a closed predicate no fact lists: they are false by default."""
        if not self._prepared.lifted.graph.nodes.get(table, {}).get("closed"):
            return np.zeros(len(rows), bool)
        return ~self._given[rows] | (rows < 0)

    def _compared(self, instance: Instance, leaf: int) -> Iterator[Read]:
        """What its numbers make a comparison that inference did not look at."""
        sight = instance.sight
        looked = self._looked(instance, leaf)
        if looked is None:
            return
        default = self._grounding.atoms.tables[sight.table(leaf)].default_row
        fresh = sight.rows[leaf] == default
        found = compared(self._prepared, sight.table(leaf), looked)
        for side, ends in enumerate((found.lower, found.upper)):
            for value in np.unique(ends[fresh]).tolist():
                places = np.flatnonzero(fresh & (ends == value))
                yield Read(leaf, tuple(places.tolist()), side, Reading(value, None))

    def _gaps(self, instance: Instance, leaf: int) -> np.ndarray:
        looked = self._looked(instance, leaf)
        if looked is None:
            return np.zeros(len(instance.sight.rows[leaf]))
        return compared(self._prepared, instance.sight.table(leaf), looked).gap

    def _looked(self, instance: Instance, leaf: int) -> list[np.ndarray] | None:
        """The entities that a comparison is about at each place; None where it is none, or of any entity."""
        sight = instance.sight
        neuron = sight.formula.neurons[leaf]
        kind = self._prepared.lifted.graph.nodes.get(sight.table(leaf), {}).get("kind")
        if kind != COMPARISON or any(argument in instance.free for argument in neuron.arguments):
            return None
        ids = sight.inner[neuron.block - 1].ids if neuron.block else sight.bindings
        length, index = len(sight.rows[leaf]), self._grounding.domain.index
        return [
            np.full(length, index[a], np.int32)
            if isinstance(a, str)
            else np.broadcast_to(np.asarray(ids[a]), (length,))
            for a in neuron.arguments
        ]

    def _named(self, instance: Instance, leaf: int, place: int) -> dict[int, Argument]:
        """The entities of variables where a leaf stands: those of quantified ones too."""
        sight = instance.sight
        block = sight.formula.neurons[leaf].block
        ids = sight.inner[block - 1].ids if block else {}
        found = {v: int(column[place]) for v, column in ids.items()}
        generic = self._grounding.domain.generic
        own = {v: self._wording.names[entity] for v, entity in found.items() if entity < generic}
        return {**instance.known, **own}

    def _alike(
        self, instance: Instance, leaf: int, places: tuple[int, ...], named: Mapping[int, Argument]
    ) -> dict[int, tuple[int, ...]]:
        """Where the atom behind a leaf is read: at these places, and behind other leaves of its table."""
        sight, index = instance.sight, self._grounding.domain.index
        formula = sight.formula
        found = {leaf: places}
        own = self._wording.pattern(formula, leaf, named)
        source = formula.neurons[leaf].source
        others = [other for other in formula.leaves if other != leaf and formula.neurons[other].source == source]
        if not all(isinstance(each, str) for each in own):
            return found
        for other in others:
            if other == instance.target:
                continue
            neuron = formula.neurons[other]
            ids = sight.inner[neuron.block - 1].ids if neuron.block else sight.bindings
            fits = np.ones(len(sight.rows[other]), bool)
            for argument, wanted in zip(neuron.arguments, own, strict=True):
                fits &= argument == wanted if isinstance(argument, str) else ids[argument] == index[str(wanted)]
            if fits.any():
                found[other] = tuple(np.flatnonzero(fits).tolist())
        return found
