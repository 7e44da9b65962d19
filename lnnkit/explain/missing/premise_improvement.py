"""How far premises of one instance must be improved for it to propose more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lnnkit.explain.missing.unmet_premises import ExaminedInstance, ImprovablePremise
from lnnkit.explain.proof.quickxplain import minimal
from lnnkit.logic.bounds import Bounds

_GRID, _FINER = 33, 4  # each refinement divides the interval by 32: the fourth finds a truth to 1e-6
_LARGE, _COARSE = 1000, 5  # 33 variants of 1,000 rows are evaluated at once; of more rows, 5 variants at first
_HARDLY = 1 - 1e-4  # stands for any degree below 1; above the tolerance of 1e-9
_ALONE = 32  # premises tried one by one; a limit of work, one evaluation of the instance each
# Premises whose degrees are found one by one; of more, one for all. A forall over 120 orders takes 1.7 CPU s with 16 or
# 64, 3.0 with 256.
_SINGLY = 64
# Degrees at which a premise passes another's value, a limit of work: 16 and 4,096 take as long there; without a limit a
# forall over 3,000 orders had not ended after 12 s.
_PASSED = 256
_CELLS = 1 << 20  # rows of leaves evaluated at once, a limit of memory: with 2 ** 16 and 2 ** 23 1.8 and 1.7 s there


@dataclass(frozen=True)
class PremiseImprovement:
    """An instance, and the premises that may be improved for it to tighten its target."""

    instance: ExaminedInstance
    wanted: Sequence[ImprovablePremise]

    def best(self) -> float:
        """The best bound that it proposes with all premises improved alike: more may contradict what is known."""
        return max(self._at_once(self.wanted, self._degrees), key=self.instance.tightness)

    def least(self, reach: float, eps: float) -> list[tuple[ImprovablePremise, float]]:
        """A minimal set of premises for this bound, and the least degrees that suffice together."""

        def enough(value: float) -> bool:
            return self.instance.tightness(value) >= self.instance.tightness(reach) - eps

        def holds(some: Sequence[ImprovablePremise]) -> bool:
            return any(enough(value) for some_of in ([1.0], self._degrees) for value in self._at_once(some, some_of))

        alone = next(([premise] for premise in self.wanted[:_ALONE] if holds([premise])), None)
        needed = minimal(self.wanted, holds) if alone is None else alone
        if self._wholly(needed, enough):
            return [(premise, 1.0 - premise.side) for premise in needed]
        got = self._at_once(needed, self._degrees)
        first = next((i for i, value in enumerate(got) if enough(value)), len(got) - 1)
        below = self._degrees[max(first - 1, 0)]
        every = _refined(below, self._degrees[first], lambda degrees: map(enough, self._at_once(needed, degrees)))
        met = np.full(len(needed), every)
        if len(needed) > _SINGLY:
            return [(premise, premise.at(degree)) for premise, degree in zip(needed, met.tolist(), strict=True)]
        improved: list[tuple[ImprovablePremise, float]] = []
        for number, premise in enumerate(needed):

            def one_of(degrees: Sequence[float], number: int = number) -> list[bool]:
                ways = np.tile(met, (len(degrees), 1))
                ways[:, number] = degrees
                return [enough(value) for value in self._says(needed, ways)]

            high = _refined(0.0, float(met[number]), one_of)
            least = round(premise.at(high), 4)  # a rounded number, if it suffices
            degree = (least - premise.now) / ((1.0 - premise.side) - premise.now)
            if not 0 <= degree <= 1 or not one_of([degree])[0]:
                least, degree = premise.at(high), high
            met[number] = degree
            improved.append((premise, least))
        return improved

    def _wholly(self, needed: Sequence[ImprovablePremise], enough: Callable[[float], bool]) -> bool:
        """Whether all are needed, each at full truth: the case of crisp truths, and the cheapest to test."""
        if len(needed) > _SINGLY:
            return False
        less = np.where(np.eye(len(needed), dtype=bool), _HARDLY, 1.0)
        full, *others = self._says(needed, np.vstack([np.ones(len(needed)), less]))
        return enough(full) and not any(map(enough, others))

    @cached_property
    def _degrees(self) -> list[float]:
        """The degrees to try: an even grid, and those at which a premise passes another's value."""
        if any(length > _LARGE for length in self.instance.view.instances.lengths):
            return np.linspace(0.0, 1.0, _COARSE).tolist()
        values = {value for read in self.instance.reads for value in (read.reading.value, 1 - read.reading.value)}
        at = {
            (value - premise.now) / ((1.0 - premise.side) - premise.now)
            for premise in self.wanted
            for value in sorted(values)[:_GRID]
        }
        even = np.linspace(0.0, 1.0, _GRID).tolist()
        passed = sorted(degree for degree in at if 0 < degree < 1)
        return sorted({*even, *passed[:: 1 + len(passed) // _PASSED]})

    def _at_once(self, met: Sequence[ImprovablePremise], degrees: Sequence[float]) -> list[float]:
        """What it proposes with some premises improved, all to the same of these degrees."""
        return self._says(met, np.tile(np.array(degrees)[:, None], (1, len(met))))

    def _says(self, met: Sequence[ImprovablePremise], ways: np.ndarray) -> list[float]:
        """What it proposes in each of several ``ways`` (n, k): the degrees to which the premises are improved; nothing
        where the instance would be unsatisfiable."""
        view, target, side = self.instance.view, self.instance.target, self.instance.side
        proposed: list[float] = []
        step = max(1, _CELLS // (1 + sum(map(len, view.rows.values()))))
        for start in range(0, len(ways), step):
            values = self._improved(met, ways[start : start + step])
            said, bad = view.says(values, target, 0, side), view.contradictory(values)
            proposed += np.where(bad, float(side), said).tolist()
        return proposed

    @cached_property
    def _values(self) -> dict[int, Bounds]:
        """The leaf values (1, rows) as they are."""
        return self.instance.view.values([self.instance.reads])

    def _improved(self, met: Sequence[ImprovablePremise], ways: np.ndarray) -> dict[int, Bounds]:
        """The leaf values with the premises improved; the other bound of each is relaxed."""
        values = {leaf: Bounds(*(np.tile(end, (len(ways), 1)) for end in ends)) for leaf, ends in self._values.items()}
        if not met:
            return values
        now, goal = np.array([premise.now for premise in met]), np.array([1.0 - premise.side for premise in met])
        bounds = now + ways * (goal - now)
        improved: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for number, premise in enumerate(met):
            for leaf, places in premise.alike.items():
                improved.setdefault((leaf, premise.side), []).extend((place, number) for place in places)
        at = {key: np.array(pairs).T for key, pairs in improved.items()}
        for (leaf, _), (places, _) in at.items():
            values[leaf].lower[:, places], values[leaf].upper[:, places] = 0.0, 1.0
        for (leaf, side), (places, numbers) in at.items():
            values[leaf][side][:, places] = bounds[:, numbers]
        return values


def _refined(low: float, high: float, enough: Callable[[Sequence[float]], Iterable[bool]]) -> float:
    """The least sufficient degree between two, to the precision of the search."""
    for _ in range(_FINER):
        degrees = np.linspace(low, high, _GRID).tolist()
        first = next((i for i, holds in enumerate(enough(degrees)) if holds), _GRID - 1)
        low, high = degrees[max(first - 1, 0)], degrees[first]
    return high
