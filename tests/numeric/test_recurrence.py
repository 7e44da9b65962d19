"""A unit over a sequence does what a loop over numbers does."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn

from lnnkit.numeric import NAU, NMU, NPU, Recurrent
from lnnkit.numeric.units.unit import Unit
from tests.numeric.units import generator


def by_hand(weight: list[list[float]], steps: list[list[float]], start: float) -> list[float]:
    """``h = W [x, h]``, number by number."""
    state = [start] * len(weight)
    for now in steps:
        both = now + state
        state = [sum(w * value for w, value in zip(row, both, strict=True)) for row in weight]
    return state


@pytest.mark.parametrize("seed", range(20))
def test_a_recurrent_sum_is_a_loop(seed: int) -> None:
    draw = random.Random(seed)
    features, states, steps = draw.randint(1, 4), draw.randint(1, 3), draw.randint(0, 6)
    start = draw.choice([0.0, 1.0])
    weight = [[draw.uniform(-1, 1) for _ in range(features + states)] for _ in range(states)]
    rows = [[[draw.uniform(-3, 3) for _ in range(features)] for _ in range(steps)] for _ in range(5)]
    network = Recurrent(NAU.given(weight), states, start=start)
    x = torch.tensor(rows, dtype=torch.float64).reshape(5, steps, features)
    wanted = torch.tensor([by_hand(weight, row, start) for row in rows], dtype=torch.float64)
    assert torch.allclose(network(x), wanted, rtol=1e-12, atol=1e-12)
    assert torch.allclose(network(x[0]), wanted[0], rtol=1e-12, atol=1e-12)


def test_a_sequence_may_be_read_in_parts() -> None:
    network = Recurrent(NAU(5, 2, generator=generator(1)), 2)
    x = torch.randn(3, 7, 3, dtype=torch.float64, generator=generator(2))
    assert torch.equal(network(x[:, 4:], network(x[:, :4])), network(x))


@pytest.mark.parametrize("kind", [NAU, NPU], ids=lambda kind: kind.__name__)
def test_seeds_are_independent_recurrences(kind: type[Unit]) -> None:
    network = Recurrent(kind(3, 1, seeds=4, generator=generator(3)), 1, start=1.0)
    own = 1 + torch.rand(4, 5, 6, 2, dtype=torch.float64, generator=generator(4))
    for seed in range(4):
        single = Recurrent(kind(3, 1), 1, start=1.0)
        single.load_state_dict({name: value[seed] for name, value in network.state_dict().items()})
        assert torch.allclose(network(own)[seed], single(own[seed]), rtol=1e-12)
        assert torch.allclose(network(own[0])[seed], single(own[0]), rtol=1e-12)
        assert torch.allclose(network(own[0, 0])[seed], single(own[0, 0]), rtol=1e-12)
        assert torch.allclose(network.regulariser()[seed], single.regulariser())


def test_a_chain_of_units_may_be_the_cell() -> None:
    """``h = m h + v``: a product, then a sum."""
    cell = nn.Sequential(NMU.given([[1, 0, 1], [0, 1, 0]]), NAU.given([1, 1]))
    network = Recurrent(cell, 1)
    x = torch.tensor([[1.0, 3.0], [100.0, 0.0], [1.0, 40.0], [1.0, 2.0]], dtype=torch.float64)
    assert network(x).tolist() == [342.0]


def test_a_product_over_time_begins_at_one() -> None:
    network = Recurrent(NMU.given([1, 1]), 1, start=1.0)
    x = torch.tensor([2.0, 3.0, 7.0], dtype=torch.float64)[:, None]
    assert network(x).tolist() == [42.0]


def test_gradients_go_through_time() -> None:
    network = Recurrent(NPU(3, 2, generator=generator(5)), 2, start=1.0)
    x = 1 + torch.rand(2, 4, 1, dtype=torch.float64, generator=generator(6))
    assert torch.autograd.gradcheck(network, (x.requires_grad_(),))


def test_projection_reaches_every_unit() -> None:
    cell = nn.Sequential(NMU(3, 2), NAU(2, 1))
    network = Recurrent(cell, 1)
    with torch.no_grad():
        for values in network.parameters():
            values.fill_(-7.0)
    network.project()
    assert sorted({float(values.detach().flatten()[0]) for values in network.parameters()}) == [-1.0, 0.0]


def test_cells_and_inputs_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="cannot keep 2 states"):
        Recurrent(NAU(5, 1), 2)
    with pytest.raises(ValueError, match="cannot keep 1 states"):
        Recurrent(NAU(1, 1), 1)
    with pytest.raises(ValueError, match=r"a sequence is \[\.\.\., steps, features\]"):
        Recurrent(NAU(3, 1), 1)(torch.zeros(2))
