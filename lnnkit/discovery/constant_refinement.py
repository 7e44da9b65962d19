"""Fits the constants of a formula to rows, and replaces them by exact ones where the rows allow it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lnnkit.discovery.exact_constants import LEAST, MINUS_ONE, ONE, Constant, multiplied, number, raised, snapped
from lnnkit.discovery.expression import Base, Product, Sum, evaluate, replaced, scaled, substituted, variable
from lnnkit.discovery.formula_errors import WeightedRows, spread

_EASED, _TIGHTENED = 0.2, 4.0  # factors of the damping after a successful and after a failed step
_STEP = 1e-7  # relative step of a constant for a finite difference
_FLOOR = 3e-12  # least relative error of a constant, from rounding
_ROUNDING = 1e-12  # relative to the target: the residuals of an exact formula
_UNSURE = 3.0  # a coefficient within this many standard errors of 0 may be dropped
_ROUNDS = 6  # of leaving outliers out
_OUTLYING = 6.0  # residuals beyond this many robust standard deviations are outliers


def refined(formula: Product, rows: WeightedRows, *, steps: int = 20) -> Product:
    """The formula with all constants refined by least squares, then without outliers, until these stay the same."""
    free = _nonzero(starts := free_constants(formula))
    fitted = _fitted(formula, starts, free, rows, steps)
    kept = np.ones(len(rows.target), dtype=bool)
    for _ in range(_ROUNDS):
        usual = _near(np.abs(rows.rest(fitted)))
        if (usual == kept).all() or usual.mean() < 0.8 or usual.sum() <= len(free) + 2:
            break
        kept = usual
        fitted = _fitted(fitted, free_constants(fitted), free, rows.at(usual), steps)
    return fitted


def exact(formula: Product, rows: WeightedRows) -> Product:
    """The formula with as many constants as possible replaced by exact ones, each within three standard errors; then
    the others are fitted again. A replacement stays if the sum of squares rises by no more than chance explains."""
    rows = _usual(formula, rows)
    formula = _shorter(formula, rows)
    left, most = _nonzero(constants := free_constants(formula)), _most(formula, rows)
    while left:
        errors = _errors(formula, constants, left, rows)
        options = [
            (abs(option.numerator) * option.denominator * 8 ** (abs(option.pi) + option.root) or 1e9, place, option)
            for place, error in zip(left, errors, strict=True)
            if (option := snapped(constants[place].value, error)) is not None
        ]
        if not options:
            break
        _, place, option = min(options, key=lambda scored: scored[:2])
        left.remove(place)
        tried = list(constants)
        tried[place] = option
        changed = with_constants(formula, tried)
        if left:
            changed = _fitted(changed, tried, left, rows, 6)
        if rows.square(changed) <= most:
            formula, constants = changed, free_constants(changed)
    return formula


def _nonzero(constants: Sequence[Constant]) -> list[int]:
    return [place for place, constant in enumerate(constants) if constant.value]


def _near(residuals: np.ndarray) -> np.ndarray:
    """A mask of the residuals that are no outliers'."""
    return residuals <= _OUTLYING * spread(residuals)


def _most(formula: Product, rows: WeightedRows) -> float:
    """The sum of squares up to which another formula is no worse: rounding, and four standard errors of its mean."""
    return rows.square(formula) * (1 + 12 / len(rows.target)) + _least(rows)


def _least(rows: WeightedRows) -> float:
    return len(rows.target) * (_ROUNDING * float(np.abs(rows.target / rows.errors).max(initial=0.0))) ** 2


def _usual(formula: Product, rows: WeightedRows) -> WeightedRows:
    """The rows without the outliers; all that have a value where those would be too many."""
    residuals = np.abs(rows.rest(formula))
    usual = _near(residuals)
    return rows.at(usual if usual.mean() >= 0.8 else np.isfinite(residuals))


