"""Features, and sparse sums of a few out of thousands of them.

Features are monomials of columns, ``x1^e1 * x2^e2 * ...`` with integral and half-integral exponents, and terms with an
inner sum: a root, reciprocal or absolute value of a sum of two terms, times a monomial. Sums are found by least squares
over all single features and pairs, then by a beam search; by backward elimination if there are few features. A quotient
of sums ``P / Q`` is fitted as ``y = P - y (Q - 1)`` (Levy 1959, "Complex-curve fitting")."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.discovery.exact_constants import MINUS_ONE, Constant
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

    @property
    def plain(self) -> Inputs:
        """The same values under the names of columns."""
        return Inputs(tuple(map(variable, range(len(self)))), self.values)

    def grid(self, most: int, *, negative: bool = True, half: bool = False) -> np.ndarray:
        """Exponents ``[monomials, inputs]``, at most ``most``, from the simplest on, all zeros; with halves if
        ``half``."""
        exponents: list[tuple[float, ...]] = [(0.0,) * len(self)]
        for effort in range(1, 9):
            level = list(_of_effort(len(self), effort, negative, half))
            if len(exponents) + len(level) > most:
                exponents += level[: max(0, most - len(exponents))] if effort <= 2 else []
                break
            exponents += level
        return np.array(exponents)

    def monomials(self, exponents: np.ndarray) -> Features:
        """The features for the rows of ``exponents``, without those that are undefined in some row."""
        columns = np.ones((len(self.values), len(exponents)))
        with np.errstate(all="ignore"):
            for place, column in enumerate(self.values.T):
                for exponent in np.setdiff1d(exponents[:, place], 0):
                    which = exponents[:, place] == exponent
                    raised = column**exponent if exponent != int(exponent) or exponent < 0 else column ** int(exponent)
                    columns[:, which] *= raised[:, None]
            size = np.abs(columns)
            fine = np.isfinite(columns).all(0) & (size.max(0, initial=0.0) < 1e150)
            fine &= size.max(0, initial=0.0) <= _WIDEST * np.maximum(np.median(size, axis=0), 1e-150)
        return Features(exponents[fine], columns[:, fine])

    def monomial(self, exponents: np.ndarray) -> Product:
        """The formula of a monomial with these exponents."""
        return product(*(power(formula, float(e)) for formula, e in zip(self.formulas, exponents, strict=True) if e))


@dataclass(frozen=True)
class Features:
    """Feature columns ``[rows, features]``, and the exponent of each input in each feature, ``[features, inputs]``."""

    exponents: np.ndarray
    columns: np.ndarray


def _of_effort(width: int, effort: int, negative: bool, half: bool) -> Iterator[tuple[float, ...]]:
    """The exponents whose efforts (their magnitudes; one more of a half-integral one) add up to ``effort``."""
    halves = {2: [0.5], 3: [1.5]} if half else {}
    singles = {effort: [float(effort), *halves.get(effort, ())] for effort in (1, 2, 3, 4)}
    signs = (1, -1) if negative else (1,)
    for count in range(1, min(width, effort, 4) + 1):
        efforts = (parts for parts in itertools.product(singles, repeat=count) if sum(parts) == effort)
        for parts, places in itertools.product(efforts, [*itertools.combinations(range(width), count)]):
            signed = ([size * sign for size in singles[part] for sign in signs] for part in parts)
            for exponents in itertools.product(*signed):
                chosen = dict(zip(places, exponents, strict=True))
                yield tuple(chosen.get(place, 0.0) for place in range(width))


_MOST = 2400  # terms with and without inner sums
_POWERS = (0.5, -0.5, -1.0, -2.0)


def composite_terms(inputs: Inputs) -> tuple[list[Product], np.ndarray]:
    """Formulas over the inputs and their values ``[rows, terms]``: plain monomials first, then from the simplest on."""
    variables = inputs.plain
    plain = variables.monomials(variables.grid(160, half=len(inputs) <= 3))
    terms, columns = [variables.monomial(row) for row in plain.exponents], [plain.columns]
    factors = [constant(1.0), *variables.formulas, *(power(formula, -1.0) for formula in variables.formulas)]
    plain_terms = frozenset(terms)
    for made in dict.fromkeys(itertools.starmap(product, itertools.product(factors, [*_inner(variables)]))):
        if made in plain_terms or len(terms) >= _MOST:
            continue
        values = evaluate(made, inputs.values)
        if np.isfinite(values).all() and np.abs(values).max(initial=0.0) < 1e9 * (np.median(np.abs(values)) + 1e-300):
            terms.append(made)
            columns.append(values[:, None])
    return terms, np.concatenate(columns, 1)


def _inner(inputs: Inputs) -> Iterator[Product]:
    """Powers of sums that keep one sign; absolute values and reciprocals of other sums."""
    for made in _sums(inputs.formulas):
        values = evaluate(made, inputs.values)
        if (values > 0).all() or (values < 0).all():
            yield from (power(made if values[0] > 0 else scaled(made, MINUS_ONE), exponent) for exponent in _POWERS)
        elif np.isfinite(values).all():
            yield absolute(made)
            yield power(made, -1.0)


def _sums(formulas: tuple[Product, ...]) -> Iterator[Product]:
    one = constant(1.0)

    def both(one: Product, other: Product) -> tuple[Product, Product]:
        return total(one, other), total(one, scaled(other, MINUS_ONE))

    for left, right in itertools.combinations(formulas, 2):
        for exponent in (1.0, 2.0):
            yield from both(power(left, exponent), power(right, exponent))
        yield from both(one, product(left, right))
        yield from (total(left, power(right, 2.0)), total(right, power(left, 2.0)))
    for formula in formulas:
        for exponent in (1.0, 2.0):
            yield from both(one, power(formula, exponent))
        yield absolute(formula)


_ALL_TRIPLES = 200  # up to this many features all triples are tried
_NOTHING = 1e-26  # share of the sum of squares that an exact fit leaves


@dataclass(frozen=True)
class SparseFit:
    """The indices of the terms, their coefficients, and the share of the sum of squares that is left."""

    places: tuple[int, ...]
    coefficients: np.ndarray
    left: float

    def sum_of(self, terms: Iterable[Product]) -> Product:
        """The sum of its terms, which are given in the order of their indices here."""
        pairs = zip(terms, self.coefficients.tolist(), strict=True)
        return total(*(scaled(term, Constant(value)) for term, value in pairs))


def sparse_fits(
    features: np.ndarray, target: np.ndarray, *, most: int, beam: int = 12, pairs: int = 40, forced: Sequence[int] = ()
) -> Iterator[SparseFit]:
    """The best sets of each size up to ``most``, all with the ``forced`` features, by least squares."""
    norm, square = np.linalg.norm(features, axis=0), float(target @ target)
    usable = np.flatnonzero(norm > 0)
    scaled = features[:, usable] / norm[usable]
    held = np.flatnonzero(np.isin(usable, forced)).tolist()
    if square == 0 or not len(usable):
        return

    def fit(chosen: Sequence[int]) -> SparseFit:
        columns = scaled[:, list(chosen)]
        coefficients = np.linalg.lstsq(columns, target, rcond=None)[0]
        rest = target - columns @ coefficients
        places = tuple(int(usable[place]) for place in chosen)
        return SparseFit(places, coefficients / norm[list(places)], float(rest @ rest) / square)

    basis = np.linalg.qr(scaled[:, held])[0] if held else np.zeros((len(target), 0))
    free, rest = without(scaled, basis), without(target, basis)
    front = list(dict.fromkeys(tuple(sorted({*held, *chosen})) for chosen in _best(free, rest, pairs)))
    if not front:  # all others are multiples of the chosen features
        yield from [fit(held)] if held else []
        return
    current, tripled = front, False
    for count in itertools.count(2):
        fits = [fit(chosen) for chosen in current]
        yield from fits
        best = sorted(zip(fits, current, strict=True), key=lambda pair: pair[0].left)
        if best[0][0].left < _NOTHING or count >= most:
            return
        if count == 2:
            current = [chosen for _, chosen in best if len(chosen) == len(held) + 2][:beam] or [best[0][1]]
            if tripled := free.shape[1] <= _ALL_TRIPLES:
                current = [tuple(sorted({*held, *chosen})) for chosen in _triples(free, rest, pairs)] or current
                continue
        elif count == 3 and tripled:
            current = [chosen for _, chosen in best][:beam]
        grown: dict[tuple[int, ...], float] = {}
        for chosen in current:
            axes = np.linalg.qr(scaled[:, list(chosen)])[0]
            residual = without(target, axes)
            along = scaled.T @ residual
            room = 1 - np.square(axes.T @ scaled).sum(0)
            gain = np.where(room > 1e-9, along**2 / np.maximum(room, 1e-9), -1.0)
            gain[list(chosen)] = -1.0
            for place in np.argpartition(-gain, min(beam, len(gain) - 1))[:beam]:
                if gain[place] > 0:
                    grown[tuple(sorted((*chosen, int(place))))] = float(residual @ residual - gain[place])
        if not grown:
            return
        current = sorted(grown, key=lambda places: grown[places])[:beam]


def eliminated(features: np.ndarray, target: np.ndarray, *, most: int, exact: bool = False) -> Iterator[SparseFit]:
    """Backward elimination: drops the feature that costs least, one at a time, and yields the sets of at most ``most``
    features. ``exact``: only if all together fit exactly; then many can be dropped at once, so more are allowed."""
    norm = np.linalg.norm(features, axis=0)
    chosen = list(np.flatnonzero(norm > 0))
    square = float(target @ target)
    if square == 0 or len(chosen) >= len(target) * (0.8 if exact else 0.5):
        return
    while chosen:
        scaled = features[:, chosen] / norm[chosen]
        # Dropping a term costs the square of its coefficient over the coefficient's variance.
        orthogonal, triangle = np.linalg.qr(scaled)
        free = np.abs(np.diag(triangle))
        if free.min() < 1e-10:
            del chosen[int(free.argmin())]
            continue
        inverse = np.linalg.solve(triangle, np.eye(len(chosen)))
        coefficients = inverse @ (orthogonal.T @ target)
        rest = target - scaled @ coefficients
        if exact and float(rest @ rest) > 1e-20 * square:
            return
        if len(chosen) <= most:
            yield SparseFit(tuple(map(int, chosen)), coefficients / norm[chosen], float(rest @ rest) / square)
        cost = coefficients**2 / np.square(inverse).sum(1)
        lost = cost < 1e-22 * square
        chosen = np.delete(chosen, lost if lost.sum() > 1 else cost.argmin()).tolist()


def without(columns: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The columns, ``[rows]`` or ``[rows, columns]``, without their shares in an orthonormal basis."""
    once = columns - basis @ (basis.T @ columns)
    return once - basis @ (basis.T @ once)


