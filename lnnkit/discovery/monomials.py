"""Monomials of columns as features: ``x1^e1 * x2^e2 * ...`` with integral and half-integral exponents."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.discovery.expression import Product, power, product

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
    found = np.ones((len(values), len(exponents)))
    with np.errstate(all="ignore"):
        for place in range(values.shape[1]):
            own = values[:, place]
            for exponent in np.unique(exponents[:, place]):
                if exponent == 0:
                    continue
                which = exponents[:, place] == exponent
                raised = own**exponent if exponent != int(exponent) or exponent < 0 else own ** int(exponent)
                found[:, which] *= raised[:, None]
        size = np.abs(found)
        fine = np.isfinite(found).all(0) & (size.max(0, initial=0.0) < 1e150)
        fine &= size.max(0, initial=0.0) <= _WIDEST * np.maximum(np.median(size, axis=0), 1e-150)
    return Features(exponents[fine], found[:, fine])


def monomial(inputs: Inputs, exponents: Sequence[float]) -> Product:
    """The formula of a monomial with these exponents."""
    raised = [power(each, float(e)) for each, e in zip(inputs.formulas, exponents, strict=True) if e != 0]
    return product(*raised)


def grid(width: int, most: int, *, negative: bool = True, half: bool = False) -> np.ndarray:
    """Exponents ``[monomials, width]``, from the simplest on, at most ``most`` of them; the first is all zeros.
    ``half`` includes half-integral exponents."""
    found: list[tuple[float, ...]] = [(0.0,) * width]
    for effort in range(1, 9):
        level = list(_of_effort(width, effort, negative, half))
        if len(found) + len(level) > most:
            found += level[: max(0, most - len(found))] if effort <= 2 else []
            break
        found += level
    return np.array(found)


def _of_effort(width: int, effort: int, negative: bool, half: bool) -> Iterator[tuple[float, ...]]:
    """The exponents whose efforts (their magnitudes; one more of a half-integral one) add up to ``effort``."""
    singles = {1: [1.0], 2: [2.0], 3: [3.0], 4: [4.0]}
    if half:
        singles[2].append(0.5)
        singles[3].append(1.5)
    for count in range(1, min(width, effort, 4) + 1):
        for parts in _compositions(effort, count):
            if any(part > 4 for part in parts):
                continue
            for places in itertools.combinations(range(width), count):
                for sizes in itertools.product(*(singles[part] for part in parts)):
                    for signs in itertools.product((1, -1) if negative else (1,), repeat=count):
                        row = [0.0] * width
                        for place, sized, sign in zip(places, sizes, signs, strict=True):
                            row[place] = sized * sign
                        yield tuple(row)


def _compositions(effort: int, count: int) -> Iterator[tuple[int, ...]]:
    if count == 1:
        yield (effort,)
        return
    for first in range(1, effort - count + 2):
        for rest in _compositions(effort - first, count - 1):
            yield (first, *rest)
