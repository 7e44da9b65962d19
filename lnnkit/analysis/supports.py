"""Supports: which leaves must leave their defaults before an instance can propose anything, composed neuron by
neuron.

The supports of each leaf are a family of sets of elements. It may be coarser than necessary, never finer: an
instance for which no set is present proposes nothing, and need not be joined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from lnnkit.analysis.causes import (
    Box,
    bare,
    convex,
    message_causes,
    message_side,
    nonmonotone_message_causes,
    other,
    point,
    restricted_boxes,
    upward_causes,
)
from lnnkit.analysis.families import ALWAYS, NEVER, Element, Family, Polarity, minimal, product, union
from lnnkit.analysis.upward_supports import Ends, Upward, equalities
from lnnkit.arrays import DOUBLE, any_set
from lnnkit.formula.passes import least_heads
from lnnkit.formula.quantified_rows import of_their_sorts, too_many_unnamed
from lnnkit.formula.unfolding import AUXILIARY, Formula, shape_key
from lnnkit.logic.bounds import tolerance
from lnnkit.numeric import NO_VALUE, Comparison, Interval
from lnnkit.time_limit import check_time

_EPS = tolerance(DOUBLE)


class Send(NamedTuple):
    """An instance may tighten the ``side`` of ``leaf`` only where one of ``supports`` is present."""

    leaf: int
    side: Literal["lower", "upper"]
    supports: Family


class _ReachedBound(NamedTuple):
    """A bound that may reach a neuron's ``end`` from above where one of ``supports`` is present: exactly ``level`` if
    ``exact``, otherwise anything up to it."""

    end: str
    level: float
    supports: Family
    exact: bool = False


class Analysis:
    """The supports of one formula, given the default bounds of its tables (and of its auxiliary). ``vacant`` has the
    value of each quantifier over an empty sort; ``doubtful`` ones may differ because some of their variables are
    unnamed individuals, for which leaves have the ``unnamed`` bounds."""

    def __init__(
        self,
        formula: Formula,
        defaults: Mapping[str, Box],
        vacant: Mapping[int, Box],
        doubtful: Mapping[int, frozenset[int]],
        unnamed: Mapping[int, Box],
    ) -> None:
        self.formula = formula
        self.vacant = vacant
        self.defaults: dict[int, Box] = {
            leaf: (0.0, 1.0) if leaf in formula.heads else defaults[formula.neurons[leaf].source]
            for leaf in formula.leaves
        }
        if formula.auxiliary is not None:
            self.defaults[AUXILIARY] = defaults[formula.auxiliary]
        self.polarity = Polarity(formula)
        self._unnamed = unnamed
        self.upward = Upward(formula, self.defaults, unnamed, vacant, doubtful, self.polarity)

    @cached_property
    def unequal(self) -> Upward:
        """The upward analysis in which entities are unequal unless an equality says otherwise."""
        if not equalities(self.formula):
            return self.upward
        known = self.defaults, self._unnamed, self.vacant, self.upward.doubtful, self.polarity
        return Upward(self.formula, *known, unequal=True)

    @cached_property
    def _demands(self) -> list[list[_ReachedBound]]:
        """For each neuron, the bounds that may reach it from above."""
        demands: list[list[_ReachedBound]] = [[] for _ in self.formula.neurons]
        top = demands[self.formula.top]
        # A default that operands alone imply tells them nothing; but a comparison, that its terms have a value, if it
        # is known whatever these are.
        unknown = all(self.defaults[leaf] == (-math.inf, math.inf) for leaf in self.formula.leaves)
        compares = self.formula.compares and unknown
        lower, upper = self.defaults[AUXILIARY] if compares else (self.formula.lower, self.formula.upper)
        if self.formula.auxiliary is not None:
            reads = zip(self.formula.reads_own, ("lower", "upper"), (1.0, 0.0), strict=True)
            top += [
                _ReachedBound(end, level, (frozenset({Element(AUXILIARY, end)}),)) for used, end, level in reads if used
            ]
        if lower > _EPS:
            top.append(_ReachedBound("lower", lower, ALWAYS, exact=True))
        if upper < 1 - _EPS:
            top.append(_ReachedBound("upper", upper, ALWAYS, exact=True))
        for index in range(self.formula.top, -1, -1):
            neuron = self.formula.neurons[index]
            if not demands[index] or not neuron.operands:
                continue
            if neuron.kind == "not":
                demands[neuron.operands[0]] += [
                    _ReachedBound(other(d.end), 1 - d.level, d.supports, d.exact) for d in demands[index]
                ]
            elif neuron.quantifies:
                if index not in self.vacant:
                    demands[neuron.operands[0]] += demands[index]
            elif isinstance(neuron.arithmetic, Comparison):
                self._pass_to_numbers(index, demands)
            elif neuron.aggregates or neuron.arithmetic is not None:
                self._pass_to_operands(index, demands)
            elif convex(neuron) or neuron.kind in ("and", "or"):
                self._pass_on(index, demands)
            else:
                self._pass_through_nonmonotone(index, demands)
        return demands

    def _pass_on(self, index: int, demands: list[list[_ReachedBound]]) -> None:
        """Pass the demands on a connective to its operands, under the supports that make its bounds reach them."""
        neuron = self.formula.neurons[index]
        bests, moves = self.upward.reach
        outs, loose = self.upward.loosened
        bases = [self.upward.bases[operand] for operand in neuron.operands]
        goals = self.upward.goals(neuron.operands, bests, moves)
        families = [moves[operand] for operand in neuron.operands]
        both = NEVER
        if not convex(neuron):  # where it jumps, both of its ends together may exclude what neither does
            both = product([union(d.supports for d in demands[index] if d.end == end) for end in ("lower", "upper")])
        for place, operand in enumerate(neuron.operands):
            check_time()
            by_side: dict[str, list[Family]] = {"lower": [both], "upper": [both]}
            for demand in demands[index]:
                side = message_side(neuron, demand.end, place)
                at = int(side == "upper")
                for lost, loosening in ((bases[place][at], ALWAYS), (outs[operand][at], loose[operand][at])):
                    if loosening:
                        causes = message_causes(neuron, bases, goals, demand.end, demand.level, place, lost)
                        family = product([demand.supports, loosening, self.upward.family(causes, families)])
                        by_side.setdefault(side, []).append(family)
            for side, passed in by_side.items():
                family = union(passed)
                if family:
                    demands[operand].append(_ReachedBound(side, float(side == "lower"), family))

    def _pass_to_operands(self, index: int, demands: list[list[_ReachedBound]]) -> None:
        """Propagate what may reach an aggregate or a term to both ends of all its operands. An aggregate tells a
        candidate nothing that is not in it."""
        family = union(demand.supports for demand in demands[index])
        if self.formula.neurons[index].aggregates:
            family = product([family, self.upward.movers(index)])
        for operand in self.formula.neurons[index].operands if family else ():
            demands[operand] += [_ReachedBound("lower", 1.0, family), _ReachedBound("upper", 0.0, family)]

    def _pass_to_numbers(self, index: int, demands: list[list[_ReachedBound]]) -> None:
        """Propagate what may reach a comparison to both ends of all its numbers, together with what reaches it anyway,
        and its own truth where that implies that its terms are defined."""
        neuron = self.formula.neurons[index]
        comparison = neuron.arithmetic
        assert isinstance(comparison, Comparison)
        families = [d.supports for d in demands[index] if not d.exact]
        if any(d.exact for d in demands[index]):
            families.append(minimal(frozenset({Element(operand, "either")}) for operand in neuron.operands))
            lower = max((d.level for d in demands[index] if d.exact and d.end == "lower"), default=0.0)
            upper = min((d.level for d in demands[index] if d.exact and d.end == "upper"), default=1.0)
            numbers = [Interval(*point(self.upward.bases[operand])) for operand in neuron.operands]
            left = comparison.respond(numbers, Interval(*point((lower, upper))))
            if any(
                any_set(old != new)
                for pair in zip(numbers, left.inputs, strict=True)
                for old, new in zip(*pair, strict=True)
            ):
                families.append(ALWAYS)
        if comparison.partial:
            families.append(self.upward.informing(index))
        family = union(families)
        for operand in neuron.operands if family else ():
            demands[operand] += [_ReachedBound("lower", math.inf, family), _ReachedBound("upper", -math.inf, family)]

    def _pass_through_nonmonotone(self, index: int, demands: list[list[_ReachedBound]]) -> None:
        """As `_pass_on`, for an ``iff`` or ``xor``, whose messages depend on both ends of both operands."""
        neuron = self.formula.neurons[index]
        bases = [self.upward.bases[operand] for operand in neuron.operands]
        changes = self.upward.changes(neuron.operands, self.upward.reach[1])
        given = {d.end: d.level for d in demands[index] if d.exact}
        above = {end: union(d.supports for d in demands[index] if d.end == end) for end in ("lower", "upper")}
        start = (given.get("lower", 0.0), given.get("upper", 1.0))
        lower, upper = (any(d.end == end and not d.exact for d in demands[index]) for end in ("lower", "upper"))
        # A shared neuron's own row may be looser than the default that its table starts from.
        node = restricted_boxes(start, lower, upper, loosened=self.formula.auxiliary is not None)
        movable = tuple(change[0] for change in changes)
        passed = nonmonotone_message_causes(bare(neuron), tuple(bases), movable, tuple(node))
        for (place, side), causes in passed.items():
            family = self.upward.family(causes, [change[1] for change in changes], above)
            if family:
                demands[neuron.operands[place]].append(_ReachedBound(side, float(side == "lower"), family))

    @cached_property
    def sends(self) -> tuple[Send, ...]:
        """The proposals that an instance can make, to its leaves and to its own shared neuron."""
        sends = []
        for leaf in self.formula.leaves:
            for side in ("lower", "upper"):
                family = union(d.supports for d in self._demands[leaf] if d.end == side)
                if family:
                    sends.append(Send(leaf, side, family))
        if self.formula.auxiliary is not None:
            sides: tuple[Literal["lower", "upper"], ...] = ("lower", "upper")
            for side, moves in zip(sides, self.upward.reach[1][self.formula.top], strict=True):
                # A neuron that is looser than its default can also be tightened up to the default.
                family = union([moves, self.upward.loosenings(self.formula.top, side)])
                if family:
                    sends.append(Send(AUXILIARY, side, family))
        return tuple(sends)

    def downward(self, node: int) -> Family:
        """The sets of elements under which an instance may bound ``node`` from above."""
        return union(demand.supports for demand in self._demands[node])

    def contradictions(self) -> Family:
        """The sets of elements under which the root may miss its given bounds."""
        if self.formula.auxiliary is not None:
            return NEVER
        bests, moves = self.upward.reach
        lower, upper = self.formula.lower, self.formula.upper
        base, best = self.upward.bases[self.formula.top], bests[self.formula.top]
        families: list[Family] = []
        for misses, may, end in (
            (base[1] < lower - _EPS, best[1] < lower - _EPS, 1),
            (base[0] > upper + _EPS, best[0] > upper + _EPS, 0),
        ):
            if misses:
                families.append(ALWAYS)
            elif may:
                families.append(self._past(lower if end else upper, "upper" if end else "lower", moves))
        return union(families)

    def _past(self, limit: float, end: str, moves: Sequence[Ends]) -> Family:
        """The sets that can take the root's upward ``end`` past ``limit``."""
        top = self.formula.neurons[self.formula.top]
        if top.logic is None or top.kind in ("iff", "xor"):
            return moves[self.formula.top][end == "upper"]
        bases = tuple(self.upward.bases[operand] for operand in top.operands)
        goals = tuple(self.upward.goals(top.operands, self.upward.reach[0], moves))
        return self.upward.family(upward_causes(bare(top), bases, goals, end, limit), [moves[o] for o in top.operands])

    def completions(self) -> Family:
        """For a defining statement: the sets of leaves that must have left their closed defaults (and of equalities
        that must hold) before its antecedent's upper end can make a head possible, or a candidate for a number."""
        antecedent = self.formula.neurons[self.formula.top].operands[0]
        upward = self.unequal
        loose, moves = upward.loosened
        comparison = self.formula.derives
        if comparison is not None:  # a candidate needs a value of each of its numbers
            numbers = [leaf for leaf in comparison.operands if self.defaults[leaf] == NO_VALUE]
            valued = frozenset(Element(leaf, "lower") for leaf in numbers)
            where = ALWAYS if upward.bases[antecedent][1] > _EPS else moves[antecedent][1]
            return product([where, (valued,)])
        if self._possible(upward.bases[antecedent][1]):
            return ALWAYS
        return moves[antecedent][1] if self._possible(loose[antecedent][1]) else NEVER

    def reached(self, unnamed: int) -> set[int]:
        """The heads that a defining statement may make possible where a variable is an ``unnamed`` individual, whatever
        is known of others."""
        bounds = {leaf: self._unnamed.get(leaf, default) for leaf, default in self.defaults.items()}
        known = dict.fromkeys(bounds, (0.0, 1.0)), bounds, self.vacant, self.upward.doubtful, self.polarity
        upward = Upward(self.formula, *known, individuals=frozenset({unnamed}))
        return self._possible(upward.bases[self.formula.neurons[self.formula.top].operands[0]][1])

    def _possible(self, truth: float) -> set[int]:
        """The heads that a defining statement makes true to some degree if its antecedent is so true."""
        # A part without atoms is no truer than necessary: an equality beside a head may fail.
        values = [point((lower, lower)) for lower, _ in self.upward.bases]
        heads = least_heads(self.formula, np.array([truth], dtype=np.float64), values, 1.0)
        return {head for head, value in heads.items() if any_set(value > _EPS)}


