"""Causes: the ends of its operands from which a neuron's message follows, found by running its kernels.

A *port* is an end of an operand, or of the neuron itself as propagated from above, that has left its base (the bounds
that defaults give it). A *cause* is a set of ports. Only minimal causes are kept; smaller ones than necessary are
sound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import cast

import numpy as np

from lnnkit.arrays import DOUBLE, Array
from lnnkit.formula.passes import neuron_downward, neuron_upward
from lnnkit.formula.unfolding import Neuron
from lnnkit.logic.bounds import Bounds, ordered, tolerance

Box = tuple[float, float]
Port = tuple[int, str]  # an operand's index, or NODE; "lower" or "upper"
Cause = frozenset[Port]
Movable = tuple[tuple[bool, bool], tuple[bool, bool]]  # for the lower and the upper end: whether it can tighten, loosen

NODE = -1
_EPS = tolerance(DOUBLE)
_GRID = (0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
# Up to this many ports are tried in all combinations. With 3 to 14, rules of 6 to 30 literals take 242 to 319 CPU ms,
# which is noise, and have the same answers (`python -m benchmarks.inference_constants wide`).
_EXHAUSTIVE = 10


def convex(neuron: Neuron) -> bool:
    """Whether the neuron is monotone in each operand, so that it maps boxes to intervals and each end depends on one
    end of each operand."""
    if neuron.kind in ("iff", "xor"):
        return False
    return neuron.logic is None or neuron.kind in neuron.logic.continuous


def other(end: str) -> str:
    return "upper" if end == "lower" else "lower"


def rising(neuron: Neuron, place: int) -> bool:
    """Whether the neuron is increasing in the operand; undefined for equivalences."""
    return not (neuron.kind == "implies" and place == 0)


def message_side(neuron: Neuron, end: str, place: int) -> str:
    """Which end of the operand at ``place`` a convex neuron can tighten when its ``end`` is given."""
    return end if rising(neuron, place) else other(end)


def message_causes(
    neuron: Neuron, bases: Sequence[Box], bests: Sequence[Box], end: str, level: float, place: int, lost: float
) -> list[Cause]:
    """For a convex neuron whose ``end`` is at ``level``: the minimal causes among the other operands that exclude
    the value ``lost`` for the operand at ``place``, because the level is out of reach with it."""
    if neuron.weights[place] == 0.0:
        return []
    return upward_causes(bare(neuron), tuple(bases), tuple(bests), other(end), level, (place, lost))


@lru_cache(maxsize=2**12)
def upward_causes(
    neuron: Neuron,
    bases: tuple[Box, ...],
    bests: tuple[Box, ...],
    end: str,
    limit: float,
    fixed: tuple[int, float] | None = None,
) -> list[Cause]:
    """For a monotone neuron (`bare`; all but equivalences are): the minimal causes that take its upward ``end`` past
    ``limit``, where ends of operands go at most as far as ``bests``, but for one that is ``fixed``: its place and its
    value. They depend on nothing else, so formulas and programs share them."""
    memory = _cached(neuron, bases, bests)
    operands = [p for p in range(len(bases)) if neuron.weights[p] != 0.0 and (fixed is None or p != fixed[0])]
    ports = [(p, message_side(neuron, end, p)) for p in operands]
    ports = [(p, e) for p, e in ports if bests[p][e == "upper"] != bases[p][e == "upper"]]

    def run(masks: Array) -> list[bool]:
        at = {port: column for column, port in enumerate(ports)}
        boxes = []
        for place, base in enumerate(bases):
            low, high = base if fixed is None or place != fixed[0] else (fixed[1], fixed[1])
            lower = np.full((len(masks),), low, dtype=np.float64)
            upper = np.full((len(masks),), high, dtype=np.float64)
            if (place, "lower") in at:
                lower = np.where(masks[:, at[place, "lower"]], bests[place][0], lower)
                upper = np.maximum(lower, upper)
            if (place, "upper") in at:
                upper = np.where(masks[:, at[place, "upper"]], bests[place][1], upper)
                lower = np.minimum(lower, upper)
            boxes.append(Bounds(lower, upper))
        value = neuron_upward(neuron, boxes)
        return (value.lower > limit + _EPS if end == "lower" else value.upper < limit - _EPS).tolist()

    # What is the same where interchangeable operands are exchanged
    kinds: list[object] = [(neuron.weights[p], end, bases[p], bests[p], rising(neuron, p)) for p, end in ports]
    alike: object = end, limit
    if fixed is not None:
        place, value = fixed
        alike = end, limit, value, neuron.weights[place], bases[place], bests[place], rising(neuron, place)
    if len(ports) > _EXHAUSTIVE:
        return _coarse(ports, kinds, run, memory, alike)
    key = (alike, tuple(kinds))
    if key not in memory:
        codes = np.arange(2 ** len(ports))
        memory[key] = _least(codes[run((codes[:, None] >> np.arange(len(ports)) & 1).astype(bool))].tolist())
    kept = cast("list[int]", memory[key])
    return [frozenset(port for i, port in enumerate(ports) if code >> i & 1) for code in kept]


@lru_cache(maxsize=2**10)
def _cached(neuron: Neuron, bases: tuple[Box, ...], bests: tuple[Box, ...]) -> dict[object, object]:
    """The cached results for a neuron with these bounds, by kinds of operands."""
    return {}


def bare(neuron: Neuron) -> Neuron:
    """The neuron without its position."""
    return Neuron(neuron.kind, (), 0, "", (), neuron.weights, neuron.bias, neuron.logic)


def _least(codes: Iterable[int]) -> list[int]:
    """The minimal ones of some sets, which are bit masks."""
    kept: list[int] = []
    for code in sorted(codes, key=lambda code: (code.bit_count(), code)):
        if not any(code & smaller == smaller for smaller in kept):
            kept.append(code)
    return kept


def _coarse(
    ports: Sequence[Port],
    kinds: Sequence[object],
    run: Callable[[Array], list[bool]],
    memory: dict[object, object],
    alike: object,
) -> list[Cause]:
    """As `upward_causes`, for many ports; ``kinds`` gives the kind of each. One cause has all ports without any one of
    which the test fails; if there are none, each port is a cause."""
    key = (alike, frozenset(Counter(kinds).items()))
    if key not in memory:
        firsts = [kinds.index(kind) for kind in dict.fromkeys(kinds)]
        masks = np.ones((2 + len(firsts), len(ports)), dtype=bool)
        masks[0] = False
        masks[range(2, 2 + len(firsts)), firsts] = False
        always, ever, *without = run(masks)
        needed = {kinds[first] for first, holds in zip(firsts, without, strict=True) if not holds}
        memory[key] = always, ever, needed
    always, ever, needed = cast("tuple[bool, bool, set[object]]", memory[key])
    if always or not ever:
        return [frozenset()] if always else []
    if needed:
        return [frozenset(port for port, kind in zip(ports, kinds, strict=True) if kind in needed)]
    return [frozenset({port}) for port in ports]


# --- non-monotone neurons: their kernels are evaluated on a grid of boxes ---------------------------------------------


@lru_cache(maxsize=2**10)
def nonmonotone_causes(neuron: Neuron, bases: tuple[Box, ...], movable: tuple[Movable, ...], end: str) -> list[Cause]:
    """As `upward_causes`, for an equivalence of truth 1, which is not monotone: with its upward bound as the limit,
    operands take any box that ``movable`` allows."""
    operands, masks = _boxes(neuron, bases, movable)
    value = neuron_upward(neuron, operands)
    base = neuron_upward(neuron, [point(box) for box in bases])
    hit = value.lower > base.lower + _EPS if end == "lower" else value.upper < base.upper - _EPS
    return _least_masks(hit, masks)


@lru_cache(maxsize=2**10)
def nonmonotone_message_causes(
    neuron: Neuron, bases: tuple[Box, ...], movable: tuple[Movable, ...], node: tuple[Box, ...]
) -> dict[Port, list[Cause]]:
    """For a non-monotone neuron (`bare`): the minimal causes of a proposal for each end of each operand, among all ends
    of operands and, if several ``node`` boxes are given (its base first), the neuron's own ends."""
    (x, y), masks = _boxes(neuron, bases, movable)
    count = len(x.lower)
    rows = np.tile(np.arange(count), len(node))
    given = np.array(node, dtype=np.float64).repeat(count, 0)
    operands = [Bounds(box.lower[rows], box.upper[rows]) for box in (x, y)]
    up = neuron_upward(neuron, operands)
    low, high = np.maximum(up.lower, given[:, 0]), np.minimum(up.upper, given[:, 1])
    crossed = low > high + _EPS
    met = ordered(low, high)
    target = Bounds(np.where(crossed, up.lower, met.lower), np.where(crossed, up.upper, met.upper))
    downward = neuron_downward(neuron, target, operands)
    empty = crossed | downward.empty
    moved = masks[rows] + (given != np.array(node[0])) @ np.array([16, 32])
    causes: dict[Port, list[Cause]] = {}
    for place, (box, operand) in enumerate(zip(downward.operands, operands, strict=True)):
        for end, hit in (
            ("lower", (box.lower > operand.lower + _EPS) | empty),
            ("upper", (box.upper < operand.upper - _EPS) | empty),
        ):
            causes[place, end] = _least_masks(hit, moved)
    return causes


