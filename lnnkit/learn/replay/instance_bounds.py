"""What instances tell one side of one leaf, with the parameters of their formula as tensors: open to derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from torch import Tensor

from lnnkit.engine.response.respond import ascend, entering, leaf_bound
from lnnkit.formula.passes import upward
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import Formula
from lnnkit.logic.bounds import Bounds
from lnnkit.trail.events import ROOT

CROSSING = -3  # the leaf of how far the bounds of instances that cannot be satisfied cross

Read = Callable[[int], Bounds]  # the bounds of a leaf, of a constant, or of AUXILIARY, as they were kept


def told(
    formula: Formula,
    parameters: Mapping[str, Tensor],
    read: Read,
    groupings: Sequence[Grouping | None],
    leaf: int,
    side: int,
    *,
    completes: bool,
) -> Tensor:
    """One end of what instances say of a leaf (of their own shared neuron: AUXILIARY; of its value before the first
    round: ROOT; CROSSING: how far their bounds are crossed), an entry a row of the leaf's block. ``completes``: as
    defining statements, while their predicate is completed. Where the parameters are those of inference, the same as
    `lnnkit.engine.response.respond` says."""
    learned = _with_parameters(formula, parameters)
    if leaf == ROOT:
        return upward(learned, entering(read, learned), groupings)[learned.top][side]
    if leaf == CROSSING:
        lower, upper = ascend(learned, read, groupings).root
        return lower - upper
    return leaf_bound(learned, read, groupings, leaf, side, completes=completes)


def _with_parameters(formula: Formula, parameters: Mapping[str, Tensor]) -> Formula:
    """The formula with tensors where its parameters stand; the kernels take them as well as numbers."""
    if not any(name in parameters for name in names(formula)):
        return formula
    neurons = []
    for neuron in formula.neurons:
        if neuron.arithmetic is None and any(name in parameters for name in neuron.learned if name is not None):
            *weights, bias = neuron.learned
            placed = tuple(
                parameters.get(name or "", weight) for name, weight in zip(weights, neuron.weights, strict=True)
            )
            own = parameters.get(bias or "", neuron.bias)
            neuron = neuron._replace(weights=cast("tuple[float, ...]", placed), bias=cast(float, own))
        neurons.append(neuron)
    ends = (formula.lower, formula.upper)
    if formula.root is not None and formula.auxiliary is None:
        ends = tuple(
            cast(float, parameters.get(name or "", end)) for name, end in zip(formula.root.learned, ends, strict=True)
        )
    return replace(formula, neurons=tuple(neurons), lower=ends[0], upper=ends[1])


def names(formula: Formula) -> tuple[str, ...]:
    """The parameters that stand in a formula."""
    own = formula.root.learned if formula.root is not None and formula.auxiliary is None else ()
    found = [*own, *(name for neuron in formula.neurons for name in neuron.learned)]
    return tuple(dict.fromkeys(name for name in found if name is not None))
