"""Many rounds at once, where the bounds that move stay on one linear piece (``semantics.md`` point 17).

Let ``G(t) = A t + b`` be what the last setters send, ``A >= 0`` its derivatives now. Short of contradictions rounds are
monotone, and whatever else is sent only tightens. So ``2^k`` rounds of ``G`` lead no further than rounds do, if on the
way the setters really send ``G`` or more. What they send is made of clamps, least and greatest values, affine between,
of ends that only tighten: a clamp that is open at both ends of the way is open between them. So what is sent is
compared with ``G`` at the end of the way and at points before it.

Where the powers of ``A`` vanish (spectral radius below 1), the way leads to the fixpoint ``x* = G(x*)``. Short of it,
each point ``y`` of the way has ``G(y) >= y``, strictly where a bound moves once all are taken a little looser; so no
rounds can rest before ``x*``. ``F(x*) = x*`` alone would not tell it from a later fixpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.engine.extrapolation.components import anywhere, components, greatest
from lnnkit.engine.extrapolation.matrix import Matrix, matrix
from lnnkit.engine.extrapolation.moving import Moving, Slopes
from lnnkit.engine.extrapolation.powers import LEVELS, Powers
from lnnkit.flags import all_set, any_set

# Where what is sent is compared, as parts of the way; close to its end too, where the neurons' tolerances lie.
_WAY = (1.0, 0.25, 0.5, 0.75, 0.94, 1 - 1e-2, 1 - 1e-3, 1 - 1e-4, 1 - 1e-5, 1 - 1e-6, 1 - 1e-7)
_ERROR = 5e-10  # what rounding may come to
_REACH = 5e5  # rounds amplify the rounding of each by no more
_SHORTEST = 5  # 2^5 rounds are as soon made one by one
_ROUNDS = 8  # one by one, these rounds are compared too where leaps keep step
_FAR = (LEVELS, 9)  # 2^level rounds ahead, the derivatives are looked at too where what is sent bends
_WORTH = 8.0  # what a leap adds up to, in rounds like the next one
_HELD = 1e-12
_LEAST_GAIN = 1e-10


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What all who read the moved bounds do there: whether any is ``arrested``, and whether any says ``more`` than the
    last setters."""

    arrested: bool
    more: bool


Survey = Callable[[Tensor, Tensor], Surveyed]  # of the movers' bounds, and of those that a round is to make of them


@dataclass(frozen=True, slots=True)
class Leap:
    """The movers' new ``bounds``; ``exact`` if all would stand there after the same number of rounds, one by one, and
    ``limited`` if some are at the limit of their linear piece. ``reach`` is what rounding was amplified by on the way
    of the others; a limit does not depend on the way to it."""

    bounds: Tensor
    exact: bool
    limited: bool
    reach: float


class Clash(Exception):
    """There are contradictions on the way, and which come first depends on the round at which bounds arrive."""


def leap(moving: Moving, survey: Survey | None, *, strict: bool, top_only: bool = False) -> Leap | None:
    """As many rounds as one linear piece holds; None where that is not worth while.

    Each component of what moves goes as far as it can by itself, and a contradiction met on the way raises `Clash`.
    Where what is sent bends, the lesser of its derivatives here and further on serve. ``strict``: all go the
    same number of rounds, up to the last one before anything else happens. ``top_only``: all the way, or not at all.
    """
    slopes = moving.slopes()
    if slopes is None or not len(moving):
        return None
    way = _Way(moving, slopes, None, strict=strict)
    found = way.walk(survey, top_only=top_only)
    if found is not None or strict:
        return found
    for level in _FAR:
        with moving.at(moving.bounds(way.far(level))):
            there = moving.slopes()
        found = None if there is None else _Way(moving, slopes, there, strict=False).walk(survey, top_only=top_only)
        if found is not None or top_only:
            return found
    return None


