"""Finds why an atom's bound is no tighter: which instances could tighten it, and which of their premises hold them
back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lnnkit.check.program import Assertion
from lnnkit.explain.assemble import assemble
from lnnkit.explain.nearest import Literal, nearest
from lnnkit.explain.necessary import minimal
from lnnkit.explain.proof import Side
from lnnkit.explain.readings import Reading, Readings
from lnnkit.explain.reads import Read, leaf_reads, values_of
from lnnkit.explain.sight import Sight
from lnnkit.explain.timeline import END
from lnnkit.explain.why_not import Missing, Way, WhyNot
from lnnkit.explain.wording import Argument, Wording
from lnnkit.ground.formula import Formula, unfold
from lnnkit.ground.polarity import Polarity
from lnnkit.infer.prepared import Prepared
from lnnkit.logic.bounds import tolerance
from lnnkit.syntax.printer import format_expression

SIDES: tuple[Side, Side] = ("lower", "upper")
_GRID = 33  # truths that are tried at once where the least that is needed is looked for,
_FINER = 4  # and so often, each time between two of them
_ALONE = 32  # premises that are tried each by itself
_LOOKED_AT = 20  # instances of one statement
_LISTED = 10
_EXCLUDED = 3  # ways that contradict what is known, where there are no others


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A premise that could be met better: all that is read of its atom, at some places behind a leaf. ``named`` are the
    entities of variables there, ``alike`` the places behind each leaf at which the same atom is read."""

    leaf: int
    places: tuple[int, ...]
    named: Mapping[int, Argument]
    alike: Mapping[int, tuple[int, ...]]
    side: int
    now: float
    other: float  # its other bound
    arrested: bool  # it contradicts itself: it reads as unknown, whatever it is told

    def at(self, degree: float) -> float:
        """The bound when it is met to a degree."""
        return self.now + degree * ((1.0 - self.side) - self.now)


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

    def why_not(self, predicate: str, arguments: Sequence[str], side: int, bound: float, goal: float) -> WhyNot:
        """What could take one side of an atom from ``bound`` towards ``goal``."""
        ways = [
            way
            for formula in self._formulas
            for leaf in formula.leaves
            if formula.neurons[leaf].source == predicate
            for way in self._ways(formula, leaf, arguments, side, bound, goal)
        ]
        unique: dict[object, Way] = {}
        for way in ways:
            key = (id(way.statement), tuple(way.bindings.items()), tuple(each.atom for each in way.missing))
            unique.setdefault(key, way)
        ordered = sorted(unique.values(), key=_effort)
        possible = [way for way in ordered if all(each.against is None for each in way.missing)]
        atom = format_expression(self._wording.conclusion(predicate, arguments))
        return WhyNot(atom, SIDES[side], bound, goal, (possible or ordered[:_EXCLUDED])[:_LISTED])

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
            _Attempt(sight, reads, [w for o, end in chosen for w in self._wanted(sight, reads, leaf, o, end, known)])
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
            for side in (0, 1):
                found += leaf_reads(
                    self._grounding, self._readings, sight, leaf, side, END, lambda _, about=about: about
                )
        return found

    def _wanted(
        self,
        sight: Sight,
        reads: Sequence[Read],
        target: int,
        leaf: int,
        side: int,
        known: Mapping[int, Argument],
    ) -> Iterator[_Wanted]:
        """The premises at a leaf that could be met better, those last of which the opposite is known."""
        if (leaf == target and sight.formula.neurons[leaf].block == 0) or sight.formula.neurons[leaf].numeric:
            return
        ends = np.stack([np.zeros(len(sight.rows[leaf])), np.ones(len(sight.rows[leaf]))])
        for read in reads:
            if read.leaf == leaf:
                ends[read.side][list(read.places)] = read.reading.value
        rows = sight.rows[leaf]
        found: list[_Wanted] = []
        for row in dict.fromkeys(rows.tolist()):
            places = np.flatnonzero(rows == row)
            default = row == self._grounding.atoms.tables[sight.table(leaf)].default_row
            for mine in [(int(place),) for place in places] if default else [tuple(places.tolist())]:
                now, other = float(ends[side][mine[0]]), float(ends[1 - side][mine[0]])
                if abs(now - (1 - side)) > self._eps:
                    named = self._named(sight, leaf, mine[0], known)
                    alike = self._alike(sight, leaf, mine, named)
                    found.append(_Wanted(leaf, mine, named, alike, side, now, other, bool(self._crossed[row])))
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

    def _missing(self, formula: Formula, wanted: _Wanted, needed: float) -> Missing:
        about = self._wording.pattern(formula, wanted.leaf, wanted.named)
        atom = format_expression(self._wording.conclusion(formula.neurons[wanted.leaf].source, about))
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


