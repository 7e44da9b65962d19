"""Features: monomials of columns, ``x1^e1 * x2^e2 * ...`` with integral and half-integral exponents, and terms with an
inner sum: a root, reciprocal or absolute value of a sum of two terms, times a monomial."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.discovery.exact_constants import MINUS_ONE
from lnnkit.discovery.expression import Product, absolute, constant, evaluate, power, product, scaled, total, variable

_WIDEST = 1e9  # greatest ratio of a feature to its median: beyond, it is about a single row


@dataclass(frozen=True)
class Inputs:
    """Formulas with their values, the columns of ``values``, ``[rows, inputs]``."""

    formulas: tuple[Product, ...]
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.formulas)

    def at(self, rows: np.ndarray) -> Inputs:
        return Inputs(self.formulas, self.values[rows])


@dataclass(frozen=True)
class Features:
    """Feature columns ``[rows, features]``, and the exponent of each input in each feature, ``[features, inputs]``."""

    exponents: np.ndarray
    columns: np.ndarray


def monomials(inputs: Inputs, exponents: np.ndarray) -> Features:
    """The features for the rows of ``exponents``, without those that are undefined in some row."""
    values = inputs.values
    columns = np.ones((len(values), len(exponents)))
    with np.errstate(all="ignore"):
        for place in range(values.shape[1]):
            column = values[:, place]
            for exponent in np.unique(exponents[:, place]):
                if exponent == 0:
                    continue
                which = exponents[:, place] == exponent
                raised = column**exponent if exponent != int(exponent) or exponent < 0 else column ** int(exponent)
                columns[:, which] *= raised[:, None]
        size = np.abs(columns)
        fine = np.isfinite(columns).all(0) & (size.max(0, initial=0.0) < 1e150)
        fine &= size.max(0, initial=0.0) <= _WIDEST * np.maximum(np.median(size, axis=0), 1e-150)
    return Features(exponents[fine], columns[:, fine])


def monomial(inputs: Inputs, exponents: Sequence[float]) -> Product:
    """The formula of a monomial with these exponents."""
    raised = [power(formula, float(e)) for formula, e in zip(inputs.formulas, exponents, strict=True) if e != 0]
    return product(*raised)


def grid(width: int, most: int, *, negative: bool = True, half: bool = False) -> np.ndarray:
    """Exponents ``[monomials, width]``, at most ``most``, from the simplest on, all zeros; with halves if ``half``."""
    exponents: list[tuple[float, ...]] = [(0.0,) * width]
    for effort in range(1, 9):
        level = list(_of_effort(width, effort, negative, half))
        if len(exponents) + len(level) > most:
            exponents += level[: max(0, most - len(exponents))] if effort <= 2 else []
            break
        exponents += level
    return np.array(exponents)


def _of_effort(width: int, effort: int, negative: bool, half: bool) -> Iterator[tuple[float, ...]]:
    """The exponents whose efforts (their magnitudes; one more of a half-integral one) add up to ``effort``."""
    singles = {1: [1.0], 2: [2.0], 3: [3.0], 4: [4.0]}
    if half:
        singles[2].append(0.5)
        singles[3].append(1.5)
    for count in range(1, min(width, effort, 4) + 1):
        efforts = (parts for parts in itertools.product(singles, repeat=count) if sum(parts) == effort)
        for parts, places in itertools.product(efforts, [*itertools.combinations(range(width), count)]):
            for sizes in itertools.product(*(singles[part] for part in parts)):
                for signs in itertools.product((1, -1) if negative else (1,), repeat=count):
                    row = [0.0] * width
                    for place, sized, sign in zip(places, sizes, signs, strict=True):
                        row[place] = sized * sign
                    yield tuple(row)


_MOST = 2400
_POWERS = (0.5, -0.5, -1.0, -2.0)


def composite_terms(inputs: Inputs) -> tuple[list[Product], np.ndarray]:
    """Formulas over the inputs and their values ``[rows, terms]``: plain monomials first, then from the simplest on."""
    width = len(inputs)
    variables = Inputs(tuple(variable(place) for place in range(width)), inputs.values)
    plain = monomials(variables, grid(width, 160, half=width <= 3))
    terms = [monomial(variables, row) for row in plain.exponents]
    columns = [plain.columns]
    factors = [constant(1.0), *variables.formulas, *(power(formula, -1.0) for formula in variables.formulas)]
    known = set(terms)
    for made in (product(factor, inner) for factor in factors for inner in _inner(variables)):
        if len(terms) >= _MOST:
            break
        if made in known:
            continue
        known.add(made)
        values = evaluate(made, inputs.values)
        if np.isfinite(values).all() and np.abs(values).max(initial=0.0) < 1e9 * (np.median(np.abs(values)) + 1e-300):
            terms.append(made)
            columns.append(values[:, None])
    return terms, np.concatenate(columns, 1)


def _inner(inputs: Inputs) -> Iterator[Product]:
    """Powers of sums that keep one sign; absolute values and reciprocals of other sums."""
    for made in _sums(inputs.formulas):
        values = evaluate(made, inputs.values)
        if not np.isfinite(values).all():
            continue
        if (values > 0).all() or (values < 0).all():
            positive = made if values[0] > 0 else scaled(made, MINUS_ONE)
            yield from (power(positive, exponent) for exponent in _POWERS)
        else:
            yield absolute(made)
            yield power(made, -1.0)


def _sums(formulas: tuple[Product, ...]) -> Iterator[Product]:
    one = constant(1.0)
    for left, right in itertools.combinations(formulas, 2):
        for exponent in (1.0, 2.0):
            yield from _both(power(left, exponent), power(right, exponent))
        yield from _both(one, product(left, right))
        yield from (total(left, power(right, 2.0)), total(right, power(left, 2.0)))
    for formula in formulas:
        for exponent in (1.0, 2.0):
            yield from _both(one, power(formula, exponent))
        yield absolute(formula)


def _both(one: Product, other: Product) -> Iterator[Product]:
    """The sum and the difference."""
    yield total(one, other)
    yield total(one, scaled(other, MINUS_ONE))
