"""Fits the constants of a formula to rows, and replaces them by exact ones where the rows allow it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from lnnkit.discovery.exact_constants import Constant, snapped
from lnnkit.discovery.expression import (
    Product,
    evaluate,
    free_constants,
    substituted,
    variable,
    with_constants,
)
from lnnkit.learn.arithmetic.levenberg_marquardt import minimise

_STEP = 1e-7  # relative step of a constant for a finite difference
_FLOOR = 3e-12  # least relative error of a constant, from rounding
_ROUNDING = 1e-12  # relative to the target: the residuals of an exact formula
_UNSURE = 3.0  # a coefficient within this many standard errors of 0 may be dropped
_ROUNDS = 6  # of leaving outliers out
_OUTLYING = 6.0  # residuals beyond this many robust standard deviations are outliers


@dataclass(frozen=True)
class _Residuals:
    """The least-squares problem of a formula's free constants. Each parameter is a constant divided by its start
    value."""

    formula: Product
    starts: tuple[Constant, ...]
    free: tuple[int, ...]
    table: np.ndarray
    target: np.ndarray
    scale: float

    def values(self, parameters: np.ndarray) -> np.ndarray:
        return evaluate(with_constants(self.formula, self.constants(parameters)), self.table)

    def constants(self, parameters: np.ndarray) -> list[Constant]:
        found = list(self.starts)
        for place, factor in zip(self.free, parameters.tolist(), strict=True):
            found[place] = Constant(self.starts[place].value * factor)
        return found

    def residuals(self, parameters: Tensor) -> Tensor:
        found = [(self.values(row) - self.target) / self.scale for row in parameters.numpy()]
        return torch.from_numpy(np.stack(found))

    def jacobian(self, parameters: Tensor) -> Tensor:
        return torch.from_numpy(np.stack([self.slopes(row) for row in parameters.numpy()]))

    def slopes(self, parameters: np.ndarray) -> np.ndarray:
        """The derivatives of the residuals, ``[rows, free]``, by finite differences."""
        columns: list[np.ndarray] = []
        here = self.values(parameters)
        for place in range(len(parameters)):
            ahead = parameters.copy()
            step = _STEP * max(1.0, abs(parameters[place]))
            ahead[place] += step
            columns.append((self.values(ahead) - here) / (step * self.scale))
        return np.nan_to_num(np.stack(columns, 1)) if columns else np.zeros((len(self.table), 0))

    def select(self, problems: Tensor) -> Self:
        return self


def refined(formula: Product, table: np.ndarray, target: np.ndarray, *, steps: int = 20) -> Product:
    """The formula with all constants refined by least squares, then again without the outliers, if they are at most a
    fifth of the rows, until these stay the same."""
    starts = free_constants(formula)
    free = tuple(place for place, each in enumerate(starts) if each.value)
    fitted = _fitted(formula, starts, free, table, target, steps)
    kept = np.ones(len(target), dtype=bool)
    for _ in range(_ROUNDS):
        residuals = np.abs(evaluate(fitted, table) - target)
        usual = residuals <= _OUTLYING * spread(residuals)
        if (usual == kept).all() or usual.mean() < 0.8 or usual.sum() <= len(free) + 2:
            break
        kept = usual
        fitted = _fitted(fitted, free_constants(fitted), free, table[usual], target[usual], steps)
    return fitted


def exact(formula: Product, table: np.ndarray, target: np.ndarray) -> Product:
    """The formula with as many constants as possible replaced by exact ones.

    One constant is replaced at a time, by an exact one within three standard errors; then the others are fitted again.
    A replacement stays if the sum of squares rises by no more than chance explains.
    """
    table, target = _usual(formula, table, target)
    formula = _shorter(formula, table, target)
    constants = free_constants(formula)
    left = [place for place, each in enumerate(constants) if each.value]
    most = _most(formula, table, target)
    while left:
        errors = _errors(formula, constants, left, table, target)
        options = [
            (_cost(option), place, option)
            for place, error in zip(left, errors, strict=True)
            if (option := snapped(constants[place].value, error)) is not None
        ]
        if not options:
            break
        _, place, option = min(options, key=lambda each: each[:2])
        left.remove(place)
        tried = list(constants)
        tried[place] = option
        changed = with_constants(formula, tried)
        if left:
            changed = _fitted(changed, tried, tuple(left), table, target, 6)
        if _square(changed, table, target) <= most:
            formula, constants = changed, free_constants(changed)
    return formula


def _most(formula: Product, table: np.ndarray, target: np.ndarray) -> float:
    """The sum of squares up to which another formula is no worse: what rounding leaves, and four standard errors of a
    mean square that holds noise."""
    return _square(formula, table, target) * (1 + 12 / len(target)) + _least(target)


def _least(target: np.ndarray) -> float:
    return len(target) * (_ROUNDING * float(np.abs(target).max(initial=0.0))) ** 2


def _usual(formula: Product, table: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows without the outliers; all that have a value where those would be too many."""
    residuals = np.abs(evaluate(formula, table) - target)
    usual = residuals <= _OUTLYING * spread(residuals)
    if usual.mean() < 0.8:
        usual = np.isfinite(residuals)
    return table[usual], target[usual]


