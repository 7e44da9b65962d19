"""Families of formulas for one target: products, sums, sums with inner sums, and quotients of sums of features.

Products are of powers of inputs and of sums ``1 + m`` and ``1 - m`` of monomials m, by linear regression of logarithms:
``log |y|`` is linear in the logarithms of the factors. A sum ``m1 + m2`` is ``m1 * (1 + m2 / m1)``, so the sums ``1 +-
m`` cover all sums of two terms. They are tried alone and in pairs, each pair by its two correlations, with integral or
half-integral powers. Single sums ``1 +- c m`` are tried too, with c from a geometric grid around the value at which
both terms have the same magnitude; `constant_refinement` then fits c."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.discovery.exact_constants import Constant, number
from lnnkit.discovery.expression import Product, absolute, constant, evaluate, power, product, scaled, times_best, total
from lnnkit.discovery.function_families import function_products, function_sums
from lnnkit.discovery.relevant_inputs import Reduced
from lnnkit.discovery.sparse_sums import Features, Inputs, best_pairs, composite_terms, eliminated, sparse_fits, without


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
        """Products of powers of the inputs and of sums of two monomials."""
        state = self.state
        with np.errstate(all="ignore"):
            target = self.target / state.scale
        if np.isfinite(target).all():
            errors = self.errors / np.abs(state.scale)
            yield from map(state.restored, power_products(state.inputs.plain, target, errors, self.sample))

    def sums(self, powers: Iterable[float]) -> Iterator[Product]:
        """Powers of sums of monomials: ``y^p`` is fitted for each ``p`` of ``powers``."""
        inputs, plain, scale, errors = self._sampled
        wide = inputs.monomials(inputs.grid(700, half=len(inputs) <= 3))
        low = inputs.monomials(inputs.grid(120, negative=False))
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
                    fits = sparse_fits(matrix, side, most=6), sparse_fits(matrix, side, most=5, forced=(0,))
                    for fit in itertools.chain(*fits, eliminated(matrix, side, most=12)):
                        inner = fit.sum_of(self.state.inputs.monomial(features.exponents[at]) for at in fit.places)
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
                yield self.state.restored(fit.sum_of(terms[place] for place in fit.places))

    def functions(self) -> Iterator[Product]:
        """Sums and products with ``exp``, ``log``, ``sin`` and ``cos``."""
        inputs, plain, scale, errors = self._sampled
        for family in (function_sums, function_products):
            yield from map(self.state.restored, family(inputs, plain, errors / scale))

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
                features = inputs.monomials(inputs.grid(most, negative=len(inputs) <= 2))
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
        places = np.concatenate([np.arange(len(features.exponents)), others])  # of the columns of the matrix
        fits = sparse_fits(matrix, side, most=5, pairs=20, beam=8)
        for fit in itertools.chain(fits, eliminated(matrix, side, most=10, exact=True)):
            over, under = list[Product](), [inputs.monomial(features.exponents[lead])]
            for place, value in zip(fit.places, fit.coefficients.tolist(), strict=True):
                term = scaled(inputs.monomial(features.exponents[places[place]]), Constant(value))
                (over if place < len(features.exponents) else under).append(term)
            bottom = total(*under)
            if over and len(under) > 1 and bottom.coefficient.value != 0:
                yield product(total(*over), power(bottom, -1.0))


_SINGLES, _PAIRS, _WEIGHED = 30, 60, 20  # greatest numbers of candidates returned of each kind
_MOST_WEIGHED = 1200
_WEIGHTS = tuple(2.5**step for step in range(-4, 5))  # ratio of the second term of a sum to the first
_MOST_SUMS = 3000
_NOTHING = 1e-24  # share of the sum of squares that an exact fit leaves
_TURNED, _FOLLOWED = 3, 0.99  # signs that may be changed, and the agreement with the target's that suffices
_NEAR = 0.1  # an exponent this near to a half-integer is rounded to it
_POWERS = (1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1.5, -1.5)
_HIGHER = (3.0, -3.0, 4.0, 5.0, 6.0, 10.0, 12.0)  # of a single weighed sum: growth over so many periods


def power_products(inputs: Inputs, target: np.ndarray, errors: np.ndarray, rows: np.ndarray) -> Iterator[Product]:
    """Candidates, the best fits first, from logarithms at ``rows``, for noise in proportion to ``errors``."""
    sample, wanted = inputs.at(rows), target[rows]
    used = (wanted != 0) & (sample.values != 0).all(1)
    if used.sum() < len(inputs) + 4:
        return
    sample, size = sample.at(used), np.abs(wanted[used])
    weight = size / errors[rows][used]
    weight = np.minimum(weight / np.median(weight), 10.0)
    logs = np.log(np.abs(sample.values))
    moving = _independent(logs)
    base = np.concatenate([np.ones((len(logs), 1)), logs[:, moving]], 1) * weight[:, None]
    wanted_log = np.log(size) * weight
    left = np.linalg.qr(base)[0]
    rest = without(wanted_log, left)

    def written(*sums: tuple[Product, float, np.ndarray]) -> Iterator[Product]:
        """Products with these sums, powers and logarithms: exponents as fitted, and rounded to near half-integers."""
        known = np.array([column for *_, column in sums]).T @ np.array([one for _, one, _ in sums]) if sums else 0.0
        exponents = np.zeros(len(inputs))
        exponents[moving] = np.linalg.lstsq(base, wanted_log - known, rcond=None)[0][1:]
        near = np.round(2 * exponents) / 2
        near = np.where(np.abs(near - exponents) < _NEAR, near, np.round(exponents, 6))
        fitted = [np.round(exponents, 9)] if not sums and np.abs(near - exponents).max(initial=0) > 1e-9 else []
        for chosen in (near, *fitted):
            factors = [*zip(inputs.formulas, chosen.tolist(), strict=True), *((factor, one) for factor, one, _ in sums)]
            yield from times_best(_signed(factors, inputs.values, target), inputs.values, target)

    yield from written()
    if float(rest @ rest) <= _NOTHING * float(wanted_log @ wanted_log) or len(logs) < 2 * len(inputs) + 4:
        return
    for weighed in _weighed(sample, weight, left, rest):
        yield from written(weighed)
    sums, columns = _sums(sample)
    columns = columns * weight[:, None]
    free = without(columns, left)
    fine = np.linalg.norm(free, axis=0) > 1e-6 * np.linalg.norm(columns, axis=0)
    sums = [factor for factor, kept in zip(sums, fine, strict=True) if kept]
    columns, free = columns[:, fine], free[:, fine]
    if not sums:
        return
    gram, slope, powers = free.T @ free, free.T @ rest, np.array(_POWERS)[:, None]
    losses = powers**2 * np.diag(gram) - 2 * powers * slope
    for row, place in _least(losses, _SINGLES):
        yield from written((sums[place], _POWERS[row], columns[:, place]))
    for first, second, one, other in _pairs(gram, slope):
        yield from written((sums[first], one, columns[:, first]), (sums[second], other, columns[:, second]))


def _independent(logs: np.ndarray) -> np.ndarray:
    """``[columns]``: which are no constants, powers of each other or products of powers of those before them."""
    independent = np.zeros(logs.shape[1], dtype=bool)
    basis = np.full((len(logs), 1), len(logs) ** -0.5)
    for place in range(logs.shape[1]):
        rest = without(logs[:, place], basis)
        size = float(np.linalg.norm(rest))
        if size > 1e-9 * len(logs) ** 0.5:
            independent[place] = True
            basis = np.concatenate([basis, rest[:, None] / size], 1)
    return independent


def _one_way(inputs: Inputs, most: int) -> Features:
    """The monomials but 1, and of each and its reciprocal one only."""
    exponents = inputs.grid(most)
    lead = exponents[np.arange(len(exponents)), np.argmax(exponents != 0, axis=1)]
    return inputs.monomials(exponents[lead > 0])


def _sums(inputs: Inputs) -> tuple[list[Product], np.ndarray]:
    """The sums ``1 +- m`` that are never 0, with the logarithms of their absolute values."""
    features = _one_way(inputs, 2 * _MOST_SUMS)
    sums: list[Product] = []
    columns: list[np.ndarray] = []
    for sign in (1.0, -1.0):
        values = 1 + sign * features.columns
        size = np.abs(values)
        fine = (size.min(0, initial=1.0) > 1e-12) & (np.ptp(size, axis=0) > 1e-9 * size.max(0, initial=0.0))
        sums += [_one_and(inputs, features.exponents[at], sign, values[:, at]) for at in np.flatnonzero(fine)]
        columns.append(np.log(size[:, fine]))
    return sums, np.concatenate(columns, 1)


def _weighed(
    inputs: Inputs, weight: np.ndarray, basis: np.ndarray, rest: np.ndarray
) -> Iterator[tuple[Product, float, np.ndarray]]:
    """The best sum ``1 +- c m`` for each m and sign, its power, and its weighted logarithm ``[rows]``."""
    features = _one_way(inputs, 2 * _MOST_WEIGHED)
    if not features.columns.shape[1]:
        return
    middle = np.median(np.abs(features.columns), axis=0)
    known = np.where(middle > 0, middle, 1.0)
    looked: dict[tuple[int, float], float] = {}
    powers = (*_POWERS, *_HIGHER)
    for sign, ratio in itertools.product((1.0, -1.0), _WEIGHTS):
        values = 1 + sign * ratio / known * features.columns
        fine = np.flatnonzero(_keeps_sign(values) & (middle > 0))
        losses = _losses(values[:, fine], weight, basis, rest, powers).min(0)
        for place, loss in zip(fine.tolist(), losses.tolist(), strict=True):
            looked[place, sign] = min(loss, looked.get((place, sign), np.inf))
    scored: list[tuple[float, int, float, float]] = []
    for place, sign in sorted(looked, key=lambda pair: looked[pair])[:_WEIGHED]:
        factors = sign * np.geomspace(_WEIGHTS[0], _WEIGHTS[-1], 91) / known[place]
        values = 1 + factors * features.columns[:, [place]]
        fine = np.flatnonzero(_keeps_sign(values))
        losses = _losses(values[:, fine], weight, basis, rest, powers)
        at = fine[losses.argmin(1)]
        scored += zip(losses.min(1).tolist(), [place] * len(powers), factors[at].tolist(), powers, strict=True)
    for _, place, factor, exponent in sorted(scored)[:_WEIGHED]:
        for width in (0.1, 0.01, 0.001):  # of the grid, then of the ones within it
            near = factor * np.linspace(1 - width, 1 + width, 21)
            values = 1 + near * features.columns[:, [place]]
            losses = _losses(values, weight, basis, rest, (exponent,))[0]
            factor = float(near[np.where(_keeps_sign(values), losses, np.inf).argmin()])
        values = 1 + factor * features.columns[:, place]
        made = _one_and(inputs, features.exponents[place], factor, values)
        yield made, exponent, np.log(np.abs(values)) * weight


def _one_and(inputs: Inputs, exponents: np.ndarray, factor: float, values: np.ndarray) -> Product:
    """``1 + factor m``, or its negative where its ``values`` are below 0: everywhere, if a root is to be taken."""
    sign = -1.0 if values[0] < 0 else 1.0
    return total(constant(sign), scaled(inputs.monomial(exponents), number(sign * factor)))


def _keeps_sign(values: np.ndarray) -> np.ndarray:
    """Whether each column has one sign: ``[rows, columns] -> [columns]``."""
    return (np.abs(values) > 1e-9).all(0) & ((values > 0) == (values[:1] > 0)).all(0)


def _losses(
    values: np.ndarray, weight: np.ndarray, basis: np.ndarray, rest: np.ndarray, exponents: Sequence[float]
) -> np.ndarray:
    """The change of the sum of squares by each column of ``values``, for each power: ``[powers, columns]``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        free = without(np.log(np.abs(values)) * weight[:, None], basis)
    square, slope = np.square(free).sum(0), rest @ free
    powers = np.array(exponents)[:, None]
    return powers**2 * square - 2 * powers * slope


