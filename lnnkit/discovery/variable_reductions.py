"""Reduces the inputs of a target: factors that can be divided out, and pairs that matter only in one combination.

After Udrescu and Tegmark (2020, "AI Feynman"), with a polynomial, tested on held-out rows, in place of their neural
network. If an input is a factor ``x^p``, the target divided by it needs no terms with x. If two inputs matter only as
``x op z``, a polynomial of ``x op z`` fits as well as one of both."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lnnkit.discovery.exact_constants import MINUS_ONE
from lnnkit.discovery.expression import Product, constant, power, product, scaled, total
from lnnkit.discovery.monomials import Inputs

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


class Reductions:
    """The reductions of one target, by polynomials fitted to the rows ``train`` and tested on ``test``."""

    def __init__(self, inputs: Inputs, target: np.ndarray, train: np.ndarray, test: np.ndarray) -> None:
        self._target, self._train, self._test = target, train, test
        self._variance = float(np.var(target[test])) or 1.0
        self.start = self._reduced(inputs, constant(1.0), np.ones(len(target)))

    def levels(self) -> Iterator[list[Reduced]]:
        """The unreduced target, then beams with ever fewer inputs, until no more can be removed."""
        beam = [self.start]
        yield beam
        while beam:
            smaller: dict[frozenset[Product], Reduced] = {}
            for state in beam:
                for reduced in self._smaller(state):
                    smaller.setdefault(frozenset((*reduced.inputs.formulas, reduced.factor)), reduced)
            beam = sorted(smaller.values(), key=lambda reduced: reduced.error)[:_BEAM]
            if beam:
                yield beam

    def _smaller(self, state: Reduced) -> list[Reduced]:
        if len(state.inputs) < 2:
            return []
        peeled = self._peeled(state)
        if peeled is not None:
            return [peeled]
        combined = [made for made in self._combined(state) if made.error <= _AS_GOOD * state.error + 1e-18]
        return sorted(combined, key=lambda reduced: reduced.error)[:_BEAM]

    def _peeled(self, state: Reduced) -> Reduced | None:
        """The state with the factor divided out that leaves the least error; None if no factor helps."""
        best = min(self._divided(state), key=lambda reduced: reduced.error, default=None)
        return best if best is not None and best.error <= 1.05 * state.error + 1e-18 else None

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
            one, other = state.inputs.formulas[first], state.inputs.formulas[second]
            made = [total(one, other), total(one, scaled(other, MINUS_ONE))]
            made += [product(power(one, upper), power(other, lower)) for upper, lower in _PAIRS]
            rest = [place for place in range(len(state.inputs)) if place not in (first, second)]
            x, z = state.inputs.values[:, [first, second]].T
            with np.errstate(all="ignore"):
                combined = [x + z, x - z, *(x**upper * z**lower for upper, lower in _PAIRS)]
            for formula, values in zip(made, combined, strict=True):
                if not np.isfinite(values).all() or np.ptp(values) == 0:
                    continue
                formulas = (*(state.inputs.formulas[place] for place in rest), formula)
                columns = np.concatenate([state.inputs.values[:, rest], values[:, None]], 1)
                yield self._reduced(Inputs(formulas, columns), state.factor, state.scale)

    def _reduced(self, inputs: Inputs, factor: Product, scale: np.ndarray) -> Reduced:
        return Reduced(inputs, factor, scale, self._error(inputs.values, scale))

    def _error(self, values: np.ndarray, scale: np.ndarray) -> float:
        basis = polynomial(values, min(_TERMS, len(self._train) // 4)) * scale[:, None]
        norm = np.linalg.norm(basis[self._train], axis=0)
        if not np.isfinite(norm).all():
            return np.inf
        basis = basis / np.where(norm > 0, norm, 1.0)
        fitted = basis[self._train]
        gram = fitted.T @ fitted + 1e-12 * np.eye(fitted.shape[1])
        coefficients = np.linalg.solve(gram, fitted.T @ self._target[self._train])
        rest = basis[self._test] @ coefficients - self._target[self._test]
        return float(np.mean(rest**2)) / self._variance


def polynomial(values: np.ndarray, terms: int, *, logarithms: bool = True) -> np.ndarray:
    """``[rows, terms]``: all products of the inputs, evened out, up to the highest degree of so many ``terms``."""
    columns = [_even(values[:, place], logarithms) for place in range(values.shape[1])]
    products = [np.ones(len(values))]
    last: list[tuple[int, np.ndarray]] = [(0, products[0])]
    for _ in range(8):
        level = [(place, column * columns[place]) for start, column in last for place in range(start, len(columns))]
        if len(products) + len(level) > terms and len(products) > 1:
            break
        products += [column for _, column in level]
        last = level
        if not level:
            break
    return np.stack(products, 1)


def _even(column: np.ndarray, logarithms: bool) -> np.ndarray:
    if logarithms and (column > 0).all() and column.max() > 2 * column.min():
        column = np.log(column)
    low, high = column.min(), column.max()
    return (2 * column - low - high) / (high - low) if high > low else np.zeros(len(column))
