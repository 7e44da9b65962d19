"""The benchmarks of arithmetic over time: data by other ways, every task at a size of seconds."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from benchmarks.arithmetic.batch import RuleShape
from benchmarks.arithmetic.regression import Regression
from benchmarks.arithmetic.sequences import recurrent
from benchmarks.arithmetic.sequences.networks import LSTM, RectifierRNN
from lnnkit.learn.portfolio import search


def generator(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# --- networks without arithmetic --------------------------------------------------------------------------------------


def test_the_lstm_is_that_of_torch() -> None:
    own = LSTM(3, 4, 2, generator())
    x = torch.randn(2, 5, 6, 3, generator=generator(2))
    # Torch's order of gates is entered, forgotten, what is entered, opened.
    order = torch.cat([torch.arange(0, 8), torch.arange(12, 16), torch.arange(8, 12)])
    for seed in range(2):
        theirs = torch.nn.LSTM(3, 4, batch_first=True)
        weight, bias = own.weight[seed].T[order], own.bias[seed, 0][order]
        theirs.load_state_dict(as_torch(weight[:, :3], weight[:, 3:], bias))
        assert torch.allclose(own(x)[seed], theirs(x[seed])[1][0][0], atol=1e-6)


def test_the_rectifier_network_is_that_of_torch() -> None:
    own = RectifierRNN(3, 4, 1, generator())
    x = torch.randn(1, 5, 6, 3, generator=generator(2))
    theirs = torch.nn.RNN(3, 4, nonlinearity="relu", batch_first=True)
    theirs.load_state_dict(as_torch(own.weight[0].T, own.memory[0].T, own.bias[0, 0]))
    assert torch.allclose(own(x)[0], theirs(x[0])[1][0], atol=1e-6)


def as_torch(entered: Tensor, remembered: Tensor, bias: Tensor) -> dict[str, Tensor]:
    """The only layer of a recurrent network of torch."""
    weights = {"weight_ih_l0": entered, "weight_hh_l0": remembered, "bias_ih_l0": bias}
    return {**weights, "bias_hh_l0": torch.zeros_like(bias)}


# --- sums over time ---------------------------------------------------------------------------------------------------


def test_memories_by_a_loop() -> None:
    x = torch.randint(-9, 9, (4, 7, 3), generator=generator()).double()
    found = recurrent.memories(3)(x).unflatten(-1, (3, 3))
    for row, states in zip(x.tolist(), found.tolist(), strict=True):
        for place in range(3):
            values = [step[place] for step in row]
            alternating = sum(value * (-1) ** late for late, value in enumerate(reversed(values)))
            assert [state[place] for state in states] == [sum(values), values[-1], alternating]


@pytest.mark.parametrize("task", [*recurrent.regressions()], ids=lambda task: task.op)
def test_arithmetic_over_time_is_found_and_goes_on(task: Regression) -> None:
    (found,) = recurrent.solve(task, RuleShape(0, 1), tested=5)
    assert found.solved
    assert found.sparsity == 0
    assert found.scores["outside"] < 1e-9
    assert "last" not in found.found and "alternating" not in found.found


@torch.no_grad()
def test_two_memories_in_one_quotient() -> None:
    """What is not among the published operations: the sum of one number over the last value of another."""
    x = recurrent.sequences(2, 500, 10, generator())
    target = x[..., 0].sum(-1) / (x[:, :, -1, 3] + x[:, :, -1, 4])
    answers = search(recurrent.memories()(x), target, generator=generator())
    assert [each.text(recurrent.names()) for each in answers] == ["sum(x0) / (last(x3) + last(x4))"] * 2


def test_the_bound_over_time_is_that_of_sums() -> None:
    """Input weights off by 1e-5 over 1,000 steps: for a sum of means of 1.5, the plain error is known."""
    (add,) = (each for each in recurrent.regressions() if each.op == "add")
    # Of a number in k of the two sums, (2 - 2k) is off: two are in both, four in one, four in none.
    bent = torch.tensor([0, 0, -2, -2, 0, 0, 2, 2, 2, 2]).double() * 1e-5
    mean, variance = float(bent.sum()) * 1500, float(bent.square().sum()) * 1000 / 12
    assert add.bound == pytest.approx(mean**2 + variance, rel=0.03)


@pytest.mark.parametrize("model", recurrent.MODELS)
def test_models_are_trained_through_time(model: str) -> None:
    (task, *_) = recurrent.regressions()
    found = recurrent.reproduce(task, model, RuleShape(0, 2), steps=2, tested=2)
    assert [(each.steps, each.solved) for each in found] == [(2, False)] * 2