def _shorter(formula: Product, rows: WeightedRows) -> Product:
    """The formula without the terms that are unsure, or that rounding imitates, if the sum of squares allows it."""
    most = _most(formula, rows)
    while True:
        left = _nonzero(constants := free_constants(formula))
        if len(left) < 2:
            return formula
        errors = _errors(formula, constants, left, rows)
        ratio, place = min((abs(constants[at].value) / error, at) for at, error in zip(left, errors, strict=True))
        if ratio > _UNSURE and rows.square(formula) > _least(rows):
            return formula
        constants[place] = Constant(0.0, 0, 1)
        shorter = replaced(with_constants(formula, constants), lambda _: None)
        if not shorter.coefficient.value or not rows.square(shorter := refined(shorter, rows)) <= most:
            return formula
        formula = shorter


def rounded(formula: Product, rows: WeightedRows) -> Product:
    """The formula with its inexact constants rounded to a thirtieth of a standard error, or finer where needed."""
    rows = _usual(formula, rows)
    constants, most = free_constants(formula), _most(formula, rows)
    left = [place for place, constant in enumerate(constants) if not constant.exact]
    errors = _errors(formula, constants, left, rows) if left else []
    for fineness in (30.0, 1e3, 1e5, 1e7) if left else ():
        short = list(constants)
        for place, error in zip(left, errors, strict=True):
            value = constants[place].value
            decimals = (float(f"{value:.{digits}g}") for digits in range(2, 16))
            near = (decimal for decimal in decimals if abs(decimal - value) <= error / fineness)
            short[place] = Constant(next(near, value))
        shorter = with_constants(formula, short)
        if rows.square(shorter) <= most:
            return shorter
    return formula


def _fitted(
    formula: Product, starts: Sequence[Constant], free: Sequence[int], rows: WeightedRows, steps: int
) -> Product:
    """The formula with its ``free`` constants fitted from ``starts`` on by Levenberg and Marquardt's method."""
    if not free:
        return formula
    factors, damping, stalled = np.ones(len(free)), 1e-2, 0
    least = rows.square(fitted := with_constants(formula, starts))
    for _ in range(steps):
        if not math.isfinite(least) or stalled > 2:
            break
        slopes, rest = _slopes(formula, starts, free, rows, factors), rows.rest(fitted)
        gram = slopes.T @ slopes
        diagonal = np.diag(gram)
        damped = gram + damping * np.diag(np.maximum(diagonal, 1e-12 * diagonal.max() + 1e-300))
        with np.errstate(all="ignore"):
            moved = factors - np.linalg.lstsq(damped, slopes.T @ rest, rcond=None)[0]
        tried = with_constants(formula, _scaled(starts, free, moved))
        square = rows.square(tried)
        stalled = 0 if square < 0.99 * least else stalled + 1
        damping = min(max(damping * (_EASED if square < least else _TIGHTENED), 1e-14), 1e14)
        if square < least:
            factors, least, fitted = moved, square, tried
    return fitted


def _scaled(starts: Sequence[Constant], free: Sequence[int], factors: np.ndarray) -> list[Constant]:
    constants = list(starts)
    for place, factor in zip(free, factors.tolist(), strict=True):
        constants[place] = Constant(starts[place].value * factor)
    return constants


def _slopes(
    formula: Product, starts: Sequence[Constant], free: Sequence[int], rows: WeightedRows, factors: np.ndarray
) -> np.ndarray:
    """The derivatives of the residuals by the factors of the free constants, ``[rows, free]``: finite differences."""
    here = rows.rest(with_constants(formula, _scaled(starts, free, factors)))
    slopes = np.zeros((len(here), len(free)))
    for place in range(len(free)):
        ahead = factors.copy()
        ahead[place] += _STEP * max(1.0, abs(factors[place]))
        moved = rows.rest(with_constants(formula, _scaled(starts, free, ahead)))
        slopes[:, place] = (moved - here) / (ahead[place] - factors[place])
    return np.nan_to_num(slopes)


def _errors(formula: Product, constants: Sequence[Constant], free: Sequence[int], rows: WeightedRows) -> list[float]:
    """The standard error of each constant; infinite where it changes nothing."""
    slopes = _slopes(formula, constants, free, rows, np.ones(len(free)))
    noise = rows.square(formula) / max(1, len(rows.target) - len(free))
    scale = np.linalg.norm(slopes, axis=0)
    idle = scale == 0
    scale[idle] = 1.0
    covariance = np.linalg.pinv((slopes / scale).T @ (slopes / scale), rcond=1e-14)
    relative = np.where(idle, np.inf, np.sqrt(np.maximum(np.diag(covariance), 0) * noise) / scale)
    return [max(error, _FLOOR) * abs(constants[at].value) for error, at in zip(relative.tolist(), free, strict=True)]


