"""Many rounds at once, where the bounds that move stay on one linear piece (``semantics.md`` point 17).

Let ``G(t) = A t + b`` be what the last setters send, ``A >= 0`` its derivatives now. Rounds without contradictions are
monotone, and whatever else is sent only tightens, so ``2^k`` rounds of ``G`` lead to bounds that the rounds reach too, if
the setters really send at least ``G`` on the way. Each sends a composition of clamps, least and greatest values, affine
in between, of neurons' ends that only tighten: a clamp that stands alike at both ends of the way stands so between them.
So what they send is compared with ``G`` at both ends and at points between. With the spectral radius below 1 there is no
last round: the way leads to the one fixpoint ``x* = G(x*)``, which is then the least that the rounds can come to rest at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.infer.matrix import components, matrix
from lnnkit.infer.moving import Moving
from lnnkit.infer.powers import Powers

# Where what is sent is compared, as parts of the way: close to its end too, for there the tolerances of the neurons lie.
_WAY = (0.25, 0.5, 0.75, 0.94, 1 - 1e-2, 1 - 1e-3, 1 - 1e-4, 1 - 1e-5, 1 - 1e-6, 1 - 1e-7, 1.0)
_ERROR = 5e-10  # what rounding may come to
_REACH = 5e5  # rounds amplify the rounding of each by no more
_SHORTEST = 3  # 2^3 rounds are as soon made one by one
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
    """The movers' new ``bounds``; ``exact`` if all would stand there after the same number of rounds, one by one.
    ``reach`` is what rounding was amplified by."""

    bounds: Tensor
    exact: bool
    reach: float


class Clash(Exception):
    """There are contradictions on the way, and which come first depends on the round at which bounds arrive."""


def leap(moving: Moving, survey: Survey | None, *, strict: bool) -> Leap | None:
    """As many rounds as one linear piece holds; None where that is not worth while.

    Each component of what moves goes as far as it can by itself, and a contradiction met on the way raises `Clash`.
    ``strict``: all go the same number of rounds, up to the last one before anything else happens.
    """
    now, sent = moving.coordinates(moving.current()), moving.coordinates(moving.sent(afresh=True))
    slopes = moving.slopes()
    if slopes is None or not len(now):
        return None
    lost = ~(now.isfinite() & sent.isfinite())
    lost[slopes.target[~slopes.value.isfinite() | (slopes.value < -1e-12)]] = True
    held = sent < now - _HELD  # by what the setter would not say again; it can only tighten
    sent = torch.where(held, now, sent)
    still = held.index_select(0, slopes.target) | lost[slopes.target] | lost[slopes.source]
    value = torch.where(still, 0.0, slopes.value)
    label = torch.zeros(len(now), dtype=torch.int64) if strict else components(len(now), slopes.target, slopes.source)
    powers = Powers(matrix(len(now), slopes.target, slopes.source, value), _REACH)
    way = _Way(moving, powers, label, now, torch.where(lost, 0.0, sent), held, strict)
    return way.walk(_anywhere(lost, label), survey)


class _Way:
    """Where the components have come to, each by itself."""

    def __init__(
        self, moving: Moving, powers: Powers, label: Tensor, now: Tensor, sent: Tensor, held: Tensor, strict: bool
    ) -> None:
        self.moving = moving
        self.powers = powers
        self.label = label
        self.start = torch.where(now.isfinite(), now, 0.0)
        self.sent = sent
        self.held = held
        self.strict = strict
        self.here = self.start
        self.step = (sent - self.start).clamp(min=0.0)
        self.more = False

    def walk(self, resting: Tensor, survey: Survey | None) -> Leap | None:
        """``resting`` (n,) marks components that stay where they are."""
        moving, powers = self.moving, self.powers
        limited = torch.zeros_like(resting)  # components that are at their limit
        moved = torch.zeros_like(resting)
        reach = torch.zeros_like(self.start)
        top = len(powers) - 1
        exact = True
        for level in range(top, min(top, _SHORTEST) - 1, -1):
            go = ~resting & ~limited & ~_anywhere(powers.reach[level] > _REACH, self.label)
            go &= _anywhere(self.step > 0, self.label)
            if bool(go.any()):
                ahead = torch.where(go, self.here + powers.step(level, self.step), self.here)
                go &= ~_anywhere(self._off(level, ahead), self.label)
            if bool(go.any()):
                ahead = torch.where(go, ahead, self.here)
                go &= ~self._stopped(ahead, survey)
            if bool(go.any()):
                self.here = torch.where(go, ahead, self.here)
                self.step = torch.where(go, powers.after(level, self.step), self.step)
                reach = torch.where(go, reach + powers.reach[level], reach)
                moved |= go
                limited |= go & ~_anywhere(~powers.vanished(level), self.label)
            exact &= level == top
            if bool((limited | resting).all()):
                break
        before, after = moving.current(), moving.bounds(self.here)
        after = torch.where(moved, after, before)
        if not bool(((after - before).abs() > _LEAST_GAIN).any()):
            return None
        exact = self.strict or (exact and bool(limited.all()) and not self.more)
        return Leap(after, exact, float(reach.max()))

    def _off(self, level: int, ahead: Tensor) -> Tensor:
        """(n,) where the setters do not send what they are to send on the way ``ahead``."""
        off = torch.zeros(len(ahead), dtype=torch.bool)
        slack = (_ERROR / _greatest(self.powers.reach[level], self.label)).clamp(max=1e-12)
        for part in _WAY:
            there = self.here + part * (ahead - self.here)
            with self.moving.at(self.moving.bounds(there)):
                got = self.moving.coordinates(self.moving.sent())
            missing = torch.where(self.held, 0.0, self._predicted(there) - got)
            off |= ~((missing.abs() if self.strict else missing) <= slack)
        return off

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


def _anywhere(flags: Tensor, label: Tensor) -> Tensor:
    """(n,) flags of whole components: set where any member's is."""
    found = torch.zeros(len(flags), dtype=torch.bool)
    found[label[flags]] = True
    return found.index_select(0, label)


def _greatest(values: Tensor, label: Tensor) -> Tensor:
    """(n,) the greatest value of each member's component."""
    return torch.zeros_like(values).scatter_reduce(0, label, values, "amax").index_select(0, label)
