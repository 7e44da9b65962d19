"""All cells of all tasks, each with what solves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

from benchmarks.arithmetic import epidemics, equations, fast, heim, identity, madsen, nsr, paper, single, static
from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.outcome import Cell, Outcome
from benchmarks.arithmetic.regression import Regression
from benchmarks.arithmetic.sequences import numerals, recurrent

Task = Literal[
    "identity", "static", "madsen", "single", "heim", "nsr", "equations", "recurrent", "numerals", "fsir", "counting"
]
Mode = Literal["paper", "fast"]
TASKS: tuple[Task, ...] = get_args(Task)
COMPANY = (0, 3)
"""Operands that do not matter, in the two settings of ``nsr``."""


@dataclass(frozen=True)
class Job:
    """A cell, and what runs a batch of its seeds."""

    cell: Cell
    solve: Callable[[Batch], list[Outcome]]


def jobs(task: Task, mode: Mode, steps: int | None, seconds: float = equations.SECONDS) -> Iterator[Job]:
    """``steps`` cuts training by gradient descent short; ``seconds`` is for each formula of ``equations``."""
    match task:
        case "identity":
            for model in identity.MODELS:
                cell = Cell(task, "identity", "[-5, 5]", model, mode)
                yield Job(cell, partial(identity.solve, model, steps=steps))
        case "nsr":
            for relation in nsr.RELATIONS:
                for company in COMPANY:
                    setting = f"{2 + company} operands"
                    cell = Cell(task, relation, setting, "NSR", mode, nsr.PUBLISHED[relation] if not company else "")
                    solve = partial(nsr.solve, relation, company)
                    yield Job(cell, solve if mode == "fast" else partial(nsr.reproduce, relation, company, steps=steps))
        case "equations":
            yield from _of_equations(mode, seconds)
        case "recurrent":
            yield from _recurrent(mode, steps)
        case "numerals":
            yield from _numerals(mode, steps)
        case "fsir":
            yield from _fsir(mode, steps)
        case "counting":
            yield from _counting(mode, steps)
        case "static" | "madsen" | "single" | "heim":
            tasks = {"static": static, "madsen": madsen, "single": single, "heim": heim}
            for regression in tasks[task].regressions():
                yield from _of_regression(regression, mode, steps)


def _of_equations(mode: Mode, seconds: float) -> Iterator[Job]:
    for op in equations.operations():
        for setting in equations.SETTINGS:
            for model in equations.models(mode):
                cell = Cell("equations", op, setting.name, model, mode)
                yield Job(cell, partial(equations.solve, op, setting, model, seconds=seconds))
    if mode == "fast":
        for country in epidemics.countries():
            cell = Cell("equations", country, "next 14 days", "FormulaRegressor", mode)
            yield Job(cell, partial(epidemics.solve, country))


def _of_regression(task: Regression, mode: Mode, steps: int | None) -> Iterator[Job]:
    cell = Cell(task.task, task.op, task.setting, "portfolio", mode, task.published)
    if mode == "fast":
        yield Job(cell, partial(_fast, task))
        return
    for model, recipe in paper.recipes(task):
        yield Job(replace(cell, model=model), partial(paper.reproduce, task, recipe, steps=steps))


def _recurrent(mode: Mode, steps: int | None) -> Iterator[Job]:
    for task in recurrent.regressions():
        cell = Cell(task.task, task.op, task.setting, "portfolio", mode, task.published)
        if mode == "fast":
            yield Job(cell, partial(recurrent.solve, task))
            continue
        for model in recurrent.MODELS:
            solve = partial(recurrent.reproduce, task, model, steps=steps)
            yield Job(replace(cell, model=model, published=recurrent.PAPERS.get((model, task.op), "")), solve)


def _numerals(mode: Mode, steps: int | None) -> Iterator[Job]:
    cell = Cell("numerals", "read", "1 to 999", "NMU, NAU", mode, "LSTM + NALU .41")
    if mode == "fast":
        yield Job(cell, numerals.solve)
        return
    for model, published in numerals.PAPERS.items():
        solve = partial(numerals.reproduce, model, steps=steps)
        yield Job(replace(cell, model=model, published=published), solve)


def _fsir(mode: Mode, steps: int | None) -> Iterator[Job]:
    from benchmarks.arithmetic.sequences import fsir  # which needs torchdiffeq

    for setting in fsir.SETTINGS:
        for model in fsir.MODELS:
            cell = Cell("fsir", "equations", setting.name, model, mode, fsir.PUBLISHED)
            solve = partial(fsir.solve, setting, model)
            yield Job(cell, solve if mode == "fast" else partial(fsir.reproduce, setting, model, steps=steps))


def _counting(mode: Mode, steps: int | None) -> Iterator[Job]:
    from benchmarks.arithmetic.sequences import counting  # which needs images

    for task in counting.TASKS:
        cell = Cell("counting", task.op, f"length {task.lengths[-1]}", "NMU" if task.op == "mul" else "NAU", mode)
        if mode == "fast":
            yield Job(cell, partial(counting.solve, task, steps=steps))
            continue
        for model in counting.MODELS:
            yield Job(replace(cell, model=model), partial(counting.solve, task, model=model, steps=steps))


def _fast(task: Regression, batch: Batch) -> list[Outcome]:
    outcomes = fast.solve(task, batch)
    return static.scored(task, outcomes) if task.task == "static" else outcomes
