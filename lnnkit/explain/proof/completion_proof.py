"""Proofs that a completed atom is no truer: no instance of a rule with it as head derives more.

Instances are searched without being listed: where the default of one literal already limits every instance, the
proof states that once, and only the literal's own atoms are enumerated.

Such reasons hold for every entity that is not named elsewhere. Each of these has some of its atoms at their defaults,
and more specific bounds for others, where these change nothing: so a reason counts only if it holds without any default
that some of them may lack.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lnnkit.explain.proof.quickxplain import minimal_at_once
from lnnkit.explain.provenance.bound_sources import Argument, Completed, Reading, Unlisted
from lnnkit.explain.provenance.instance_view import EndRead, InstanceView, InstanceViews
from lnnkit.formula.unfolding import Formula
from lnnkit.join.instances.grounding import Grounding
from lnnkit.store.layout import Domain

_MOST = 2000  # instances examined one by one; with more, the explanation says that it is incomplete
_ALL = 5  # with up to this many defaults all 32 subsets are tried, with more only pairs; 0 to 8 cost alike
Enough = Callable[[Sequence[Sequence[EndRead]]], Sequence[bool]]
_BlanketAtom = tuple[int, str, tuple[Argument, ...]]  # a leaf, its table, and its arguments


@dataclass(slots=True)
class Limits:
    """What limits all instances, each with its formula. ``all_seen`` is false if there were too many to examine."""

    reads: list[tuple[Formula, EndRead]] = field(default_factory=list)
    looked: int = 0

    @property
    def all_seen(self) -> bool:
        return self.looked <= _MOST


class CompletionProofs:
    """Searches the rules that define a completed predicate."""

    def __init__(self, views: InstanceViews) -> None:
        self.views = views
        self.sources = views.sources
        self.grounding = views.sources.run.grounding
        self._exceptions: dict[tuple[str, int], list[np.ndarray]] = {}

    def limits(self, source: Completed) -> Limits:
        """Why no rule derives more than ``source.value``."""
        limits, index = Limits(), self.grounding.domain.index
        entities = [index[argument] if isinstance(argument, str) else None for argument in source.arguments]
        predicates = self.sources.history.completions[source.completion].predicates
        members = (
            member for stratum, members in self.sources.run.strata if stratum == predicates for member in members
        )
        for formula in (self.grounding.members[member].formula for member in members):
            for head in sorted(formula.heads):
                if formula.neurons[head].source == source.table:
                    bindings = self.views.unified(formula, head, entities)
                    if bindings is not None:
                        _InstanceSearch(self, formula, head, source, limits).run(bindings)
        return limits

    def excepted(self, table: str, completion: int) -> frozenset[tuple[str, ...]]:
        """The exceptions of a conclusion about all atoms: those that facts list, or that became true to some degree."""
        names = self.sources.wording.names
        columns = self.exceptions(table, completion)
        return frozenset(zip(*([names[entity] for entity in column.tolist()] for column in columns), strict=True))

    def exceptions(self, table: str, completion: int) -> list[np.ndarray]:
        """The exceptions as columns of ids."""
        if (table, completion) not in self._exceptions:
            history, relation = self.sources.history, self.grounding.atoms.tables[table]
            rows = np.arange(len(relation))
            rising = history.rising(history.completions[completion], self.sources.eps)
            kept = np.isin(self.sources.wording.numbers.of(relation, rows), rising) | relation.flags("given").take(rows)
            self._exceptions[table, completion] = [column[kept] for column in relation.tuples.columns]
        return self._exceptions[table, completion]


class _InstanceSearch:
    """Searches the instances of one rule with one head."""

    def __init__(self, rules: CompletionProofs, formula: Formula, head: int, source: Completed, limits: Limits) -> None:
        self._rules = rules
        self._domain = rules.grounding.domain
        self._formula = formula
        self._head = head
        self._source = source
        self._tick = rules.sources.history.completions[source.completion].stop
        self._limits = limits
        self._leaves = [leaf for leaf in formula.leaves if leaf not in formula.heads]
        self._blanket = any(not isinstance(argument, str) for argument in source.arguments)

    def run(self, bindings: Mapping[int, int]) -> None:
        self._limits.looked += 1
        if not self._limits.all_seen or (self._blanket and self._has_row(bindings)):
            return
        free = [v for v in self._formula.blocks[0].variables if v not in bindings]
        view, reads = self._look(bindings, free)
        if self._hold(view, [reads])[0]:
            self._keep(view, reads)
            return
        # The engine's readings do not limit it: report what is missing rather than hide it from the checker.
        if not free:
            self._limits.reads += [(self._formula, read) for read in reads]
            return
        generators: list[tuple[Sequence[Mapping[int, int]], EndRead]] = []
        for leaf in self._leaves:
            neuron = self._formula.neurons[leaf]
            for side in (0, 1) if not neuron.block and any(a in free for a in neuron.arguments) else ():
                read = EndRead(leaf, (0,), side, self._default(leaf, side, bindings))
                if read.reading.source is not None and self._hold(view, [[*reads, read]])[0]:
                    generators.append((self._matching(leaf, bindings), read))
        if generators:
            more, read = min(generators, key=lambda pair: len(pair[0]))
            self._keep(view, [*reads, read])
        else:
            variable, domain = free[0], self._domain
            sort = self._formula.sorts[variable]
            strangers = [domain.stranger] if sort in domain.open_sorts else []
            more = [{variable: entity} for entity in (*domain.sorts[sort].tolist(), *strangers)]
        for extended in more:
            self.run({**bindings, **extended})

    def _look(self, bindings: Mapping[int, int], free: Sequence[int]) -> tuple[InstanceView, list[EndRead]]:
        """The instance, and what it reads as far as its variables are bound."""
        views, every = self._rules.views, {**bindings, **dict.fromkeys(free, self._domain.generic)}
        view = views.whole(self._formula, every, {*free})
        reads = [
            read
            for leaf in self._leaves
            if not any(argument in free for argument in self._formula.neurons[leaf].arguments)
            for side in (0, 1)
            for read in views.reads(view, leaf, side, self._tick, self._named(bindings))
        ]
        return view, reads

    def _hold(self, view: InstanceView, ways: Sequence[Sequence[EndRead]]) -> list[bool]:
        """Whether each of several sets of readings limits the head."""
        least = view.least(view.values(ways), self._head)
        return (least <= self._source.value + self._rules.sources.eps).tolist()

    def _keep(self, view: InstanceView, reads: Sequence[EndRead]) -> None:
        every = for_every_entity(self._rules.grounding, reads, lambda ways: self._hold(view, ways))
        self._limits.reads += [(self._formula, read) for read in minimal_at_once(reads, every)]

    def _default(self, leaf: int, side: int, bindings: Mapping[int, int]) -> Reading:
        """The reading of a leaf for atoms that have no row."""
        about = self._rules.sources.wording.pattern(self._formula, leaf, self._named(bindings))
        return self._rules.sources.unlisted(self._formula.neurons[leaf].source, about, side, self._tick)

    def _named(self, bindings: Mapping[int, int]) -> dict[int, Argument]:
        names = self._rules.sources.wording.names
        return {variable: names[entity] for variable, entity in bindings.items() if entity < self._domain.generic}

    def _matching(self, leaf: int, bindings: Mapping[int, int]) -> list[dict[int, int]]:
        """The bindings from a leaf's materialised atoms, without those that its default covers."""
        neuron, source = self._formula.neurons[leaf], self._default(leaf, 1, {}).source
        completed = source.completion if isinstance(source, Completed) else None
        relation = self._rules.grounding.atoms.tables[neuron.source]
        columns = relation.tuples.columns if completed is None else self._rules.exceptions(neuron.source, completed)
        fits, first = _fitting(self._domain, neuron.arguments, columns, bindings)
        if completed is None and self._rules.sources.wording.is_predicate(neuron.source):
            fits &= relation.flags("given").values
        rows = np.flatnonzero(fits).tolist()
        return [{variable: int(column[row]) for variable, column in first.items()} for row in rows]

    def _has_row(self, bindings: Mapping[int, int]) -> bool:
        """Whether the head is an atom that has bounds of its own."""
        neuron = self._formula.neurons[self._head]
        columns = self._rules.exceptions(neuron.source, self._source.completion)
        fits, unbound = _fitting(self._domain, neuron.arguments, columns, bindings)
        return not unbound and bool(fits.any())