class _Way:
    """Where the components of what moves have come to, each by itself, in coordinates."""

    def __init__(self, moving: Moving, slopes: Slopes, other: Slopes | None, *, strict: bool) -> None:
        now, sent = moving.coordinates(moving.current()), moving.coordinates(moving.sent())
        lost = ~(now.isfinite() & sent.isfinite())
        self.moving = moving
        self.strict = strict
        self.held = sent < now - _HELD  # by what the setter would not say again; it can only tighten
        self.start = torch.where(lost, 0.0, now)
        self.sent = torch.where(lost, 0.0, torch.where(self.held, now, sent))
        self.here = self.start
        self.step = (self.sent - self.start).clamp(min=0.0)
        self.more = False
        linear = self._matrix(slopes, lost)
        if other is not None:
            linear = linear.least(self._matrix(other, lost))
        self.label = torch.zeros(len(now), dtype=torch.int64) if strict else components(linear)
        self.lost = anywhere(lost, self.label)
        self.powers = Powers(linear, _REACH)

    def _matrix(self, slopes: Slopes, lost: Tensor) -> Matrix:
        """Without what is held; a row whose slopes make no sense is lost."""
        lost[slopes.target[~slopes.value.isfinite() | (slopes.value < -_HELD)]] = True
        off = (self.held | lost).index_select(0, slopes.target) | lost.index_select(0, slopes.source)
        value = torch.where(off, 0.0, slopes.value)
        return matrix(len(lost), slopes.target, slopes.source, value)

    def far(self, level: int) -> Tensor:
        """Where all would be after 2^level rounds, or as many as their powers are known for."""
        return (self.start + self.powers.step(min(level, len(self.powers) - 1), self.step)).nan_to_num()

    def walk(self, survey: Survey | None, *, top_only: bool) -> Leap | None:
        """As far as it goes."""
        moving, powers, resting = self.moving, self.powers, self.lost
        limited = torch.zeros_like(resting)  # components that are at their limit
        moved = torch.zeros_like(resting)
        reach = torch.zeros_like(self.start)
        top = len(powers) - 1
        exact = True
        for level in range(top, top - 1 if top_only else min(top, _SHORTEST) - 1, -1):
            go, ahead = self._open(level, ~resting & ~limited, survey)
            if any_set(go):
                self.here = torch.where(go, ahead, self.here)
                self.step = torch.where(go, powers.after(level, self.step), self.step)
                reach = torch.where(go, reach + powers.reach[level], reach)
                moved |= go
                limited |= go & ~anywhere(~powers.vanished(level), self.label)
            exact &= level == top
            if all_set(limited | resting):
                break
        before, after = moving.current(), moving.bounds(self.here)
        after = torch.where(moved, after, before)
        if float(reach.max()) < _WORTH or not any_set((after - before).abs() > _LEAST_GAIN):
            return None
        exact = self.strict or (exact and all_set(limited) and not self.more)
        return Leap(after, exact, any_set(limited), float(torch.where(limited, 0.0, reach).max()))

    def _open(self, level: int, go: Tensor, survey: Survey | None) -> tuple[Tensor, Tensor]:
        """Which components of those that may ``go`` can go 2^level rounds, and where they are then."""
        go = go & anywhere(self.step > 0, self.label) & ~anywhere(self.powers.reach[level] > _REACH, self.label)
        if not any_set(go):
            return go, self.here
        ahead = torch.where(go, self.here + self.powers.step(level, self.step), self.here)
        go = go & ~self._off(level, ahead, go)
        if not any_set(go):
            return go, self.here
        ahead = torch.where(go, ahead, self.here)
        return go & ~self._stopped(ahead, survey), ahead

    def _off(self, level: int, ahead: Tensor, going: Tensor) -> Tensor:
        """(n,) components whose setters do not send what they are to send on the way ``ahead``; found at the end of
        the way for most of them, and then not looked for on it."""
        off = torch.zeros(len(ahead), dtype=torch.bool)
        slack = (_ERROR / greatest(self.powers.reach[level], self.label)).clamp(max=1e-12)
        for there in (*(self.here + part * (ahead - self.here) for part in _WAY), *self._stations(level)):
            with self.moving.at(self.moving.bounds(there)):
                got = self.moving.coordinates(self.moving.sent())
            missing = torch.where(self.held, 0.0, self._predicted(there) - got)
            off |= anywhere(~((missing.abs() if self.strict else missing) <= slack), self.label)
            if all_set(off[going]):
                break
        return off

    def _stations(self, level: int) -> Iterator[Tensor]:
        """Where single rounds come past, if leaps keep step. They need not keep to the straight way: which of two ends
        is the lesser may change from round to round."""
        there = self.here
        for _ in range(_ROUNDS if self.strict else 0):
            there = self._predicted(there)
            yield there
        for below in range(_SHORTEST if self.strict else level, level):
            there = self.here + self.powers.step(below, self.step)
            yield there
            yield self._predicted(there)

    def _predicted(self, there: Tensor) -> Tensor:
        return self.sent + self.powers.after(0, there - self.start)

    def _stopped(self, ahead: Tensor, survey: Survey | None) -> Tensor:
        """(n,) whether something else happens there. Raises `Clash` unless strict."""
        stopped = torch.zeros(len(ahead), dtype=torch.bool)
        if survey is None:
            return stopped
        found = survey(self.moving.bounds(ahead), self.moving.bounds(self._predicted(ahead)))
        if found.arrested and not self.strict:
            raise Clash
        self.more |= found.more
        return stopped | (self.strict and (found.arrested or found.more))
