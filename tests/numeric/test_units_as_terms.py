"""Units that stand alone and the terms and relations that programs evaluate by intervals: the same at points."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from lnnkit.numeric import Comparison, Fixed, Learned, number, point
from lnnkit.numeric.term import Term, gated_product, linear, power_product
from lnnkit.numeric.units.clipped_units import NAU, NMU, NPU
from lnnkit.numeric.units.nsr import NSR, RELATIONS, RelationName
from tests.numeric.units import generator, rows

OPERANDS = [number(place) for place in range(3)]


def value(term: Term, x: Tensor) -> Tensor:
    """At the points ``[rows, 3]``."""
    found, _ = term.hull([point(column) for column in x.unbind(-1)])
    assert torch.allclose(found.lower, found.upper, rtol=1e-12)
    return found.lower


@pytest.mark.parametrize("seed", range(5))
def test_sums_and_products(seed: int) -> None:
    x = rows(seed, 100, 3)
    weight = rows(seed + 50, 3).clamp(-1, 1)
    assert torch.allclose(NAU.given(weight)(x)[:, 0], value(linear(weight.tolist(), OPERANDS), x), rtol=1e-11)
    share = weight.abs()
    assert torch.allclose(NMU.given(share)(x)[:, 0], value(gated_product(share.tolist(), OPERANDS), x), rtol=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_powers(seed: int) -> None:
    drawn = generator(seed)
    whole = torch.randint(-2, 3, (3,), generator=drawn).double()
    x = rows(seed + 10, 100, 3)
    assert torch.allclose(NPU.given(whole)(x)[:, 0], value(power_product(whole.tolist(), OPERANDS), x), rtol=1e-11)
    broken = torch.randn(3, dtype=torch.float64, generator=drawn)
    found = value(power_product(broken.tolist(), OPERANDS), x.abs())
    assert torch.allclose(NPU.given(broken)(x.abs())[:, 0], found, rtol=1e-11)


@pytest.mark.parametrize("scale", [0.0, 0.5, 3.0])
def test_learned_relations(scale: float) -> None:
    for seed in range(10):
        weight = (3 * rows(seed, 3)).tolist()
        x = torch.randint(-3, 4, (100, 2), generator=generator(seed)).double()
        comparison = Comparison(OPERANDS[0], OPERANDS[1], Learned(*weight, scale=scale))
        truth = comparison.truth([point(column) for column in x.unbind(-1)])
        assert torch.allclose(NSR.given(weight, scale)(x)[:, 0], truth.lower, rtol=1e-9, atol=1e-11)
        assert torch.allclose(truth.upper, truth.lower, atol=1e-11)


@pytest.mark.parametrize("name", RELATIONS)
def test_crisp_relations(name: RelationName) -> None:
    x = torch.randint(-3, 4, (100, 2), generator=generator(1)).double()
    truth = Comparison(OPERANDS[0], OPERANDS[1], Fixed(name)).truth([point(column) for column in x.unbind(-1)])
    assert torch.equal(NSR.relation(name)(x)[:, 0], truth.lower)
