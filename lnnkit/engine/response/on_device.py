"""Runs kernels on another device: their inputs are moved there, and their results back to the CPU, which holds the
bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lnnkit.arrays import as_numpy
from lnnkit.engine.response.respond import Read, Response
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds

Evaluate = Callable[[RuleShape, Read, Sequence[Grouping | None]], Response]

CPU = "cpu"


def reading(read: Read, device: str) -> Read:
    """A reader whose results are tensors on the device."""
    if device == CPU:
        return read
    from torch import as_tensor

    return lambda index: Bounds(*(as_tensor(end, device=device) for end in read(index)))


def on_device(evaluate: Evaluate, device: str) -> Evaluate:
    """The evaluation of instances on the device."""
    return evaluate if device == CPU else lambda *args: _there(evaluate, device, *args)


def _there(
    evaluate: Evaluate, device: str, batch: RuleShape, read: Read, groupings: Sequence[Grouping | None]
) -> Response:
    found = evaluate(batch, reading(read, device), groupings)
    proposed = {target: (as_numpy(news), as_numpy(value)) for target, (news, value) in found.proposed.items()}
    return Response(as_numpy(found.bad), Bounds(*map(as_numpy, found.root)), proposed)
