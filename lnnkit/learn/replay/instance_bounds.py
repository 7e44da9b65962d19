"""The bounds that instances propose for one side of one leaf, differentiable in the parameters of their formula."""

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

CROSSING = -3  # pseudo-leaf: how far the bounds of unsatisfiable instances cross

Read = Callable[[int], Bounds]  # returns the recorded bounds of a leaf, of a constant, or of AUXILIARY


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
    """One end of the bounds that instances propose for a leaf, one entry for each row of the leaf's block.
    Pseudo-leaves: AUXILIARY, their own shared neuron; ROOT, its value before the first round; CROSSING, how far their
    bounds cross. ``completes``: as defining statements, while their predicate is completed. At the parameters of
    inference the result equals that of `lnnkit.engine.response.respond`."""
    learned = _with_parameters(formula, parameters)
    if leaf == ROOT:
        return upward(learned, entering(read, learned), groupings)[learned.top][side]
    if leaf == CROSSING:
        lower, upper = ascend(learned, read, groupings).root
        return lower - upper
    return leaf_bound(learned, read, groupings, leaf, side, completes=completes)


def _with_parameters(formula: Formula, parameters: Mapping[str, Tensor]) -> Formula:
    """The formula with tensors for its parameters; the kernels accept both."""
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
    """The names of the parameters in a formula."""
    own = formula.root.learned if formula.root is not None and formula.auxiliary is None else ()
    found = [*own, *(name for neuron in formula.neurons for name in neuron.learned)]
    return tuple(dict.fromkeys(name for name in found if name is not None))
