"""Relations between numbers found from examples of where they hold: status registers, trained together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from benchmarks.arithmetic.schedules import SHARPENING
from lnnkit.numeric.units.nsr import NSR

RATE = 0.02
"""Of Adam's steps."""


@dataclass(frozen=True)
class Effort:
    """Adam's steps of one start, and starts of a register that has the examples not all right."""

    steps: int = SHARPENING.steps
    starts: int = 4


DEFAULT_EFFORT = Effort()


@dataclass(frozen=True)
class LearnedRelations:
    """``register`` has a seed for each problem, rounded where that is ``accepted``; ``error`` is the share of the
    examples that it has wrong, ``steps`` what was tried; ``[problems]`` each."""

    register: NSR
    accepted: Tensor
    error: Tensor
    steps: Tensor


def learn_relations(
    operands: Tensor,
    truth: Tensor,
    *,
    generator: torch.Generator,
    resolution: float = 1.0,
    effort: Effort = DEFAULT_EFFORT,
) -> LearnedRelations:
    """The relation between two of the operands in each of many problems: ``operands`` is ``[problems, n, in]``, or
    ``[n, in]`` for all, ``truth`` ``[problems, n]`` in [0, 1]; ``resolution`` is the least difference that counts.

    A register with one channel for each pair of operands starts undecided (see `NSR.start_undecided`) and is trained by
    Adam on the cross entropy while it sharpens. Then it is rounded, to one pair and one of the six relations, if that
    has no more examples wrong; registers that have any wrong or are not rounded start again, and the best is kept.
    """
    features = operands.shape[-1]
    pairs = torch.tensor(list(combinations(range(features), 2)))
    count = len(truth)
    whole = NSR(features, 1, len(pairs), seeds=count, generator=generator, dtype=operands.dtype)
    error, steps = truth.new_full((count,), torch.inf), torch.zeros(count, dtype=torch.int64)
    accepted = torch.zeros(count, dtype=torch.bool)
    left = torch.arange(count)
    for _ in range(effort.starts):
        x = operands if operands.dim() == 2 else operands[left]
        register = NSR(features, 1, len(pairs), seeds=len(left), generator=generator, dtype=operands.dtype)
        register.start_undecided(pairs, generator)
        _train(register, x / resolution, truth[left], effort.steps)
        register.sharpness.div_(resolution)
        done = register.harden(lambda unit, x=x, wanted=truth[left]: _wrong(unit, x, wanted))
        score = torch.where(done.accepted, done.rounded_loss, done.loss)
        better = (score < error[left]) | ((score == error[left]) & done.accepted & ~accepted[left])
        _put(whole, left[better], register, better)
        error[left] = torch.where(better, score, error[left])
        accepted[left] = torch.where(better, done.accepted, accepted[left])
        steps[left] += effort.steps
        left = left[(error[left] > 0) | ~accepted[left]]
        if not len(left):
            break
    return LearnedRelations(whole, accepted, error, steps)


def _train(register: NSR, operands: Tensor, truth: Tensor, steps: int) -> None:
    optimiser = torch.optim.Adam(register.parameters(), lr=RATE)
    for step in range(steps):
        register.sharpness.fill_(SHARPENING(round(step * SHARPENING.steps / steps)))
        loss = binary_cross_entropy_with_logits(register.margins(operands)[..., 0], truth, reduction="none")
        optimiser.zero_grad()
        loss.mean(-1).sum().backward()
        optimiser.step()


@torch.no_grad()
def _wrong(register: NSR, operands: Tensor, truth: Tensor) -> Tensor:
    """The share of examples on the wrong side, ``[problems]``."""
    return ((register(operands)[..., 0] > 0.5) != (truth > 0.5)).to(truth.dtype).mean(-1)


@torch.no_grad()
def _put(whole: NSR, places: Tensor, part: NSR, chosen: Tensor) -> None:
    """The chosen seeds of ``part`` become those of ``whole`` at ``places``."""
    for name, value in whole.state_dict(keep_vars=True).items():
        value[places] = part.state_dict()[name][chosen]
