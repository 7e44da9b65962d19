"""The sets of elements that can take a formula's upward bounds past those of the defaults, and back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial

from lnnkit.analysis.causes import (
    NODE,
    Box,
    Cause,
    Movable,
    bare,
    nonmonotone_causes,
    point,
    rising,
    upward_causes,
)
from lnnkit.analysis.families import ALWAYS, NEVER, Element, Family, Polarity, product, union
from lnnkit.formula.passes import neuron_upward
from lnnkit.formula.unfolding import LEAF, Formula, Neuron
from lnnkit.graph.lifted import COMPARISON
from lnnkit.numeric import NO_VALUE, informing

# Equalities tried in all ways, 2 ** 6; 1 and 9 change no time: 7 to 8 ms (benchmarks/inference_constants.py)
_FALLS = 6
_FREE: Box = (0.0, 1.0)
_FALSE: Box = (0.0, 0.0)
_ANY: Box = (-math.inf, math.inf)  # a number of which nothing is known

Ends = tuple[Family, Family]  # the families of the lower and of the upper end


class Upward:
    """The upward analysis of one formula from the ``defaults`` of its leaves. ``vacant`` quantifiers have a fixed value
    over named entities; ``doubtful`` ones may differ because some of their variables are unnamed individuals, for which
    leaves have the ``unnamed`` bounds. At the defaults equalities may have either truth, or are false if entities are
    ``unequal``. The variables ``individuals`` are unnamed ones; ``others`` has the analyses for other sets of them."""

    def __init__(
        self,
        formula: Formula,
        defaults: Mapping[int, Box],
        unnamed: Mapping[int, Box],
        vacant: Mapping[int, Box],
        doubtful: Mapping[int, frozenset[int]],
        polarity: Polarity,
        *,
        unequal: bool = False,
        individuals: frozenset[int] = frozenset(),
        others: dict[frozenset[int], Upward] | None = None,
    ) -> None:
        self.formula = formula
        self.defaults = dict(defaults)
        for leaf, bounds in unnamed.items():
            if individuals.intersection(formula.neurons[leaf].arguments):
                self.defaults[leaf] = bounds
        self.vacant = vacant
        self.doubtful = doubtful
        self.polarity = polarity
        self._unequal = unequal
        self._same = equalities(formula)
        self._individuals = individuals
        self._unnamed = unnamed
        self._others = {} if others is None else others
        self._movers: dict[int, Family] = {}
        self._of = partial(
            Upward,
            formula=formula,
            defaults=defaults,
            unnamed=unnamed,
            vacant=vacant,
            doubtful=doubtful,
            polarity=polarity,
            unequal=unequal,
            others=self._others,
        )

    def others(self, quantifier: int) -> list[Upward]:
        """The analyses in which some variables of a quantifier are unnamed individuals too. Where nothing is known of
        those, all of them tell what any of them may."""
        free = self.doubtful.get(quantifier, frozenset()) - self._individuals
        if not free:
            return []
        affecting = sorted(free & {v for leaf in self._unnamed for v in self.formula.neurons[leaf].arguments})
        unknown = all(bounds == _FREE for bounds in self._unnamed.values())
        sizes = [len(affecting)] if unknown else range(len(affecting) + 1)
        sets = itertools.chain.from_iterable(itertools.combinations(affecting, size) for size in sizes)
        around = self._individuals | free.difference(affecting)
        variants = [around.union(chosen) for chosen in sets if chosen or around != self._individuals]
        for individuals in variants:
            if individuals not in self._others:
                self._others[individuals] = self._of(individuals=individuals)
        return [self._others[individuals] for individuals in variants]

    def default_values(self, node: int) -> list[Box]:
        """The bounds of ``node`` with every leaf at its default, for each assignment of truths to the equalities."""
        beneath = self.polarity.signs_beneath(node)
        same = [i for i in self._same if i in beneath]
        if not same:
            return [self.bases[node]]
        if len(same) <= _FALLS:
            falls = list(itertools.product((0.0, 1.0), repeat=len(same)))
        else:  # enough to decide whether they matter
            falls = [(0.0,) * len(same), (1.0,) * len(same)]
        values = [self._values(dict(zip(same, fall, strict=True)))[node] for fall in falls]
        if len(same) > _FALLS:
            values.append(self.bases[node])
        return list(dict.fromkeys(values))

    def _values(self, falls: Mapping[int, float]) -> list[Box]:
        """The upward bounds from the defaults; equalities that are not in ``falls`` are unknown."""
        values: list[Box] = []
        for index, neuron in enumerate(self.formula.neurons):
            if neuron.kind == LEAF:
                values.append(self.defaults[index])
            elif neuron.kind in ("true", "false"):
                values.append((1.0, 1.0) if neuron.kind == "true" else (0.0, 0.0))
            elif neuron.kind == "same":
                fall = falls.get(index) if index in self._same else 1.0
                values.append(_FREE if fall is None else (fall, fall))
            elif neuron.quantifies:
                low, high = self.vacant.get(index, values[neuron.operands[0]])
                for variant in self.others(index):
                    other = variant.bases[neuron.operands[0]]
                    low, high = (min(low, other[0]), high) if neuron.least else (low, max(high, other[1]))
                values.append((low, high))
            elif neuron.aggregates:
                values.append(self.vacant.get(index) or self._aggregated(index, values))
            else:
                values.append(_single(neuron, [values[operand] for operand in neuron.operands]))
        return values

    @cached_property
    def bases(self) -> list[Box]:
        return self._values(dict.fromkeys(self._same, 0.0) if self._unequal else {})

    @cached_property
    def reach(self) -> tuple[list[Box], list[Ends]]:
        """For each neuron: how far its ends can be tightened, and the families that take them past the base."""
        return self._moved(tightened=True)

    @cached_property
    def loosened(self) -> tuple[list[Box], list[Ends]]:
        """As `reach`, in the other direction: how far its ends can be loosened, and by which leaves."""
        return self._moved(tightened=False)

    def _moved(self, *, tightened: bool) -> tuple[list[Box], list[Ends]]:
        """For each neuron, how far its ends move in one direction, and the families that move them."""
        goal, (up, down) = ((1.0, 0.0), (max, min)) if tightened else (_FREE, (min, max))
        fars: list[Box] = []
        moves: list[Ends] = []
        for index, neuron in enumerate(self.formula.neurons):
            base = self.bases[index]
            far, move = base, (NEVER, NEVER)
            lower, upper = (frozenset({Element(index, "lower")}),), (frozenset({Element(index, "upper")}),)
            if neuron.kind == LEAF and neuron.numeric:
                if tightened or base != _ANY:
                    far, move = base if tightened else _ANY, (lower, upper)
            elif neuron.kind == LEAF:
                far, move = goal, (lower if base[0] != goal[0] else NEVER, upper if base[1] != goal[1] else NEVER)
            elif index in self._same:  # The truth of an equality depends on no atom; most pairs of entities differ.
                if tightened:
                    far, move = goal, (lower, NEVER if self._unequal else ALWAYS)
                elif self._unequal:
                    far, move = goal, (NEVER, lower)
            elif neuron.kind == "not":
                low, high = fars[neuron.operands[0]]
                far, move = (1 - high, 1 - low), (moves[neuron.operands[0]][1], moves[neuron.operands[0]][0])
            elif neuron.quantifies:
                if index not in self.vacant:
                    far, move = fars[neuron.operands[0]], moves[neuron.operands[0]]
                for variant in self.others(index):
                    others, moved = variant.reach if tightened else variant.loosened
                    low, high = others[neuron.operands[0]]
                    far = up(far[0], low), down(far[1], high)
                    move = _with_unnamed(neuron, move, moved[neuron.operands[0]])
            elif neuron.aggregates:
                if tightened:
                    far, move = _ANY, (self.movers(index), self.movers(index))
            elif neuron.arithmetic is not None:
                if tightened or (base != _FREE and neuron.kind == COMPARISON):
                    family = self.informing(index)
                    far, move = goal if family or not tightened else base, (family, family)
            elif neuron.kind in ("iff", "xor"):
                far, move = self._equivalence(neuron, base, moves, tightened=tightened)
            elif neuron.logic is not None:
                far, move = self._connective(neuron, base, fars, moves, tightened=tightened)
            fars.append(far)
            moves.append(move)
        return fars, moves

    def _aggregated(self, index: int, values: Sequence[Box]) -> Box:
        """The value of an aggregate with every leaf at its default; how many candidates there are is not known."""
        neuron = self.formula.neurons[index]
        condition = neuron.operands[0]
        truths = [values[condition], *(variant.bases[condition] for variant in self.others(index))]
        if neuron.kind in ("count", "sum") and all(truth == _FALSE for truth in truths):
            return 0.0, 0.0
        return (0.0, math.inf) if neuron.kind == "count" else _ANY

    def movers(self, index: int) -> Family:
        """The sets of elements that can move a number: either end of a leaf, or what moves an aggregate's condition
        from falsity. One that counts candidates at their default is worked out for each group."""
        neuron = self.formula.neurons[index]
        if not neuron.aggregates:
            return (frozenset({Element(index, "either")}),)
        if index in self.vacant:
            return NEVER
        condition = neuron.operands[0]
        if self.bases[condition] != _FALSE:
            return ALWAYS
        if index not in self._movers:
            part = self._of(
                formula=replace(self.formula, neurons=self.formula.neurons[:index]),
                unnamed={leaf: bounds for leaf, bounds in self._unnamed.items() if leaf < index},
                individuals=self._individuals,
                others={},
            )
            self._movers[index] = union((*part.reach[1][condition], *part.loosened[1][condition]))
        return self._movers[index]

    def _connective(
        self, neuron: Neuron, base: Box, fars: Sequence[Box], moves: Sequence[Ends], *, tightened: bool
    ) -> tuple[Box, Ends]:
        """Each end of a monotone connective depends on one end of each operand, so it moves as if these were points."""
        far, families = list(base), []
        for end in (0, 1):
            points, goals, moving = list[Box](), list[Box](), list[Ends]()
            for place, operand in enumerate(neuron.operands):
                side = end if rising(neuron, place) else 1 - end
                value, move = self.bases[operand][side], moves[operand][side]
                goal = fars[operand][side] if move else value
                points.append((value, value))
                goals.append((goal, goal))
                moving.append((move, move))
            rises = tightened == (end == 0)
            far[end] = (max if rises else min)(base[end], _single(neuron, goals)[end])
            causes = upward_causes(bare(neuron), (*points,), (*goals,), "lower" if rises else "upper", base[end])
            families.append(self.family(causes, moving))
        return (far[0], far[1]), (families[0], families[1])

    def _equivalence(self, neuron: Neuron, base: Box, moves: Sequence[Ends], *, tightened: bool) -> tuple[Box, Ends]:
        """As `_moved`, for an ``iff`` or ``xor``: both ends of each operand move both of its ends."""
        if not tightened:
            family = union(family for operand in neuron.operands for family in moves[operand])
            return (_FREE, (family, family)) if family else (base, (NEVER, NEVER))
        bases, changes = tuple(self.bases[o] for o in neuron.operands), self.changes(neuron.operands, moves)
        movable, families = tuple(change[0] for change in changes), [change[1] for change in changes]
        lower, upper = (nonmonotone_causes(bare(neuron), bases, movable, end) for end in ("lower", "upper"))
        reach = 1.0 if lower else base[0], 0.0 if upper else base[1]
        return reach, (self.family(lower, families), self.family(upper, families))

    def informing(self, index: int) -> Family:
        """The sets of numbers that must be known for a comparison or a term to differ from its default."""
        neuron = self.formula.neurons[index]
        assert neuron.arithmetic is not None
        if neuron.kind == COMPARISON and self.bases[index] != _FREE:  # Any of them may leave it undefined.
            sets: Sequence[frozenset[int]] = [frozenset({place}) for place in range(len(neuron.operands))]
        else:
            free = _ANY, NO_VALUE
            known = {place for place, operand in enumerate(neuron.operands) if self.bases[operand] not in free}
            sets = [
                needed
                for places in informing(neuron.arithmetic, len(neuron.operands))
                for needed in ([places - known] if places - known else [frozenset({place}) for place in places])
            ]
        return union(product([self.movers(neuron.operands[place]) for place in sorted(places)]) for places in sets)

    def changes(self, operands: Sequence[int], moves: Sequence[Ends]) -> list[tuple[Movable, Ends]]:
        """How the ends of operands can move either way, with the families that move them."""
        _, loose = self.loosened
        changes = []
        for o in operands:
            flags = ((bool(moves[o][0]), bool(loose[o][0])), (bool(moves[o][1]), bool(loose[o][1])))
            changes.append((flags, (union([moves[o][0], loose[o][0]]), union([moves[o][1], loose[o][1]]))))
        return changes

    def goals(self, operands: Sequence[int], bests: Sequence[Box], moves: Sequence[Ends]) -> list[Box]:
        """The extreme of each operand's ends; the base for an end that no set of elements moves."""
        return [
            (bests[o][0] if moves[o][0] else self.bases[o][0], bests[o][1] if moves[o][1] else self.bases[o][1])
            for o in operands
        ]

    @staticmethod
    def family(causes: Sequence[Cause], operands: Sequence[Ends], above: Mapping[str, Family] | None = None) -> Family:
        """Causes at a neuron as sets of elements: each port is replaced by one of its own sets; ``operands`` has these
        for the lower and the upper end of each operand."""
        families = []
        for cause in causes:
            parts = []
            for place, end in sorted(cause):
                if place == NODE:
                    parts.append((above or {}).get(end, NEVER))
                else:
                    parts.append(operands[place][end == "upper"])
            families.append(product(parts))
        return union(families)

    def improvements(self, node: int, end: str) -> Family:
        """Sets of elements beneath ``node`` that can take its upward ``end`` past the default."""
        return self.reach[1][node][end == "upper"]

    def loosenings(self, node: int, end: str) -> Family:
        """Sets of elements beneath ``node`` that can take its upward ``end`` back from an informative default."""
        return self.loosened[1][node][end == "upper"]