def _shorter(formula: Product, table: np.ndarray, target: np.ndarray) -> Product:
    """The formula without the terms whose coefficients are within three standard errors of 0, or the least sure one
    that rounding imitates, if the sum of squares rises by no more than chance and rounding explain."""
    most = _most(formula, table, target)
    while True:
        constants = free_constants(formula)
        left = [place for place, each in enumerate(constants) if each.value]
        if len(left) < 2:
            return formula
        errors = _errors(formula, constants, left, table, target)
        ratio, place = min(
            (abs(constants[place].value) / error, place) for place, error in zip(left, errors, strict=True)
        )
        if ratio > _UNSURE and _square(formula, table, target) > _least(target):
            return formula
        constants[place] = Constant(0.0, 0, 1)
        shorter = substituted(with_constants(formula, constants), [variable(at) for at in range(table.shape[1])])
        if not shorter.coefficient.value:
            return formula
        shorter = refined(shorter, table, target)
        if not _square(shorter, table, target) <= most:
            return formula
        formula = shorter


def rounded(formula: Product, table: np.ndarray, target: np.ndarray) -> Product:
    """The formula with its inexact constants rounded to their significant digits, that is, to a thirtieth of a standard
    error, and to more of them where constants make up for each other."""
    table, target = _usual(formula, table, target)
    constants = free_constants(formula)
    left = [place for place, each in enumerate(constants) if not each.exact]
    if not left:
        return formula
    errors = _errors(formula, constants, left, table, target)
    most = _most(formula, table, target)
    for fineness in (30.0, 1e3, 1e5, 1e7):
        short = list(constants)
        for place, error in zip(left, errors, strict=True):
            short[place] = Constant(_nearby(constants[place].value, error / fineness))
        shorter = with_constants(formula, short)
        if _square(shorter, table, target) <= most:
            return shorter
    return formula


def _nearby(value: float, distance: float) -> float:
    """The shortest decimal so near."""
    shorter = (float(f"{value:.{digits}g}") for digits in range(2, 16))
    return next((each for each in shorter if abs(each - value) <= distance), value)


def spread(residuals: np.ndarray) -> float:
    """A robust standard deviation: that of the normal distribution with the same median absolute value. It is at least
    the rounding error."""
    finite = residuals[np.isfinite(residuals)]
    return 1.4826 * float(np.median(finite)) if len(finite) else math.inf


def _fitted(
    formula: Product,
    starts: Sequence[Constant],
    free: tuple[int, ...],
    table: np.ndarray,
    target: np.ndarray,
    steps: int,
) -> Product:
    if not free:
        return formula
    scale = float(np.sqrt(np.mean(target**2))) or 1.0
    problem = _Residuals(formula, tuple(starts), free, table, target, scale)
    done = minimise(problem, torch.ones(1, len(free), dtype=torch.float64), steps=steps, patience=2, enough=1e-31)
    found = problem.constants(done.parameters[0].numpy())
    if not all(math.isfinite(each.value) for each in found):
        return formula
    return with_constants(formula, found)


def _errors(
    formula: Product, constants: Sequence[Constant], free: Sequence[int], table: np.ndarray, target: np.ndarray
) -> list[float]:
    """The standard error of each constant; infinite where it changes nothing."""
    problem = _Residuals(formula, tuple(constants), tuple(free), table, target, 1.0)
    slopes = problem.slopes(np.ones(len(free)))
    noise = _square(formula, table, target) / max(1, len(target) - len(free))
    scale = np.linalg.norm(slopes, axis=0)
    idle = scale == 0
    scale[idle] = 1.0
    covariance = np.linalg.pinv((slopes / scale).T @ (slopes / scale), rcond=1e-14)
    relative = np.where(idle, np.inf, np.sqrt(np.maximum(np.diag(covariance), 0) * noise) / scale)
    return [
        max(float(error), _FLOOR) * abs(constants[place].value) for error, place in zip(relative, free, strict=True)
    ]


def _cost(option: Constant) -> float:
    if not option.exact:
        return 1e9
    pair = math.log2(max(1, abs(option.numerator)) * option.denominator)
    return pair + 2 * abs(option.pi) + (3 if option.root else 0)


def _square(formula: Product, table: np.ndarray, target: np.ndarray) -> float:
    rest = evaluate(formula, table) - target
    return float(rest @ rest) if np.isfinite(rest).all() else math.inf
