"""Rounding to the grid: kept where the loss does not rise, seed by seed, and refused without a trace elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from lnnkit.numeric.units.clipped_units import NAU, NMU, NPU, RealNPU
from lnnkit.numeric.units.gated_units import INALU, NAC, NALU
from lnnkit.numeric.units.nsr import NSR, RELATIONS, RelationName
from lnnkit.numeric.units.unit import Unit
from tests.numeric.units import UNITS, rows, shaken

X = rows(1, 40, 2).abs() + 0.5


def square_error(wanted: Tensor, x: Tensor = X) -> Callable[[Unit], Tensor]:
    """The mean square error of the only output, for each seed."""
    return lambda unit: (unit(x)[..., 0].detach() - wanted).square().mean(-1)


NEAR = [
    (NAC.given([0.9, -0.95]), X[:, 0] - X[:, 1]),
    (NAU.given([0.8, -0.6]), X[:, 0] - X[:, 1]),
    (NMU.given([0.7, 0.9]), X[:, 0] * X[:, 1]),
    (NMU.given([0.7, 0.1]), X[:, 0]),
    (INALU.given([0.3, 0.1], [0.9, -0.8], 0.1), X[:, 0] / X[:, 1]),
    (INALU.given([0.9, 0.8], [0.4, -0.4], 0.9), X[:, 0] + X[:, 1]),
    (NPU.given([0.9, -1.2], [0.01, -0.1], [0.9, 0.8]), X[:, 0] / X[:, 1]),
    (RealNPU.given([0.45, 1.7], gate=[0.9, 1.0]), X[:, 0].sqrt() * X[:, 1].square()),
]


@pytest.mark.parametrize(("unit", "wanted"), NEAR, ids=lambda each: type(each).__name__)
def test_near_the_solution_rounding_makes_it_exact(unit: Unit, wanted: Tensor) -> None:
    loss = square_error(wanted)
    assert float(unit.sparsity_error()) > 0.05
    done = unit.harden(loss)
    assert bool(done.accepted)
    assert float(done.rounded_loss) == float(loss(unit)) < 1e-24
    assert float(done.loss) > 1e-3
    assert float(unit.sparsity_error()) == 0


@pytest.mark.parametrize("kind", UNITS, ids=lambda kind: kind.__name__)
def test_refused_rounding_leaves_every_number(kind: type[Unit]) -> None:
    unit, x = shaken(kind, 3, seeds=3), rows(4, 20, 4)
    before = {name: value.clone() for name, value in unit.state_dict().items()}
    wanted = unit(x).detach()
    done = unit.harden(lambda each: (each(x) - wanted).square().mean((-1, -2)))
    assert done.accepted.tolist() == [False] * 3
    assert done.loss.tolist() == [0] * 3
    assert bool((done.rounded_loss > 0).all())
    assert all(torch.equal(value, before[name]) for name, value in unit.state_dict().items())


def test_seeds_are_decided_one_by_one() -> None:
    unit = NAU.given(torch.tensor([[[0.9, 0.8]], [[0.4, 0.4]], [[1.0, 1.0]]], dtype=torch.float64))
    done = unit.harden(square_error(X.sum(-1)))
    assert done.accepted.tolist() == [True, False, True]
    assert unit.weight[:, 0].tolist() == [[1, 1], [0.4, 0.4], [1, 1]]


def test_a_loss_that_is_no_number_refuses() -> None:
    unit = NPU.given([-0.9, 0.1])
    x = torch.tensor([[0.0, 0.0]], dtype=torch.float64)
    assert not bool(unit.harden(lambda each: (each(x) * 0).sum()).accepted)
    assert unit.power.tolist() == [[-0.9, 0.1]]


def test_a_tolerance_lets_the_loss_rise() -> None:
    unit, wanted = NAU.given([0.99, 1.0]), NAU.given([0.99, 1.0])(X)[:, 0].detach()
    assert not bool(unit.harden(square_error(wanted)).accepted)
    assert bool(unit.harden(square_error(wanted), tolerance=0.1).accepted)


def test_the_gate_of_a_nalu_has_no_grid() -> None:
    unit = NALU.given([0.9, 0.9], [30.0, 31.0])
    assert bool(unit.harden(square_error(X.sum(-1))).accepted)
    assert unit.attributes()["weight"].tolist() == [[1, 1]]
    assert unit.gate.tolist() == [[30, 31]]


def test_a_loss_of_the_wrong_shape() -> None:
    unit = NAU(2, 1, seeds=3)
    before = unit.weight.detach().clone()
    with pytest.raises(ValueError, match="one number for each seed"):
        unit.harden(lambda unit: unit(X).mean())
    assert torch.equal(unit.weight, before)


@pytest.mark.parametrize("name", RELATIONS)
def test_a_soft_register_with_an_idle_channel_becomes_its_relation(name: RelationName) -> None:
    crisp = NSR.relation(name)
    unit = NSR(3, 1, channels=2)
    unit.assign(
        {
            "first": torch.tensor([[[0.4, 0.3, 0.3], [0.9, 0.05, 0.05]]]),
            "second": torch.tensor([[[0.2, 0.7, 0.1], [0.02, 0.08, 0.9]]]),
            "sign": torch.cat([torch.full((1, 1), 0.1), 1.5 * crisp.sign.detach() + 0.1], -1),
            "zero": torch.cat([torch.full((1, 1), -0.1), 1.5 * crisp.zero.detach() - 0.1], -1),
            "bias": 1.5 * crisp.bias.detach() + 0.1,
            "scale": torch.tensor(0.5),
        }
    )
    x = torch.randint(-9, 10, (200, 3), generator=torch.Generator().manual_seed(1)).double()
    wanted = crisp(x[:, [0, 2]])
    done = unit.harden(lambda each: (each(x) - wanted).abs().mean())
    assert bool(done.accepted)
    assert float(done.rounded_loss) == 0
    assert math.isinf(float(unit.sharpness))
    assert torch.equal(unit(x), wanted)
