"""Random neurons, boxes and node bounds, and the check of the kernels on them against `brute`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from lnnkit.logic import Bounds, Inverse, enter, logic_named
from tests.logic import brute
from tests.logic.brute import Array, Neuron

LOGICS = ("lukasiewicz", "product", "godel")
WRITTEN = {"conjunction": "and", "disjunction": "or", "implication": "implies", "equivalence": "iff"}
KINDS = tuple(WRITTEN)
WEIGHTS = (0.0, 0.3, 0.5, 1.0, 1.0, 1.7, 2.5)
BIASES = (0.0, 0.4, 1.0, 1.0, 1.3, 2.6)
NEAR = 1e-7  # how close to a hull's end a feasible point must be found
SLACK = 1e-9


class Rows(NamedTuple):
    """Boxes ``[m, k]`` of operands and node bounds ``[m]``, as numpy."""

    lower: Array
    upper: Array
    low: Array
    high: Array


def arrays(lower: Array, upper: Array) -> Bounds:
    return Bounds(np.ascontiguousarray(lower), np.ascontiguousarray(upper))


def tensors(lower: Array, upper: Array) -> Bounds:
    return Bounds(torch.from_numpy(np.ascontiguousarray(lower)), torch.from_numpy(np.ascontiguousarray(upper)))


def upward(neuron: Neuron, operands: list[Bounds]) -> Bounds:
    """The kernel's image."""
    return logic_named(neuron.logic).up(WRITTEN[neuron.kind], operands, neuron.weights, neuron.bias)


def downward(neuron: Neuron, node: Bounds, operands: list[Bounds]) -> Inverse:
    """The kernel's inverse."""
    return logic_named(neuron.logic).down(WRITTEN[neuron.kind], node, operands, neuron.weights, neuron.bias)


def random_neuron(rng: np.random.Generator, logic: str, kind: str) -> Neuron:
    binary = kind in ("implication", "equivalence")
    count = 2 if binary else int(rng.integers(1, 5))
    weights = tuple(float(rng.choice(WEIGHTS)) if rng.random() < 0.7 else rng.uniform(0.25, 3) for _ in range(count))
    bias = float(rng.choice(BIASES)) if rng.random() < 0.7 else 3 * rng.random()
    if kind == "equivalence" and logic != "lukasiewicz":
        bias = 1.0
    return Neuron(logic, kind, weights, bias)


def random_rows(rng: np.random.Generator, neuron: Neuron, count: int) -> Rows:
    """Boxes of all shapes; node bounds around a truth that a point of the box has, or anywhere."""
    shape = (count, len(neuron.weights))

    def ends() -> Array:
        tenths = np.round(rng.random(shape) * 10) / 10
        return np.choose(rng.integers(0, 4, shape), [tenths, rng.random(shape), np.zeros(shape), np.ones(shape)])

    first, second = ends(), ends()
    second = np.where(rng.random(shape) < 0.25, first, second)
    lower, upper = np.minimum(first, second), np.maximum(first, second)
    whole = rng.random(shape) < 0.15
    lower, upper = np.where(whole, 0.0, lower), np.where(whole, 1.0, upper)
    truth = brute.truth(neuron, brute.sample(rng, lower, upper, 1))[:, 0]
    truth = np.where(rng.random(count) < 0.15, rng.random(count), truth)
    below = np.choose(rng.integers(0, 3, count), [np.zeros(count), rng.random(count), np.ones(count)])
    above = np.choose(rng.integers(0, 3, count), [np.zeros(count), rng.random(count), np.ones(count)])
    return Rows(lower, upper, np.clip(truth - below, 0, 1), np.clip(truth + above, 0, 1))


def check(neuron: Neuron, rows: Rows, rng: np.random.Generator, samples: int = 100) -> None:
    """The kernels' hulls hold every point found, and every end of them is attained."""
    lower, upper, low, high = rows
    width = lower.shape[1]
    operands = [enter(arrays(lower[:, i], upper[:, i])) for i in range(width)]
    image = upward(neuron, operands)
    points = brute.sample(rng, lower, upper, samples)
    every = brute.truths(neuron, points)
    least, most = image.lower, image.upper
    for values in every:
        say(neuron, rows, (values < least[:, None] - SLACK).any(1) | (values > most[:, None] + SLACK).any(1), "image")
    for end in (least, most):
        say(neuron, rows, ~brute.reachable(neuron, lower, upper, end, end), "image's end")

    # The node meets the image, as the engine does; where they part, there must be no point at all.
    low, high = np.maximum(low, least), np.minimum(high, most)
    parted = low > high + SLACK
    say(neuron, rows, brute.reachable(neuron, lower, upper, rows.low, rows.high, 0.0, parted), "parted")
    low, high = np.where(parted, least, np.minimum(low, high)), np.where(parted, most, np.maximum(low, high))
    met = Rows(lower, upper, low, high)
    found = downward(neuron, arrays(low, high), operands)
    empty = found.empty
    say(neuron, met, brute.reachable(neuron, lower, upper, low, high, 0.0, empty), "empty")
    say(neuron, met, ~empty & ~brute.reachable(neuron, lower, upper, low, high), "not empty")
    feasible = np.any([(values >= low[:, None]) & (values <= high[:, None]) for values in every], 0) & ~empty[:, None]
    for i, hull in enumerate(found.operands):
        left, right = hull.lower, hull.upper
        say(neuron, met, (left > right) | (left < lower[:, i]) | (right > upper[:, i]), f"outside box {i}")
        outside = (points[..., i] < left[:, None] - SLACK) | (points[..., i] > right[:, None] + SLACK)
        say(neuron, met, (feasible & outside).any(1), f"unsound {i}")
        for end, name in ((left, "lower"), (right, "upper")):
            near_lower, near_upper = lower.copy(), upper.copy()
            near_lower[:, i] = np.clip(end - NEAR, lower[:, i], upper[:, i])
            near_upper[:, i] = np.clip(end + NEAR, lower[:, i], upper[:, i])
            say(neuron, met, ~empty & ~brute.reachable(neuron, near_lower, near_upper, low, high), f"loose {name} {i}")
        for cut_lower, cut_upper, name in ((lower[:, i], left, "lower"), (right, upper[:, i], "upper")):
            # What the hull cut off, less a margin, must hold no point.
            cut_lower, cut_upper = cut_lower + (name == "upper") * NEAR, cut_upper - (name == "lower") * NEAR
            rest_lower, rest_upper = lower.copy(), upper.copy()
            cut = (cut_upper > cut_lower) & ~empty
            rest_lower[:, i], rest_upper[:, i] = np.where(cut, cut_lower, 0.0), np.where(cut, cut_upper, 0.0)
            wrong = brute.reachable(neuron, rest_lower, rest_upper, low, high, 0.0, cut)
            say(neuron, met, wrong, f"cut {name} {i}")


def say(neuron: Neuron, rows: Rows, wrong: np.ndarray | np.bool_, what: str) -> None:
    """Fail with the first wrong row, ready to be copied into a regression test."""
    if np.any(wrong):
        row = int(np.argmax(wrong))
        boxes = [(float(a), float(b)) for a, b in zip(rows.lower[row], rows.upper[row], strict=True)]
        operands = [enter(arrays(np.array([a]), np.array([b]))) for a, b in boxes]
        node = arrays(rows.low[row : row + 1], rows.high[row : row + 1])
        raise AssertionError(
            f"{what} ({int(np.sum(wrong))} rows): {neuron}, boxes {boxes}, node {tuple(map(float, node))},"
            f" image {tuple(map(float, upward(neuron, operands)))}, found {downward(neuron, node, operands)}"
        )
