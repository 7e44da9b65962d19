"""Each unit computes its paper's formula, alone or as many seeds at once, from weights in its paper's start."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch

import lnnkit.numeric
from lnnkit.numeric.units.clipped_units import EPSILON, NAU, NMU, NPU, RealNPU
from lnnkit.numeric.units.gated_units import INALU, NAC, NALU, spread
from lnnkit.numeric.units.nsr import NSR
from lnnkit.numeric.units.unit import Unit
from tests.numeric import formulas
from tests.numeric.units import UNITS, by_hand, generator, rows, shaken

NONE, ALL = [0.0] * 4, [1.0] * 4
FORMULAS: dict[type[Unit], tuple[Callable[..., float], tuple[str, ...]]] = {
    NAC: (formulas.nac, ()),
    NALU: (formulas.nalu, ()),
    INALU: (formulas.inalu, ()),
    NAU: (formulas.nau, ()),
    NMU: (formulas.nmu, ()),
    NPU: (partial(formulas.npu, epsilon=EPSILON), ("gate",)),
    RealNPU: (partial(formulas.npu, imaginary=NONE, epsilon=EPSILON), ("gate",)),
    NSR: (formulas.nsr, ("scale",)),
}

every = pytest.mark.parametrize("kind", UNITS, ids=lambda kind: kind.__name__)


@every
def test_a_unit_is_its_formula(kind: type[Unit]) -> None:
    formula, shared = FORMULAS[kind]
    for seed in range(20):
        unit, x = shaken(kind, seed), rows(seed, 50, 4)
        wanted = torch.tensor(by_hand(unit, x, formula, shared), dtype=torch.float64)
        assert torch.allclose(unit(x), wanted, rtol=1e-11, atol=1e-11)


@every
def test_seeds_are_independent_units(kind: type[Unit]) -> None:
    unit = shaken(kind, 1, seeds=3)
    own, shared = rows(2, 3, 5, 4), rows(3, 5, 4)
    for seed in range(3):
        single = kind(4, 2)
        single.load_state_dict({name: value[seed] for name, value in unit.state_dict().items()})
        assert torch.allclose(unit(own)[seed], single(own[seed]), rtol=1e-12, atol=1e-13)
        assert torch.allclose(unit(shared)[seed], single(shared), rtol=1e-12, atol=1e-13)
        assert torch.allclose(unit(shared[0])[seed], single(shared[0]), rtol=1e-12, atol=1e-13)
        assert torch.allclose(unit.regulariser()[seed], single.regulariser())
        assert torch.allclose(unit.sparsity_error()[seed], single.sparsity_error())


@every
def test_any_batch_shape_without_seeds(kind: type[Unit]) -> None:
    unit, x = shaken(kind, 1), rows(2, 2, 3, 5, 4)
    assert torch.allclose(unit(x), unit(x.reshape(30, 4)).reshape(2, 3, 5, 2), rtol=1e-12, atol=1e-13)


@every
def test_assigning_the_attributes_changes_nothing(kind: type[Unit]) -> None:
    unit, x = shaken(kind, 4), rows(5, 20, 4) + 0.01
    if isinstance(unit, NPU):
        unit.epsilon.zero_()
    before = unit(x)
    unit.assign(unit.attributes())
    assert torch.allclose(unit(x), before, rtol=1e-12, atol=1e-13)


@every
def test_the_start_comes_from_the_generator(kind: type[Unit]) -> None:
    first, again, other = (kind(3, 2, seeds=2, generator=generator(seed)).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_given_units_leave_the_generator_of_torch_alone() -> None:
    before = torch.get_rng_state()
    NAU.given([1.0, -1.0])
    NPU.given([1.0, -1.0])
    NSR.relation(">")
    assert torch.equal(torch.get_rng_state(), before)


@every
def test_a_unit_is_found_by_its_name(kind: type[Unit]) -> None:
    assert getattr(lnnkit.numeric, kind.__name__) is kind
    assert kind.__name__ in dir(lnnkit.numeric)


@every
def test_input_that_does_not_fit(kind: type[Unit]) -> None:
    with pytest.raises(ValueError, match="takes 3 features"):
        kind(3, 2)(rows(1, 5, 4))
    with pytest.raises(ValueError, match="2 seeds take"):
        kind(4, 2, seeds=2)(rows(1, 3, 5, 4))
    with pytest.raises(ValueError, match="needs features"):
        kind(0, 2)


def test_a_gradient_step_leaves_the_box_and_the_projection_returns() -> None:
    for unit, low, high in ((NAU(3, 2), -1.0, 1.0), (NMU(3, 2), 0.0, 1.0)):
        with torch.no_grad():
            unit.weight.add_(5 * rows(1, 2, 3))
        unit.project()
        assert unit.weight.min().item() == low
        assert unit.weight.max().item() == high


# --- the starts -------------------------------------------------------------------------------------------------------


def test_start_of_nau_and_nmu() -> None:
    wide = NAU(100, 2, seeds=50, generator=generator(1)).weight
    small = NAU(2, 2, seeds=500, generator=generator(9)).weight
    reach = math.sqrt(3) * math.sqrt(2 / 102)
    assert reach * 0.99 < wide.abs().max().item() <= reach
    assert 0.49 < small.abs().max().item() <= 0.5
    weight = NMU(3, 2, seeds=500, generator=generator(2)).weight
    assert 0.25 <= weight.min().item() < 0.26
    assert 0.74 < weight.max().item() <= 0.75


@pytest.mark.parametrize("features", [10, 100])
def test_start_of_nac_has_the_wanted_variance(features: int) -> None:
    weight = NAC(features, features, seeds=40, generator=generator(3)).weight
    assert weight.var().item() == pytest.approx(1 / features, rel=0.1)


def test_a_small_nac_counts_as_five_features() -> None:
    assert spread(1, 1) == spread(3, 2)


def test_start_of_npu() -> None:
    unit = NPU(100, 2, seeds=20, generator=generator(4))
    reach = math.sqrt(6 / 102)
    assert reach * 0.99 < unit.power.abs().max().item() <= reach
    assert not unit.imaginary.any()
    assert bool((unit.gate == 0.5).all())


def test_start_of_inalu() -> None:
    unit = INALU(10, 10, seeds=100, generator=generator(5))
    for sign, mask in ((unit.add_sign, unit.add_mask), (unit.multiply_sign, unit.multiply_mask)):
        assert (sign.mean().item(), sign.std().item()) == pytest.approx((1, 0.1), rel=0.05)
        assert (mask.mean().item(), mask.std().item()) == pytest.approx((-1, 0.1), rel=0.05)
    assert unit.gate.std().item() == pytest.approx(0.1, rel=0.1)


def test_start_of_nsr_without_a_relation() -> None:
    unit = NSR(4, 1, channels=2, seeds=3)
    unit.start_undecided(torch.tensor([[0, 1], [3, 2]]), generator(6))
    given = unit.attributes()
    assert given["first"].argmax(-1).tolist() == [[[0, 3]]] * 3
    assert given["second"].argmax(-1).tolist() == [[[1, 2]]] * 3
    assert bool((unit(rows(1, 5, 4)) == 0.5).all())


# --- penalties --------------------------------------------------------------------------------------------------------


def test_penalties_by_hand() -> None:
    assert NAU.given([0.25, -0.9]).regulariser().item() == pytest.approx((0.25 + 0.1) / 2)
    assert NMU.given([0.25, 0.9]).regulariser().item() == pytest.approx((0.25 + 0.1) / 2)
    assert NPU.given([2.0, -1.0], [0.5, 0.0], [1.0, 0.25]).regulariser().item() == pytest.approx(4.75)
    assert NAC(2, 1).regulariser().item() == 0


def test_the_penalty_of_inalu_ends_far_from_zero() -> None:
    unit = INALU(2, 1)
    with torch.no_grad():
        for values in unit.parameters():
            values.fill_(-20.0)
    assert unit.regulariser().item() == 0
    with torch.no_grad():
        unit.gate.fill_(5.0)
    assert unit.regulariser().item() == pytest.approx(15 / 20)
