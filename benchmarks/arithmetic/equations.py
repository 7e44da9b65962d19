"""Formulas found again from tables: those of the Feynman lectures, random ones, and epidemics of eight countries.

A formula is exact where it agrees with the law to 1e-6 relative on fresh rows of ranges that are half as wide again.
``paper`` runs gplearn on the same rows for the same seconds, where it is installed.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.laws import KINDS, Law, feynman, random_law
from benchmarks.arithmetic.outcome import Outcome
from lnnkit.discovery.expression import evaluate
from lnnkit.discovery.formula_search import FormulaSearch, discover
from lnnkit.discovery.formula_text import formula_text

ROWS, SECONDS, FRESH = 1000, 30.0, 2000
EXACT = 1e-6
RIVALS = ("gplearn",)

Predictor = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Setting:
    """Gaussian noise of a share of the target's root mean square; columns that do not matter, drawn from 1 to 5; the
    share of rows whose target is replaced by normal numbers of standard deviation 10,000; the share of cells that are
    missing; whether each column is in units of its own, powers of ten from a millionth to a million."""

    name: str
    noise: float = 0.0
    columns: int = 0
    rows: int = ROWS
    outliers: float = 0.0
    missing: float = 0.0
    units: bool = False


SETTINGS = (
    Setting("clean"),
    Setting("1 % noise, 10 columns", 0.01, 10),
    Setting("15 % outliers, 20 columns", columns=20, outliers=0.15),
    Setting("20 rows", rows=20),
    Setting("5 % missing, other units", missing=0.05, units=True),
)


def operations() -> list[str]:
    """The laws by name; a random one for each seed of a kind."""
    return [*(law.name for law in feynman()), *(f"random {kind}" for kind in KINDS)]


def law_of(op: str, seed: int) -> Law:
    if op.startswith("random "):
        return random_law(op.removeprefix("random "), seed)
    return next(law for law in feynman() if law.name == op)


def table_of(law: Law, setting: Setting, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """``[rows, columns]``, nan where missing, and the target."""
    generator = np.random.default_rng([seed, *law.name.encode()])
    table = law.draw(setting.rows, generator)
    clean = law.value(table)
    scatter = setting.noise * float(np.sqrt(np.mean(clean**2))) * generator.standard_normal(setting.rows)
    more = generator.uniform(1.0, 5.0, (setting.rows, setting.columns))
    whole = np.concatenate([table, more], 1) * _units(setting, seed, table.shape[1] + setting.columns)
    whole[generator.random(whole.shape) < setting.missing] = np.nan
    target = clean + scatter
    wrong = generator.choice(setting.rows, round(setting.outliers * setting.rows), replace=False)
    target[wrong] = 1e4 * generator.standard_normal(len(wrong))
    return whole, target


def _units(setting: Setting, seed: int, width: int) -> np.ndarray:
    exponents = np.random.default_rng([seed, 11]).integers(-6, 7, width)
    return 10.0**exponents if setting.units else np.ones(width)


def judged(predict: Predictor, law: Law, setting: Setting, seed: int) -> tuple[float, float]:
    """The largest error, relative to the value or to a thousandth of the middle one, and the share of the variance that
    is explained, on fresh rows of wider ranges where the law has a value."""
    generator = np.random.default_rng([seed, 7, *law.name.encode()])
    table = law.draw(FRESH, generator, wider=0.5)
    table = np.concatenate([table, generator.uniform(1.0, 5.0, (FRESH, setting.columns))], 1)
    wanted = law.value(table)
    known = np.isfinite(wanted)
    found = predict(table * _units(setting, seed, table.shape[1]))
    if not np.isfinite(found[known]).all():
        return np.inf, -np.inf
    wanted, found = wanted[known], found[known]
    size = np.maximum(np.abs(wanted), 1e-3 * np.median(np.abs(wanted)))
    return float(np.max(np.abs(found - wanted) / size)), 1 - float(np.mean((found - wanted) ** 2) / wanted.var())


def solve(op: str, setting: Setting, model: str, batch: Batch, *, seconds: float = SECONDS) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for number in range(batch.count):
        seed = batch.first + number
        law = law_of(op, seed)
        table, target = table_of(law, setting, seed)
        began = time.process_time()
        predict, text = _fitted(model, law, table, target, seed, seconds)
        cpu = time.process_time() - began
        error, told = judged(predict, law, setting, seed)
        scores = {"R2": told, "R2 > .999": float(told > 0.999)}
        outcomes.append(Outcome(error <= EXACT, error, 1, setting.rows, cpu, found=text, scores=scores))
        batch.watch((number + 1) / batch.count)
    return outcomes


def models(mode: str) -> list[str]:
    if mode == "fast":
        return ["FormulaRegressor"]
    return [each for each in RIVALS if importlib.util.find_spec(each) is not None]


def _fitted(
    model: str, law: Law, table: np.ndarray, target: np.ndarray, seed: int, seconds: float
) -> tuple[Predictor, str]:
    names = [*law.names, *(f"z{place}" for place in range(table.shape[1] - len(law.names)))]
    if model == "FormulaRegressor":
        formula = discover(table, target, FormulaSearch(seconds, seed=seed)).formula
        return lambda rows: evaluate(formula, rows), formula_text(formula, names)
    return _gplearn(table, target, seed, seconds)


def _gplearn(table: np.ndarray, target: np.ndarray, seed: int, seconds: float) -> tuple[Predictor, str]:
    """Its defaults but for the functions and a population of 1,000; generations until the seconds are spent."""
    from gplearn.genetic import SymbolicRegressor  # pyright: ignore[reportMissingImports]  # only where installed

    model: Any = SymbolicRegressor(
        population_size=1000,
        generations=1,
        function_set=("add", "sub", "mul", "div", "sqrt", "abs"),
        parsimony_coefficient=1e-4,
        warm_start=True,
        random_state=seed,
    )
    end = time.process_time() + seconds
    while time.process_time() < end:
        model.fit(table, target)
        model.set_params(generations=model.generations + 1)
    return model.predict, str(model._program)
