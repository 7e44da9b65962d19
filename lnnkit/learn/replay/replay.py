"""Replay of derivations: re-evaluates the events on which some bounds depend, with gradients.

The events, back to the facts, are found once and evaluated tick by tick; those of one tick through one leaf of one
formula are evaluated together. Values and derivatives pass between steps through one tensor; within a step torch
differentiates the kernels. If parameters move so far that another instance would set a bound, a replay still evaluates
the old one; inference detects this (see `lnnkit.learn.fitting.fitting_problem`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from lnnkit.arrays import where_set
from lnnkit.learn.replay.replay_steps import ReplayStep, StepReads


@dataclass(frozen=True)
class Replay:
    """``initial`` are the bounds that no event set; the values of the ``steps`` follow in order. ``places`` (n,)
    has the position of each requested bound, ``sources`` (m,) the keys of the first of the initial ones."""

    initial: Tensor
    sources: Tensor
    steps: tuple[ReplayStep, ...]
    places: Tensor

    @property
    def length(self) -> int:
        return max((step.start + step.count for step in self.steps), default=len(self.initial))

    def bounds(self, parameters: Tensor, given: Tensor | None = None) -> Tensor:
        """(n,) the requested bounds at these parameters, which are in the order for which the replay was made.
        Differentiable in the parameters and in ``given``, which replaces the initial bounds."""
        if given is None and len(self.steps) == 1 and self._all:  # no step reads another
            return self.steps[0].evaluate(parameters, StepReads(self.initial, len(self.initial)))
        found = _EvaluatedReplay.apply(parameters, self.initial if given is None else given, self, given is None)
        assert isinstance(found, Tensor)
        return found

    @cached_property
    def buffer(self) -> Tensor:
        """A buffer for all values, with the initial ones filled in."""
        values = torch.zeros(self.length, dtype=self.initial.dtype)
        values[: len(self.initial)] = self.initial
        return values

    @cached_property
    def moving(self) -> tuple[Tensor, Tensor]:
        """The requested bounds that steps set, and their positions among those."""
        which = where_set(self.places >= len(self.initial))
        return which, self.places[which] - len(self.initial)

    @cached_property
    def _all(self) -> bool:
        """Whether the values that steps set are requested, all in order."""
        return torch.equal(self.places, torch.arange(len(self.initial), self.length))


class _EvaluatedReplay(torch.autograd.Function):
    """The requested bounds. Each step has a graph of its own; between them gradients are passed by position."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, parameters: Tensor, initial: Tensor, replay: Replay, constant: bool
    ) -> Tensor:
        values, count = replay.buffer, len(initial)
        if not constant:
            values = torch.cat([initial, torch.zeros(replay.length - count, dtype=initial.dtype)])
        graphs: list[tuple[ReplayStep, Tensor, Tensor, StepReads]] = []  # with parameters, and output
        wanted = parameters.requires_grad or initial.requires_grad
        with torch.set_grad_enabled(wanted):
            for step in replay.steps:
                leaf = parameters.detach().requires_grad_(wanted)
                reads = StepReads(values, count if constant else 0)
                found = step.evaluate(leaf, reads)
                values[step.start : step.start + step.count] = found.detach()
                graphs.append((step, leaf, found, reads))
        ctx.graphs = graphs  # pyright: ignore[reportAttributeAccessIssue]  # a context takes any attribute
        ctx.replay = replay  # pyright: ignore[reportAttributeAccessIssue]
        ctx.constant = constant  # pyright: ignore[reportAttributeAccessIssue]
        ctx.parameters = len(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        return values.index_select(0, replay.places)

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, *gradients: Tensor
    ) -> tuple[Tensor | None, Tensor | None, None, None]:
        graphs: list[tuple[ReplayStep, Tensor, Tensor, StepReads]] = ctx.graphs  # pyright: ignore[reportAttributeAccessIssue]
        replay: Replay = ctx.replay  # pyright: ignore[reportAttributeAccessIssue]
        constant: bool = ctx.constant  # pyright: ignore[reportAttributeAccessIssue]
        first = len(replay.initial) if constant else 0  # no gradient flows to constants
        which, places = replay.moving if constant else (None, replay.places)
        asked = gradients[0] if which is None or len(which) == len(gradients[0]) else gradients[0][which]
        flowing = torch.zeros(replay.length - first, dtype=asked.dtype).index_add_(0, places, asked)
        total = torch.zeros(ctx.parameters, dtype=asked.dtype)  # pyright: ignore[reportAttributeAccessIssue]
        for step, parameters, found, reads in reversed(graphs):
            if not found.requires_grad:
                continue
            own = flowing[step.start - first : step.start - first + step.count]
            wanted = [parameters, *(end for _, end in reads.made)]
            passed = torch.autograd.grad(found, wanted, own, allow_unused=True, retain_graph=True)
            if passed[0] is not None:
                total = total + passed[0]
            for (where, _), gradient in zip(reads.made, passed[1:], strict=True):
                if gradient is not None:
                    moving = where_set(where >= first) if first else slice(None)
                    flowing.index_add_(0, where[moving] - first, gradient[moving])
        return total, None if constant else flowing[: len(replay.initial)], None, None
