"""Families of formulas for one target: products, sums, sums with inner sums, and quotients of sums of features."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from lnnkit.discovery.exact_constants import Constant
from lnnkit.discovery.expression import Product, power, product, scaled, substituted, total, variable
from lnnkit.discovery.monomials import Features, Inputs, composite_terms, grid, monomial, monomials
from lnnkit.discovery.power_products import power_products
from lnnkit.discovery.sparse_sums import SparseFit, eliminated, sparse_fits
from lnnkit.discovery.variable_reductions import Reduced


@dataclass(frozen=True)
class FormulaFamily:
    """Formulas over the inputs of a ``state``, for ``target`` with ``errors``, (rows,), fitted to the rows
    ``sample``."""

    state: Reduced
    target: np.ndarray
    errors: np.ndarray
    sample: np.ndarray

    @property
    def _sampled(self) -> tuple[Inputs, np.ndarray, np.ndarray, np.ndarray]:
        """At the sample: the inputs, the target without the state's factor, the size of that factor, the errors."""
        scale = self.state.scale[self.sample]
        with np.errstate(all="ignore"):
            plain = self.target[self.sample] / scale
        return self.state.inputs.at(self.sample), plain, np.abs(scale), self.errors[self.sample]

    def products(self) -> Iterator[Product]:
        state = self.state
        with np.errstate(all="ignore"):
            target = self.target / state.scale
        if np.isfinite(target).all():
            plain = Inputs(tuple(variable(place) for place in range(len(state.inputs))), state.inputs.values)
            for made in power_products(plain, target, self.errors / np.abs(state.scale), self.sample):
                yield product(state.factor, substituted(made, state.inputs.formulas))

    def sums(self, powers: Iterable[float]) -> Iterator[Product]:
        """Powers of sums of monomials: ``y^p`` is fitted for each ``p`` of ``powers``."""
        inputs, plain, scale, errors = self._sampled
        wide = monomials(inputs, grid(len(inputs), 700, half=len(inputs) <= 3))
        low = monomials(inputs, grid(len(inputs), 120, negative=False))
        with np.errstate(all="ignore"):
            for exponent in powers:
                if exponent != 1 and ((plain == 0).any() or (exponent % 2 == 0 and np.ptp(np.sign(plain)) > 0)):
                    continue
                wanted = np.abs(plain) ** exponent * (np.sign(plain) if exponent % 2 else 1)
                weight = np.abs(scale / exponent) * np.abs(plain) ** (1 - exponent)
                weight = (np.minimum(weight / np.median(weight), 30.0) if exponent != 1 else scale) / errors
                if not np.isfinite(wanted).all() or not np.isfinite(weight).all():
                    continue
                sign = -1.0 if exponent % 2 == 0 and plain[0] < 0 else 1.0
                for features in (wide, low):
                    matrix, side = features.columns * weight[:, None], wanted * weight
                    fits = (
                        sparse_fits(matrix, side, most=6),
                        sparse_fits(matrix, side, most=5, forced=(0,)),
                        eliminated(matrix, side, most=12),
                    )
                    for fit in itertools.chain(*fits):
                        inner = _sum_of([monomial(self.state.inputs, features.exponents[at]) for at in fit.places], fit)
                        if inner.coefficient.value != 0:
                            made = product(self.state.factor, power(inner, 1 / exponent))
                            yield scaled(made, Constant(sign, int(sign), 1))

    def composites(self) -> Iterator[Product]:
        """Sums whose terms may contain a root, reciprocal or absolute value of a sum."""
        inputs, _, _, errors = self._sampled
        terms, values = composite_terms(inputs)
        weight, wanted = self.state.scale[self.sample] / errors, self.target[self.sample] / errors
        for forced in ((), (0,)):
            for fit in sparse_fits(values * weight[:, None], wanted, most=4, forced=forced):
                made = _sum_of([terms[place] for place in fit.places], fit)
                yield product(self.state.factor, substituted(made, self.state.inputs.formulas))

    def quotients(self) -> Iterator[Product]:
        """Fit quotients ``y^p = P / Q`` as ``y^p q_0 = P - y^p (Q - q_0)``, for each monomial ``q_0`` of ``Q``."""
        inputs, plain, scale, errors = self._sampled
        for exponent in (1.0, 2.0):
            if not np.isfinite(plain).all() or (exponent == 2 and np.ptp(np.sign(plain)) > 0):
                continue
            wanted = plain if exponent == 1 else plain**2
            with np.errstate(all="ignore"):
                weight = scale * np.abs(plain) ** (1 - exponent) / errors
            if not np.isfinite(weight).all():
                continue
            for most in (80, 330):
                features = monomials(inputs, grid(len(inputs), most, negative=len(inputs) <= 2))
                for made in _quotient_fits(self.state.inputs, features, wanted, weight):
                    yield product(self.state.factor, power(made, 1 / exponent))


def _quotient_fits(inputs: Inputs, features: Features, wanted: np.ndarray, weight: np.ndarray) -> Iterator[Product]:
    """Fits of sums of ``features`` over sums of the low ones, for each leading term of the denominator."""
    efforts = np.abs(features.exponents).sum(1)
    below = np.flatnonzero(efforts <= 2)
    for lead in below:
        others = below[below != lead]
        matrix = np.concatenate([features.columns, -features.columns[:, others] * wanted[:, None]], 1)
        matrix = matrix / np.maximum(np.abs(features.columns[:, [lead]]), 1e-12) * weight[:, None]
        side = wanted * np.sign(features.columns[:, lead]) * weight
        fits = itertools.chain(
            sparse_fits(matrix, side, most=5, pairs=20, beam=8), eliminated(matrix, side, most=10, exact=True)
        )
        for fit in fits:
            quotient = _quotient(inputs, features, fit, int(lead), others)
            if quotient is not None:
                yield quotient


def _quotient(inputs: Inputs, features: Features, fit: SparseFit, lead: int, others: np.ndarray) -> Product | None:
    """The quotient with ``lead`` and the fitted denominator terms below; None if the fit has no denominator terms."""
    above: list[Product] = []
    below = [monomial(inputs, features.exponents[lead])]
    for place, value in zip(fit.places, fit.coefficients.tolist(), strict=True):
        under = place - len(features.exponents)
        of = place if under < 0 else int(others[under])
        term = scaled(monomial(inputs, features.exponents[of]), Constant(value))
        (above if under < 0 else below).append(term)
    bottom = total(*below)
    if not above or len(below) < 2 or bottom.coefficient.value == 0:
        return None
    return product(total(*above), power(bottom, -1.0))


def _sum_of(terms: Iterable[Product], fit: SparseFit) -> Product:
    pairs = zip(terms, fit.coefficients.tolist(), strict=True)
    return total(*(scaled(term, Constant(value)) for term, value in pairs))
