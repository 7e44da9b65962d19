"""What instances say of one leaf, apart from a sweep: in a round, and in a completion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from lnnkit.formula.passes import downward, least_heads, upward
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.logic.bounds import Bounds, ordered

Read = Callable[[int], Bounds]


def told(formula: Formula, read: Read, groupings: Sequence[Grouping | None], leaf: int) -> Bounds:
    """What instances say of a leaf in a round: up, meet, down."""
    values = upward(formula, read, groupings)
    up = values[formula.top]
    if formula.auxiliary is None:
        given = Bounds(torch.full_like(up.lower, formula.lower), torch.full_like(up.upper, formula.upper))
    else:
        given = read(AUXILIARY)
    root = ordered(torch.maximum(up.lower, given.lower), torch.minimum(up.upper, given.upper))
    if leaf == AUXILIARY:
        return root
    return downward(formula, values, root, groupings, only=leaf).boxes[leaf]


def completed(formula: Formula, read: Read, groupings: Sequence[Grouping | None], leaf: int) -> Bounds:
    """What defining statements ask of a head while its predicate is completed: at either end of their antecedent."""
    values = upward(formula, read, groupings)
    antecedent = values[formula.neurons[formula.top].operands[0]]
    return Bounds(
        least_heads(formula, antecedent.lower, values, 0.0)[leaf],
        least_heads(formula, antecedent.upper, values, 1.0)[leaf],
    )