def _with_unnamed(quantifier: Neuron, named: Ends, unnamed: Ends) -> Ends:
    """What may move a quantifier that is about unnamed individuals too: they can keep a ``forall`` from being true and
    an ``exists`` from being false."""
    if quantifier.least:
        return union([named[0], unnamed[0]]), named[1]
    return named[0], union([named[1], unnamed[1]])


def equalities(formula: Formula) -> tuple[int, ...]:
    """The equalities whose truth is open."""
    neurons = enumerate(formula.neurons)
    return tuple(i for i, neuron in neurons if neuron.kind == "same" and neuron.arguments[0] != neuron.arguments[1])


def _single(neuron: Neuron, operands: Sequence[Box]) -> Box:
    """The neuron's box from one box for each operand."""
    return _upward(neuron, operands) if neuron.arithmetic is not None else _known(bare(neuron), tuple(operands))


@lru_cache(maxsize=2**12)
def _known(neuron: Neuron, operands: tuple[Box, ...]) -> Box:
    """The same, once for all formulas and programs: 24 of 25 calls in the tests of inference are repeated ones."""
    return _upward(neuron, operands)


def _upward(neuron: Neuron, operands: Sequence[Box]) -> Box:
    value = neuron_upward(neuron, [point(box) for box in operands])
    return value.lower.item(), value.upper.item()
