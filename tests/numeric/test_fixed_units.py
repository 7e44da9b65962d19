"""Gated and complex units with fixed weights over intervals: no sampled point of the modules' own forward in float64
falls outside of a hull, none is lost by contraction, and ends are reached where each operand is in the unit once."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from lnnkit.numeric import INALU, NALU, NPU, Comparison, Fixed, Interval, Term, constant, frozen, number
from tests.blocks import at_length
from tests.numeric.random_terms import Box, contract, intervals, random_bounds, random_box, sample

ROWS, POINTS = 4, 200
POWERS = (-2.0, -1.0, -0.5, 0.0, 0.3, 0.5, 1.0, 1.5, 2.0)
GATES = (0.0, 0.25, 0.5, 0.9, 1.0)
SHARES = (-1.0, -0.6, 0.0, 0.3, 1.0)

Drawn = tuple[Term, Callable[[Tensor], Tensor]]  # a unit as a term and as a module


def real_power(draw: random.Random, count: int) -> Drawn:
    power, gate = ([draw.choice(values) for _ in range(count)] for values in (POWERS, GATES))
    return frozen("realnpu", {"power": power, "gate": gate}, numbers(count)), NPU.given([power], gate=gate)


def complex_power(draw: random.Random, count: int) -> Drawn:
    power, twisted, gate = ([draw.choice(values) for _ in range(count)] for values in (POWERS, POWERS, GATES))
    unit = NPU.given([power], [twisted], gate)
    given = {"power": power, "imaginary": twisted, "gate": gate}
    return frozen("npu", given, numbers(count)), unit


def nalu(draw: random.Random, count: int) -> Drawn:
    weight = [draw.choice(SHARES) for _ in range(count)]
    gate = [draw.choice((-30.0, -1.0, 0.0, 0.2, 3.0)) for _ in range(count)]
    return frozen("nalu", {"weight": weight, "gate": gate}, numbers(count)), NALU.given([weight], [gate])


def inalu(draw: random.Random, count: int) -> Drawn:
    adding, multiplying = ([draw.choice(SHARES) for _ in range(count)] for _ in range(2))
    gate = draw.choice(GATES)
    given: dict[str, float | Sequence[float]] = {"add": adding, "multiply": multiplying, "gate": gate}
    return frozen("inalu", given, numbers(count)), INALU.given([adding], [multiplying], [gate])


UNITS = {"realnpu": real_power, "npu": complex_power, "nalu": nalu, "inalu": inalu}


def numbers(count: int) -> list[Term]:
    return [number(index) for index in range(count)]


def values_of(unit: Callable[[Tensor], Tensor], at: Sequence[np.ndarray]) -> np.ndarray:
    """What the module says; nan where that is no number."""
    with torch.no_grad():
        found = unit(torch.tensor(np.stack(at, 1)))[:, 0].numpy()
    return np.where(np.isfinite(found), found, np.nan)


def room(module: Callable[[Tensor], Tensor], at: Sequence[np.ndarray], values: np.ndarray) -> np.ndarray:
    """1e-9, relative to the value or, where parts cancel, to them: a cosine times a size, a sum."""
    if not isinstance(module, NPU):
        return 1e-9 * np.maximum(np.abs(values) + sum(np.abs(each) for each in at), 1.0)
    given = {key: each.numpy() for key, each in module.attributes().items()}
    with np.errstate(all="ignore"):
        x = np.stack(at, 1)
        logs = np.log(np.where(x == 0, 1.0, given["gate"] * np.abs(x) + 1 - given["gate"]))
        grown = np.exp(logs @ given["power"][0] - math.pi * given["gate"] * (x < 0) @ given["imaginary"][0])
    return 1e-9 * np.maximum(np.abs(values), 1.0) + 1e-13 * grown


@pytest.mark.parametrize("count", at_length([15, 60], plain=1))
@pytest.mark.parametrize("unit", UNITS)
def test_hulls_hold_what_the_modules_say(unit: str, count: int) -> None:
    check_hulls(unit, 3, count)


@pytest.mark.parametrize("count", at_length([6, 12], plain=1))
@pytest.mark.parametrize("unit", UNITS)
def test_contractions_lose_nothing(unit: str, count: int) -> None:
    check_contractions(unit, 4, count)


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("seed", range(5, 8))
def test_thousands_of_units(unit: str, seed: int) -> None:
    check_hulls(unit, seed, 800)
    check_contractions(unit, seed, 150)


def check_hulls(unit: str, seed: int, count: int) -> None:
    draw, points = random.Random(f"{unit} {seed}"), np.random.default_rng(seed)
    met = tight = 0
    for _ in range(count):
        size = draw.choice((1, 1, 2, 2, 3))
        term, module = UNITS[unit](draw, size)
        boxes = [[random_box(draw) for _ in range(size)] for _ in range(ROWS)]
        hull, defined = term.hull(intervals(boxes))
        assert not bool(np.isnan(hull.lower).any() | np.isnan(hull.upper).any())
        for row, box in enumerate(boxes):
            at = [sample(points, each, POINTS) for each in box]
            values = values_of(module, at)
            kept = ~np.isnan(values)
            met += int(kept.sum())
            assert not kept.any() or bool(defined[row]), (term, box)
            slack = room(module, at, values)
            low, high = hull.lower[row].item(), hull.upper[row].item()
            wrong = kept & ((values < low - slack) | (values > high + slack))
            assert not wrong.any(), (term, box, [each[wrong][0] for each in at], values[wrong][0], (low, high))
            tight += kept.any() and float(np.nanmax(values) - np.nanmin(values)) > 0.5 * (high - low)
    assert met > 200 * count
    assert tight > count


def check_contractions(unit: str, seed: int, count: int) -> None:
    draw, points = random.Random(f"{unit} {seed}"), np.random.default_rng(seed)
    met = contracted = 0
    for _ in range(count):
        size = draw.choice((1, 1, 2))
        term, module = UNITS[unit](draw, size)
        limit = draw.choice((-3.0, -0.5, 0.0, 0.5, 2.0, 10.0))
        relation = Fixed(draw.choice((">", "<", "=", ">=")), draw.choice((0.0, 2.0)))
        comparison = Comparison(term, constant(limit), relation)
        boxes = [[random_box(draw) for _ in range(size)] for _ in range(ROWS)]
        asked = [random_bounds(draw) for _ in range(ROWS)]
        bounds = Interval(*(np.array([each[end] for each in asked], np.float64) for end in (0, 1)))
        found = contract(comparison, intervals(boxes), bounds)
        for row, box in enumerate(boxes):
            at = [sample(points, each, POINTS) for each in box]
            values = values_of(module, at)
            kept = np.isfinite(values) & (np.abs(values - limit) > 1e-9)  # where floats can tell on which side they are
            reached = Comparison(number(0), constant(limit), relation)
            true = reached.truth([Interval(*(np.nan_to_num(values),) * 2)]).lower
            low, high = asked[row]
            holds = kept & (true >= low) & (true <= high)
            if not holds.any():
                continue
            met += int(holds.sum())
            assert not bool(found.empty[row]), (comparison, box, asked[row], [each[holds][0] for each in at])
            for index, own in enumerate(at):
                least, most = (end[row].item() for end in found.inputs[index])
                slack = 1e-9 * np.maximum(np.abs(own), 1.0)
                lost = holds & ((own < least - slack) | (own > most + slack))
                assert not lost.any(), (
                    comparison,
                    box,
                    asked[row],
                    index,
                    [each[lost][0] for each in at],
                    (least, most),
                )
                contracted += (least, most) != box[index]
    assert met > 10 * count
    assert contracted > count / 5


# --- ends that are reached --------------------------------------------------------------------------------------------


def ends(unit: str, given: dict[str, float | Sequence[float]], *boxes: Box) -> Box:
    (lower, upper), _ = frozen(unit, given, numbers(len(boxes))).hull(intervals([list(boxes)]))
    return lower.item(), upper.item()


@pytest.mark.parametrize("seed", range(3))
def test_powers_have_exact_hulls(seed: int) -> None:
    """On a fine grid the module comes as near the ends as the grid is fine."""
    draw = random.Random(f"realnpu {seed}")
    for _ in range(40):
        size = draw.choice((1, 2))
        term, module = UNITS["realnpu"](draw, size)
        box = [draw.choice(((0.5, 3.0), (-2.0, -1.0), (1.0, 1.5))) for _ in range(size)]
        (lower, upper), _ = term.hull(intervals([box]))
        grid = np.meshgrid(*(np.linspace(*each, 2001 if size == 1 else 301) for each in box))
        values = values_of(module, [each.ravel() for each in grid])
        assert values.min() == pytest.approx(lower.item(), rel=1e-3, abs=1e-3)
        assert values.max() == pytest.approx(upper.item(), rel=1e-3, abs=1e-3)


def test_what_is_known_of_single_units() -> None:
    inf = math.inf
    assert ends("realnpu", {"power": [0.5]}, (4.0, 9.0)) == (2.0, 3.0)
    assert ends("realnpu", {"power": [0.5]}, (-9.0, -4.0)) == (0.0, 0.0)  # cos(pi / 2)
    assert ends("realnpu", {"power": [1, -1], "gate": [1, 0.5]}, (2.0, 4.0), (1.0, 3.0)) == (1.0, 4.0)
    assert ends("realnpu", {"power": [1.5]}, (-inf, inf)) == (0.0, inf)  # cos(3 pi / 2) below zero
    assert ends("realnpu", {"power": [0.25]}, (-inf, inf)) == (0.0, inf)
    assert ends("npu", {"power": [1], "imaginary": [1]}, (-inf, inf)) == (-inf, inf)
    assert ends("inalu", {"add": [0, 0], "multiply": [1, 1], "gate": 0}, (-3.0, 2.0), (1.0, 4.0)) == pytest.approx(
        (-12.0, 8.0), rel=1e-12
    )
    assert ends("inalu", {"add": [0], "multiply": [1], "gate": 0}, (-inf, inf)) == pytest.approx(
        (-math.exp(20), math.exp(20)), rel=1e-12
    )
    assert ends("nalu", {"weight": [1, 1], "gate": [0, 0]}, (1.0, 1.0), (2.0, 2.0)) == pytest.approx((2.5, 2.5))


@pytest.mark.parametrize("unit", UNITS)
def test_no_rows(unit: str) -> None:
    term, _ = UNITS[unit](random.Random(1), 2)
    nothing = Interval(*(np.empty(0) for _ in range(2)))
    assert term.hull([nothing] * 2)[0].lower.shape == (0,)
    assert term.contract([nothing] * 2, nothing).empty.shape == (0,)


@pytest.mark.parametrize(
    ("unit", "given", "box", "limit", "expected"),
    [
        ("realnpu", {"power": [0.5]}, (0.0, 100.0), 3.0, (9.0, 100.0)),
        ("realnpu", {"power": [2], "gate": [0.5]}, (-10.0, 10.0), 9.0, (5.0, 10.0)),  # half a turn below zero
        ("realnpu", {"power": [2], "gate": [0.5]}, (0.0, math.inf), 9.0, (5.0, math.inf)),
        ("inalu", {"add": [0], "multiply": [-1], "gate": 0}, (0.0, 10.0), 2.0, (0.0, 0.5)),
        ("inalu", {"add": [1], "multiply": [1], "gate": 0.5}, (-math.inf, math.inf), 7.0, (7.0, math.inf)),
        ("nalu", {"weight": [1], "gate": [50]}, (0.1, 10.0), 7.0, (7.0, 10.0)),
    ],
)
def test_numbers_that_a_comparison_leaves(
    unit: str, given: dict[str, float | Sequence[float]], box: Box, limit: float, expected: Box
) -> None:
    comparison = Comparison(frozen(unit, given, numbers(1)), constant(limit), Fixed(">="))
    one = np.ones(1)
    ((lower, upper),), empty = contract(comparison, intervals([[box]]), Interval(one, one))
    assert not bool(empty)
    assert (lower.item(), upper.item()) == pytest.approx(expected, rel=1e-6, abs=1e-9)
