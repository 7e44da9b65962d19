"""What a function makes of an element hangs on no other: not on where it stands, nor on how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from lnnkit import elementwise
from lnnkit.logic.operands import sum_of_all

Function = Callable[[Tensor], Tensor]

FILLED: dict[str, tuple[Function, float, float]] = {
    "power": (lambda x: elementwise.power(x, 2.3), 0.0, 4.0),
    "power of many": (lambda x: elementwise.power(x, x + 0.3), 0.0, 4.0),
    "power of one": (lambda x: elementwise.power(x, x.new_tensor(0.7)), 0.0, 1.0),
    "sigmoid": (elementwise.sigmoid, -40.0, 40.0),
    "logit": (elementwise.logit, 0.0, 1.0),
    "atanh": (elementwise.atanh, -1.0, 1.0),
    "cosh": (elementwise.cosh, -20.0, 20.0),
}
PLAIN: dict[str, tuple[Function, float, float]] = {  # what kernels call as torch has it
    "exp": (torch.exp, -700.0, 80.0),
    "log": (torch.log, 0.0, 1.0),
    "sqrt": (torch.sqrt, 0.0, 9.0),
    "tanh": (torch.tanh, -20.0, 20.0),
    "cos": (torch.cos, -1e4, 1e4),
    "asinh": (torch.asinh, 0.0, 1e3),
    "weighted sum": (lambda x: torch.add(x, x.square(), alpha=0.7), -1.0, 1.0),
}
DTYPES = (torch.float64, torch.float32)


def values(low: float, high: float, count: int, dtype: torch.dtype) -> Tensor:
    return torch.rand(count, dtype=dtype, generator=torch.Generator().manual_seed(1)) * (high - low) + low


def in_parts(function: Function, given: Tensor, length: int) -> Tensor:
    return torch.cat([function(part.clone()) for part in given.split(length)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*FILLED, *PLAIN])
def test_an_element_alone_gives_what_it_gives_among_others(name: str, dtype: torch.dtype) -> None:
    function, low, high = (FILLED | PLAIN)[name]
    given = values(low, high, 1003, dtype)
    whole = function(given)
    for length in (1, 7, 61, 64, 100):
        assert torch.equal(in_parts(function, given, length), whole), length
    assert torch.equal(function(given.flip(0)).flip(0), whole)
    assert torch.equal(function(torch.stack([given, given], 1)[:, 1]), whole)  # strided
    assert torch.equal(function(given.expand(3, -1)), whole.expand(3, -1))
    assert function(given[:0]).shape == (0,)


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", FILLED)
def test_threads_share_an_array_without_a_trace(name: str, count: int, threads: Callable[[int], None]) -> None:
    function, low, high = FILLED[name]
    for length in (32769, 65539, 100003):  # torch shares what is longer than 32768
        given = values(low, high, length, torch.float64)
        threads(1)
        alone = function(given)
        threads(count)
        assert torch.equal(function(given), alone), length


def test_gradients_pass() -> None:
    base, exponent = values(0.1, 1.0, 5, torch.float64), values(0.5, 2.0, 5, torch.float64)
    for each in (elementwise.sigmoid, elementwise.logit, elementwise.atanh, elementwise.cosh):
        assert torch.autograd.gradcheck(each, (0.9 * base.clone().requires_grad_(),))
    assert torch.autograd.gradcheck(elementwise.power, (base.requires_grad_(), exponent.requires_grad_()))
    assert torch.autograd.gradcheck(elementwise.power, (base, exponent[0]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sum_of_operands_hangs_on_no_other_row(dtype: torch.dtype) -> None:
    for operands in (2, 5, 9, 33):
        rows = values(0.0, 1.0, operands * 203, dtype).view(operands, 203)
        alone = torch.cat([sum_of_all(row) for row in rows.split(1, 1)])
        assert torch.equal(sum_of_all(rows), alone)
