"""Finds why an atom's bound is no tighter: which instances could tighten it, and which of their premises hold them
back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lnnkit.analysis.leaf_polarity import Polarity
from lnnkit.check.program import Assertion
from lnnkit.engine.start.prepared import Prepared
from lnnkit.explain.as_text import set_apart
from lnnkit.explain.attempt import Attempt, Wanted
from lnnkit.explain.compared import compared
from lnnkit.explain.nearest_instances import Literal, nearest
from lnnkit.explain.proof import Side
from lnnkit.explain.readings import Reading, Readings
from lnnkit.explain.reads import Read, leaf_reads
from lnnkit.explain.reassembly import assemble
from lnnkit.explain.sight import Sight
from lnnkit.explain.timeline import END
from lnnkit.explain.why_not import Missing, Way, WhyNot
from lnnkit.explain.wording import Argument, Wording
from lnnkit.formula.unfolding import Formula, unfold
from lnnkit.graph.lifted import COMPARISON
from lnnkit.logic.bounds import tolerance
from lnnkit.syntax.printer import format_expression

SIDES: tuple[Side, Side] = ("lower", "upper")
_LOOKED_AT = 20  # instances of one statement
_LISTED = 10
_EXCLUDED = 3  # ways that contradict what is known, where there are no others


class Lacking:
    """Looks at the statements that speak of an atom."""

    def __init__(self, prepared: Prepared, readings: Readings, wording: Wording) -> None:
        self._prepared = prepared
        self._grounding = prepared.grounding
        self._readings = readings
        self._wording = wording
        self._eps = tolerance(prepared.state.dtype)
        self._crossed = prepared.state.crossed.flags(len(prepared.grounding.atoms))
        self._formulas = [
            unfold(prepared.lifted, root, through_shared=True, through_comparisons=False)
            for root in prepared.lifted.statements
        ]

    def why_not(
        self, predicate: str, arguments: Sequence[str], side: int, bounds: tuple[float, float], goal: float
    ) -> WhyNot:
        """What could take one side of an atom from its bound towards ``goal``, or as far as its other bound lets it.
        That of a closed predicate is no limit, but only rules that define it make it truer."""
        closed = side == 0 and self._prepared.lifted.graph.nodes[predicate]["closed"]
        bound, other = bounds[side], bounds[1 - side]
        ruled_out = not closed and (goal > other + self._eps if side == 0 else goal < other - self._eps)
        limit = other if ruled_out else goal
        ways = [
            way
            for formula in self._formulas
            for leaf in formula.leaves
            if formula.neurons[leaf].source == predicate and (leaf in formula.heads or not closed)
            for way in self._ways(formula, leaf, arguments, side, bound, limit)
        ]
        unique: dict[object, Way] = {}
        for way in ways:
            key = (id(way.statement), tuple(way.bindings.items()), tuple(each.atom for each in way.missing))
            unique.setdefault(key, way)
        ordered = sorted(unique.values(), key=_effort)
        possible = [way for way in ordered if all(each.against is None for each in way.missing)]
        atom = format_expression(self._wording.conclusion(predicate, arguments))
        shown = (possible or ordered[:_EXCLUDED])[:_LISTED]
        return WhyNot(atom, SIDES[side], bound, goal, shown, other if ruled_out else None)

    def _ways(
        self, formula: Formula, leaf: int, arguments: Sequence[str], side: int, bound: float, goal: float
    ) -> Iterator[Way]:
        """By one statement, through one of its leaves."""
        bindings = self._unified(formula, leaf, arguments)
        ends = [(each.leaf, int(each.end == "upper")) for each in Polarity(formula).reads(leaf, SIDES[side])]
        if bindings is None or formula.neurons[leaf].block:
            return
        free = set(formula.blocks[0].variables)
        literals = [Literal(other, end) for other, end in ends if other != leaf and formula.neurons[other].block == 0]
        looked = nearest(self._grounding, self._prepared.state, formula, literals, bindings)
        for found in looked[:_LOOKED_AT]:
            way = self._way(formula, leaf, found, free - set(found), ends, side, bound, goal)
            if way is not None:
                yield way

    def _way(
        self,
        formula: Formula,
        leaf: int,
        bindings: Mapping[int, int],
        free: set[int],
        ends: Sequence[tuple[int, int]],
        side: int,
        bound: float,
        goal: float,
    ) -> Way | None:
        """By one instance: where an equivalence reads both ends of an operand, by that which leads further."""
        generic = self._grounding.domain.generic
        sight = assemble(self._grounding, formula, {**bindings, **dict.fromkeys(free, generic)}, free)
        known: dict[int, Argument] = {v: self._wording.names[entity] for v, entity in bindings.items()}
        reads = [read for read in self._reads(sight, formula, known, free) if read.leaf != leaf]
        tried = [
            Attempt(sight, reads, [w for o, end in chosen for w in self._wanted(sight, reads, leaf, o, end, known)])
            for chosen in _one_end_each(ends)
        ]
        attempt = max(tried, key=lambda one: one.best(leaf, side) if side == 0 else -one.best(leaf, side))
        best = attempt.best(leaf, side)
        reach = min(best, goal) if side == 0 else max(best, goal)
        if (reach - bound if side == 0 else bound - reach) <= self._eps:
            return None
        missing = [self._missing(formula, each, least) for each, least in attempt.least(leaf, side, reach, self._eps)]
        assert formula.root is not None and isinstance(formula.root.origin, Assertion)
        names = formula.root.variables
        said = {names[v]: self._wording.names[entity] for v, entity in bindings.items() if v < len(names)}
        return Way(formula.root.origin, said, reach, missing)

    def _reads(self, sight: Sight, formula: Formula, known: Mapping[int, Argument], free: set[int]) -> list[Read]:
        """All that the instance reads in the end."""
        found: list[Read] = []
        for leaf in formula.leaves:
            if any(argument in free for argument in formula.neurons[leaf].arguments):
                continue
            about = self._wording.pattern(formula, leaf, known)
            found += self._compared(sight, leaf, about)
            for side in (0, 1):
                found += leaf_reads(
                    self._grounding, self._readings, sight, leaf, side, END, lambda _, about=about: about
                )
        return found

    def _compared(self, sight: Sight, leaf: int, about: Sequence[Argument]) -> list[Read]:
        """What its numbers make a comparison that inference did not look at."""
        source, default = sight.table(leaf), self._grounding.atoms.tables[sight.table(leaf)].default_row
        kind = self._prepared.lifted.graph.nodes.get(source, {}).get("kind")
        named = [each for each in about if isinstance(each, str)]
        if kind != COMPARISON or len(named) < len(about) or (sight.rows[leaf] != default).any():
            return []
        places = tuple(range(len(sight.rows[leaf])))
        ends = compared(self._prepared, source, named)
        return [Read(leaf, places, side, Reading(end, None)) for side, end in enumerate(ends)]

    def _wanted(
        self,
        sight: Sight,
        reads: Sequence[Read],
        target: int,
        leaf: int,
        side: int,
        known: Mapping[int, Argument],
    ) -> Iterator[Wanted]:
        """The premises at a leaf that could be met better, those last of which the opposite is known."""
        if (leaf == target and sight.formula.neurons[leaf].block == 0) or sight.formula.neurons[leaf].numeric:
            return
        ends = np.stack([np.zeros(len(sight.rows[leaf])), np.ones(len(sight.rows[leaf]))])
        for read in reads:
            if read.leaf == leaf:
                ends[read.side][list(read.places)] = read.reading.value
        rows = sight.rows[leaf]
        found: list[Wanted] = []
        for row in dict.fromkeys(rows.tolist()):
            places = np.flatnonzero(rows == row)
            default = row == self._grounding.atoms.tables[sight.table(leaf)].default_row
            for mine in [(int(place),) for place in places] if default else [tuple(places.tolist())]:
                now, other = float(ends[side][mine[0]]), float(ends[1 - side][mine[0]])
                if abs(now - (1 - side)) > self._eps:
                    named = self._named(sight, leaf, mine[0], known)
                    alike = self._alike(sight, leaf, mine, named)
                    found.append(Wanted(leaf, mine, named, alike, side, now, other, bool(self._crossed[row])))
        yield from sorted(found, key=lambda each: abs(each.other - (1 - side)) > self._eps)

    def _named(self, sight: Sight, leaf: int, place: int, known: Mapping[int, Argument]) -> dict[int, Argument]:
        """The entities of variables where a leaf stands: those of quantified ones too."""
        block = sight.formula.neurons[leaf].block
        ids = sight.inner[block - 1].ids if block else {}
        found = {v: int(column[place]) for v, column in ids.items()}
        generic = self._grounding.domain.generic
        return {**known, **{v: self._wording.names[entity] for v, entity in found.items() if entity < generic}}

    def _alike(
        self, sight: Sight, leaf: int, places: tuple[int, ...], named: Mapping[int, Argument]
    ) -> dict[int, tuple[int, ...]]:
        """Where the atom behind a leaf is read: at these places, and behind other leaves of its table."""
        formula, index = sight.formula, self._grounding.domain.index
        found = {leaf: places}
        own = self._wording.pattern(formula, leaf, named)
        source = formula.neurons[leaf].source
        others = [other for other in formula.leaves if other != leaf and formula.neurons[other].source == source]
        if not all(isinstance(each, str) for each in own):
            return found
        for other in others:
            neuron = formula.neurons[other]
            ids = sight.inner[neuron.block - 1].ids if neuron.block else sight.bindings
            fits = np.ones(len(sight.rows[other]), bool)
            for argument, wanted in zip(neuron.arguments, own, strict=True):
                fits &= argument == wanted if isinstance(argument, str) else ids[argument] == index[str(wanted)]
            if fits.any():
                found[other] = tuple(np.flatnonzero(fits).tolist())
        return found

    def _missing(self, formula: Formula, wanted: Wanted, needed: float) -> Missing:
        about = self._wording.pattern(formula, wanted.leaf, wanted.named)
        missing = self._wording.conclusion(formula.neurons[wanted.leaf].source, about)
        atom = set_apart(missing, format_expression(missing))
        excluded = needed > wanted.other + self._eps if wanted.side == 0 else needed < wanted.other - self._eps
        return Missing(
            atom, SIDES[wanted.side], wanted.now, needed, wanted.other if excluded else None, wanted.arrested
        )

    def _unified(self, formula: Formula, leaf: int, arguments: Sequence[str]) -> dict[int, int] | None:
        domain = self._grounding.domain
        bindings: dict[int, int] = {}
        for own, argument in zip(formula.neurons[leaf].arguments, arguments, strict=True):
            entity = domain.index[argument]
            if isinstance(own, str):
                if own != argument:
                    return None
            elif bindings.setdefault(own, entity) != entity or not bool(
                (domain.sorts[formula.sorts[own]] == entity).any()
            ):
                return None
        return bindings


def _one_end_each(ends: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The ends that may be met better, one a leaf: the lower or the upper ones of leaves of which both are read."""
    both = {leaf for leaf, _ in ends if {(leaf, 0), (leaf, 1)} <= {*ends}}
    return [
        [(leaf, end) for leaf, end in dict.fromkeys(ends) if leaf not in both or end == chosen] for chosen in (0, 1)
    ]


def _effort(way: Way) -> tuple[object, ...]:
    """Ways that nothing excludes come first, then those that lack least."""
    excluded = sum(each.against is not None for each in way.missing)
    return (excluded, len(way.missing), sum(each.lack for each in way.missing), way.statement.span.start)
