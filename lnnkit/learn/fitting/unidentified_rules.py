"""Rules that no label depends on: their parameters are restored to the start, since only decay and noise moved them."""

from __future__ import annotations

import torch
from torch import Tensor

from lnnkit.arrays import any_set
from lnnkit.learn.fitting.fitting_problem import Fitting, Losses
from lnnkit.learn.parameters.constraints import Constraints
from lnnkit.learn.parameters.rule_parameters import OF_LOGIC

_SAME = 1e-12  # tolerance of a loss
_IDLE = ("decay", "slack")  # terms of the loss that do not depend on labels


def unreached(fitting: Fitting, values: Tensor, constraints: Constraints) -> Tensor:
    """(k,) a mask of the weights, biases and truths of rules that have no other parameters and on which no labelled
    bound and no contradiction depends."""
    reached = {
        rule for each in fitting.parameters if each.kind not in OF_LOGIC for rule in each.rules
    }  # these start from the data
    if all(not reached.isdisjoint(each.rules) for each in fitting.parameters):
        return torch.zeros(len(values), dtype=torch.bool)
    found = fitting.infer(values, constraints, softness=1.0)
    open_values = values.clone().requires_grad_()
    told = torch.zeros(len(values), dtype=torch.bool)
    for batch in fitting.batches(found, torch.Generator().manual_seed(fitting.settings.seed)):
        ends, crossed = batch.bounds(open_values)
        # Separately, lest the gradients of two ends cancel
        apart = torch.linspace(1.0, 2.0, len(ends), dtype=ends.dtype)
        total = torch.dot(ends.nan_to_num(), apart) + crossed
        if total.requires_grad:
            (slope,) = torch.autograd.grad(total, open_values, allow_unused=True)
            if slope is not None:
                told |= slope != 0
    for each, depended in zip(fitting.parameters, told.tolist(), strict=True):
        if depended:
            reached.update(each.rules)
    return torch.tensor([reached.isdisjoint(each.rules) for each in fitting.parameters], dtype=torch.bool)


def restored(fitting: Fitting, values: Tensor, start: Tensor, constraints: Constraints, which: Tensor) -> Tensor:
    """The values with the marked ones at their ``start``, if that does not increase the loss of the labels."""
    before = torch.where(which, start, values)
    if not any_set(which) or not constraints.holds(before):
        return values
    now, then = (fitting.infer(each, constraints).losses for each in (values, before))
    same = _told(then) <= _told(now) + _SAME and (then.validation or 0.0) <= (now.validation or 0.0) + _SAME
    return before if same else values


def _told(losses: Losses) -> float:
    return sum(value for name, value in losses.terms.items() if name not in _IDLE)