def _pairs(gram: np.ndarray, slope: np.ndarray) -> Iterator[tuple[int, int, float, float]]:
    """The best pairs of sums, with the best powers of each: first with free powers, then with powers from the grid."""
    norm = np.sqrt(np.diag(gram))
    pairs = [pair for _, *pair in best_pairs(gram / np.outer(norm, norm), slope / norm, 4000)]
    first, second = np.array(pairs, dtype=int).reshape(-1, 2).T
    powers = [(one, other) for one in _POWERS for other in _POWERS]
    one, other = np.array(powers).T[..., None]
    losses = one**2 * np.diag(gram)[first] + other**2 * np.diag(gram)[second] + 2 * one * other * gram[first, second]
    for row, at in _least(losses - 2 * (one * slope[first] + other * slope[second]), _PAIRS):
        yield int(first[at]), int(second[at]), *powers[row]


def _least(losses: np.ndarray, count: int) -> list[tuple[int, int]]:
    """The rows and columns of the least losses, in order."""
    order = np.argsort(losses, axis=None, kind="stable")[:count]
    return [divmod(place, losses.shape[1]) for place in order.tolist()]


def _signed(factors: Sequence[tuple[Product, float]], table: np.ndarray, target: np.ndarray) -> Product:
    """The product of factors whose signs logarithms leave open: as few as possible are changed to fit the target's."""
    whole = product(*itertools.starmap(power, factors))
    if np.isnan(evaluate(whole, table)).any():
        factors = [(formula if exponent % 1 == 0 else absolute(formula), exponent) for formula, exponent in factors]
        whole = product(*itertools.starmap(power, factors))
    differs = np.sign(evaluate(whole, table)) * np.sign(target)
    signs = [np.sign(evaluate(formula, table)) for formula, _ in factors]
    moving = [place for place, sign in enumerate(signs) if np.ptp(sign) > 0]
    best, turned = -1.0, ()
    for count in range(_TURNED + 1):
        for places in itertools.combinations(moving, count) if best < _FOLLOWED else ():
            follows = abs(float(np.mean(np.prod([differs, *(signs[place] for place in places)], axis=0))))
            if follows > best:
                best, turned = follows, places
    turns = (product(factors[place][0], power(absolute(factors[place][0]), -1.0)) for place in turned)
    return product(whole, *turns)
