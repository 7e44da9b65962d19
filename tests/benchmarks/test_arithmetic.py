"""The arithmetic benchmark: data, thresholds and statistics by other ways, every task at a size of seconds."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import NormalDist
from types import ModuleType

import pytest
import torch

from benchmarks.arithmetic import equations, fast, heim, identity, madsen, nsr, paper, single, static
from benchmarks.arithmetic.__main__ import main
from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.jobs import TASKS, jobs
from benchmarks.arithmetic.outcome import Cell, Outcome, quantile, row, wilson
from benchmarks.arithmetic.regression import Regression, Subsets, seeded
from benchmarks.arithmetic.report import table
from benchmarks.arithmetic.samples import Grid, Sobol, Uniform
from benchmarks.arithmetic.store import Store
from tests.blocks import at_length

CELL = Cell("madsen", "mul", "4", "portfolio", "fast")


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(1)


def regression(module: ModuleType, op: str, setting: str) -> Regression:
    (found,) = (each for each in module.regressions() if (each.op, each.setting) == (op, setting))
    return found


# --- statistics -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (1, 25), (49, 50), (25, 25), (3, 7)])
def test_wilson_bounds_are_where_the_score_test_turns(successes: int, trials: int) -> None:
    z = NormalDist().inv_cdf(0.975)
    for bound in wilson(successes, trials):
        if 0 < bound < 1:
            score = abs(successes / trials - bound) / math.sqrt(bound * (1 - bound) / trials)
            assert score == pytest.approx(z, rel=1e-5)
    low, high = wilson(successes, trials)
    assert low <= successes / trials <= high


def test_quantiles() -> None:
    assert quantile([3, 1, 2], 0.5) == 2
    assert quantile([0, 10], 0.9) == 9
    assert quantile([], 0.5) is None
    assert quantile([1, math.inf], 0.9) == math.inf


def test_a_row_counts_what_was_solved() -> None:
    outcomes = [
        Outcome(True, 0.0, 10, 100, 1.0, sparsity=0.1, scores={"inside": 1.0}),
        Outcome(True, 0.0, 30, 300, 1.0, sparsity=0.2, scores={"inside": 2.0}),
        Outcome(False, 5.0, 99, 990, 1.0, planned=100, sparsity=0.5, scores={"inside": 9.0}),
    ]
    found = row(CELL, outcomes)
    assert (found.success, found.steps, found.samples) == (2 / 3, (20, 28), (200, 280))
    assert (found.sparsity, found.error, found.cpu_seconds, found.cut_short) == (0.2, 0.0, 3.0, True)
    assert found.as_object()["inside"] == 2.0
    head, line = table([found]).splitlines()
    assert head.split()[:4] == ["op", "setting", "model", "seeds"]
    assert "(cut short)" in line and "67 % [21, 94]" in line
    assert line.endswith("inside=2")


def test_scores_that_are_alike_are_shown_once() -> None:
    scores = {"1e1": 1.0, "1e2": 1.0, "1e3": 1.0, "1e4": 0.5, "1e5": 1.0}
    line = table([row(CELL, [Outcome(True, 0.0, 1, 1, 1.0, scores=scores)])]).splitlines()[1]
    assert line.endswith("1e1..1e3=1 1e4=0.5 1e5=1")


# --- data -------------------------------------------------------------------------------------------------------------


def test_subsets_of_the_madsen_task() -> None:
    masks = madsen.HUNDRED.masks(200, 100, generator())
    first, second = masks.unbind(1)
    assert (first.sum(-1) == 25).all() and (second.sum(-1) == 25).all()
    assert ((first * second).sum(-1) == 12).all()
    starts, seconds = first.argmax(-1), second.argmax(-1)
    assert (seconds - starts == 13).all()
    assert set(starts.tolist()) <= set(range(63)) and len(set(starts.tolist())) > 40


def test_subsets_at_the_start_and_scattered() -> None:
    assert madsen.FOUR.masks(1, 4, generator())[0].tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]
    scattered = static.SUBSETS.masks(3, 100, generator())
    assert (scattered[:, 0] * scattered[:, 1]).sum(-1).tolist() == [12] * 3
    assert not torch.equal(scattered[0], scattered[1])


def test_samples_stay_in_their_spans() -> None:
    drawn = Uniform(((-6, -2), (2, 6))).draw(2, 1000, 3, generator())
    assert drawn.shape == (2, 1000, 3)
    assert drawn.abs().min() >= 2 and drawn.abs().max() <= 6
    assert 0.4 < (drawn > 0).double().mean() < 0.6
    sobol = Sobol(-1, 1).draw(2, 256, 5, generator())
    assert sobol.abs().max() <= 1 and sobol.mean().abs() < 0.01
    assert Grid(-4.1, 4, 0.2).draw(2, 1, 2, generator()).shape == (2, 41 * 41, 2)


# The published thresholds use subsets of 26 with 13 in common; these are of 25 with 12, as the task has them.
@pytest.mark.parametrize(("op", "bound"), [("mul", 0.1606), ("add", 1.60e-5), ("sub", 1.389e-8), ("div", 5.8e-12)])
def test_thresholds_of_the_madsen_task(op: str, bound: float) -> None:
    assert regression(madsen, op, "100").bound == pytest.approx(bound, rel=0.03)


def test_targets_of_a_task() -> None:
    task = Regression("t", "div", "s", 3, Subsets(1, 2, 0), Grid(0, 1, 1), Grid(0, 1, 1))
    masks = task.subsets.masks(1, 3, generator())
    x = torch.tensor([[[6.0, 1.0, 2.0]]], dtype=torch.float64)
    assert task.target(x, masks).tolist() == [[2.0]]


def test_pairs_of_the_comparison_task() -> None:
    for relation in nsr.RELATIONS:
        pairs = nsr.learning_pairs(relation, generator())
        assert len(pairs) == 400
        equal = (pairs[:, 0] == pairs[:, 1]).double().mean()
        assert equal == (0.5 if relation in ("=", "!=") else 0.05)
        tested = nsr.testing_pairs(relation, 9, generator())
        assert (tested[:, 0] - tested[:, 1]).abs().max() == 5
        assert tested.min() >= 1e9 - 5


# --- the fast mode at a small size ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "module",
    at_length([single, heim, madsen, static], plain=1),
    ids=lambda module: module.__name__.split(".")[-1],
)
def test_the_fast_mode_solves_each_operation(module: ModuleType) -> None:
    tasks = {(each.op, each.features): each for each in module.regressions()}
    for task in tasks.values():
        count, examples = (1, 1024) if task.features > 10 else (2, 256)
        outcomes = fast.solve(task, Batch(0, count), examples=examples, tested=500)
        if module is static:
            outcomes = static.scored(task, outcomes)
            assert all(max(each.scores.values()) < 0.1 for each in outcomes)
        assert [(each.solved, each.sparsity) for each in outcomes] == [(True, 0)] * count
        assert all(each.samples == each.steps * examples < 1_000_000 for each in outcomes)


@pytest.mark.parametrize("relation", at_length(["=", ">="], plain=0))
def test_the_fast_mode_learns_relations(relation: nsr.RelationName) -> None:
    (found,) = nsr.solve(relation, 1, Batch(0, 1))
    assert found.solved
    assert set(found.scores.values()) == {1.0}


def test_outcomes_do_not_depend_on_what_ran_before() -> None:
    task = regression(madsen, "mul", "4")
    first, again = (fast.solve(task, Batch(5, 2), examples=128, tested=50) for _ in range(2))
    assert [(each.steps, each.error, each.found) for each in first] == [
        (each.steps, each.error, each.found) for each in again
    ]


# --- the paper mode at a small size -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_published_unit_solves_its_easy_case() -> None:
    task = regression(single, "mul", "[1, 2]")
    recipe = dict(paper.recipes(task))["NMU"]
    outcomes = paper.reproduce(task, recipe, Batch(0, 3), steps=3000)
    assert [each.solved for each in outcomes] == [True] * 3
    assert all(1000 <= each.steps <= 3000 for each in outcomes)


@pytest.mark.slow
def test_every_recipe_runs() -> None:
    seen: set[tuple[str, int]] = set()
    for module in (madsen, single, heim, static):
        for task in module.regressions():
            for name, recipe in paper.recipes(task):
                if (name, task.features) not in seen:
                    seen.add((name, task.features))
                    (found,) = paper.reproduce(task, recipe, Batch(0, 1), steps=3)
                    assert found.planned > found.steps == 3
    assert {name for name, _ in seen} == {"NAU", "NAC", "NMU", "NALU", "iNALU", "NPU", "RealNPU"}


@pytest.mark.slow
def test_perceptrons_do_not_extrapolate_and_accumulators_do() -> None:
    bounded, accumulator = (identity.solve(model, Batch(0, 2), steps=600) for model in ("tanh", "NAU"))
    assert all(each.scores["inside"] < 1 < 3 < each.scores["outside"] for each in bounded)
    assert all(each.solved for each in accumulator)


@pytest.mark.slow
def test_the_published_recipe_of_comparisons_runs() -> None:
    found = nsr.reproduce(">", 0, Batch(0, 2), steps=30)
    assert [(each.steps, each.planned) for each in found] == [(30, 50_000)] * 2


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["madsen", "--op", "add", "--setting", "4", "--seeds", "3", "--format", "json"]) == 0
    (line,) = json.loads(capsys.readouterr().out)
    assert (line["task"], line["op"], line["model"], line["success"]) == ("madsen", "add", "portfolio", 1.0)
    assert (line["seeds"], line["mode"], line["sparsity"]) == (3, "fast", 0)


def test_a_run_is_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["madsen", "--op", "sub", "--setting", "4", "--store", str(tmp_path / "runs")]
    solved: list[int] = []
    original = fast.solve

    def counted(task: Regression, batch: Batch) -> list[Outcome]:
        solved.append(batch.first)
        return original(task, batch)

    monkeypatch.setattr(fast, "solve", counted)  # what is run again shows in no result
    assert main([*command, "--seeds", "7"]) == 0
    assert main([*command, "--seeds", "7"]) == 0
    assert solved == [0, 5]
    with (tmp_path / "runs" / "outcomes.jsonl").open("a") as file:
        file.write('{"cell": "cut o')
    assert main([*command, "--seeds", "12"]) == 0
    assert solved == [0, 5, 5, 10]


@pytest.mark.slow
def test_training_is_taken_up_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "SAVED", 20)  # runs of a paper take hours
    monkeypatch.setattr(paper, "LOGGED", 10)
    task = regression(single, "div", "[1, 2]")
    recipe = dict(paper.recipes(task))["RealNPU"]

    class Interrupted(Exception):
        pass

    def interrupt(share: float) -> None:
        if share > 0.5:
            raise Interrupted

    (whole, *_) = paper.reproduce(task, recipe, Batch(0, 2), steps=60)
    batch = Batch(0, 2, interrupt, tmp_path / "state.npz")
    with pytest.raises(Interrupted):
        paper.reproduce(task, recipe, batch, steps=60)
    calls = 0
    step = vars(paper)["_step"]

    def counted(*arguments: object) -> None:
        nonlocal calls
        calls += 1
        step(*arguments)

    monkeypatch.setattr(paper, "_step", counted)  # what is run again shows in no result
    (again, *_) = paper.reproduce(task, recipe, Batch(0, 2, state=batch.state), steps=60)
    assert calls == 40
    assert (again.error, again.sparsity, again.scores) == (whole.error, whole.sparsity, whole.scores)


def test_a_store_distinguishes_limits(tmp_path: Path) -> None:
    outcome = Outcome(True, 0.0, 1, 1, 1.0, scores={"inside": 0.5})
    Store(tmp_path, 100).put(CELL, 0, [outcome])
    assert Store(tmp_path, 100).get(CELL, 0, 1) == [outcome]
    assert Store(tmp_path).get(CELL, 0, 1) is None
    assert Store(tmp_path, 100).get(CELL, 0, 2) is None


def test_every_task_has_cells_with_names_of_their_own() -> None:
    for task in TASKS:
        for mode in ("fast", "paper"):
            keys = [job.cell.key for job in jobs(task, mode, None)]
            assert keys or (task == "equations" and not equations.models(mode))  # no rival is installed
            assert len(set(keys)) == len(keys)


def test_an_unknown_operation(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["nsr", "--op", "mul"])
    assert stopped.value.code == 2
    assert "its operations are !=, <, <=, =, >, >=" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["nsr", "--seeds", "0"])


def test_generators_have_names() -> None:
    first, again, other = (torch.rand(3, generator=seeded("a", number)) for number in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
