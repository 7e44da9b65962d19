"""The benchmarks of arithmetic over time: data by other ways, every task at a size of seconds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from torch import Tensor

from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.portfolio.search import search
from benchmarks.arithmetic.regression import Regression
from benchmarks.arithmetic.sequences import counting, flows, fsir, numerals, recurrent, simple_powers
from benchmarks.arithmetic.sequences.networks import LSTM, RectifierRNN
from tests.blocks import at_length


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


@pytest.mark.parametrize("task", at_length([*recurrent.regressions()], plain=1), ids=lambda task: task.op)
def test_arithmetic_over_time_is_found_and_goes_on(task: Regression) -> None:
    (found,) = recurrent.solve(task, Batch(0, 1), tested=5)
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
    found = recurrent.reproduce(task, model, Batch(0, 2), steps=2, tested=2)
    assert [(each.steps, each.solved) for each in found] == [(2, False)] * 2


# --- numerals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "one"),
        (13, "thirteen"),
        (20, "twenty"),
        (99, "ninety nine"),
        (100, "one hundred"),
        (101, "one hundred and one"),
        (342, "three hundred and forty two"),
        (812, "eight hundred and twelve"),
        (999, "nine hundred and ninety nine"),
    ],
)
def test_numerals(number: int, text: str) -> None:
    assert numerals.words(number) == text.split()


def test_every_numeral_is_another() -> None:
    texts = {" ".join(numerals.words(number)) for number in range(1, 1000)}
    assert len(texts) == 999
    assert {word for text in texts for word in text.split()} == set(numerals.VOCABULARY[1:])
    assert numerals.encoded([7]).tolist() == [[0, 0, 0, 0, numerals.VOCABULARY.index("seven")]]


def test_a_split_has_every_word_and_no_number_twice() -> None:
    chosen = numerals.split(generator())
    assert [len(part) for part in (chosen.learned, chosen.validated, chosen.tested)] == [169, 200, 630]
    assert sorted(chosen.learned + chosen.validated + chosen.tested) == [*range(1, 1000)]
    assert {word for number in chosen.learned for word in numerals.words(number)} == set(numerals.VOCABULARY[1:])


def test_unseen_numerals_are_read() -> None:
    (found,) = numerals.solve(Batch(0, 1))
    assert (found.error, found.scores) == (0, {"learned": 0, "validated": 0})
    said = dict(each.split(": ") for each in found.found.split("; "))
    assert said["hundred"] == "times 100"
    assert said["forty"] == "plus 40"
    assert "and" not in said


@pytest.mark.parametrize("model", numerals.MODELS)
def test_published_models_of_numerals_run(model: str) -> None:
    found = numerals.reproduce(model, Batch(0, 2), steps=2)
    assert [(each.steps, each.solved) for each in found] == [(2, False)] * 2


# --- differential equations -------------------------------------------------------------------------------------------


def observed(
    flow: Callable[[float, list[float]], list[float]], begun: list[float], days: float, rows: int
) -> flows.Table:
    """By a solver of another library."""
    times = torch.linspace(0, days, rows, dtype=torch.float64)
    found = solve_ivp(flow, (0, days), begun, t_eval=times.numpy(), rtol=1e-10, atol=1e-12)
    return flows.Table(times, torch.from_numpy(found.y.T.copy()))


def law(weights: list[list[float]], powers: list[list[float]]) -> flows.Law:
    shape = flows.Shape(len(powers[0]), len(powers), False)
    flat = torch.tensor([value for row in (*weights, *powers) for value in row], dtype=torch.float64)
    return flows.Law(shape, flat, flat != 0, 0.0, 1, flat, 0)


TRUE = law(
    [[-0.06, 0, 0.01], [0.06, -0.05, 0], [0, 0.05, -0.01]],
    [[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]],
)


@pytest.mark.slow
def test_the_table_is_that_of_another_solver() -> None:
    def flow(time: float, now: list[float]) -> list[float]:
        caught = 0.06 * math.sqrt(max(now[0] * now[1], 0.0))
        return [0.01 * now[2] - caught, caught - 0.05 * now[1], 0.05 * now[1] - 0.01 * now[2]]

    found = fsir.table(fsir.SETTINGS[0], generator())
    wanted = observed(flow, [100, 0.01, 0], 200, 40)
    assert torch.allclose(found.states, wanted.states, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("setting", at_length(fsir.SETTINGS[::2], plain=1), ids=lambda setting: setting.name)
def test_the_true_equations_leave_no_gap(setting: fsir.Setting) -> None:
    table = fsir.table(setting, generator())
    parameters = TRUE.parameters[None]
    fit = flows.Fit(TRUE.shape, table, parameters != 0, torch.zeros_like(parameters))
    assert float(fit.residuals(parameters).square().mean()) < flows.FLOOR


@pytest.mark.slow
def test_slopes_of_a_flow_are_those_of_steps() -> None:
    table = fsir.table(fsir.SETTINGS[2], generator())
    parameters = TRUE.parameters[None]
    fit = flows.Fit(TRUE.shape, table, parameters != 0, torch.zeros_like(parameters))
    slopes, here = fit.jacobian(parameters)[0], fit.residuals(parameters)
    for place in (0, 4, 9, 13):
        moved = parameters.clone()
        moved[0, place] += 1e-4
        step = (fit.residuals(moved) - here)[0] / 1e-4
        assert torch.allclose(slopes[:, place], step, rtol=0.02, atol=0.02 * float(step.abs().max()))


def test_equations_are_judged() -> None:
    assert fsir.judged(TRUE) == (0, True)
    near = law(
        [[-0.06, 0, 0.01], [0.06, -0.05, 0], [0, 0.05, -0.01]],
        [[0.515, 0.49, 0], [0, 1, 0], [0, 0, 1]],
    )
    assert fsir.judged(near) == (pytest.approx(0.015), True)
    spurious = law(
        [[-0.06, 0.001, 0.01], [0.06, -0.05, 0], [0, 0.05, -0.01]],
        [[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]],
    )
    assert fsir.judged(spurious) == (0, False)
    far = law(
        [[-0.06, 0, 0.01], [0.06, -0.05, 0], [0, 0.05, -0.01]],
        [[0.57, 0.62, 0], [0, 1, 0], [0, 0, 1]],
    )
    assert fsir.judged(far) == (pytest.approx(0.12), False)


def test_a_law_is_read_out() -> None:
    assert TRUE.text(["S", "I", "R"]) == [
        "-0.06 * (sqrt(S) * sqrt(I)) + 0.01 * R",
        "0.06 * (sqrt(S) * sqrt(I)) - 0.05 * I",
        "0.05 * I - 0.01 * R",
    ]


@pytest.mark.slow
def test_a_power_that_is_not_on_the_grid_is_found() -> None:
    """``dx/dt = -0.3 x^0.7``: what no published task has."""
    table = observed(lambda _, now: [-0.3 * now[0] ** 0.7], [4.0], 5, 20)
    found = flows.discover(table, imaginary=False, noisy=False, generator=generator(), most=1)
    assert found.parameters.tolist() == [pytest.approx(-0.3, abs=1e-4), pytest.approx(0.7, abs=1e-3)]


def test_the_simplest_products_surprise_least() -> None:
    """Of two columns: each alone, then their product and the roots, by columns read and distance of powers from 1."""
    simple = [simple_powers.surprise(row) for row in ((1.0, 0.0), (0.0, 0.5), (0.0, 2.0), (1.0, 1.0), (0.5, 0.5))]
    assert simple == sorted(simple) and simple[0] == 2 * math.log(2)
    efforts = [simple_powers.effort(row) for row in simple_powers.products(2)]
    assert efforts == sorted(efforts) and len(set(simple_powers.products(2))) == len(efforts)


def swayed(seed: int) -> tuple[simple_powers.Terms, Tensor]:
    """Integrals over a random path of two columns, and what the columns move by where the second product feeds both."""
    path = 0.5 + torch.rand(9, 2, generator=generator(seed), dtype=torch.float64)
    terms = simple_powers.Terms.of(path, torch.eye(9, dtype=torch.float64)[:8])
    whole = terms.integrals * terms.size
    moved = torch.stack([whole[:, 1] - 0.5 * whole[:, 3], -whole[:, 1]], 1)
    return terms, moved + 1e-3 * torch.randn(moved.shape, generator=generator(seed + 50), dtype=torch.float64)


@pytest.mark.parametrize("seed", at_length([*range(4)], plain=1))
def test_the_best_set_of_products_by_all_pairs(seed: int) -> None:
    terms, moved = swayed(seed)
    pairs = itertools.combinations(range(len(terms.powers)), 2)

    def left(places: tuple[int, ...]) -> float:
        own = terms.integrals[:, list(places)].numpy()
        rest = own @ np.linalg.lstsq(own, moved.numpy(), rcond=None)[0] - moved.numpy()
        return float((rest**2).sum())

    best = min(pairs, key=left)
    assert best == (1, 3)
    powers, weights = simple_powers.sets(terms, moved, 2, 5)[0]
    assert powers.tolist() == terms.powers[[1, 3]].tolist()
    assert weights.flatten().tolist() == pytest.approx([1, -0.5, -1, 0], abs=0.05)


def test_what_leaves_a_column_enters_another() -> None:
    terms, moved = swayed(1)
    moved = moved[:, 1:] * torch.tensor([[-1.0, 0.5]])  # the second column in units twice as large
    scale = torch.tensor([1.0, 2.0], dtype=torch.float64)
    powers, weights = simple_powers.transfers(terms, moved, scale, 1, 3)[0]
    assert powers.tolist() == terms.powers[[1]].tolist()
    assert weights.flatten().tolist() == pytest.approx([1, -1], abs=0.02)


@pytest.mark.parametrize(
    ("setting", "lost"), at_length([(1, 0.0), (0, 0.001), (0, 0.0), (3, 0.0), (1, 0.01)], plain=1, several=True)
)
def test_whether_a_total_is_kept(setting: int, lost: float) -> None:
    table = fsir.table(fsir.SETTINGS[setting], generator())
    fewer = table.states * torch.exp(-lost * table.times)[:, None]
    assert flows.keeps_total(flows.Table(table.times, fewer)) == (lost == 0)


def test_parameters_that_follow_others() -> None:
    table = fsir.table(fsir.SETTINGS[2], generator())
    parameters = TRUE.parameters[None]
    follow = torch.full((1, 18), -1)
    follow[0, [3, 7]] = torch.tensor([0, 4])  # what r takes from S enters I, what I loses enters R
    free = parameters != 0
    free[follow >= 0] = False
    bent = parameters.clone()
    bent[0, 0] = -0.07
    fit = flows.Fit(TRUE.shape, table, free, parameters, follow)
    assert fit.whole(bent)[0, [0, 3, 4, 7]].tolist() == [-0.07, 0.07, -0.05, 0.05]
    slope = fit.jacobian(parameters)[0, :, 0]
    moved = parameters.clone()
    moved[0, 0] += 1e-5
    step = (fit.residuals(moved) - fit.residuals(parameters))[0] / 1e-5
    assert torch.allclose(slope, step, rtol=0.01, atol=0.01 * float(step.abs().max()))


@pytest.mark.slow
def test_the_equations_are_found_in_noise() -> None:
    table = fsir.table(fsir.SETTINGS[1], generator(31))
    found = flows.with_simple_powers(table, flows.Shape(3, 3, False), noisy=True)
    assert fsir.judged(min(found, key=lambda law: law.length)) == (0, True)


@pytest.mark.slow
def test_a_power_that_is_simple_is_made_so() -> None:
    """``dx/dt = -y, dy/dt = 0.5 x``, as long as both are positive."""
    table = observed(lambda _, now: [-now[1], 0.5 * now[0]], [3.0, 1.0], 1, 12)
    found = flows.discover(table, imaginary=False, noisy=False, generator=generator())
    _, powers, _ = found.shape.split(found.parameters[None])
    assert sorted(powers[0].tolist()) == [[0, 1], [1, 0]]


@pytest.mark.slow
def test_the_equations_are_found_from_thirty_days() -> None:
    (found,) = fsir.solve(fsir.SETTINGS[2], "RealNPU", Batch(0, 1))
    assert found.solved


def test_the_published_recipe_of_equations_runs() -> None:
    found = fsir.reproduce(fsir.SETTINGS[2], "NPU", Batch(0, 2), steps=2)
    assert [(each.steps, each.planned, each.solved) for each in found] == [(2, 3000, False)] * 2


# --- digits -----------------------------------------------------------------------------------------------------------

pictures = pytest.mark.skipif(not counting.DATA.is_dir(), reason=f"no images in {counting.DATA}; set LNNKIT_DATA")
COUNT, ADD, MULTIPLY = counting.TASKS


def test_results_of_digits() -> None:
    digits = torch.tensor([[3, 0, 3], [9, 1, 2]])
    assert ADD.target(digits).tolist() == [[6], [12]]
    assert MULTIPLY.target(digits).tolist() == [[0], [18]]
    assert COUNT.target(digits).tolist() == [[1, 0, 0, 2, 0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0, 0, 0, 1]]
    assert COUNT.target(digits).sum(1).tolist() == [3, 3]


def test_distances_are_shares() -> None:
    assert ADD.distance(torch.tensor([[99.0], [210.0]]), torch.tensor([[100.0], [200.0]])) == pytest.approx(0.03)
    assert MULTIPLY.distance(torch.tensor([[6.0], [7.0]]), torch.tensor([[6.0], [8.0]])) == 0.5


def test_whole_weights_take_their_scale_to_the_network() -> None:
    """A sum that a unit makes of readings twice too large."""
    model = counting.Model(ADD, "unit", generator())
    assert isinstance(model.over_time, recurrent.Recurrent)
    (unit,) = model.over_time.units
    unit.assign({"weight": torch.tensor([[0.5, 1.0]])})
    pixels = torch.rand(3, 4, 28, 28, generator=generator())
    before = model(pixels)
    counting.whole_weights(model)
    assert unit.attributes()["weight"].tolist() == [[1, 1]]
    assert torch.allclose(model(pixels), before, rtol=1e-4, atol=1e-5)


@pictures
@pytest.mark.parametrize("task", at_length([MULTIPLY, COUNT, ADD], plain=1), ids=lambda task: task.op)
@pytest.mark.parametrize("model", ["unit", *counting.MODELS])
def test_digits_are_learned_through_time(task: counting.Task, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    short = counting.Task(task.op, task.short, (3, 4))
    monkeypatch.setattr(counting, "IMAGES", 20)  # runs of a paper take hours
    (found,) = counting.solve(short, Batch(0, 1), model=model, steps=2)
    assert found.steps == 2
    assert set(found.scores) == {"true 3", "taught 3", "true 4", "taught 4"}
