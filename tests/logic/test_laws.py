"""Laws of the kernels that need no oracle."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
import torch

from lnnkit.logic import LOGICS as ALL
from lnnkit.logic import Bounds, Inverse, Logic, complement, enter, logic_named, tolerance
from tests.blocks import at_length
from tests.logic.brute import Neuron
from tests.logic.neurons import KINDS, LOGICS, arrays, downward, random_neuron, random_rows, tensors, upward

Case = tuple[Neuron, list[Bounds], Bounds]


@pytest.fixture(params=at_length([8, 25], plain=1))
def count(request: pytest.FixtureRequest) -> int:
    """How many neurons are drawn."""
    return request.param


def cases(logic: str, kind: str, count: int, rows: int = 20) -> list[Case]:
    """Random neurons with operands and node bounds met with the image; rows that part are dropped."""
    rng = np.random.default_rng([3, LOGICS.index(logic), KINDS.index(kind)])
    result = []
    for _ in range(count):
        neuron = random_neuron(rng, logic, kind)
        lower, upper, low, high = random_rows(rng, neuron, rows)
        operands = [tensors(lower[:, i], upper[:, i]) for i in range(lower.shape[1])]
        image = upward(neuron, operands)
        node = Bounds(
            torch.maximum(torch.from_numpy(low), image.lower), torch.minimum(torch.from_numpy(high), image.upper)
        )
        keep = node.lower <= node.upper
        result.append((neuron, [cut(box, keep) for box in operands], cut(node, keep)))
    return result


def cut(bounds: Bounds, keep: torch.Tensor) -> Bounds:
    return Bounds(bounds.lower[keep], bounds.upper[keep])


def close(one: Bounds, other: Bounds, tol: float = 1e-12) -> None:
    assert torch.allclose(one.lower, other.lower, rtol=0, atol=tol)
    assert torch.allclose(one.upper, other.upper, rtol=0, atol=tol)


def close_inverses(one: Inverse, other: Inverse, tol: float = 1e-12) -> None:
    assert torch.equal(one.empty, other.empty)
    for mine, its in zip(one.operands, other.operands, strict=True):
        close(mine, its, tol)


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("logic", LOGICS)
def test_weight_zero_is_absent(logic: str, kind: str, count: int) -> None:
    for neuron, operands, node in cases(logic, kind, count):
        extra = operands[0]
        wider = neuron._replace(weights=(*neuron.weights, 0.0))
        close(upward(wider, [*operands, extra]), upward(neuron, operands), 1e-15)
        found, alone = downward(wider, node, [*operands, extra]), downward(neuron, node, operands)
        close_inverses(Inverse(found.operands[:-1], found.empty), alone)
        assert torch.equal(found.operands[-1].lower, extra.lower) and torch.equal(found.operands[-1].upper, extra.upper)


@pytest.mark.parametrize("logic", LOGICS)
def test_plain_weights_give_the_plain_logic(logic: str) -> None:
    x, y = (
        end.flatten() for end in torch.meshgrid(*[torch.linspace(0, 1, 41, dtype=torch.float64)] * 2, indexing="ij")
    )
    plain = {
        "lukasiewicz": ((x + y - 1).clamp(0, 1), (x + y).clamp(0, 1), (1 - x + y).clamp(0, 1), 1 - (x - y).abs()),
        "product": (
            x * y,
            x + y - x * y,
            torch.where(y >= x, 1.0, y / x),
            torch.where(x == y, 1.0, torch.minimum(x, y) / torch.maximum(x, y)),
        ),
        "godel": (
            torch.minimum(x, y),
            torch.maximum(x, y),
            torch.where(x <= y, 1.0, y),
            torch.where(x == y, 1.0, torch.minimum(x, y)),
        ),
    }[logic]
    tol = 0.0 if logic == "godel" else 1e-14
    for kind, expected in zip(KINDS, plain, strict=True):
        image = upward(Neuron(logic, kind, (1.0, 1.0), 1.0), [Bounds(x, x), Bounds(y, y)])
        jumps = logic == "godel" and kind in KINDS[2:]  # at a tie between 0 and 1 it may be either value
        lower = torch.where((x == y) & (x > 0), y, expected) if jumps else expected
        close(image, Bounds(lower, expected), tol)


@pytest.mark.parametrize("logic", LOGICS)
def test_de_morgan(logic: str, count: int) -> None:
    for neuron, operands, node in cases(logic, "conjunction", count):
        other = neuron._replace(kind="disjunction")
        mirrored = [complement(box) for box in operands]
        close(complement(upward(other, mirrored)), upward(neuron, operands), 1e-9)
        found, mirror = downward(neuron, node, operands), downward(other, complement(node), mirrored)
        close_inverses(Inverse(tuple(complement(box) for box in mirror.operands), mirror.empty), found, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("logic", LOGICS)
def test_narrower_boxes_give_narrower_bounds(logic: str, kind: str, count: int) -> None:
    rng = torch.Generator().manual_seed(2)
    for neuron, operands, node in cases(logic, kind, count):
        narrow = []
        for lower, upper in operands:
            first, second = torch.rand(2, len(lower), dtype=torch.float64, generator=rng)
            ends = lower + first * (upper - lower), lower + second * (upper - lower)
            narrow.append(Bounds(torch.minimum(*ends).clamp(lower, upper), torch.maximum(*ends).clamp(lower, upper)))
        wide, less = upward(neuron, operands), upward(neuron, narrow)
        assert bool((less.lower >= wide.lower - 1e-12).all() and (less.upper <= wide.upper + 1e-12).all())
        found, tight = downward(neuron, node, operands), downward(neuron, node, narrow)
        assert not torch.any(found.empty & ~tight.empty)
        for big, small in zip(found.operands, tight.operands, strict=True):
            inside = (small.lower >= big.lower - 1e-11) & (small.upper <= big.upper + 1e-11)
            assert bool((inside | tight.empty).all())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("logic", LOGICS)
def test_the_hulls_are_a_fixpoint(logic: str, kind: str, count: int) -> None:
    for neuron, operands, node in cases(logic, kind, count):
        found = downward(neuron, node, operands)
        for i in range(len(operands)):
            again = downward(neuron, node, [found.operands[j] if i == j else box for j, box in enumerate(operands)])
            for one, other in zip(again.operands, found.operands, strict=True):
                close(one, other, 1e-7)


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("logic", LOGICS)
def test_order_of_operands_only_permutes(logic: str, kind: str, count: int) -> None:
    tol = 0.0 if logic == "godel" else 1e-12
    for neuron, operands, node in cases(logic, kind, count * 2 // 5):
        image, found = upward(neuron, operands), downward(neuron, node, operands)
        for order in itertools.permutations(range(len(operands))):
            shuffled = neuron._replace(weights=tuple(neuron.weights[i] for i in order))
            boxes = [operands[i] for i in order]
            close(upward(shuffled, boxes), image, tol)
            permuted = Inverse(tuple(found.operands[i] for i in order), found.empty)
            close_inverses(downward(shuffled, node, boxes), permuted, tol)


@pytest.mark.parametrize("kind", ["equivalence"])
@pytest.mark.parametrize("logic", LOGICS)
def test_equivalence_is_symmetric(logic: str, kind: str, count: int) -> None:
    for neuron, operands, node in cases(logic, kind, count):
        mirrored = neuron._replace(weights=neuron.weights[::-1])
        close(upward(mirrored, operands[::-1]), upward(neuron, operands), 1e-12)
        found = downward(neuron, node, operands)
        close_inverses(downward(mirrored, node, operands[::-1]), Inverse(found.operands[::-1], found.empty), 1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("logic", LOGICS)
def test_nothing_known_moves_nothing(logic: str, kind: str, count: int) -> None:
    """A node without bounds leaves its operands as they are, to the bit."""
    for neuron, operands, node in cases(logic, kind, count):
        unknown = Bounds(torch.zeros_like(node.lower), torch.ones_like(node.upper))
        found = downward(neuron, unknown, operands)
        assert not bool(found.empty.any())
        for hull, box in zip(found.operands, operands, strict=True):
            assert torch.equal(hull.lower, box.lower) and torch.equal(hull.upper, box.upper)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("logic", LOGICS)
def test_single_precision(logic: str, kind: str, count: int) -> None:
    for neuron, operands, node in cases(logic, kind, count):
        if min(neuron.weights) < 0.3:
            continue  # a small weight, or a zero to a small power, magnifies rounding
        small = [Bounds(box.lower.float(), box.upper.float()) for box in operands]
        image, exact = upward(neuron, small), upward(neuron, operands)
        found = downward(neuron, Bounds(node.lower.float(), node.upper.float()), small)
        assert image.lower.dtype == torch.float32 and found.operands[0].lower.dtype == torch.float32
        assert bool(torch.isfinite(image.lower).all() and torch.isfinite(found.operands[0].lower).all())
        if logic == "lukasiewicz":
            close(Bounds(image.lower.double(), image.upper.double()), exact, 1e-5)
            assert not bool(found.empty.any())


@pytest.mark.slow
@pytest.mark.parametrize("logic", LOGICS)
def test_twenty_thousand_operands(logic: str) -> None:
    """Ten times the operands take about ten times the time, not a hundred times."""
    few, many = (min(wide(logic, count) for _ in range(3)) for count in (2000, 20_000))  # others share the processor
    assert many < 40 * few + 0.1


def wide(logic: str, count: int) -> float:
    """The CPU seconds of a conjunction of so many operands, up and down."""
    ends = torch.full((1,), 1.0, dtype=torch.float64)
    unknown = Bounds(torch.zeros_like(ends), ends)
    true = Bounds(ends, ends)
    kernels: Logic = logic_named(logic)
    operands, weights = [true] * (count - 1) + [unknown], [1.0] * count
    start = time.process_time()
    image = kernels.up("and", operands, weights, 1.0)
    found = kernels.down("and", Bounds(ends * 0, ends * 0.25), operands, weights, 1.0)
    seconds = time.process_time() - start
    assert (float(image.lower), float(image.upper)) == (0.0, 1.0)
    assert float(found.operands[-1].upper) == pytest.approx(0.25, abs=1e-12)
    assert float(found.operands[0].lower) == 1.0
    false = Bounds(ends * 0, ends * 0)
    found = kernels.down("or", true, [false] * (count - 1) + [unknown], weights, 1.0)
    assert float(found.operands[-1].lower) == 1.0 and not bool(found.empty)
    return seconds


def test_enter() -> None:
    lower = torch.tensor([5e-10, -0.1, 0.4 + 1e-12, 0.3], dtype=torch.float64)
    upper = torch.tensor([1 - 5e-10, 1.1, 0.4, 0.3], dtype=torch.float64)
    entered = enter(Bounds(lower, upper))
    assert entered.lower.tolist() == [0.0, 0.0, 0.4, 0.3] and entered.upper.tolist() == [1.0, 1.0, 0.4 + 1e-12, 0.3]
    assert (tolerance(torch.float64), tolerance(torch.float32)) == (1e-9, 1e-5)


def test_names() -> None:
    assert [logic.name for logic in ALL] == list(LOGICS)
    with pytest.raises(KeyError, match="'fuzzy'"):
        logic_named("fuzzy")
    one = torch.ones(1, dtype=torch.float64)
    with pytest.raises(ValueError, match="2 operands, but 1 weights"):
        logic_named("product").up("and", [Bounds(one, one)] * 2, [1.0], 1.0)


@pytest.mark.parametrize("logic", LOGICS)
def test_arrays_and_tensors_give_the_same(logic: str) -> None:
    rng = np.random.default_rng(31)
    for kind in KINDS:
        for _ in range(20):
            neuron = random_neuron(rng, logic, kind)
            rows = random_rows(rng, neuron, 20)
            found = []
            for make in (arrays, tensors):
                operands = [enter(make(rows.lower[:, i], rows.upper[:, i])) for i in range(rows.lower.shape[1])]
                inverse = downward(neuron, make(rows.low, rows.high), operands)
                boxes = [upward(neuron, operands), *inverse.operands]
                found.append(np.stack([*(np.asarray(end) for box in boxes for end in box), np.asarray(inverse.empty)]))
            np.testing.assert_allclose(*found, rtol=0, atol=1e-12)
