"""Bounds that a cycle carries to its limit: whether rounds, one by one, would lead there.

Steps of a cycle read each other. Told as coordinates that only grow (a lower bound itself, an upper bound negated, or
the logarithm of either where a product rule multiplies), a round is a monotone map ``G`` that lowers nothing. Rounds
come past every point of a growing path on which some rounds raise whatever the path has raised: else they would rest at
a point of it. The path ends at the claimed bounds, and comes from ``-(1 - A)^-1 e``, along which the derivatives ``A``
of ``G`` at its end promise just that, if their spectral radius is below 1; else, where rounds gain as much again and
again, it is straight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from lnnkit.explain.proof import Proof, Step

Box = tuple[float, float]
Look = Callable[[Mapping[int, float]], Box]  # the bounds that a step's instance gives for other premises

_ROUNDS = 60  # are made one by one first
_EPS = 1e-8
_POINTS = 60  # of the path
_NEAR = 1e-13  # how far the last of them is from its end


class Cycle:
    """The limits that a step rests on, itself among them: ``members`` are their numbers."""

    def __init__(self, proof: Proof, start: int, instance: Callable[[Step], Look]) -> None:
        self.members: list[int] = [start]
        for number in self.members:
            for premise in proof.steps[number].premises:
                if proof.steps[premise.step].reason == "limit" and premise.step not in self.members:
                    self.members.append(premise.step)
        steps = [proof.steps[number] for number in self.members]
        self._looks = [instance(step) for step in steps]
        self._upper = np.array([step.side == "upper" for step in steps])
        befores = [None if step.before is None else proof.steps[step.before].bound for step in steps]
        self._start = np.array(
            [
                float(step.side == "upper") if before is None else before
                for step, before in zip(steps, befores, strict=True)
            ]
        )
        self._end = np.array([step.bound for step in steps])
        self._logs = any("product" in repr(step.formula) for step in steps)

    def reaches_its_bounds(self) -> bool:
        """Whether rounds from the bounds before lead to those that are claimed, or past them."""
        here, end = self._coordinates(self._start), self._coordinates(self._end)
        for _ in range(_ROUNDS):
            if bool((here >= end - _EPS).all()):
                return True
            here = np.maximum(here, self._round(here))
        return all(self._passes(there, there > here) for there in self._path(here, end))

    def _passes(self, there: np.ndarray, risen: np.ndarray) -> bool:
        """Whether rounds, as many as it takes to come around, raise all that has risen."""
        after = there
        for _ in self._looks:
            after = np.maximum(after, self._round(after))
            if bool((after > there)[risen].all()):
                return True
        return False

    def _path(self, here: np.ndarray, end: np.ndarray) -> Iterator[np.ndarray]:
        """Points on the way; straight ones where rounds do not gain ever less."""
        linear = self._derivatives(end, np.maximum(end - here, 1e-6))
        if np.abs(np.linalg.eigvals(linear)).max() < 1 - _EPS:
            direction = np.linalg.solve(np.eye(len(end)) - linear, np.ones(len(end)))
            if bool((direction > 0).all()):
                for length in np.geomspace(float(((end - here) / direction).max()), _NEAR, _POINTS):
                    yield np.maximum(here, end - length * direction)
                return
        for share in (*np.linspace(0, 1, _POINTS, endpoint=False), 1 - 1e-9):
            yield np.maximum(here, here + share * (end - here))

    def _round(self, here: np.ndarray) -> np.ndarray:
        bounds = self._bounds(here).tolist()
        read = dict(zip(self.members, bounds, strict=True))
        boxes = [look(read) for look in self._looks]
        return self._coordinates(np.array([box[int(up)] for box, up in zip(boxes, self._upper, strict=True)]))

    def _derivatives(self, end: np.ndarray, width: np.ndarray) -> np.ndarray:
        """What each coordinate of a round (a row) gains for what each one gains before ``end``."""
        at = self._round(end)
        linear = np.zeros((len(end), len(end)))
        for place in range(len(end)):
            aside = end.copy()
            aside[place] -= width[place] / 1024
            linear[:, place] = (at - self._round(aside)) / (end[place] - aside[place])
        return linear

    def _coordinates(self, bounds: np.ndarray) -> np.ndarray:
        plain = np.log(np.maximum(bounds, 1e-300)) if self._logs else bounds
        return np.where(self._upper, -plain, plain)

    def _bounds(self, coordinates: np.ndarray) -> np.ndarray:
        plain = np.where(self._upper, -coordinates, coordinates)
        return np.clip(np.exp(plain) if self._logs else plain, 0.0, 1.0)