def restricted_boxes(base: Box, lower: bool, upper: bool, *, loosened: bool) -> list[Box]:
    """The boxes to which a neuron may be restricted from above, its base first; ``loosened`` ones may be wider than the
    base."""
    return [base, *(box for box in _options(base, ((lower, loosened), (upper, loosened))) if box != base)]


def _options(base: Box, moves: Movable, meeting: Sequence[float] = ()) -> list[Box]:
    """The base, and the boxes of a grid to which its ends can move, including the points ``meeting``."""
    (raised, dropped), (lowered, lifted) = moves
    grid = (*_GRID, *meeting, *base)
    lows = {base[0], *(g for g in grid if (raised and g > base[0]) or (dropped and g < base[0]))}
    highs = {base[1], *(g for g in grid if (lowered and g < base[1]) or (lifted and g > base[1]))}
    return [(low, high) for low in sorted(lows) for high in sorted(highs) if low <= high]


def _meeting(neuron: Neuron, place: int, bases: Sequence[Box]) -> list[float]:
    """The values at which one operand equals the other's end at its base, each scaled by its weight: there an
    equivalence is discontinuous."""
    weight, theirs = neuron.weights[place], neuron.weights[1 - place]
    values = (1 - theirs * (1 - end) / weight for end in bases[1 - place]) if weight > 0 else ()
    return [value for value in values if 0 < value < 1]


