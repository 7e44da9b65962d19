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

from lnnkit.engine.inference_run import Run
from lnnkit.explain.proof.quickxplain import minimal_at_once
from lnnkit.explain.provenance.bound_sources import BoundHistory, BoundSources, Completed, Reading, Unlisted
from lnnkit.explain.provenance.ground_text import Argument, GroundText
from lnnkit.explain.provenance.instance_view import EndRead, InstanceView, InstanceViews
from lnnkit.formula.unfolding import Formula
from lnnkit.join.instances.grounding import Grounding
from lnnkit.logic.bounds import tolerance

_MOST = 2000  # instances examined one by one; with more, the explanation says that it is incomplete
_ALL = 5  # with up to this many defaults all 32 subsets are tried, with more only pairs; 0 to 8 cost alike
Enough = Callable[[Sequence[Sequence[EndRead]]], Sequence[bool]]
_BlanketAtom = tuple[int, str, tuple[Argument, ...]]  # a leaf, its table, and its arguments


@dataclass(slots=True)
class Held:
    """What limits all instances, each with its formula. ``all_seen`` is false if there were too many to examine."""

    reads: list[tuple[Formula, EndRead]] = field(default_factory=list)
    looked: int = 0

    @property
    def all_seen(self) -> bool:
        return self.looked <= _MOST


@dataclass
class CompletionProofs:
    """Searches the rules that define a completed predicate."""

    run: Run
    history: BoundHistory
    sources: BoundSources
    wording: GroundText
    views: InstanceViews
    _exceptions: dict[tuple[str, int], list[np.ndarray]] = field(default_factory=dict)

    @property
    def grounding(self) -> Grounding:
        return self.run.grounding

    def held(self, source: Completed) -> Held:
        """Why no rule derives more than ``source.value``."""
        held, index = Held(), self.grounding.domain.index
        entities = [index[argument] if isinstance(argument, str) else None for argument in source.arguments]
        completion = self.history.completions[source.completion]
        for predicates, members in self.run.strata:
            if predicates != completion.predicates:
                continue
            for member in members:
                formula = self.grounding.members[member].formula
                for head in sorted(formula.heads):
                    if formula.neurons[head].source != source.table:
                        continue
                    bindings = self.views.unified(formula, head, entities)
                    if bindings is not None:
                        _InstanceSearch(self, formula, head, source, completion.stop, held).run(bindings)
        return held

    def excepted(self, table: str, completion: int) -> frozenset[tuple[str, ...]]:
        """The atoms of a completed predicate that facts list, or that became true to some degree: the exceptions of a
        conclusion about all others."""
        columns = self.exceptions(table, completion)
        return frozenset(zip(*([self.wording.names[i] for i in c.tolist()] for c in columns), strict=True))

    def exceptions(self, table: str, completion: int) -> list[np.ndarray]:
        """The exceptions as columns of ids."""
        key = table, completion
        if key not in self._exceptions:
            ticks = self.history.completions[completion]
            relation = self.grounding.atoms.tables[table]
            rows = np.arange(len(relation))
            numbers = self.wording.numbers.of(relation, rows)
            kept = np.isin(numbers, self.history.rising(ticks.start, ticks.stop, tolerance(self.run.state.dtype)))
            kept |= relation.flags("given").take(rows)
            self._exceptions[key] = [column[kept] for column in relation.tuples.columns]
        return self._exceptions[key]