def _fitting(
    domain: Domain, arguments: Sequence[int | str], columns: Sequence[np.ndarray], bindings: Mapping[int, int]
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


def for_every_entity(grounding: Grounding, reads: Sequence[EndRead], enough: Enough) -> Enough:
    """As ``enough``, but true only if the reason holds for every entity to which the defaults among ``reads`` apply."""
    blankets = sorted({atom for atom in map(_blanket, reads) if atom and _excepts(grounding, atom)}, key=repr)
    most = len(blankets) if len(blankets) <= _ALL else 2
    parts = [frozenset(some) for size in range(1, most + 1) for some in itertools.combinations(blankets, size)]
    if not parts:
        return enough
    bearable = enough([_without(reads, part) for part in parts])
    lost = [frozenset[_BlanketAtom](), *itertools.compress(parts, bearable)]

    def every(ways: Sequence[Sequence[EndRead]]) -> list[bool]:
        suffices = enough([_without(way, part) for way in ways for part in lost])
        return [all(suffices[start : start + len(lost)]) for start in range(0, len(suffices), len(lost))]

    return every


def _blanket(read: EndRead) -> _BlanketAtom | None:
    match read.reading.source:
        case Unlisted(table, arguments) | Completed(table, arguments):
            return None if all(isinstance(argument, str) for argument in arguments) else (read.leaf, table, arguments)
        case _:
            return None


def _without(reads: Sequence[EndRead], lost: frozenset[_BlanketAtom]) -> list[EndRead]:
    return [read for read in reads if _blanket(read) not in lost] if lost else list(reads)


def _excepts(grounding: Grounding, blanket: _BlanketAtom) -> bool:
    """Whether the table has atoms that match the universal conclusion and may have tighter bounds."""
    _, table, arguments = blanket
    pattern = [argument if isinstance(argument, str) else place for place, argument in enumerate(arguments)]
    return bool(_fitting(grounding.domain, pattern, grounding.atoms.tables[table].tuples.columns, {})[0].any())
