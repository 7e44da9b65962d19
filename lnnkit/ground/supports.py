"""Which leaves must say something before an instance can: composed neuron by neuron from what their kernels do.

Three questions are asked of a formula: what can take a neuron's upward bounds past those of the defaults (`moves`),
what lets it hear something from above (`heard`), and what an instance can send to each leaf (`sends`). The answers are
families of sets of elements. They may be coarser than need be, never finer: an instance of which no set is there is
silent, and need not be joined.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch

from lnnkit.ground.evaluate import least_heads, neuron_upward
from lnnkit.ground.families import ALWAYS, NEVER, Element, End, Family, minimal, product, union
from lnnkit.ground.formula import LEAF, Formula, Neuron
from lnnkit.ground.reactions import (
    NODE,
    Box,
    Cause,
    Moves,
    Port,
    convex,
    gap_message_causes,
    gap_upward_causes,
    heard_boxes,
    message_causes,
    message_side,
    other,
    upward_causes,
)
from lnnkit.logic.bounds import Bounds, tolerance

Direction = Literal["least", "most"]  # the root is at least its lower, or at most its upper, bound

AUXILIARY = -1  # stands for the formula's own shared neuron among the leaves

_EPS = tolerance(torch.float64)
NARROW = 24  # a cause of more ports than these is narrowed: that depends on the formula's variables
_FALLS = 6  # so many equalities are tried in all ways
_FREE: Box = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Send:
    """An instance may tighten the ``side`` of ``leaf`` only where one of ``supports`` is there."""

    leaf: int
    side: Literal["lower", "upper"]
    supports: Family


@dataclass(frozen=True, slots=True)
class _Demand:
    """What a neuron's ``end`` may be told from above, where one of ``supports`` is there: just ``level`` if that is
    ``exact``, else anything as far as it."""

    end: str
    level: float
    supports: Family
    exact: bool = False


class Analysis:
    """The supports of one formula, given the default bounds of its tables (and of its auxiliary). ``vacant`` gives the
    value of each quantifier whose sort nobody belongs to. ``memory`` keeps what is found out about single neurons, for
    other formulas that have them too."""

    def __init__(
        self,
        formula: Formula,
        defaults: Mapping[str, Box],
        vacant: Mapping[int, Box],
        memory: dict[object, dict[Port, list[Cause]]],
    ) -> None:
        self.formula = formula
        self._memory = memory
        self.defaults: dict[int, Box] = {
            leaf: _FREE if leaf in formula.heads else defaults[formula.neurons[leaf].source] for leaf in formula.leaves
        }
        if formula.auxiliary is not None:
            self.defaults[AUXILIARY] = defaults[formula.auxiliary]
        self.vacant = vacant
        self._same = [i for i, neuron in enumerate(formula.neurons) if neuron.kind == "same"]

    # --- polarity ---------------------------------------------------------------------------------------------------

    @cached_property
    def signs(self) -> dict[int, int]:
        """How each neuron bears on the root: 1 raises it, -1 lowers it, 0 either; absent neurons are left out."""
        return self.signs_beneath(self.formula.top)

    def signs_beneath(self, top: int) -> dict[int, int]:
        """How each neuron bears on ``top``."""
        signs = {top: 1}
        for index in range(top, -1, -1):
            if index not in signs:
                continue
            neuron, sign = self.formula.neurons[index], signs[index]
            for position, operand in enumerate(neuron.operands):
                if neuron.logic is not None and neuron.weights[position] == 0.0:
                    continue
                if neuron.kind in ("iff", "xor"):
                    signs[operand] = 0
                elif neuron.kind == "not" or (neuron.kind == "implies" and position == 0):
                    signs[operand] = -sign
                else:
                    signs[operand] = sign
        return signs

    def reads(self, leaf: int, side: str) -> list[Element]:
        """The ends that an instance reads to send to one side of a leaf, its own other end among them where it stands
        under an equivalence."""
        found: list[Element] = []
        for direction in self._directions:
            elements = self._elements(direction)
            own = [e for e in elements if e.leaf == leaf]
            if any(other(e.end) == side for e in own):
                found += [e for e in elements if e.leaf != leaf or (len(own) > 1 and e.end == side)]
        return list(dict.fromkeys(found))

    def read_sides(self) -> dict[int, tuple[bool, bool]]:
        """Of which leaves (and of the auxiliary) a change of the lower or the upper side can matter to an instance."""
        gaps = any(n.logic is not None and not convex(n) for n in self.formula.neurons)
        found: dict[int, tuple[bool, bool]] = {}
        for direction in self._directions:
            for element in self._elements(direction):
                low, high = found.get(element.leaf, (False, False))
                both = gaps or element.leaf in self.formula.heads
                found[element.leaf] = (low or both or element.end == "lower", high or both or element.end == "upper")
        return found

    @property
    def _directions(self) -> tuple[Direction, ...]:
        found: list[Direction] = []
        if self.formula.auxiliary is not None or self.formula.lower > _EPS:
            found.append("least")
        if self.formula.auxiliary is not None or self.formula.upper < 1 - _EPS:
            found.append("most")
        return tuple(found)

    def _elements(self, direction: Direction) -> list[Element]:
        """The ends that the constraint reads, whether or not they can deviate."""
        reads = self._ends(self.signs, upper=direction == "least")
        if AUXILIARY in self.defaults:
            reads.append(Element(AUXILIARY, "lower" if direction == "least" else "upper"))
        return reads

    def _ends(self, signs: Mapping[int, int], *, upper: bool) -> list[Element]:
        ends: dict[int, tuple[End, ...]] = {
            0: ("lower", "upper"),
            1: ("upper" if upper else "lower",),
            -1: ("lower" if upper else "upper",),
        }
        return [Element(leaf, end) for leaf in self.formula.leaves if leaf in signs for end in ends[signs[leaf]]]

    # --- upward -----------------------------------------------------------------------------------------------------

    def default_values(self, node: int) -> list[Box]:
        """The bounds of ``node`` with every leaf at its default, for each way in which equalities may fall."""
        beneath = self.signs_beneath(node)
        same = [i for i in self._same if i in beneath]
        if len(same) <= _FALLS:
            falls = list(itertools.product((0.0, 1.0), repeat=len(same)))
        else:  # enough to tell that they matter, if they do
            falls = [(0.0,) * len(same), (1.0,) * len(same)]
        found = [self._values(dict(zip(same, fall, strict=True)))[node] for fall in falls]
        if len(same) > _FALLS:
            found.append(self._bases[node])
        return list(dict.fromkeys(found))

    def _values(self, falls: Mapping[int, float]) -> list[Box]:
        """Upward from the defaults; equalities that are not in ``falls`` may be either."""
        values: list[Box] = []
        for index, neuron in enumerate(self.formula.neurons):
            if neuron.kind == LEAF:
                values.append(self.defaults[index])
            elif neuron.kind in ("true", "false"):
                values.append((1.0, 1.0) if neuron.kind == "true" else (0.0, 0.0))
            elif neuron.kind == "same":
                values.append((falls[index], falls[index]) if index in falls else _FREE)
            elif neuron.kind in ("forall", "exists"):
                values.append(self.vacant.get(index, values[neuron.operands[0]]))
            else:
                values.append(_single(neuron, [values[operand] for operand in neuron.operands]))
        return values

    @cached_property
    def _bases(self) -> list[Box]:
        return self._values({})

    @cached_property
    def _upward(self) -> tuple[list[Box], list[tuple[Family, Family]]]:
        """For each neuron: how far its ends can go, and the families that can take them past the base."""
        bests: list[Box] = []
        moves: list[tuple[Family, Family]] = []
        for index, neuron in enumerate(self.formula.neurons):
            base = self._bases[index]
            best, move = base, (NEVER, NEVER)
            if neuron.kind == LEAF:
                best = (1.0, 0.0)
                move = (
                    (frozenset({Element(index, "lower")}),) if base[0] < 1.0 else NEVER,
                    (frozenset({Element(index, "upper")}),) if base[1] > 0.0 else NEVER,
                )
            elif neuron.kind == "same":  # how it falls rests on no atom
                best, move = (1.0, 0.0), (ALWAYS, ALWAYS)
            elif neuron.kind == "not":
                low, high = bests[neuron.operands[0]]
                best, move = (1 - high, 1 - low), (moves[neuron.operands[0]][1], moves[neuron.operands[0]][0])
            elif neuron.kind in ("forall", "exists"):
                if index not in self.vacant:
                    best, move = bests[neuron.operands[0]], moves[neuron.operands[0]]
            elif neuron.logic is not None:
                best, move = self._connective(neuron, base, bests, moves)
            bests.append(best)
            moves.append(move)
        return bests, moves

    def _connective(
        self, neuron: Neuron, base: Box, bests: Sequence[Box], moves: Sequence[tuple[Family, Family]]
    ) -> tuple[Box, tuple[Family, Family]]:
        bases = [self._bases[operand] for operand in neuron.operands]
        families = []
        reach = list(base)
        for place, end in enumerate(("lower", "upper")):
            if neuron.kind in ("iff", "xor"):
                changes = self._changes(neuron.operands, moves)
                causes = gap_upward_causes(neuron, bases, [change[0] for change in changes], end)
                reach[place] = 1.0 - place if causes else base[place]
                families.append(self._family(causes, [change[1] for change in changes]))
                continue
            else:
                goals = self._goals(neuron.operands, bests, moves)
                causes = upward_causes(neuron, bases, goals, end, base[place])
                ends = [_extreme(b, g, end, neuron, p) for p, (b, g) in enumerate(zip(bases, goals, strict=True))]
                value = _single(neuron, ends)
                reach[place] = max(base[0], value[0]) if place == 0 else min(base[1], value[1])
            families.append(self._family(causes, [moves[o] for o in neuron.operands]))
        return (reach[0], reach[1]), (families[0], families[1])

    def _changes(
        self, operands: Sequence[int], moves: Sequence[tuple[Family, Family]]
    ) -> list[tuple[Moves, tuple[Family, Family]]]:
        """How the ends of operands can move either way, and the families that move them."""
        _, loose = self._loosened
        found = []
        for o in operands:
            flags = ((bool(moves[o][0]), bool(loose[o][0])), (bool(moves[o][1]), bool(loose[o][1])))
            found.append((flags, (union([moves[o][0], loose[o][0]]), union([moves[o][1], loose[o][1]]))))
        return found

    def _goals(
        self, operands: Sequence[int], bests: Sequence[Box], moves: Sequence[tuple[Family, Family]]
    ) -> list[Box]:
        """How far each operand's ends can go; where no set of elements moves an end, its base."""
        return [
            (
                bests[o][0] if moves[o][0] else self._bases[o][0],
                bests[o][1] if moves[o][1] else self._bases[o][1],
            )
            for o in operands
        ]

    @staticmethod
    def _family(
        causes: Sequence[Cause],
        operands: Sequence[tuple[Family, Family]],
        above: Mapping[str, Family] | None = None,
    ) -> Family:
        """Causes at a neuron, as sets of elements: each port is there by one of its own sets, ``operands`` giving them
        for the lower and the upper end of each."""
        found = []
        for cause in causes:
            parts = []
            for place, end in sorted(cause):
                if place == NODE:
                    parts.append((above or {}).get(end, NEVER))
                else:
                    parts.append(operands[place][end == "upper"])
            found.append(product(parts))
        return union(found)

    def improvements(self, node: int, end: str) -> Family:
        """Sets of elements beneath ``node`` that can take its upward ``end`` past the default."""
        return self._upward[1][node][end == "upper"]

    def loosenings(self, node: int, end: str) -> Family:
        """Single leaves beneath ``node`` that may take its ``end`` back from an informative default."""
        values = self.default_values(node)
        if all((low if end == "lower" else 1 - high) <= _EPS for low, high in values):
            return NEVER
        found = []
        for element in self._ends(self.signs_beneath(node), upper=end == "upper"):
            lower, upper = self.defaults[element.leaf]
            if (element.end == "lower" and lower > 0.0) or (element.end == "upper" and upper < 1.0):
                found.append(frozenset({Element(element.leaf, "either")}))
        return minimal(found)

    # --- downward ---------------------------------------------------------------------------------------------------

    @cached_property
    def _heard(self) -> list[list[_Demand]]:
        """For each neuron, what it may be told from above."""
        demands: list[list[_Demand]] = [[] for _ in self.formula.neurons]
        top = demands[self.formula.top]
        if self.formula.auxiliary is None:
            lower, upper = self.formula.lower, self.formula.upper
        else:
            lower, upper = self.defaults[AUXILIARY]
            top.append(_Demand("lower", 1.0, (frozenset({Element(AUXILIARY, "lower")}),)))
            top.append(_Demand("upper", 0.0, (frozenset({Element(AUXILIARY, "upper")}),)))
        if lower > _EPS:
            top.append(_Demand("lower", lower, ALWAYS, exact=True))
        if upper < 1 - _EPS:
            top.append(_Demand("upper", upper, ALWAYS, exact=True))
        for index in range(self.formula.top, -1, -1):
            neuron = self.formula.neurons[index]
            if not demands[index] or not neuron.operands:
                continue
            if neuron.kind == "not":
                demands[neuron.operands[0]] += [
                    _Demand(other(d.end), 1 - d.level, d.supports, d.exact) for d in demands[index]
                ]
            elif neuron.kind in ("forall", "exists"):
                if index not in self.vacant:
                    demands[neuron.operands[0]] += demands[index]
            elif convex(neuron):
                self._pass_on(index, demands)
            else:
                self._pass_through_gaps(index, demands)
        return demands

    def _pass_on(self, index: int, demands: list[list[_Demand]]) -> None:
        neuron = self.formula.neurons[index]
        bests, moves = self._upward
        outs, loose = self._loosened
        bases = [self._bases[operand] for operand in neuron.operands]
        goals = self._goals(neuron.operands, bests, moves)
        families = [moves[operand] for operand in neuron.operands]
        memory: dict[object, object] = {}
        for place, operand in enumerate(neuron.operands):
            found: dict[str, list[Family]] = {}
            for demand in demands[index]:
                side = message_side(neuron, demand.end, place)
                at = int(side == "upper")
                for lost, own in ((bases[place][at], ALWAYS), (outs[operand][at], loose[operand][at])):
                    if own:
                        causes = self._narrow(
                            neuron, message_causes(neuron, bases, goals, demand.end, demand.level, place, lost, memory)
                        )
                        family = product([demand.supports, own, self._family(causes, families)])
                        found.setdefault(side, []).append(family)
            for side, passed in found.items():
                family = union(passed)
                if family:
                    demands[operand].append(_Demand(side, float(side == "lower"), family))

    def _narrow(self, neuron: Neuron, causes: Sequence[Cause]) -> Sequence[Cause]:
        """Of causes that are wider than a join is worth, those ports that between them mention every variable."""
        if all(len(cause) <= NARROW for cause in causes):
            return causes
        keepers = self._keepers(neuron)
        return [cause if len(cause) <= NARROW else frozenset(p for p in cause if p[0] in keepers) for cause in causes]

    def _keepers(self, neuron: Neuron) -> frozenset[int]:
        """Operands that mention every variable that some operand does, twice over, and some more."""
        kept: list[int] = []
        for _ in range(2):
            bound: set[int | str] = set()
            for place, operand in enumerate(neuron.operands):
                arguments = self.formula.neurons[operand].arguments
                if place not in kept and not bound.issuperset(arguments):
                    kept.append(place)
                    bound.update(arguments)
        kept += [place for place in range(len(neuron.operands)) if place not in kept][: max(0, NARROW - len(kept))]
        return frozenset(kept)

    def _pass_through_gaps(self, index: int, demands: list[list[_Demand]]) -> None:
        neuron = self.formula.neurons[index]
        bases = [self._bases[operand] for operand in neuron.operands]
        changes = self._changes(neuron.operands, self._upward[1])
        given = {d.end: d.level for d in demands[index] if d.exact}
        told = {end: union(d.supports for d in demands[index] if d.end == end) for end in ("lower", "upper")}
        start = (given.get("lower", 0.0), given.get("upper", 1.0))
        lower, upper = (any(d.end == end and not d.exact for d in demands[index]) for end in ("lower", "upper"))
        node, movable = heard_boxes(start, lower, upper), [change[0] for change in changes]
        name = neuron.logic.name if neuron.logic is not None else ""
        key = (neuron.kind, name, neuron.weights, neuron.bias, tuple(bases), tuple(movable), tuple(node))
        if key not in self._memory:
            self._memory[key] = gap_message_causes(neuron, bases, movable, node)
        for (place, side), causes in self._memory[key].items():
            family = self._family(causes, [change[1] for change in changes], told)
            if family:
                demands[neuron.operands[place]].append(_Demand(side, float(side == "lower"), family))

    @cached_property
    def sends(self) -> tuple[Send, ...]:
        """What an instance can send, to its leaves and to its own shared neuron."""
        found = []
        for leaf in self.formula.leaves:
            for side in ("lower", "upper"):
                family = union(d.supports for d in self._heard[leaf] if d.end == side)
                if family:
                    found.append(Send(leaf, side, family))
        if self.formula.auxiliary is not None:
            moves = self._upward[1][self.formula.top]
            found += [
                Send(AUXILIARY, side, family) for side, family in zip(("lower", "upper"), moves, strict=True) if family
            ]
        return tuple(found)

    def hears(self, node: int) -> Family:
        """The sets of elements with which an instance may say something of ``node`` from above."""
        return union(demand.supports for demand in self._heard[node])

    def contradictions(self) -> Family:
        """Sets of elements with which the root may miss the bounds that it is given."""
        if self.formula.auxiliary is not None:
            return NEVER
        bests, moves = self._upward
        lower, upper = self.formula.lower, self.formula.upper
        base, best = self._bases[self.formula.top], bests[self.formula.top]
        found: list[Family] = []
        for misses, may, end in (
            (base[1] < lower - _EPS, best[1] < lower - _EPS, 1),
            (base[0] > upper + _EPS, best[0] > upper + _EPS, 0),
        ):
            if misses:
                found.append(ALWAYS)
            elif may:
                found.append(self._past(lower if end else upper, "upper" if end else "lower", moves))
        return union(found)

    def _past(self, limit: float, end: str, moves: Sequence[tuple[Family, Family]]) -> Family:
        """The sets that can take the root's upward ``end`` past ``limit``."""
        top = self.formula.neurons[self.formula.top]
        if top.logic is None or top.kind in ("iff", "xor"):
            return moves[self.formula.top][end == "upper"]
        bases = [self._bases[operand] for operand in top.operands]
        goals = self._goals(top.operands, self._upward[0], moves)
        return self._family(upward_causes(top, bases, goals, end, limit), [moves[o] for o in top.operands])

    # --- completion -------------------------------------------------------------------------------------------------

    def completions(self) -> Family:
        """For a defining statement: sets of leaves that must have left their closed defaults before its antecedent's
        upper end can make a head possible."""
        antecedent = self.formula.neurons[self.formula.top].operands[0]
        loose, moves = self._loosened
        values = [_point(box) for box in self._bases]

        def possible(truth: float) -> bool:
            heads = least_heads(self.formula, torch.tensor([truth], dtype=torch.float64), values, 1.0)
            return any(bool((value > _EPS).any()) for value in heads.values())

        if possible(self._bases[antecedent][1]):
            return ALWAYS
        return moves[antecedent][1] if possible(loose[antecedent][1]) else NEVER

    @cached_property
    def _loosened(self) -> tuple[list[Box], list[tuple[Family, Family]]]:
        """As `_upward`, the other way: how far ends can be let out, and by which leaves."""
        outs: list[Box] = []
        moves: list[tuple[Family, Family]] = []
        for index, neuron in enumerate(self.formula.neurons):
            base = self._bases[index]
            out, move = base, (NEVER, NEVER)
            if neuron.kind == LEAF:
                out = _FREE
                move = (
                    (frozenset({Element(index, "lower")}),) if base[0] > 0.0 else NEVER,
                    (frozenset({Element(index, "upper")}),) if base[1] < 1.0 else NEVER,
                )
            elif neuron.kind == "not":
                low, high = outs[neuron.operands[0]]
                out, move = (1 - high, 1 - low), (moves[neuron.operands[0]][1], moves[neuron.operands[0]][0])
            elif neuron.kind in ("forall", "exists"):
                if index not in self.vacant:
                    out, move = outs[neuron.operands[0]], moves[neuron.operands[0]]
            elif neuron.kind in ("iff", "xor"):
                family = union(f for operand in neuron.operands for f in moves[operand])
                out, move = (_FREE, (family, family)) if family else (base, (NEVER, NEVER))
            elif neuron.logic is not None:
                out, move = self._let_out(neuron, base, outs, moves)
            outs.append(out)
            moves.append(move)
        return outs, moves

    def _let_out(
        self, neuron: Neuron, base: Box, outs: Sequence[Box], moves: Sequence[tuple[Family, Family]]
    ) -> tuple[Box, tuple[Family, Family]]:
        """A connective's upper end rises as its operands' upper ends are let out: the same causes as when they are
        points that rise, and likewise below."""
        reach, families = list(base), []
        for end in (0, 1):
            points = [_twice(self._bases[o][_side(neuron, p, end)]) for p, o in enumerate(neuron.operands)]
            goals = [
                _twice(outs[o][_side(neuron, p, end)]) if moves[o][_side(neuron, p, end)] else points[p]
                for p, o in enumerate(neuron.operands)
            ]
            value = _single(neuron, goals)[end]
            reach[end] = max(base[1], value) if end else min(base[0], value)
            towards = "lower" if end else "upper"  # a rising point moves its lower end past the base
            causes = upward_causes(neuron, points, goals, towards, base[end])
            family = []
            for cause in causes:
                parts = [moves[neuron.operands[place]][_side(neuron, place, end)] for place, _ in sorted(cause)]
                family.append(product(parts))
            families.append(union(family))
        return (reach[0], reach[1]), (families[0], families[1])


def _side(neuron: Neuron, place: int, end: int) -> int:
    """Which end of an operand the neuron's ``end`` (0 lower, 1 upper) rests on."""
    return 1 - end if neuron.kind == "implies" and place == 0 else end


def _extreme(base: Box, goal: Box, end: str, neuron: Neuron, place: int) -> Box:
    """An operand's box when all that helps the neuron's ``end`` has moved."""
    side = _side(neuron, place, int(end == "upper"))
    if side == 0:
        return goal[0], max(goal[0], base[1])
    return min(goal[1], base[0]), goal[1]


def _twice(value: float) -> Box:
    return value, value


def _single(neuron: Neuron, operands: Sequence[Box]) -> Box:
    """One box from one box an operand."""
    value = neuron_upward(neuron, [_point(box) for box in operands])
    return float(value.lower), float(value.upper)


def _point(box: Box) -> Bounds:
    return Bounds(torch.tensor([box[0]], dtype=torch.float64), torch.tensor([box[1]], dtype=torch.float64))
