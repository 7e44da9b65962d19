"""Formulas with ``exp``, ``log``, ``sin`` and ``cos``, for targets to which arithmetic alone does not come near.

Sums are fitted over monomials and functions of them, with rates and frequencies from a grid that is fine enough for
`constant_refinement` to find the right one from the nearest. A sine and a cosine of one frequency are a sine with a
phase. Products are fitted by logarithms, in which powers of the inputs, exponentials of monomials and powers of other
functions add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.discovery.exact_constants import Constant, number
from lnnkit.discovery.expression import Product, applied, constant, evaluate, power, product, scaled, times_best, total
from lnnkit.discovery.sparse_sums import Inputs, SparseFit, sparse_fits

_RATES = 2.0 ** np.arange(-2, 6)  # of exponentials, over the spread of their operand
_QUARTERS = 40  # the most quarter turns over the spread of a sine's operand
_PLAIN = (1.0, 2.0, math.pi, 2 * math.pi)  # frequencies that angles and phases have
_OPERANDS, _FACTORS = 24, 16  # monomials that functions are of, and that they are multiplied by
_SIMPLE = 36  # factors of simple functions, over the number of inputs
_NEAR = 0.1  # an exponent this near to a half-integer is rounded to it


class _Summand(NamedTuple):
    """A function of ``rate`` times an operand, times a ``factor``; without a name, the factor alone."""

    factor: Product
    name: str = ""
    operand: Product = constant(1.0)
    rate: float = 1.0

    def formula(self, phase: float = 0.0) -> Product:
        if not self.name:
            return self.factor
        inner = scaled(self.operand, number(self.rate))
        inner = total(inner, constant(Constant(phase))) if phase else inner
        return product(self.factor, applied(self.name, inner))


def function_sums(inputs: Inputs, target: np.ndarray, errors: np.ndarray) -> Iterator[Product]:
    """Sums of monomials and of functions of monomials, times monomials; those of a few simple ones first."""
    for terms in ([*_few(inputs)], [*_terms(inputs)]):
        columns = ((term, evaluate(term.formula(), inputs.values)) for term in terms)
        fine = [(term, column) for term, column in columns if np.abs(column).max(initial=0.0) < 1e9]
        matrix = np.stack([column for _, column in fine], 1)
        for forced in ((), (0,)):
            for fit in sparse_fits(matrix / errors[:, None], target / errors, most=4, forced=forced):
                yield _written([fine[place][0] for place in fit.places], fit)


def _written(terms: Sequence[_Summand], fit: SparseFit) -> Product:
    """The sum of the terms, a sine and a cosine of the same as one sine."""
    left = dict(zip(terms, fit.coefficients.tolist(), strict=True))
    parts: list[Product] = []
    for term, value in [*left.items()]:
        other = term._replace(name="cos")
        if term.name == "sin" and other in left:
            across = left.pop(other)
            del left[term]
            parts.append(scaled(term.formula(math.atan2(across, value)), Constant(math.hypot(value, across))))
    return total(*parts, *(scaled(term.formula(), Constant(value)) for term, value in left.items()))


def _few(inputs: Inputs) -> Iterator[_Summand]:
    """Functions of the inputs themselves: so few that `sparse_fits` tries all triples."""
    names, plain, _ = _named(inputs, inputs.grid(20, negative=False))
    yield from map(_Summand, plain)
    for operand, values in zip(names.formulas, inputs.values.T, strict=True):
        functions = [("sin", 1.0), ("cos", 1.0), ("exp", 1.0), ("exp", -1.0), ("log", 1.0)]
        for factor in plain[: _SIMPLE // len(inputs)]:
            for name, rate in functions if (values > 0).all() else functions[:-1]:
                yield _Summand(factor, name, operand, rate)


def _named(inputs: Inputs, exponents: np.ndarray) -> tuple[Inputs, list[Product], np.ndarray]:
    """The inputs as variables, the monomials of these, and the values of the monomials, by column."""
    names = inputs.plain
    low = names.monomials(exponents)
    return names, [names.monomial(powers) for powers in low.exponents], low.columns


def _terms(inputs: Inputs) -> Iterator[_Summand]:
    names, plain, columns = _named(inputs, inputs.grid(60))
    yield from map(_Summand, plain)
    for operand, values in [*zip(plain, columns.T, strict=True)][1 : 1 + _OPERANDS]:
        spread = float(np.ptp(values))
        if not spread:
            continue
        turns = [quarter * math.pi / 2 / spread for quarter in range(1, _QUARTERS + 1)]
        for factor in plain[: _FACTORS if operand in names.formulas else 1]:
            alone = factor == plain[0] or len(inputs) == 1
            for rate in (*_PLAIN, *turns) if alone else _PLAIN[:2]:
                yield from (_Summand(factor, name, operand, rate) for name in ("sin", "cos"))
            for rate in (1.0, *(_RATES / spread)) if alone else (1.0,):
                yield from (_Summand(factor, "exp", operand, sign * rate) for sign in (1.0, -1.0))
            if (values > 0).all():
                yield _Summand(factor, "log", operand)


def function_products(inputs: Inputs, target: np.ndarray, errors: np.ndarray) -> Iterator[Product]:
    """Products of powers of the inputs and of functions of them, and exponentials of sums of monomials."""
    used = (target != 0) & (inputs.values != 0).all(1)
    if used.sum() < 2 * len(inputs) + 4:
        return
    names = inputs.at(used).plain
    low = names.monomials(names.grid(60))
    functions = [applied(name, operand) for name in ("sin", "cos", "log") for operand in names.formulas]
    factors = [*names.formulas, *functions]
    with np.errstate(all="ignore"):
        columns = np.log(np.abs(np.stack([evaluate(factor, names.values) for factor in factors], 1)))
        weight = np.abs(target[used]) / errors[used]
    weight = np.minimum(weight / np.median(weight), 10.0)[:, None]
    fine = np.flatnonzero(np.isfinite(columns).all(0))
    factors = [factors[place] for place in fine]
    matrix = np.concatenate([low.columns, columns[:, fine]], 1) * weight  # the first column is of ones
    wanted = np.log(np.abs(target[used])) * weight[:, 0]
    for fit in sparse_fits(matrix, wanted, most=5, forced=(0,)):
        powers: list[Product] = []
        inner: list[Product] = []
        for place, value in zip(fit.places, fit.coefficients.tolist(), strict=True):
            if place >= len(low.exponents):
                near = round(2 * value) / 2
                exponent = near if abs(near - value) < _NEAR else round(value, 6)
                powers.append(power(factors[place - len(low.exponents)], exponent))
            elif place:
                inner.append(scaled(names.monomial(low.exponents[place]), Constant(value)))
        made = product(*powers, applied("exp", total(*inner))) if inner else product(*powers)
        yield from times_best(made, names.values, target[used])
