"""Gradients of the units against finite differences, and where they are meant to differ from them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck
from torch.func import functional_call

from lnnkit.numeric.units.clipped_units import NMU, NPU, nmu
from lnnkit.numeric.units.unit import Unit, product
from tests.numeric.units import UNITS, rows, shaken


@pytest.mark.parametrize("seeds", [None, 2])
@pytest.mark.parametrize("kind", UNITS, ids=lambda kind: kind.__name__)
def test_gradients_are_finite_differences(kind: type[Unit], seeds: int | None) -> None:
    unit = shaken(kind, 11, seeds=seeds)
    names = [name for name, _ in unit.named_parameters()]
    x = rows(12, 3, 4)
    x = (x.sign() * (x.abs() + 0.2)).requires_grad_()  # away from 0, where sizes have no derivative

    def output(x: Tensor, *parameters: Tensor) -> Tensor:
        return functional_call(unit, dict(zip(names, parameters, strict=True)), (x,))

    parameters = [values.detach().clone().requires_grad_() for values in unit.parameters()]
    assert gradcheck(output, (x, *parameters))


def test_the_product_is_the_product() -> None:
    for n in range(10):
        factors = rows(n, 7, n).requires_grad_()
        assert torch.allclose(product(factors), factors.prod(-1))
        assert n == 0 or gradcheck(product, (factors,))


def test_nmu_has_gradients_at_zero_factors() -> None:
    x = torch.tensor([0.0, 3.0, 0.0], dtype=torch.float64)
    weight = torch.tensor([[1.0, 1.0, 0.5]], dtype=torch.float64, requires_grad=True)
    nmu(x, weight).backward()
    # d/dw_i = (x_i - 1) times the other factors: 0 * 3 * 0.5 with one of them left out.
    assert weight.grad is not None
    assert weight.grad.tolist() == [[-1.5, 0.0, 0.0]]


def test_nmu_has_gradients_at_factors_too_small_to_divide_by() -> None:
    x = torch.tensor([1e-200, 1e-200, 4.0], dtype=torch.float64)
    unit = NMU.given([1.0, 1.0, 1.0])
    unit(x).backward()
    # The whole product underflows to 0; the product of the others does not.
    assert unit.weight.grad is not None
    assert unit.weight.grad[0, :2].tolist() == pytest.approx([-4e-200, -4e-200], rel=1e-12)


def test_the_gate_of_an_npu_stays_alive_outside_its_box() -> None:
    unit = NPU(2, 1)
    with torch.no_grad():
        unit.gate.copy_(torch.tensor([1.5, -0.5]))
        unit.power.copy_(torch.tensor([[1.0, 1.0]]))
    x = torch.tensor([3.0, 5.0], dtype=torch.float64)
    found = unit(x)
    assert found.item() == pytest.approx(3.0, rel=1e-6)
    found.backward()
    # r = g x + 1 - g: the derivative of r_1 r_2 by the clamped gates, at (1, 0).
    assert unit.gate.grad is not None
    assert unit.gate.grad.tolist() == pytest.approx([2.0, 12.0], rel=1e-6)


def test_an_npu_at_zero_has_finite_gradients() -> None:
    unit = NPU.given([[1.0, -1.0], [0.0, 2.0]])
    unit(torch.tensor([0.0, 4.0], dtype=torch.float64)).sum().backward()
    assert all(values.grad is not None and bool(values.grad.isfinite().all()) for values in unit.parameters())