@dataclass(frozen=True)
class _Attempt:
    """An instance with what it ``reads``, and the premises that may be met better."""

    sight: Sight
    reads: Sequence[Read]
    wanted: Sequence[_Wanted]

    def best(self, leaf: int, side: int) -> float:
        """What it says at most with all of them met, to whatever degree: more may contradict what is known."""
        got = self._at_once(self.wanted, leaf, side, self._degrees)
        return max(got) if side == 0 else min(got)

    def least(self, leaf: int, side: int, reach: float, eps: float) -> list[tuple[_Wanted, float]]:
        """The premises that it takes to say as much, and the bounds that are enough between them."""

        def enough(value: float) -> bool:
            return value >= reach - eps if side == 0 else value <= reach + eps

        def holds(some: Sequence[_Wanted]) -> bool:
            return any(map(enough, self._at_once(some, leaf, side, self._degrees)))

        alone = next(([each] for each in self.wanted[:_ALONE] if holds([each])), None)
        needed = minimal(self.wanted, holds) if alone is None else alone
        got = self._at_once(needed, leaf, side, self._degrees)
        first = next((i for i, value in enumerate(got) if enough(value)), len(got) - 1)
        below = self._degrees[max(first - 1, 0)]

        def all_of(degrees: Sequence[float]) -> list[bool]:
            return [enough(value) for value in self._at_once(needed, leaf, side, degrees)]

        met = dict.fromkeys(map(id, needed), _refined(below, self._degrees[first], all_of))
        found: list[tuple[_Wanted, float]] = []
        for each in needed:

            def one_of(degrees: Sequence[float], each: _Wanted = each) -> list[bool]:
                ways = [[(one, degree if one is each else met[id(one)]) for one in needed] for degree in degrees]
                return [enough(value) for value in self._says(ways, leaf, side)]

            high = _refined(0.0, met[id(each)], one_of)
            least = round(each.at(high), 4)  # a plain number, if it is enough
            degree = (least - each.now) / ((1.0 - each.side) - each.now)
            if not 0 <= degree <= 1 or not one_of([degree])[0]:
                least, degree = each.at(high), high
            met[id(each)] = degree
            found.append((each, least))
        return found

    @cached_property
    def _degrees(self) -> list[float]:
        """Degrees that are tried: evenly, and those at which a premise comes to what another one is, or is not."""
        values = {value for read in self.reads for value in (read.reading.value, 1 - read.reading.value)}
        at = {
            (value - each.now) / ((1.0 - each.side) - each.now)
            for each in self.wanted
            for value in sorted(values)[:_GRID]
        }
        return sorted({*np.linspace(0.0, 1.0, _GRID).tolist(), *(degree for degree in at if 0 < degree < 1)})

    def _at_once(self, met: Sequence[_Wanted], leaf: int, side: int, degrees: Sequence[float]) -> list[float]:
        """What it says with some premises met, all to the same of these degrees."""
        return self._says([[(each, degree) for each in met] for degree in degrees], leaf, side)

    def _says(self, ways: Sequence[Sequence[tuple[_Wanted, float]]], leaf: int, side: int) -> list[float]:
        return self.sight.says(values_of(self.sight, [self._with(way) for way in ways]), leaf, 0, side).tolist()

    def _with(self, met: Sequence[tuple[_Wanted, float]]) -> list[Read]:
        """The reads with some premises met to a degree; the other bound of each gives way."""
        taken = {(leaf, place) for each, _ in met for leaf, places in each.alike.items() for place in places}
        kept: list[Read] = []
        for read in self.reads:
            places = tuple(place for place in read.places if (read.leaf, place) not in taken)
            if places:
                kept.append(Read(read.leaf, places, read.side, read.reading))
        for each, degree in met:
            reading = Reading(each.at(degree), None)
            kept += [Read(leaf, places, each.side, reading) for leaf, places in each.alike.items()]
        return kept


def _refined(low: float, high: float, enough: Callable[[Sequence[float]], Sequence[bool]]) -> float:
    """The least degree that is enough, as far as it is looked for between two."""
    for _ in range(_FINER):
        degrees = np.linspace(low, high, _GRID).tolist()
        first = next((i for i, holds in enumerate(enough(degrees)) if holds), _GRID - 1)
        low, high = degrees[max(first - 1, 0)], degrees[first]
    return high


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
