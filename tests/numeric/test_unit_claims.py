"""What the papers claim of the units, small and exact."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

import pytest
import torch

from lnnkit.numeric.units.clipped_units import NAU, NMU, NPU, RealNPU
from lnnkit.numeric.units.gated_units import INALU, NAC, NALU
from lnnkit.numeric.units.nsr import NSR, READOUTS, RELATIONS, RelationName, relation_of
from tests.numeric.units import generator, rows

COMPARE: dict[RelationName, Callable[[int, int], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}


def magnitude(exponent: int, count: int) -> list[tuple[int, int]]:
    """Pairs at distances -5 to 5 in both orders around random integers from ``10^exponent``, as in the NSR paper."""
    starts = torch.randint(10**exponent, 10 ** (exponent + 1), (count,), generator=generator(exponent)).tolist()
    near = [(start, start + d) for start in starts for d in range(-5, 6)]
    return near + [(right, left) for left, right in near]


@pytest.mark.parametrize("name", RELATIONS)
def test_a_register_with_its_weights_set_is_exact_at_every_magnitude(name: RelationName) -> None:
    unit = NSR.relation(name)
    for exponent in range(1, 14):
        pairs = magnitude(exponent, 30)
        truths = unit(torch.tensor(pairs, dtype=torch.float64))[:, 0].tolist()
        assert truths == [float(COMPARE[name](*pair)) for pair in pairs]


def test_a_register_is_exact_next_to_two_to_the_53() -> None:
    last = 2**53
    pairs = torch.tensor([[last, last - 1], [last - 1, last], [last - 1, last - 1]], dtype=torch.float64)
    assert NSR.relation(">")(pairs)[:, 0].tolist() == [1, 0, 0]
    assert NSR.relation("=")(pairs)[:, 0].tolist() == [0, 0, 1]


@pytest.mark.parametrize("name", RELATIONS)
def test_a_soft_register_is_right_where_the_distance_counts(name: RelationName) -> None:
    unit = NSR.given(READOUTS[name], scale=0.25)
    pairs = magnitude(2, 20)
    truths = unit(torch.tensor(pairs, dtype=torch.float64))[:, 0]
    assert (truths > 0.5).tolist() == [COMPARE[name](*pair) for pair in pairs]
    assert 0 < truths.min().item() < truths.max().item() < 1


@pytest.mark.parametrize("name", RELATIONS)
def test_the_relation_is_read_from_any_weights_that_mean_it(name: RelationName) -> None:
    scaled = 3.7 * torch.tensor([READOUTS[name]], dtype=torch.float64) + 0.1
    assert relation_of(scaled) == [name]


def test_nmu_with_weights_of_zero_and_one_is_exact() -> None:
    drawn = generator(1)
    for _ in range(200):
        x = torch.randint(-30, 31, (6,), generator=drawn)
        weight = torch.randint(0, 2, (6,), generator=drawn)
        wanted = math.prod(int(each) for each, taken in zip(x, weight, strict=True) if taken)
        assert NMU.given(weight.double())(x.double()).tolist() == [wanted]


def test_nau_with_weights_on_its_grid_is_exact() -> None:
    drawn = generator(2)
    for _ in range(200):
        x = torch.randint(-(10**12), 10**12, (6,), generator=drawn)
        weight = torch.randint(-1, 2, (6,), generator=drawn)
        assert NAU.given(weight.double())(x.double()).tolist() == [int((x * weight).sum())]


@pytest.mark.parametrize("kind", [NPU, RealNPU])
@pytest.mark.parametrize("power", [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [2.0, -1.0], [-2.0, -2.0]])
def test_npu_multiplies_and_divides_negative_numbers(kind: type[NPU], power: list[float]) -> None:
    unit, x = kind.given(power), 100 * rows(3, 300, 2)
    wanted = [float(Fraction(a) ** int(power[0]) * Fraction(b) ** int(power[1])) for a, b in x.tolist()]
    assert unit(x)[:, 0].tolist() == pytest.approx(wanted, rel=1e-13)


def test_npu_takes_roots_of_positive_numbers() -> None:
    x = rows(4, 100, 2).abs() * 100
    assert torch.allclose(NPU.given([0.5, -0.5])(x)[:, 0], x[:, 0].sqrt() / x[:, 1].sqrt(), rtol=1e-13)


def test_npu_at_zero() -> None:
    x = torch.tensor([[0.0, 2.0], [2.0, 0.0], [-2.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
    assert NPU.given([1.0, 1.0])(x)[:, 0].tolist() == [0, 0, 0, 0]
    quotient = NPU.given([1.0, -1.0])(x)[:, 0].tolist()
    assert quotient[:3] == [0, math.inf, -math.inf]
    assert math.isnan(quotient[3])
    assert NPU.given([0.0, 1.0])(x)[:, 0].tolist() == pytest.approx([2, 0, 0, 0], rel=1e-14)


def test_a_closed_gate_leaves_its_operand_out() -> None:
    unit = NPU.given([1.0, 1.0], gate=[1.0, 0.0])
    x = rows(5, 50, 2)
    assert torch.allclose(unit(x)[:, 0], x[:, 0], rtol=1e-13)


def test_real_npu_of_negative_roots_is_flat_where_npu_is_not() -> None:
    x = torch.tensor([-3.0], dtype=torch.float64)
    assert abs(RealNPU.given([0.5])(x).item()) < 1e-15
    twisted = NPU.given([0.5], [0.3])
    assert abs(twisted(x).item()) > 0.1


def test_nalu_fails_on_negative_products() -> None:
    """Its gate chooses between the sum and the size of the product; neither is a product below 0."""
    x = torch.tensor([[2.0, -3.0], [-2.0, 3.0]], dtype=torch.float64)
    closed, opened = (torch.tensor([[gate, gate]], dtype=torch.float64) for gate in (-1e9, 1e9))
    assert NALU.given([1.0, 1.0], closed)(x[1:]).item() == pytest.approx(6.0, rel=1e-6)
    assert NALU.given([1.0, 1.0], opened)(x[1:]).item() == pytest.approx(1.0)
    drawn = generator(7)
    for _ in range(100):  # no gate and no whole weights give -6 for both
        weight = torch.randint(-1, 2, (1, 2), generator=drawn).double()
        gate = torch.randn(1, 2, dtype=torch.float64, generator=drawn) * 10
        assert (NALU.given(weight, gate)(x) + 6).abs().max().item() > 1


def test_inalu_keeps_the_signs_of_products_and_quotients() -> None:
    x = 10 * rows(6, 200, 2)
    for multiply, wanted in (([1.0, 1.0], x[:, 0] * x[:, 1]), ([1.0, -1.0], x[:, 0] / x[:, 1])):
        unit = INALU.given([0.0, 0.0], multiply, 0.0)
        assert torch.allclose(unit(x)[:, 0], wanted, rtol=1e-12)
    assert torch.allclose(INALU.given([1.0, -1.0], [1.0, 1.0], 1.0)(x)[:, 0], x[:, 0] - x[:, 1], rtol=1e-12)


def test_nac_with_saturated_halves_is_exact() -> None:
    x = torch.tensor([123456789012.0, 5.0, 1e15], dtype=torch.float64)
    assert NAC.given([1.0, -1.0, 0.0])(x).tolist() == [123456789007.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: NAU.given([1.5]),
        lambda: NMU.given([-0.5]),
        lambda: NAC.given([2.0]),
        lambda: NALU.given([2.0], [0.0]),
        lambda: INALU.given([0.0], [0.0], 1.5),
        lambda: NPU.given([1.0], gate=[2.0]),
    ],
)
def test_weights_outside_of_the_box_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"must be in \["):
        make()


def test_parameters_of_another_variant_are_refused() -> None:
    with pytest.raises(ValueError, match="RealNPU has no imaginary part"):
        RealNPU.given([1.0], [1.0])
    with pytest.raises(ValueError, match="three weights"):
        NSR.given([1.0, 2.0])
