"""Sparse sums: a few terms out of thousands. Least squares over all single terms and pairs, then a beam search that
adds one term at a time; backward elimination if there are few features. A quotient of sums ``P / Q`` is fitted as ``y =
P - y (Q - 1)`` (Levy 1959, "Complex-curve fitting")."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

_ALL_TRIPLES = 200  # up to this many features all triples are tried
_NOTHING = 1e-26  # share of the sum of squares that an exact fit leaves


@dataclass(frozen=True)
class SparseFit:
    """The indices of the terms, their coefficients, and the share of the sum of squares that is left."""

    places: tuple[int, ...]
    coefficients: np.ndarray
    left: float


def sparse_fits(
    features: np.ndarray,
    target: np.ndarray,
    *,
    most: int,
    beam: int = 12,
    pairs: int = 40,
    forced: Sequence[int] = (),
) -> Iterator[SparseFit]:
    """The best sets of each size up to ``most``, all with the ``forced`` features, by least squares."""
    norm = np.linalg.norm(features, axis=0)
    usable = np.flatnonzero(norm > 0)
    scaled = features[:, usable] / norm[usable]
    place_of = {int(place): number for number, place in enumerate(usable)}
    held = [place_of[place] for place in forced if place in place_of]
    square = float(target @ target)
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
    singles, doubles = _best(free, rest, pairs)
    few = [*((single,) for single in singles), *doubles]
    front = list(dict.fromkeys(tuple(sorted({*held, *chosen})) for chosen in few))
    if not front:  # all others are multiples of the chosen features
        if held:
            yield fit(held)
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
        if np.abs(np.diag(triangle)).min() < 1e-10:
            worst = int(np.abs(np.diag(triangle)).argmin())
            del chosen[worst]
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
        if lost.sum() > 1:
            chosen = [place for place, gone in zip(chosen, lost, strict=True) if not gone]
        else:
            del chosen[int(cost.argmin())]


def without(columns: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The columns, ``[rows]`` or ``[rows, columns]``, without their shares in an orthonormal basis."""
    once = columns - basis @ (basis.T @ columns)
    return once - basis @ (basis.T @ once)


def _triples(features: np.ndarray, target: np.ndarray, count: int) -> list[tuple[int, int, int]]:
    """The best triples: for each first feature the best pairs on its residuals."""
    norm = np.linalg.norm(features, axis=0)
    fine = np.flatnonzero(norm > 1e-7)
    unit = features[:, fine] / norm[fine]
    gram, along = unit.T @ unit, unit.T @ target
    scored: list[tuple[float, int, int, int]] = []
    for first in range(len(fine) - 2):
        rest = slice(first + 1, None)
        column = gram[rest, first]
        near = gram[rest, rest] - np.outer(column, column)
        left = along[rest] - column * along[first]
        room = np.diag(near)
        with np.errstate(all="ignore"):
            unknown = room[:, None] * room[None] - near**2
            gain = (
                left[:, None] ** 2 * room[None] + left[None] ** 2 * room[:, None] - 2 * np.outer(left, left) * near
            ) / unknown
        gain[~np.isfinite(gain) | (unknown < 1e-10) | ~np.tri(len(left), k=-1, dtype=bool)] = -np.inf
        flat = gain.ravel()
        kept = np.argpartition(-flat, min(6, flat.size - 1))[:6]
        scored += [
            (
                float(flat[place] + along[first] ** 2),
                first,
                first + 1 + int(place // len(left)),
                first + 1 + int(place % len(left)),
            )
            for place in kept
            if np.isfinite(flat[place])
        ]
    scored.sort(reverse=True)
    return [(int(fine[one]), int(fine[two]), int(fine[three])) for _, one, two, three in scored[:count]]


def _best(features: np.ndarray, target: np.ndarray, count: int) -> tuple[list[int], list[tuple[int, int]]]:
    """The best single features and pairs, by the share of the squares that they explain."""
    norm = np.linalg.norm(features, axis=0)
    fine = np.flatnonzero(norm > 1e-7)
    if not len(fine):
        return [], []
    unit = features[:, fine] / norm[fine]
    along = unit.T @ target
    singles = fine[np.argsort(-(along**2))[: count // 4 or 1]].tolist()
    return singles, [(int(fine[one]), int(fine[other])) for one, other in best_pairs(unit.T @ unit, along, count)]


def best_pairs(cosines: np.ndarray, along: np.ndarray, count: int) -> list[tuple[int, int]]:
    """The pairs of unit columns that explain most of a target, best first, by their cosines; none nearly parallel."""
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
    return [(int(first[at]), int(second[at])) for at in order if np.isfinite(gain[at])]
