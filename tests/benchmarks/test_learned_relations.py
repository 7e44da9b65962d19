"""Relations learned from a few hundred small integers hold at every magnitude; the operands may have company."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from benchmarks.arithmetic.learned_relations import Effort, LearnedRelations, learn_relations
from benchmarks.arithmetic.readout import readout
from lnnkit.numeric.units.nsr import RELATIONS, RelationName

HOLDS: dict[RelationName, Callable[[Tensor, Tensor], Tensor]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}
MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "=", "!=": "!="}
QUICK = Effort(steps=200, starts=4)


def pairs(seed: int) -> Tensor:
    """All pairs of integers from -10 to 9, then as many of equal ones as of others."""
    values = torch.arange(-10, 10)
    product = torch.cartesian_prod(values, values)
    unequal = product[product[:, 0] != product[:, 1]]
    chosen = torch.randperm(len(unequal), generator=torch.Generator().manual_seed(seed))[:200]
    return torch.cat([product, unequal[chosen], values.repeat(19)[:, None].expand(-1, 2)]).double()


def learned(
    names: list[RelationName], x: Tensor, *, resolution: float = 1.0, effort: Effort = QUICK
) -> LearnedRelations:
    truth = torch.stack([HOLDS[name](x[:, 0], x[:, 1]) for name in names]).double()
    generator = torch.Generator().manual_seed(1)
    return learn_relations(x, truth, generator=generator, resolution=resolution, effort=effort)


def texts(found: LearnedRelations, operands: list[str]) -> list[str]:
    return [readout(found.register, operands, seed=seed)[0] for seed in range(len(found.error))]


def test_equality_and_inequality_are_learned_by_every_seed() -> None:
    names: list[RelationName] = ["=", "!="] * 5
    found = learned(names, pairs(1))
    assert texts(found, ["a", "b"]) == [f"a {name} b" for name in names]
    assert found.steps.tolist() == [200] * 10
    for exponent in range(1, 14):
        drawn = torch.Generator().manual_seed(exponent)
        start = torch.randint(10**exponent, 10 ** (exponent + 1), (50, 1), generator=drawn)
        near = start + torch.arange(-5, 6)
        x = torch.stack([start.expand_as(near), near], -1).flatten(0, 1).double()
        wanted = torch.stack([HOLDS[name](x[:, 0], x[:, 1]) for name in names])
        assert torch.equal(found.register(x)[..., 0] == 1, wanted)


def test_all_six_relations_at_once() -> None:
    found = learned(list(RELATIONS), pairs(2))
    assert texts(found, ["a", "b"]) == [f"a {name} b" for name in RELATIONS]
    assert found.accepted.tolist() == [True] * 6
    assert found.error.tolist() == [0] * 6


@pytest.mark.slow
def test_among_operands_that_do_not_matter() -> None:
    x = pairs(3)
    company = torch.randint(-10, 10, (len(x), 2), generator=torch.Generator().manual_seed(2)).double()
    found = learned(list(RELATIONS), torch.cat([x, company], 1))
    for name, text in zip(RELATIONS, texts(found, ["a", "b", "c", "d"]), strict=True):
        assert text in (f"a {name} b", f"b {MIRRORED[name]} a")


@pytest.mark.parametrize("resolution", [0.01, 1000.0])
def test_numbers_of_another_resolution(resolution: float) -> None:
    found = learned(list(RELATIONS), pairs(4) * resolution, resolution=resolution)
    assert texts(found, ["a", "b"]) == [f"a {name} b" for name in RELATIONS]


def test_wrong_examples_are_outvoted() -> None:
    x = pairs(5)
    truth = (x[:, 0] > x[:, 1]).double()[None]
    wrong = torch.rand(truth.shape, generator=torch.Generator().manual_seed(3)) < 0.05
    generator = torch.Generator().manual_seed(4)
    found = learn_relations(x, torch.where(wrong, 1 - truth, truth), generator=generator, effort=Effort(200, 1))
    assert texts(found, ["a", "b"]) == ["a > b"]
    assert found.error.item() == pytest.approx(wrong.double().mean().item())


@pytest.mark.slow
def test_what_is_no_relation_is_not_rounded() -> None:
    x = pairs(6)
    truth = ((x[:, 0] - x[:, 1]).abs() <= 3).double()[None]
    generator = torch.Generator().manual_seed(5)
    found = learn_relations(x, truth, generator=generator, effort=Effort(200, 2))
    assert found.accepted.tolist() == [False]
    assert found.steps.tolist() == [400]
    assert "<?>" in texts(found, ["a", "b"])[0]