def free_constants(formula: Product) -> list[Constant]:
    """The coefficients that `with_constants` takes, without those of 1 or -1 that stand first in a sum."""
    constants: list[Constant] = []
    _rebuilt(formula, lambda constant: constants.append(constant) or constant)
    return constants


def with_constants(formula: Product, values: Sequence[Constant]) -> Product:
    """The same formula with other coefficients."""
    left = iter(values)
    return _rebuilt(formula, lambda _: next(left))


def regauged(formula: Product) -> Iterator[Product]:
    """Equivalent formulas: in each, another term of one sum comes first, and its coefficient is factored out."""
    for at, (base, exponent) in enumerate(formula.factors):
        for place, lead in enumerate(base.operands) if isinstance(base, Sum) else ():
            if place == 0 or (lead.coefficient.value < 0 and exponent != int(exponent)):
                continue
            by = raised(lead.coefficient, -1.0)
            others = (*base.operands[:place], *base.operands[place + 1 :])
            terms = (Product(ONE, lead.factors), *(scaled(term, by) for term in others))
            factors = (*formula.factors[:at], (Sum(terms), exponent), *formula.factors[at + 1 :])
            yield Product(multiplied(formula.coefficient, raised(lead.coefficient, exponent)), factors)


def _rebuilt(formula: Product, change: Callable[[Constant], Constant], outer: bool = True) -> Product:
    plain = formula.coefficient in (ONE, MINUS_ONE) and not outer
    coefficient = formula.coefficient if plain else change(formula.coefficient)
    factors: list[tuple[Base, float]] = []
    for base, exponent in formula.factors:
        inner = 2 if base.name == "if" else 1  # the others are scaled to a sum's first term
        operands = [
            _rebuilt(operand, change, place >= inner or not (operand.factors or isinstance(base, Sum)))
            for place, operand in enumerate(base.operands)
        ]
        factors.append((replace(base, operands=tuple(operands)) if operands else base, exponent))
    return Product(coefficient, tuple(factors))


_WRITTEN = 1e-9  # of the greatest value: how far a formula in other units may be from it


def _unit(values: np.ndarray) -> float:
    """What numbers of a size whose squares and powers leave the range of floats are multiplied by; 1 for others."""
    greatest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    if not greatest or LEAST < greatest < 1 / LEAST:
        return 1.0
    return 10.0 ** -max(-308, math.floor(math.log10(greatest)))


@dataclass(frozen=True)
class ColumnUnits:
    """What the columns and the target are multiplied by in a search."""

    columns: tuple[float, ...]
    target: float

    @staticmethod
    def of(table: np.ndarray, target: np.ndarray) -> ColumnUnits:
        """Units in which the squares and powers of all numbers are within the range of floats."""
        return ColumnUnits(tuple(map(_unit, table.T)), _unit(target))

    def written(self, formula: Product) -> Product:
        """A formula of columns and a target in these units, as one of those that are not."""
        if {*self.columns, self.target} == {1}:
            return formula
        inputs = [scaled(variable(place), Constant(unit)) for place, unit in enumerate(self.columns)]
        made = scaled(substituted(formula, inputs), Constant(1 / self.target))
        short = [number(float(f"{constant.value:.14g}")) for constant in free_constants(made)]
        return with_constants(made, short)

    def expressible(self, formula: Product, table: np.ndarray) -> bool:
        """Whether the formula as written has the same values in the rows of ``table``: cubes of numbers of 1e-150, and
        the constant beside them, are no floats."""
        written = self.written(formula)
        if written is formula:
            return True
        with np.errstate(all="ignore"):
            values = evaluate(formula, table)
            differs = np.abs(evaluate(written, table / self.columns) * self.target - values)
        known = np.isfinite(values)
        return bool((differs[known] <= _WRITTEN * np.abs(values[known]).max(initial=0.0)).all())
