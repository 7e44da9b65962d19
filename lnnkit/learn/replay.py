"""Derivations replayed: only the events that some bounds rest on, each evaluated again from what it read.

The events that are asked for and all that these rest on, back to the facts, are found once. They are evaluated level by
level (an event's level is one more than the greatest of those it reads), all those of one level that one leaf of one
formula brought about together. Values and their derivatives pass from level to level through one tensor; within a level
torch differentiates the kernels.

The winners of inference stay: where parameters move so far that another instance would set a bound, a replay gives what
the old one says. Inference says when that is so (see `lnnkit.learn.fitting`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.learn.steps import Reads, Step


@dataclass(frozen=True, slots=True)
class Replay:
    """``initial`` are the bounds that no event set, then those of the ``steps`` follow, level by level. ``places`` (n,)
    says where each bound that was asked for stands. ``sources`` are the keys of the initial ones."""

    initial: Tensor
    sources: Tensor
    steps: tuple[Step, ...]
    places: Tensor

    @property
    def length(self) -> int:
        return len(self.initial) + sum(step.count for step in self.steps)

    def bounds(self, parameters: Tensor, given: Tensor | None = None) -> Tensor:
        """(n,) the bounds asked for, at these parameters (in the order in which the replay was made for them);
        gradients pass to them, and to ``given``, which stands in for the initial bounds."""
        found = _Evaluated.apply(parameters, self.initial if given is None else given, self, given is None)
        assert isinstance(found, Tensor)
        return found.index_select(0, self.places)


class _Evaluated(torch.autograd.Function):
    """All values of a replay. Each step has a graph of its own; between them gradients go by places."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, parameters: Tensor, initial: Tensor, replay: Replay, constant: bool
    ) -> Tensor:
        values = torch.empty(replay.length, dtype=initial.dtype)
        values[: len(initial)] = initial
        graphs: list[tuple[Step, Tensor, Tensor, Reads]] = []
        wanted = parameters.requires_grad or initial.requires_grad
        for step in replay.steps:
            with torch.set_grad_enabled(wanted):
                leaf = parameters.detach().requires_grad_(wanted)
                reads = Reads(values, len(initial) if constant else 0)
                found = step.evaluate(leaf, reads)
            values[step.start : step.start + step.count] = found.detach()
            if wanted:
                graphs.append((step, leaf, found, reads))
        ctx.graphs = graphs  # pyright: ignore[reportAttributeAccessIssue]  # a context takes any attribute
        ctx.parameters = len(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        ctx.initial = len(initial)  # pyright: ignore[reportAttributeAccessIssue]
        ctx.constant = constant  # pyright: ignore[reportAttributeAccessIssue]
        return values

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, *gradients: Tensor
    ) -> tuple[Tensor | None, Tensor | None, None, None]:
        graphs: list[tuple[Step, Tensor, Tensor, Reads]] = ctx.graphs  # pyright: ignore[reportAttributeAccessIssue]
        count: int = ctx.initial  # pyright: ignore[reportAttributeAccessIssue]
        flowing = gradients[0].clone()
        total = torch.zeros(ctx.parameters, dtype=flowing.dtype)  # pyright: ignore[reportAttributeAccessIssue]
        for step, leaf, found, reads in reversed(graphs):
            if not found.requires_grad:
                continue
            own = flowing[step.start : step.start + step.count].clone()
            ends = [end for _, end in reads.made]
            passed = torch.autograd.grad(found, [leaf, *ends], own, allow_unused=True, retain_graph=True)
            if passed[0] is not None:
                total = total + passed[0]
            for (places, _), gradient in zip(reads.made, passed[1:], strict=True):
                if gradient is not None:
                    flowing.index_add_(0, places, gradient)
        given = None if ctx.constant else flowing[:count]  # pyright: ignore[reportAttributeAccessIssue]
        return total, given, None, None