def _triples(features: np.ndarray, target: np.ndarray, count: int) -> list[tuple[int, ...]]:
    """The best triples: for each first feature the best pairs on its residuals."""
    fine, cosines, along = _correlations(features, target)
    scored: list[tuple[float, tuple[int, ...]]] = []
    for first in range(len(fine) - 2):
        column = cosines[first + 1 :, first]
        room = np.sqrt(np.where(1 - column**2 > 1e-10, 1 - column**2, np.nan))
        near = (cosines[first + 1 :, first + 1 :] - np.outer(column, column)) / np.outer(room, room)
        for gain, *pair in best_pairs(near, (along[first + 1 :] - column * along[first]) / room, 6):
            scored.append((gain + along[first] ** 2, (first, *(first + 1 + place for place in pair))))
    return [tuple(fine[list(places)].tolist()) for _, places in sorted(scored, reverse=True)[:count]]


def _best(features: np.ndarray, target: np.ndarray, count: int) -> list[tuple[int, ...]]:
    """The best single features and pairs, by the share of the squares that they explain."""
    fine, cosines, along = _correlations(features, target)
    singles = [(int(fine[place]),) for place in np.argsort(-(along**2))[: count // 4 or 1]]
    pairs = best_pairs(cosines, along, count) if len(fine) else []
    return [*singles, *((int(fine[one]), int(fine[other])) for _, one, other in pairs)]


def _correlations(features: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The features that are not 0, the cosines between them, and the shares of unit ones in the target."""
    norm = np.linalg.norm(features, axis=0)
    fine = np.flatnonzero(norm > 1e-7)
    unit = features[:, fine] / norm[fine]
    return fine, unit.T @ unit, unit.T @ target


def best_pairs(cosines: np.ndarray, along: np.ndarray, count: int) -> list[tuple[float, int, int]]:
    """The pairs of unit columns that explain most of a target, and how much, best first; none nearly parallel."""
    best: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for start in range(0, len(along), 500):
        near, one, other = cosines[start : start + 500], along[start : start + 500, None], along[None]
        with np.errstate(all="ignore"):
            gain = (one**2 + other**2 - 2 * one * other * near) / (1 - near**2)
        gain[(1 - near**2 < 1e-8) | ~np.isfinite(gain)] = -np.inf
        gain[np.arange(start, start + len(gain))[:, None] >= np.arange(len(along))[None]] = -np.inf
        flat = gain.ravel()
        kept = np.argpartition(-flat, min(count, flat.size - 1))[:count]
        best.append((flat[kept], kept // len(along) + start, kept % len(along)))
    gain, first, second = (np.concatenate(parts) for parts in zip(*best, strict=True))
    order = np.argsort(-gain, kind="stable")[:count]
    return [(float(gain[at]), int(first[at]), int(second[at])) for at in order if np.isfinite(gain[at])]