def _boxes(neuron: Neuron, bases: Sequence[Box], movable: Sequence[Movable]) -> tuple[list[Bounds], Array]:
    """All combinations of the operands' boxes, and which ends (two bits for each operand) have left their bases."""
    options = [
        _options(base, move, _meeting(neuron, place, bases))
        for place, (base, move) in enumerate(zip(bases, movable, strict=True))
    ]
    grids = np.meshgrid(*(np.arange(len(option)) for option in options), indexing="ij")
    bounds, columns = [], []
    for base, option, grid in zip(bases, options, grids, strict=True):
        picked = np.array(option, dtype=np.float64)[grid.reshape(-1)]
        bounds.append(Bounds(picked[:, 0], picked[:, 1]))
        columns += [picked[:, 0] != base[0], picked[:, 1] != base[1]]
    return bounds, np.stack(columns, 1) @ (1 << np.arange(len(columns)))


def point(box: Box) -> Bounds:
    return Bounds(np.array([box[0]], dtype=np.float64), np.array([box[1]], dtype=np.float64))


def _least_masks(hit: Array, masks: Array) -> list[Cause]:
    """The minimal masks among the hits, as causes: bits 2i and 2i + 1 are operand i's ends, the last two NODE's."""
    return [
        frozenset((bit // 2 if bit < 4 else NODE, ("lower", "upper")[bit % 2]) for bit in range(6) if code >> bit & 1)
        for code in _least(np.flatnonzero(np.bincount(masks[hit])).tolist())
    ]