class _InstanceSearch:
    """Searches the instances of one rule with one head."""

    def __init__(
        self, rules: CompletionProofs, formula: Formula, head: int, source: Completed, tick: int, held: Held
    ) -> None:
        self._rules = rules
        self._formula = formula
        self._head = head
        self._source = source
        self._tick = tick
        self._held = held
        self._leaves = [leaf for leaf in formula.leaves if leaf not in formula.heads]
        self._blanket = any(not isinstance(argument, str) for argument in source.arguments)

    def run(self, bindings: Mapping[int, int]) -> None:
        self._held.looked += 1
        if not self._held.all_seen or (self._blanket and self._has_row(bindings)):
            return
        view, reads = self._look(bindings)
        if self._hold(view, [reads])[0]:
            self._keep(view, reads)
            return
        free = [v for v in self._formula.blocks[0].variables if v not in bindings]
        # The engine's readings do not limit it: report what is missing rather than hide it from the checker.
        if not free:
            self._held.reads += [(self._formula, read) for read in reads]
            return
        generators: list[tuple[Sequence[Mapping[int, int]], EndRead]] = []
        for leaf in self._leaves:
            neuron = self._formula.neurons[leaf]
            if neuron.block or not any(a in free for a in neuron.arguments):
                continue
            for side in (0, 1):
                default = self._default(leaf, side, bindings)
                if default.source is None:
                    continue
                read = EndRead(leaf, (0,), side, default)
                if self._hold(view, [[*reads, read]])[0]:
                    generators.append((self._matching(leaf, bindings), read))
        if not generators:
            variable, domain = free[0], self._rules.grounding.domain
            sort = self._formula.sorts[variable]
            for entity in [*domain.sorts[sort].tolist(), *[domain.stranger] * (sort in domain.open_sorts)]:
                self.run({**bindings, variable: entity})
            return
        matching, read = min(generators, key=lambda pair: len(pair[0]))
        self._keep(view, [*reads, read])
        for more in matching:
            self.run({**bindings, **more})

    def _look(self, bindings: Mapping[int, int]) -> tuple[InstanceView, list[EndRead]]:
        """The instance, and what it reads as far as its variables are bound."""
        generic = self._rules.grounding.domain.generic
        free = {v for v in self._formula.blocks[0].variables if v not in bindings}
        every = {**bindings, **dict.fromkeys(free, generic)}
        views = self._rules.views
        view = views.whole(self._formula, every, free)
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
        return (least <= self._source.value + tolerance(self._rules.run.state.dtype)).tolist()

    def _keep(self, view: InstanceView, reads: Sequence[EndRead]) -> None:
        every = for_every_entity(self._rules.grounding, reads, lambda ways: self._hold(view, ways))
        kept = minimal_at_once(reads, every)
        self._held.reads += [(self._formula, read) for read in kept]

    def _default(self, leaf: int, side: int, bindings: Mapping[int, int]) -> Reading:
        """The reading of a leaf for atoms that have no row."""
        source = self._formula.neurons[leaf].source
        about = self._rules.wording.pattern(self._formula, leaf, self._named(bindings))
        return self._rules.sources.unlisted(source, about, side, self._tick)

    def _named(self, bindings: Mapping[int, int]) -> dict[int, Argument]:
        generic = self._rules.grounding.domain.generic
        return {variable: self._rules.wording.names[e] for variable, e in bindings.items() if e < generic}

    def _matching(self, leaf: int, bindings: Mapping[int, int]) -> list[dict[int, int]]:
        """The bindings from a leaf's materialised atoms, without those that its default covers."""
        rules, neuron, source = self._rules, self._formula.neurons[leaf], self._default(leaf, 1, {}).source
        completed = source.completion if isinstance(source, Completed) else None
        relation = rules.grounding.atoms.tables[neuron.source]
        columns = relation.tuples.columns if completed is None else rules.exceptions(neuron.source, completed)
        fits, first = self._fitting(leaf, columns, bindings)
        if completed is None and rules.wording.is_predicate(neuron.source):
            fits &= relation.flags("given").values
        rows = np.flatnonzero(fits).tolist()
        return [{variable: int(column[row]) for variable, column in first.items()} for row in rows]

    def _has_row(self, bindings: Mapping[int, int]) -> bool:
        """Whether the head is an atom that has bounds of its own."""
        neuron = self._formula.neurons[self._head]
        if any(isinstance(a, int) and a not in bindings for a in neuron.arguments):
            return False
        columns = self._rules.exceptions(neuron.source, self._source.completion)
        return bool(self._fitting(self._head, columns, bindings)[0].any())

    def _fitting(
        self, leaf: int, columns: Sequence[np.ndarray], bindings: Mapping[int, int]
    ) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        """A mask of the atoms in columns of ids that a leaf may be about, and the columns of its unbound variables."""
        fits = np.ones(len(columns[0]) if columns else 1, bool)
        first: dict[int, np.ndarray] = {}
        for argument, column in zip(self._formula.neurons[leaf].arguments, columns, strict=True):
            if isinstance(argument, str):
                fits &= column == self._rules.grounding.domain.index[argument]
            elif argument in bindings:
                fits &= column == bindings[argument]
            else:
                fits &= column == first.setdefault(argument, column)
        return fits, first


def for_every_entity(grounding: Grounding, reads: Sequence[EndRead], enough: Enough) -> Enough:
    """As ``enough``, which tests several subsets of ``reads``, but true only if the reason holds for every entity to
    which the defaults among them apply."""
    blankets = sorted({atom for atom in map(_blanket, reads) if atom and _excepts(grounding, atom)}, key=repr)
    most = len(blankets) if len(blankets) <= _ALL else 2
    parts = [frozenset(some) for size in range(1, most + 1) for some in itertools.combinations(blankets, size)]
    if not parts:
        return enough
    bearable = enough([_without(reads, part) for part in parts])
    lost = [frozenset[_BlanketAtom](), *(part for part, holds in zip(parts, bearable, strict=True) if holds)]

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
    tuples = grounding.atoms.tables[table].tuples
    fits = np.ones(len(tuples), bool)
    for column, argument in zip(tuples.columns, arguments, strict=True):
        if isinstance(argument, str):
            fits &= column == grounding.domain.index[argument]
    return bool(fits.any())
