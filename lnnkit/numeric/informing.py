"""Which inputs must be known before a term or a comparison can have bounds tighter than its default.

A sum is unbounded as long as one of its operands is, so ``(i - d) / h > 500`` is unknown until ``i``, ``d`` and ``h``
are all known, while ``x y`` may be zero as soon as ``x`` is known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence, Set

from lnnkit.numeric.comparison import Comparison
from lnnkit.numeric.interval import unknown
from lnnkit.numeric.pieces import Pieces, entered
from lnnkit.numeric.step import Apply, Constant, Number
from lnnkit.numeric.term import Term

_TRIED = 6  # up to this many inputs all subsets are tried

InputSets = tuple[frozenset[int], ...]


def informing(arithmetic: Comparison | Term, inputs: int) -> InputSets:
    """The minimal sets of inputs that must be bounded for the truth of a comparison, or the hull of a term, to differ
    from that with every input unknown. There are no other such sets, but some of these may not suffice."""
    if inputs > _TRIED:
        return tuple(frozenset({index}) for index in range(inputs))
    if isinstance(arithmetic, Comparison):
        sides = (arithmetic.left, arithmetic.right) if arithmetic.relation is not None else ()
    else:
        sides = (arithmetic,)
    loose = [(side, _loose(side, inputs)) for side in sides]
    minimal: list[frozenset[int]] = []
    for size in range(1, inputs + 1):
        for chosen in map(frozenset, itertools.combinations(range(inputs), size)):
            if not any(smaller <= chosen for smaller in minimal) and _inform(loose, chosen):
                minimal.append(chosen)
    return tuple(minimal)


def _inform(sides: Sequence[tuple[Term, Sequence[bool]]], known: Set[int]) -> bool:
    """Whether some of the terms may differ from their defaults while none of the others is unbounded."""
    differ = [_differs(side, free, known) for side, free in sides]
    return any(differ) and not any(free[-1] and not differs for differs, (_, free) in zip(differ, sides, strict=True))


def _loose(term: Term, inputs: int) -> list[bool]:
    """For each step of a term whether it can be any number while every input is unknown."""
    return [_everything(values) for values in term.upward([entered(unknown(1))] * inputs)]


def _differs(term: Term, loose: Sequence[bool], known: Set[int]) -> bool:
    """Whether the term's values can differ from those with every input unknown."""
    differs: list[bool] = []
    for step in term.steps:
        match step:
            case Number():
                differs.append(step.index in known)
            case Constant():
                differs.append(False)
            case Apply():
                operands = [(differs[place], loose[place]) for place in step.operands]
                differs.append(any(differ for differ, _ in operands) and not _swallowed(step, operands))
    return differs[-1]


def _swallowed(step: Apply, operands: list[tuple[bool, bool]]) -> bool:
    """Whether an unbounded operand makes the result unbounded."""
    loose = [free and not differs for differs, free in operands]
    if step.operation == "divide":
        return loose[0]
    return step.operation == "unknown" or (step.operation in ("add", "subtract") and any(loose))


def _everything(values: Pieces) -> bool:
    return len(values.lower) == 1 and values.lower.item() == -math.inf and values.upper.item() == math.inf
