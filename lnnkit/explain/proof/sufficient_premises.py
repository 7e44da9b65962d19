"""Minimal subsets with a monotone property, by QuickXplain (Junker 2004); which reads of an instance suffice for a
bound; and why no instance of the rules with a completed atom as head derives more.

Instances are searched without being listed: where the default of one literal already limits every instance, the proof
states that once, and only the literal's own atoms are enumerated. Such reasons hold for every entity that is not named
elsewhere. Each of these has some of its atoms at their defaults, and more specific bounds for others, where these
change nothing: so a reason counts only if it holds without any default that some of them may lack."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import TypeVar

import numpy as np

from lnnkit.explain.provenance.bound_sources import Completed, EntityOrVariable, Unlisted
from lnnkit.explain.provenance.instance_view import EndRead, EndReads, InstanceView, InstanceViews, Substitution
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.join.instances.grounding import Grounding
from lnnkit.store.layout import Domain

_MOST = 2000  # instances examined one by one; with more, the explanation says that it is incomplete
_ALL = 5  # with up to this many defaults all 32 subsets are tried, with more only pairs; 0 to 8 cost alike

T = TypeVar("T")
Enough = Callable[[EndReads], bool]
_BlanketAtom = tuple[int, str, tuple[EntityOrVariable, ...]]  # a leaf, its table, and its arguments


def minimal(items: Sequence[T], enough: Callable[[Sequence[T]], bool]) -> list[T]:
    """A minimal sublist of ``items`` that is ``enough``, a monotone property; earlier items are preferred. All items if
    not even these are. ``enough`` is called about ``k log(n / k)`` times for a result of ``k`` out of ``n`` items."""

    def kept(part: Sequence[T], beside: Sequence[T], grown: bool) -> list[T]:
        """Of a part, what is needed ``beside`` others; whether these have ``grown`` since they were not enough."""
        if grown and enough(beside):
            return []
        if len(part) == 1:
            return [*part]
        half = len(part) // 2
        # the later half is decided first, with the earlier one present: so earlier items are preferred
        later = kept(part[half:], (*part[:half], *beside), True)
        return [*kept(part[:half], (*later, *beside), bool(later)), *later]

    if enough(()):
        return []
    return kept(items, (), False) if enough(items) else list(items)


def _needed(reads: EndReads, enough: Enough) -> EndReads:
    """The same one by one, which asks half as often where most are needed. In a contradiction, where fewer may say what
    all do not, nothing that remains can be dropped alone."""
    kept = [*reads]
    for read in reversed(reads):
        without = [other for other in kept if other is not read]
        kept = without if enough(without) else kept
    return kept


def sufficient(grounding: Grounding, view: InstanceView, reads: EndReads, enough: Enough) -> EndReads:
    """A minimal subset of the reads of a view that is enough for every entity to which the defaults among them apply;
    earlier ones are preferred. All reads if not even these are enough."""
    blankets = sorted({atom for atom in map(_blanket, reads) if atom and _excepts(grounding, atom)}, key=repr)
    most = len(blankets) if len(blankets) <= _ALL else 2
    parts = [frozenset(some) for size in range(1, most + 1) for some in itertools.combinations(blankets, size)]
    if not parts:
        return _needed(reads, enough)
    # Without them anywhere; or, where named elements need them, without them in the row of all others
    least: dict[frozenset[_BlanketAtom], int] = {frozenset(): 0}
    for named in (0, grounding.domain.generic):
        some = (part for part in parts if part not in least)
        least |= {part: named for part in some if enough(_without(reads, part, named, view))}
    return _needed(reads, lambda some: all(enough(_without(some, *loss, view)) for loss in least.items()))


def _blanket(read: EndRead) -> _BlanketAtom | None:
    source = read.reading.source
    if not isinstance(source, Unlisted | Completed) or all(isinstance(a, str) for a in source.arguments):
        return None
    return read.leaf, source.table, source.arguments


def _without(reads: EndReads, lost: Set[_BlanketAtom], named: int, view: InstanceView) -> list[EndRead]:
    """The reads without the defaults that are ``lost``, except in rows about entities with ids below ``named`` alone:
    their atoms do have these defaults."""
    kept: list[EndRead] = []
    for read in reads:
        if lost and _blanket(read) in lost:
            rows = ((place, view.entities(view.formula.block_of(read.leaf), place)) for place in read.places)
            places = tuple(place for place, entities in rows if max(entities.values(), default=0) < named)
            kept += [replace(read, places=places)] if places else []
        else:
            kept.append(read)
    return kept


def _excepts(grounding: Grounding, blanket: _BlanketAtom) -> bool:
    """Whether the table has atoms that match the universal conclusion and may have tighter bounds."""
    _, table, arguments = blanket
    pattern = [argument if isinstance(argument, str) else place for place, argument in enumerate(arguments)]
    return bool(_fitting(grounding.domain, pattern, grounding.atoms.tables[table].tuples.columns, {})[0].any())


class CompletionProof:
    """The ``reads``, each with its formula, by which no instance of a rule derives more than ``source.value``."""

    def __init__(self, views: InstanceViews, source: Completed) -> None:
        self._views, self._source = views, source
        self._sources, self._grounding = views.sources, views.sources.run.grounding
        self._domain, index = self._grounding.domain, self._grounding.domain.index
        completion = self._sources.history.completions[source.completion]
        self._tick = completion.last
        self._blanket = any(not isinstance(argument, str) for argument in source.arguments)
        self.reads: list[tuple[Formula, EndRead]] = []
        self._looked = 0
        entities = [index[argument] if isinstance(argument, str) else None for argument in source.arguments]
        strata = (members for stratum, members in self._sources.run.strata if stratum == completion.predicates)
        for formula in (self._grounding.members[member].formula for members in strata for member in members):
            for head in sorted(formula.heads):
                of_it = formula.neurons[head].source == source.table
                if of_it and (bindings := views.unified(formula, head, entities)) is not None:
                    self._search(formula, head, bindings)

    @property
    def all_seen(self) -> bool:
        """False if there were too many instances to examine."""
        return self._looked <= _MOST

    def _search(self, formula: Formula, head: int, bindings: Substitution) -> None:
        """Search the instances of one rule with one head that extend the bindings."""
        self._looked += 1
        if not self.all_seen or (self._blanket and self._has_row(formula, head, bindings)):
            return
        domain, wording, neurons = self._domain, self._sources.wording, formula.neurons
        free = {variable for variable in formula.blocks[0].variables if variable not in bindings}
        view = self._views.whole(formula, bindings)
        named = self._views.named(view, AUXILIARY, 0)
        leaves = [leaf for leaf in formula.leaves if leaf not in formula.heads]
        bound = ((leaf, side) for leaf in leaves if free.isdisjoint(neurons[leaf].arguments) for side in (0, 1))
        reads = [read for end in bound for read in self._views.reads(view, *end, self._tick, named)]

        def hold(some: EndReads) -> bool:
            """Whether readings limit the head."""
            value = self._source.value
            slack = 0.0 if np.isinf(value) else self._sources.eps * max(1.0, abs(value))
            least = view.least(view.values(some), head).item()
            upward = self._grounding.atoms.tables[self._source.table].completed_side
            return least <= value + slack if upward else least >= value - slack

        def keep(limiting: EndReads) -> None:
            self.reads += [(formula, read) for read in sufficient(self._grounding, view, limiting, hold)]

        if not free or hold(reads):  # readings that do not limit an instance are all kept, for the checker to see
            keep(reads)
            return
        generators: list[tuple[Sequence[Substitution], EndRead]] = []
        for leaf in leaves:
            neuron, about = neurons[leaf], wording.pattern(formula, leaf, named)
            for side in () if neuron.block or free.isdisjoint(neuron.arguments) else (0, 1):
                reading = self._sources.unlisted(neuron.source, about, side, self._tick)
                read = EndRead(leaf, (0,), side, reading)
                if reading.source is not None and hold([*reads, read]):
                    generators.append((self._matching(formula, leaf, bindings), read))
        if generators:
            more, read = min(generators, key=lambda pair: len(pair[0]))
            keep([*reads, read])
        else:
            variable = next(variable for variable in formula.blocks[0].variables if variable in free)
            sort = formula.sorts[variable]
            strangers = [domain.stranger] if sort in domain.open_sorts else []
            more = [{variable: entity} for entity in (*domain.sorts[sort].tolist(), *strangers)]
        for extended in more:
            self._search(formula, head, {**bindings, **extended})

    def _matching(self, formula: Formula, leaf: int, bindings: Substitution) -> list[dict[int, int]]:
        """The bindings from a leaf's materialised atoms, without those that its default covers."""
        neuron, sources = formula.neurons[leaf], self._sources
        relation = self._grounding.atoms.tables[neuron.source]
        about = sources.wording.pattern(formula, leaf, {})
        source = sources.unlisted(neuron.source, about, relation.completed_side, self._tick).source
        columns = sources.exceptions(source) if isinstance(source, Completed) else relation.tuples.columns
        fits, first = _fitting(self._domain, neuron.arguments, columns, bindings)
        if not isinstance(source, Completed) and sources.wording.is_predicate(neuron.source):
            fits &= relation.flags("given").values
        rows = np.flatnonzero(fits).tolist()
        return [{variable: int(column[row]) for variable, column in first.items()} for row in rows]

    def _has_row(self, formula: Formula, head: int, bindings: Substitution) -> bool:
        """Whether the head is an atom that has bounds of its own."""
        columns = self._sources.exceptions(self._source)
        fits, unbound = _fitting(self._domain, formula.neurons[head].arguments, columns, bindings)
        return not unbound and bool(fits.any())


def _fitting(
    domain: Domain, arguments: Sequence[int | str], columns: Sequence[np.ndarray], bindings: Substitution
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """A mask of the atoms in columns of ids that match a pattern, and the columns of its unbound variables."""
    fits = np.ones(len(columns[0]) if columns else 1, bool)
    first: dict[int, np.ndarray] = {}
    for argument, column in zip(arguments, columns, strict=True):
        if isinstance(argument, str):
            fits &= column == domain.index[argument]
        else:
            fits &= column == (bindings[argument] if argument in bindings else first.setdefault(argument, column))
    return fits, first
