"""Terms with an inner sum: a root, reciprocal or absolute value of a sum of two terms, times a monomial."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from lnnkit.discovery.exact_constants import MINUS_ONE
from lnnkit.discovery.expression import Product, absolute, constant, evaluate, power, product, scaled, total, variable
from lnnkit.discovery.monomials import Inputs, grid, monomial, monomials

_MOST = 2400
_POWERS = (0.5, -0.5, -1.0, -2.0)


def composite_terms(inputs: Inputs) -> tuple[list[Product], np.ndarray]:
    """Formulas over the inputs and their values ``[rows, terms]``: plain monomials first, then from the simplest on."""
    width = len(inputs)
    own = Inputs(tuple(variable(place) for place in range(width)), inputs.values)
    plain = monomials(own, grid(width, 160, half=width <= 3))
    found = [monomial(own, row) for row in plain.exponents]
    columns = [plain.columns]
    factors = [constant(1.0), *own.formulas, *(power(each, -1.0) for each in own.formulas)]
    known = set(found)
    for factor, inner in itertools.chain.from_iterable(
        ((factor, inner) for inner in _inner(own)) for factor in factors
    ):
        made = product(factor, inner)
        if len(found) >= _MOST:
            break
        if made in known:
            continue
        known.add(made)
        values = evaluate(made, inputs.values)
        if np.isfinite(values).all() and np.abs(values).max(initial=0.0) < 1e9 * (np.median(np.abs(values)) + 1e-300):
            found.append(made)
            columns.append(values[:, None])
    return found, np.concatenate(columns, 1)


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
            first, second = power(left, exponent), power(right, exponent)
            yield total(first, second)
            yield total(first, scaled(second, MINUS_ONE))
        yield total(one, product(left, right))
        yield total(one, scaled(product(left, right), MINUS_ONE))
        yield from (total(left, power(right, 2.0)), total(right, power(left, 2.0)))
    for each in formulas:
        for exponent in (1.0, 2.0):
            yield total(one, power(each, exponent))
            yield total(one, scaled(power(each, exponent), MINUS_ONE))
        yield absolute(each)
