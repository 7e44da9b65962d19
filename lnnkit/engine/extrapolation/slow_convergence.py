"""When rounds creep: when to leap ahead, when to give up, and whose instances set what still moves.

A round is *steady* if it adds no atoms, meets no contradiction and moves only bounds that such rounds moved before,
and *quiet* if, besides, it moves every bound by little. A cycle that gains ever less is quiet for ever: it stops once
the gains are below ``_GAIN`` and have not halved in ``_ROUNDS`` rounds, or after ``_PATIENCE`` quiet rounds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from lnnkit.engine.bounds_state import distinct
from lnnkit.engine.extrapolation.acceleration import Clash, Leap, Survey, leap
from lnnkit.engine.extrapolation.followers import Followers, followers
from lnnkit.engine.extrapolation.leaps import Leaps
from lnnkit.engine.extrapolation.moving import Moving
from lnnkit.engine.extrapolation.survey import survey_of
from lnnkit.engine.workspace import Workspace
from lnnkit.store.arrays import Array
from lnnkit.store.growing import Marks

_QUIET = 1e-2
_GAIN = 1e-6
_ROUNDS = 100
_PATIENCE = 3000
_STEADY = 256  # steady rounds before the first leap is tried; a quiet one counts for
_WORTH = 8  # of them
_AGAIN = 64  # the same after a leap
_NEARER = 12  # leaps one after the other, each to the limit of a linear piece where what is sent bends


class Pace:
    """The gains of rounds, one after the other."""

    def __init__(self) -> None:
        self._gains: list[float] = []  # of quiet rounds since the last leap
        self._quiet = 0
        self._credit = 0
        self._price = _STEADY
        self._moved = Marks(np.bool_), Marks(np.bool_)

    def note(self, gain: float, moved: Sequence[Array], *, settled: bool) -> None:
        """A round ``moved`` rows on their lower and upper sides, some bound by ``gain`` and none by more; ``settled``
        if no atoms were added and none contradicted."""
        steady = settled and self._again(moved)
        quiet = steady and gain < _QUIET
        self._gains = [*self._gains[-_ROUNDS:], gain] if quiet else []
        self._quiet = self._quiet + 1 if quiet else 0
        self._credit = self._credit + (_WORTH if quiet else 1) if steady else 0

    def _again(self, moved: Sequence[Array]) -> bool:
        """Whether all of these rows have moved before."""
        again = True
        for rows, marks in zip(moved, self._moved, strict=True):
            if len(rows):
                flags = marks.reach(int(rows.max()) + 1)
                again &= bool(flags.take(rows).all())
                flags[rows] = True
        return again

    @property
    def due(self) -> bool:
        """Whether it is time to try a leap."""
        return self._credit >= self._price

    def tried(self, *, leapt: bool) -> None:
        self._credit = 0
        if leapt:
            self._price = _AGAIN
            self._gains.clear()
        else:
            self._price = 2 * max(self._price, _STEADY)

    @property
    def creeps(self) -> bool:
        """Whether to give up."""
        gains = self._gains
        slow = len(gains) > _ROUNDS and gains[-1] < _GAIN and gains[-1] > gains[-_ROUNDS] / 2
        return slow or self._quiet >= _PATIENCE


class Creep:
    """What moves in rounds over ``members``, and how it leaps. ``completes``: they complete closed predicates."""

    def __init__(
        self,
        space: Workspace,
        members: Sequence[int],
        *,
        completes: bool = False,
    ) -> None:
        self._space = space
        self._members = members
        self._batches = {space.grounding.number(member) for member in members}
        self._completes = completes

    def leap(self, leaps: Leaps, raised: Tensor, lowered: Tensor) -> tuple[Tensor, Tensor] | None:
        """Carry what moves with those rows ahead. Returns the rows raised and lowered; None if there is no way."""
        found = self._followers(raised, lowered) if leaps.allowed else None
        if found is None:
            return None
        moving, survey = found.moving, None
        if not self._completes:
            survey = survey_of(self._space, self._members, moving)
        before = moving.current()
        for number in range(_NEARER):
            leapt = self._next(moving, survey, leaps, top_only=number > 0)
            if leapt is None:
                break
            leaps.made(leapt.reach, exact=leapt.exact)
            moving.write(leapt.bounds)
            if not leapt.limited:
                break
        moving.record(before)
        rows = moving.changed(before)
        return rows if any(map(len, rows)) else None

    def carry(self, leaps: Leaps, pace: Pace, raised: Array, lowered: Array) -> tuple[Array, Array] | None:
        """Leap if it is time to. Returns the rows raised and lowered with those that the leap has moved besides; None
        without a leap."""
        if not pace.due:
            return None
        ahead = self.leap(leaps, torch.from_numpy(raised), torch.from_numpy(lowered))
        pace.tried(leapt=ahead is not None)
        if ahead is None:
            return None
        count = len(self._space.grounding.atoms)
        rows = [each.numpy() for each in ahead]
        return distinct([raised, rows[0]], count), distinct([lowered, rows[1]], count)

    def _next(self, moving: Moving, survey: Survey | None, leaps: Leaps, *, top_only: bool) -> Leap | None:
        try:
            return leap(moving, survey, strict=leaps.strict, top_only=top_only)
        except Clash:
            leaps.disturbed()
            leaps.strict = True
            return leap(moving, survey, strict=True, top_only=top_only)

    def members(self, raised: Array, lowered: Array) -> set[int]:
        """The formulas whose instances set the bounds on the cycles that those rows are on."""
        found = self._followers(torch.from_numpy(raised), torch.from_numpy(lowered))
        if found is None:
            return set()
        core = found.core()
        numbers: set[int] = set()
        for each in found.moving.setters:
            batch = self._space.grounding.batches[each.batch]
            block = 0 if each.leaf < 0 else batch.formula.neurons[each.leaf].block
            instances = each.instances[core.index_select(0, each.movers)]
            own = torch.unique(torch.from_numpy(batch.blocks[block].member).index_select(0, instances))
            numbers.update(batch.members[number] for number in own.tolist())
        return numbers

    def _followers(self, raised: Tensor, lowered: Tensor) -> Followers | None:
        space = self._space
        moved = raised.long(), lowered.long()
        return followers(space, self._batches, moved, completes=self._completes)
