"""Runs kernels on another device: their inputs are moved there, and their results back to the CPU, which holds the
bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from lnnkit.engine.response.respond import Read, Response
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds

Evaluate = Callable[[RuleShape, Read, Sequence[Grouping | None]], Response]

CPU = "cpu"


def scope(device: str) -> AbstractContextManager[object]:
    """A context in which new tensors are on the device."""
    return nullcontext() if device == CPU else torch.device(device)


def reading(read: Read, device: str) -> Read:
    """A reader whose results are moved to the device."""
    return read if device == CPU else lambda index: Bounds(*(end.to(device) for end in read(index)))


def on_device(evaluate: Evaluate, device: str) -> Evaluate:
    """The evaluation of instances on the device."""
    return evaluate if device == CPU else lambda *args: _there(evaluate, device, *args)


def _there(
    evaluate: Evaluate, device: str, batch: RuleShape, read: Read, groupings: Sequence[Grouping | None]
) -> Response:
    with scope(device):
        found = evaluate(batch, reading(read, device), [_moved(each, device) for each in groupings])
    proposed = {target: (news.cpu(), value.cpu()) for target, (news, value) in found.proposed.items()}
    root = Bounds(found.root.lower.cpu(), found.root.upper.cpu())
    return Response(found.bad.cpu(), root, proposed, [each.cpu() for each in found.reached])


def _moved(grouping: Grouping | None, device: str) -> Grouping | None:
    if grouping is None:
        return None

    def there(values: Tensor) -> Tensor:
        return values.to(device)

    return Grouping(
        there(grouping.group),
        grouping.groups,
        None if grouping.of is None else there(grouping.of),
        there(grouping.virtual),
        there(grouping.stranger),
    )
