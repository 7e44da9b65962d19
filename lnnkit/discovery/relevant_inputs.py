"""The inputs of a target: the columns that it depends on, factors that can be divided out, and pairs of inputs that
matter only in one combination.

Reductions are after Udrescu and Tegmark (2020, "AI Feynman"), with a polynomial, tested on held-out rows, in place of
their neural network. If an input is a factor ``x^p``, the target divided by it needs no terms with x. If two inputs
matter only as ``x op z``, a polynomial of ``x op z`` fits as well as one of both."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lnnkit.discovery.expression import Product, constant, evaluate, power, product, substituted, total, variable
from lnnkit.discovery.sparse_sums import Inputs

_CLIP = 4.0
_MOST = 12  # greatest number of columns
_MONOMIAL = 3  # greatest number of columns of a monomial
_FAR = 4.0  # values beyond this many interquartile ranges are clipped
_SCORE = 0.7  # of the bound on what chance explains: a column too many costs time, one too few the formula
_ROUNDING = 1e-9  # greatest error of an exact fit of logarithms


def relevant_columns(table: np.ndarray, target: np.ndarray, *, least: int = 3) -> list[int]:
    """The indices of the columns whose terms explain significantly more of the target, of its ranks or of its
    logarithms than chance, the most relevant first; where there are none, the ``least`` best. ``table`` has no missing
    cells. The terms are all quadratic ones if there are rows enough, else those that forward selection adds."""
    rows, width = table.shape
    columns = np.stack([_standard(table[:, place]) for place in range(width)], 1)
    varied = np.flatnonzero(np.ptp(columns, axis=0) > 0)
    if len(varied) <= 1:
        return varied.tolist()
    score = np.zeros(width)
    ranks = np.argsort(np.argsort(target, kind="stable"), kind="stable").astype(float)
    tests = [(columns, _clipped(target)), (columns, (ranks - ranks.mean()) / (ranks.std() or 1.0))]
    known = target != 0
    if known.sum() > rows // 2:  # a power as a factor is a line in the logarithms, whatever the signs
        sizes = [np.log(np.abs(column)) if column.all() else column for column in table[known].T]
        logarithms = np.stack([_standard(column, apart=np.inf) for column in sizes], 1)
        tests.append((logarithms, _clipped(np.log(np.abs(target[known])), 0.0)))
    for inputs, response in tests:
        if np.ptp(response) == 0:
            continue
        terms = 1 + 2 * len(varied) + len(varied) * (len(varied) - 1) // 2
        tested = _dropped(inputs, varied, response) if len(inputs) >= 3 * terms else _forward(inputs, varied, response)
        score = np.maximum(score, tested)
    places = np.flatnonzero(score > _SCORE)
    if not len(places):
        places = np.argsort(-score)[: min(least, len(varied))]
    return sorted(places.tolist(), key=lambda place: -score[place])[:_MOST]


def monomial_columns(table: np.ndarray, target: np.ndarray) -> list[int]:
    """The fewest columns of which a constant times a product of powers equals the target's size exactly, if any."""
    if (target == 0).any() or len(target) < _MONOMIAL + 4:
        return []
    wanted = np.log(np.abs(target))
    usable = np.flatnonzero((table != 0).all(0))
    logs = np.log(np.abs(table[:, usable]))
    for count in range(1, _MONOMIAL + 1):
        for places in itertools.combinations(range(len(usable)), count):
            basis = np.concatenate([np.ones((len(logs), 1)), logs[:, places]], 1)
            rest = wanted - basis @ np.linalg.lstsq(basis, wanted, rcond=1e-12)[0]
            if np.abs(rest).max() <= _ROUNDING:
                return usable[list(places)].tolist()
    return []


def _dropped(columns: np.ndarray, varied: np.ndarray, response: np.ndarray) -> np.ndarray:
    """For each column, the ratio of what its terms explain to a generous bound on what chance could explain."""
    basis, members = quadratic(columns[:, varied])
    gram, along = basis.T @ basis, basis.T @ response
    whole = _left(gram, along, response, np.arange(len(gram)))
    freedom = len(response) - len(gram)
    score = np.zeros(columns.shape[1])
    for number, place in enumerate(varied):
        kept = np.flatnonzero(~members[:, number])
        gain, dropped = _left(gram, along, response, kept) - whole, len(gram) - len(kept)
        score[place] = _over_chance(gain / dropped, whole / freedom, dropped)
    return score


