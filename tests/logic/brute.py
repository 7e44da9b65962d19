"""Brute force for one neuron: its truth at a point, from P2's definitions, and searches over boxes. Knows no lnnkit.

Points are numpy arrays ``[..., k]``. A neuron is ``(logic, kind, weights, bias)``. The searches move along a segment on
which the neuron is monotone and bisect for a truth in ``[low, high]``, so they find what the neuron can do between two
points without using any closed form of its inverse.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
EQUAL = 1e-9  # the tolerance: within this, A and B may be equal, or either the greater
ROUNDED = 1e-12  # so near 0, a weighted level may be rounding


class Neuron(NamedTuple):
    """A connective with its parameters."""

    logic: str
    kind: str
    weights: tuple[float, ...]
    bias: float


def clamp(value: Array) -> Array:
    return np.clip(value, 0.0, 1.0)


def power(base: Array, exponent: float) -> Array:
    return np.ones_like(base) if exponent == 0 else np.power(base, exponent)


def conjunction(logic: str, x: Array, weights: tuple[float, ...], bias: float) -> Array:
    """``g^-1(S(w_i g(x_i)) - (b - 1))``."""
    columns = [x[..., i] for i in range(x.shape[-1])]
    if logic == "product":
        value = np.full(x.shape[:-1], np.exp(bias - 1))
        for truth, weight in zip(columns, weights, strict=True):
            value = value * power(truth, weight)
        return clamp(value)
    parts = [weight * (1 - truth) for truth, weight in zip(columns, weights, strict=True)]
    return clamp(bias - (np.sum(parts, 0) if logic == "lukasiewicz" else np.maximum.reduce([*parts, 0 * parts[0]])))


def implication(logic: str, x: Array, y: Array, weights: tuple[float, ...], bias: float, equal: float = EQUAL) -> Array:
    """Lukasiewicz: the LNN paper's form. Else the residuum of the weighted conjunction, in closed form. Goedel's jumps:
    ``equal`` says how far ``A`` may pass ``B`` before it falls; below 0, ``A`` of 0 and ``B`` of 1 still hold."""
    wx, wy = weights
    if logic == "lukasiewicz":
        return clamp(1 - bias + wx * (1 - x) + wy * y)
    if logic == "product":
        top, bottom = np.exp(1 - bias) * power(y, wy), power(x, wx)
        return np.where(top >= bottom, 1.0, top / np.where(bottom > top, bottom, 1.0))
    level, most = bias - wx * (1 - x), 1 - wy * (1 - y)
    a, b = clamp(level), clamp(most)
    crisp = (level <= (0.0 if wx == bias == 1 else -ROUNDED)) | (wy * (1 - y) == 0)
    return np.where((a <= b + equal) | ((equal < 0) & crisp), 1.0, clamp(b + 1 - bias))


def truth(neuron: Neuron, x: Array, equal: float = EQUAL) -> Array:
    """The neuron's truth at points ``[..., k] -> [...]``."""
    logic, kind, weights, bias = neuron
    if kind == "conjunction":
        return conjunction(logic, x, weights, bias)
    if kind == "disjunction":
        return 1 - conjunction(logic, 1 - x, weights, bias)
    forth = implication(logic, x[..., 0], x[..., 1], weights, bias, equal)
    if kind == "implication":
        return forth
    return np.minimum(forth, implication(logic, x[..., 1], x[..., 0], weights[::-1], bias, equal))


def truths(neuron: Neuron, x: Array) -> list[Array]:
    """All that the neuron's truth may be at points: where it jumps, what it is on either side."""
    return [truth(neuron, x, equal) for equal in ((EQUAL, -EQUAL) if jumps(neuron) else (EQUAL,))]


def jumps(neuron: Neuron) -> bool:
    return neuron.logic == "godel" and neuron.kind in ("implication", "equivalence")


def balance(neuron: Neuron, x: Array) -> Array:
    """For an equivalence: increasing in y, falling in x, and 0 where its truth turns from rising to falling."""
    left, right = x[..., 0], x[..., 1]
    wx, wy = neuron.weights
    if neuron.logic == "lukasiewicz":
        return (wx * (1 - left) + wy * right) - (wy * (1 - right) + wx * left)
    if neuron.logic == "product":
        return power(right, wy) - power(left, wx)
    return clamp(1 - wy * (1 - right)) - clamp(1 - wx * (1 - left))


def point(start: Array, end: Array, t: Array) -> Array:
    """Between two points, with ``t`` bent so that steps close to either end are small enough for any power."""
    near, far = t**8, (1 - t) ** 8
    from_start, from_end = (near / (near + far))[..., None], (far / (near + far))[..., None]
    mixed = np.where(from_start < 0.5, start + from_start * (end - start), end + from_end * (start - end))
    return np.clip(mixed, np.minimum(start, end), np.maximum(start, end))


