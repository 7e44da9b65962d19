"""Which inputs must be known before a term or a comparison can have bounds tighter than its default.

A sum is unbounded as long as one of its operands is, so ``(i - d) / h > 500`` is unknown until ``i``, ``d`` and ``h``
are all known, while ``x y`` may be zero as soon as ``x`` is known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Set

from lnnkit.numeric.comparison import Comparison
from lnnkit.numeric.interval import unknown
from lnnkit.numeric.pieces import Pieces, entered
from lnnkit.numeric.step import Apply, Constant, Number
from lnnkit.numeric.term import Term

_TRIED = 6  # so many inputs are tried in all combinations

InputSets = tuple[frozenset[int], ...]


def informing(arithmetic: Comparison | Term, inputs: int) -> InputSets:
    """The minimal sets of inputs that must be bounded for the truth of a comparison, or the hull of a term, to differ
    from that with every input unknown. There are no other such sets, but some of these may not suffice."""
    if inputs > _TRIED:
        return tuple(frozenset({index}) for index in range(inputs))
    found: list[frozenset[int]] = []
    for size in range(1, inputs + 1):
        for chosen in map(frozenset, itertools.combinations(range(inputs), size)):
            if not any(smaller <= chosen for smaller in found) and _informs(arithmetic, chosen, inputs):
                found.append(chosen)
    return tuple(found)


def _informs(arithmetic: Comparison | Term, known: Set[int], inputs: int) -> bool:
    if isinstance(arithmetic, Term):
        return _differs(arithmetic, known, inputs)[0]
    if arithmetic.relation is None:
        return False
    sides = [_differs(side, known, inputs) for side in (arithmetic.left, arithmetic.right)]
    return any(differs for differs, _ in sides) and not any(free and not differs for differs, free in sides)


def _differs(term: Term, known: Set[int], inputs: int) -> tuple[bool, bool]:
    """Whether the term's values can differ from those with every input unknown, and whether those are all numbers."""
    free = [_everything(values) for values in term.upward([entered(unknown(1))] * inputs)]
    differs: list[bool] = []
    for step in term.steps:
        match step:
            case Number():
                differs.append(step.index in known)
            case Constant():
                differs.append(False)
            case Apply():
                own = [(differs[place], free[place]) for place in step.operands]
                differs.append(any(each for each, _ in own) and not _swallowed(step, own))
    return differs[-1], free[-1]


def _swallowed(step: Apply, operands: list[tuple[bool, bool]]) -> bool:
    """Whether an unbounded operand makes the result unbounded."""
    loose = [free and not differs for differs, free in operands]
    match step.operation:
        case "add" | "subtract":
            return any(loose)
        case "divide":
            return loose[0]
        case "unknown":
            return True
        case _:
            return False


def _everything(values: Pieces) -> bool:
    return len(values.lower) == 1 and float(values.lower) == -math.inf and float(values.upper) == math.inf