@dataclass(frozen=True, slots=True)
class SupportCache:
    """A cache of results by shape of formula. They do not depend on facts, so the cache outlives an inference."""

    analyses: dict[object, Analysis] = field(default_factory=dict)


class Analyses:
    """Analyses of formulas. ``defaults`` has each table's default bounds, ``unnamed`` those of its atoms about unnamed
    individuals if they have others, with the sorts of its places; both may grow while formulas are analysed. Sorts may
    be ``empty``, and ``open_`` to unnamed individuals."""

    def __init__(
        self,
        defaults: Mapping[str, Box],
        unnamed: Mapping[str, tuple[Box, tuple[str, ...]]],
        empty: Set[str],
        open_: Set[str],
        known: SupportCache,
    ) -> None:
        self.defaults: dict[str, Box] = dict(defaults)
        self.unnamed = dict(unnamed)
        self._empty = empty
        self.open_sorts = open_
        self.known = known

    def over(self, defaults: Mapping[str, Box]) -> Analyses:
        """The same analyses for tables with other defaults."""
        return Analyses(defaults, self.unnamed, self._empty, self.open_sorts, self.known)

    def of(self, formula: Formula, *, stated: bool = True) -> Analysis:
        """The analysis of a formula, shared by formulas of one shape over tables of the same defaults. Unless
        ``stated``, nothing that is stated of all tells of unnamed individuals."""
        vacant, (doubtful, unnamed) = self._vacant(formula), self._doubtful(formula, stated=stated)
        key = (
            shape_key(formula, {}, ()),
            (self.defaults[formula.auxiliary], formula.lower, formula.upper) if formula.auxiliary is not None else None,
            tuple(self.defaults[formula.neurons[leaf].source] for leaf in formula.leaves),
            tuple(sorted(vacant.items())),
            tuple(sorted((index, *sorted(variables)) for index, variables in doubtful.items())),
            tuple(sorted(unnamed.items())),
        )
        analysis = self.known.analyses.get(key)
        if analysis is None:
            analysis = self.known.analyses[key] = Analysis(formula, self.defaults, vacant, doubtful, unnamed)
        return analysis

    def _vacant(self, formula: Formula) -> dict[int, Box]:
        """The values of quantifiers over empty sorts: ``forall`` is true and ``exists`` false."""
        vacant: dict[int, Box] = {}
        for index, neuron in enumerate(formula.neurons):
            if neuron.inner < 0:
                continue
            sorts = {formula.sorts[variable] for variable in formula.blocks[neuron.inner].bound}
            if sorts & self._empty:
                vacant[index] = (1.0, 1.0) if neuron.least else (0.0, 0.0)
                if neuron.kind in ("mean", "min", "max"):
                    vacant[index] = (-math.inf, math.inf)
        return vacant

    def _doubtful(self, formula: Formula, *, stated: bool) -> tuple[dict[int, frozenset[int]], dict[int, Box]]:
        """The quantifiers whose body may differ for unnamed individuals, since no other is there or since an atom does,
        with the variables that may be such; and the bounds of leaves that differ."""
        differ: dict[int, Box] = {}
        leaves = [leaf for leaf in formula.leaves if formula.neurons[leaf].source in self.unnamed]
        stated = stated and not too_many_unnamed(formula, leaves, self.open_sorts)
        for leaf in leaves:
            neuron = formula.neurons[leaf]
            bounds, sorts = self.unnamed[neuron.source]
            separate = stated and of_their_sorts(formula, neuron.arguments, sorts, self.open_sorts)
            unnamed = bounds if separate else (-math.inf, math.inf) if neuron.numeric else (0.0, 1.0)
            if unnamed != self.defaults[neuron.source]:
                differ[leaf] = unnamed
        about = {argument for leaf in differ for argument in formula.neurons[leaf].arguments}
        doubtful: dict[int, frozenset[int]] = {}
        for index, neuron in enumerate(formula.neurons):
            bound = () if neuron.inner < 0 else formula.blocks[neuron.inner].bound
            sorts = {formula.sorts[variable] for variable in bound}
            opens = {variable for variable in bound if formula.sorts[variable] in self.open_sorts}
            if not sorts & self._empty:
                opens &= about
            if opens and not sorts & self._empty - self.open_sorts:
                doubtful[index] = frozenset(opens)
        return doubtful, differ
