"""Proposals judged by inference: of each comparison the one with the least loss, the others as they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from lnnkit.learn.parameters.parameters import Parameter
from lnnkit.learn.starting.proposal import Proposal

_PASSES = 3
_GAIN = 1e-9


class Judge(Protocol):
    def __call__(self, values: Tensor) -> float:
        """The loss at these values."""
        ...


def chosen(
    parameters: Sequence[Parameter], start: Tensor, offered: Sequence[Sequence[Proposal]], judge: Judge
) -> tuple[Tensor, list[Proposal]]:
    """``start`` with the values of one proposal for each comparison, and these. Each is chosen with the others as they
    stand, in turn, until none changes."""
    place = {each.name: number for number, each in enumerate(parameters)}

    def put(values: Tensor, proposal: Proposal) -> Tensor:
        values = values.clone()
        for name, value in proposal.values.items():
            values[place[name]] = value
        return values

    now, best = start, [each[0] for each in offered]
    for proposal in best:
        now = put(now, proposal)
    least = judge(now)
    seen = {tuple(now.tolist())}
    for _ in range(_PASSES):
        before = list(best)
        for number, some in enumerate(offered):
            for proposal in some:
                tried = put(now, proposal)
                key = tuple(tried.tolist())
                if key not in seen:
                    seen.add(key)
                    loss = judge(tried)
                    if loss < least - _GAIN:
                        least, now, best[number] = loss, tried, proposal
        if before == best or len(offered) == 1:
            break
    return now, best