def _forward(columns: np.ndarray, varied: np.ndarray, response: np.ndarray) -> np.ndarray:
    """The same ratio, for each column when its terms are added to those of the columns before."""
    rows, score, chosen, basis = len(response), np.zeros(columns.shape[1]), list[int](), np.ones((len(response), 1))
    left = float(np.square(response - response.mean()).sum())
    while len(chosen) < len(varied) and basis.shape[1] + len(chosen) + 2 < rows // 3:
        best = (0.0, -1, basis, left)
        for place in (place for place in varied if place not in chosen):
            column = columns[:, place]
            added = np.stack([column, column**2, *(column * columns[:, other] for other in chosen)], 1)
            tried = np.concatenate([basis, added], 1)
            rest = response - tried @ np.linalg.lstsq(tried, response, rcond=None)[0]
            square = float(rest @ rest)
            terms = added.shape[1]
            ratio = _over_chance((left - square) / terms, square / (rows - tried.shape[1]), terms)
            if ratio > best[0]:
                best = (ratio, int(place), tried, square)
        ratio, place, basis, left = best
        if place >= 0:
            score[place] = max(score[place], ratio)
        if ratio <= 1:
            break
        chosen.append(place)
    return score


def _over_chance(gain: float, noise: float, terms: int) -> float:
    """The gain of each of so many terms over the noise, and over what chance gives, generously."""
    return gain / max(noise, 1e-300) / (1 + 6 * np.sqrt(2 / terms))