def between(neuron: Neuron, start: Array, end: Array, low: Array, high: Array, slack: float, equal: float) -> Flags:
    """Is a truth in ``[low, high]`` found on the segments, on each of which the neuron is monotone?"""
    found = np.zeros(low.shape, bool)
    first, last = truth(neuron, start, equal), truth(neuron, end, equal)
    rising = last >= first
    for value in (first, last):
        found |= (value >= low - slack) & (value <= high + slack)
    for target in (low, high, (low + high) / 2):
        rows = np.flatnonzero(~found & (np.minimum(first, last) <= target + slack))
        rows = rows[np.maximum(first, last)[rows] >= target[rows] - slack]
        if not len(rows):
            continue
        left, right = np.zeros(len(rows)), np.ones(len(rows))
        for _ in range(64):
            middle = (left + right) / 2
            value = truth(neuron, point(start[rows], end[rows], middle), equal)
            found[rows] |= (value >= low[rows] - slack) & (value <= high[rows] + slack)
            before = np.where(rising[rows], value < target[rows], value > target[rows])
            left, right = np.where(before, middle, left), np.where(before, right, middle)
            if found[rows].all():
                break
    return found


def segments(neuron: Neuron, lower: Array, upper: Array) -> list[tuple[Array, Array]]:
    """Segments through boxes ``[m, k]`` on which the neuron is monotone and which reach all its truths there."""
    if neuron.kind in ("conjunction", "disjunction"):
        return [(lower, upper)]
    least = np.stack([upper[:, 0], lower[:, 1]], -1)
    most = np.stack([lower[:, 0], upper[:, 1]], -1)
    if neuron.kind == "implication" and neuron.logic == "lukasiewicz":
        return [(least, most)]
    pairs: list[tuple[Array, Array]] = [(least, most)] if neuron.kind == "implication" else []
    for fixed, moving in ((0, 1), (1, 0)):  # a jump or a crest: one operand held at several values
        for part in (0.0, 0.5, 1.0):
            start, end = lower.copy(), upper.copy()
            start[:, fixed] = end[:, fixed] = lower[:, fixed] + part * (upper[:, fixed] - lower[:, fixed])
            turn = turning(neuron, start, end, falling=moving == 0)
            pairs += [(start, turn), (turn, end)]
    return pairs


def turning(neuron: Neuron, start: Array, end: Array, falling: bool) -> Array:
    """Where `balance` changes sign on the segments (an end of them if it does not)."""
    left, right = np.zeros(len(start)), np.ones(len(start))
    for _ in range(54):
        middle = (left + right) / 2
        value = balance(neuron, point(start, end, middle))
        before = value > 0 if falling else value < 0
        left, right = np.where(before, middle, left), np.where(before, right, middle)
    return point(start, end, right)


def reachable(
    neuron: Neuron, lower: Array, upper: Array, low: Array, high: Array, slack: float = 1e-9, rows: Flags | None = None
) -> Flags:
    """Does some point of each box ``[m, k]`` have a truth in ``[low, high]``, within ``slack``? Tries only ``rows``.

    A disjunction is searched as the conjunction that defines it, since floats are coarse near 1.
    """
    if neuron.kind == "disjunction":
        neuron, lower, upper, low, high = neuron._replace(kind="conjunction"), 1 - upper, 1 - lower, 1 - high, 1 - low
    found = np.zeros(len(lower), bool)
    left = np.arange(len(lower)) if rows is None else np.flatnonzero(rows)
    every = segments(neuron, lower[left], upper[left]) if len(left) else []
    for equal, (start, end) in itertools.product((EQUAL, -EQUAL) if jumps(neuron) else (EQUAL,), every):
        open_ = ~found[left]
        if not open_.any():
            break
        there = left[open_]
        found[there] = between(neuron, start[open_], end[open_], low[there], high[there], slack, equal)
    return found


def sample(rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
    """Points of boxes ``[m, k]``: ends, grid points and anything between; ``[m, count, k]``."""
    shape = (lower.shape[0], count, lower.shape[1])
    inside = lower[:, None] + rng.random(shape) * (upper - lower)[:, None]
    tenths = np.clip(np.round(rng.random(shape) * 10) / 10, lower[:, None], upper[:, None])
    low, high = np.broadcast_to(lower[:, None], shape), np.broadcast_to(upper[:, None], shape)
    return np.choose(rng.integers(0, 4, shape), [low, high, inside, tenths])