def quadratic(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All quadratic terms, ``[rows, terms]``, and a mask of the columns in each term, ``[terms, columns]``."""
    width = range(columns.shape[1])
    terms = [(), *itertools.combinations(width, 1), *itertools.combinations_with_replacement(width, 2)]
    members = np.array([[place in places for place in width] for places in terms])
    return np.stack([columns[:, list(places)].prod(1) for places in terms], 1), members


def _left(gram: np.ndarray, along: np.ndarray, response: np.ndarray, kept: np.ndarray) -> float:
    block = gram[np.ix_(kept, kept)]
    ridge = 1e-10 * np.diag(block).max() * np.eye(len(kept))
    coefficients = np.linalg.solve(block + ridge, along[kept])
    return max(float(response @ response - 2 * coefficients @ along[kept] + coefficients @ block @ coefficients), 0.0)


def _standard(column: np.ndarray, *, apart: float = 20.0) -> np.ndarray:
    """The column, standardised, outliers clipped; its logarithms if its ends are so many times ``apart``."""
    if (column > 0).all() and column.max() > apart * column.min():
        column = np.log(column)
    column = column / (np.abs(column).max(initial=0.0) or 1.0)  # squares of what is very great or small leave the range
    deviation = column.std()
    if not np.isfinite(deviation) or deviation <= 1e-12 * np.abs(column).max(initial=0.0):
        return np.zeros(len(column))
    return np.clip((column - column.mean()) / deviation, -_CLIP, _CLIP)


def _clipped(target: np.ndarray, ends: float = 0.02) -> np.ndarray:
    low, high = np.quantile(target, [ends, 1 - ends])
    first, middle, third = np.quantile(target, [0.25, 0.5, 0.75])
    if third > first:  # outliers are more than the ends
        low, high = max(low, middle - _FAR * (third - first)), min(high, middle + _FAR * (third - first))
    clipped = np.clip(target, low, high)
    deviation = clipped.std()
    return (clipped - clipped.mean()) / deviation if deviation > 0 else np.zeros(len(clipped))


def distinct_columns(table: np.ndarray) -> list[int]:
    """The columns that are no multiples of earlier ones, beside which neither would seem relevant."""
    greatest = np.abs(table).max(0, initial=0.0)
    kept: list[int] = []
    for place in np.flatnonzero(greatest):
        column = table[:, place] / greatest[place]
        others = table[:, kept] / greatest[kept]
        same = (np.abs(np.abs(others) - np.abs(column)[:, None]) <= 1e-12 * np.abs(column)[:, None]).all(0)
        turned = np.sign(others) * np.sign(column)[:, None]
        if not (same & ((turned >= 0).all(0) | (turned <= 0).all(0))).any():
            kept.append(int(place))
    return kept


_TERMS = 90
_BEAM = 2  # reductions that are continued
_AS_GOOD = 1.3  # greatest ratio of the error after a reduction to that before
_PAIRS = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, -2.0), (-2.0, 1.0), (1.0, 2.0), (2.0, 1.0))  # of a product
_FACTORS = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, -4.0, 4.0, -5.0, 1.5, -1.5)


@dataclass(frozen=True)
class Reduced:
    """The target is ``factor`` times a function of ``inputs``, up to an ``error``: a share of its held-out variance."""

    inputs: Inputs
    factor: Product
    scale: np.ndarray
    error: float = field(compare=False)

    def restored(self, formula: Product) -> Product:
        """The formula for the target, from one for that function whose columns are the inputs."""
        return product(self.factor, substituted(formula, self.inputs.formulas))


class Reductions:
    """The reductions of one target, by polynomials fitted to the rows ``train`` and tested on ``test``."""

    def __init__(self, target: np.ndarray, train: np.ndarray, test: np.ndarray) -> None:
        self._target, self._train, self._test = target, train, test
        self._variance = float(np.var(target[test])) or 1.0

    def levels(self, inputs: Inputs) -> Iterator[list[Reduced]]:
        """The unreduced target, then beams with ever fewer inputs, until no more can be removed."""
        beam = [self._reduced(inputs, constant(1.0), np.ones(len(self._target)))]
        while beam:
            yield beam
            smaller: dict[frozenset[Product], Reduced] = {}
            for reduced in (reduced for state in beam for reduced in self._smaller(state)):
                smaller.setdefault(frozenset((*reduced.inputs.formulas, reduced.factor)), reduced)
            beam = sorted(smaller.values(), key=lambda reduced: reduced.error)[:_BEAM]

    def _smaller(self, state: Reduced) -> list[Reduced]:
        """The state without the factor that leaves the least error; if no factor helps, with combined inputs."""
        if len(state.inputs) < 2:
            return []
        peeled = min(self._divided(state), key=lambda reduced: reduced.error, default=None)
        if peeled is not None and peeled.error <= 1.05 * state.error + 1e-18:
            return [peeled]
        combined = [made for made in self._combined(state) if made.error <= _AS_GOOD * state.error + 1e-18]
        return sorted(combined, key=lambda reduced: reduced.error)[:_BEAM]

    def _divided(self, state: Reduced) -> Iterator[Reduced]:
        for place, exponent in itertools.product(range(len(state.inputs)), _FACTORS):
            column = state.inputs.values[:, place]
            if (column == 0).any() or (exponent != int(exponent) and (column < 0).any()):
                continue
            with np.errstate(all="ignore"):
                scale = state.scale * column**exponent
            if np.isfinite(scale).all():
                rest = [other for other in range(len(state.inputs)) if other != place]
                inputs = Inputs(tuple(state.inputs.formulas[other] for other in rest), state.inputs.values[:, rest])
                factor = power(state.inputs.formulas[place], exponent)
                yield self._reduced(inputs, product(state.factor, factor), scale)

    def _combined(self, state: Reduced) -> Iterator[Reduced]:
        for first, second in itertools.combinations(range(len(state.inputs)), 2):
            one, other = variable(first), variable(second)
            combined = [total(one, other), total(one, product(constant(-1.0), other))]
            combined += [product(power(one, upper), power(other, lower)) for upper, lower in _PAIRS]
            rest = [place for place in range(len(state.inputs)) if place not in (first, second)]
            for made in combined:
                values = evaluate(made, state.inputs.values)
                if np.isfinite(values).all() and np.ptp(values):
                    formulas = [state.inputs.formulas[place] for place in rest]
                    columns = np.column_stack([state.inputs.values[:, rest], values])
                    inputs = Inputs((*formulas, substituted(made, state.inputs.formulas)), columns)
                    yield self._reduced(inputs, state.factor, state.scale)

    def _reduced(self, inputs: Inputs, factor: Product, scale: np.ndarray) -> Reduced:
        basis = polynomial(inputs.values, min(_TERMS, len(self._train) // 4)) * scale[:, None]
        norm = np.linalg.norm(basis[self._train], axis=0)
        if not np.isfinite(norm).all():
            return Reduced(inputs, factor, scale, np.inf)
        basis = basis / np.where(norm > 0, norm, 1.0)
        fitted = basis[self._train]
        gram = fitted.T @ fitted + 1e-12 * np.eye(fitted.shape[1])
        coefficients = np.linalg.solve(gram, fitted.T @ self._target[self._train])
        rest = basis[self._test] @ coefficients - self._target[self._test]
        return Reduced(inputs, factor, scale, float(np.mean(rest**2)) / self._variance)


def polynomial(values: np.ndarray, terms: int, *, logarithms: bool = True) -> np.ndarray:
    """``[rows, terms]``: all products of the inputs, evened out, up to the highest degree of so many ``terms``."""
    columns = [_even(values[:, place], logarithms) for place in range(values.shape[1])]
    products = [np.ones(len(values))]
    last: list[tuple[int, np.ndarray]] = [(0, products[0])]
    for _ in range(8):
        last = [(place, column * columns[place]) for start, column in last for place in range(start, len(columns))]
        if not last or (len(products) + len(last) > terms and len(products) > 1):
            break
        products += [column for _, column in last]
    return np.stack(products, 1)


def _even(column: np.ndarray, logarithms: bool) -> np.ndarray:
    if logarithms and (column > 0).all() and column.max() > 2 * column.min():
        column = np.log(column)
    low, high = column.min(), column.max()
    return (2 * column - low - high) / (high - low) if high > low else np.zeros(len(column))
