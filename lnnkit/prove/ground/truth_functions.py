"""Connectives over intervals, in plain floats, for pruning instances and checking models.

The formulas are those of ``lnnkit.logic``. They are the same in the classical reading: there nothing has a weight or a
bias, and without these every logic agrees with classical logic where truths are 0 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.logic import logic_named, truth_at
from lnnkit.logic.points import Numbers

Box = tuple[float, float]


def connective_box(kind: str, logic: str, weights: Sequence[float], bias: float, x: Sequence[Box]) -> Box:
    """Bounds of the truth of a connective, or of ``not``, over a box; exact except for ``iff`` and ``xor``, where they
    may be loose."""
    if kind in ("not", "xor"):
        low, high = x[0] if kind == "not" else connective_box("iff", logic, weights, bias, x)
        return 1 - high, 1 - low
    if kind == "iff":
        there = connective_box("implies", logic, weights, bias, x)
        back = connective_box("implies", logic, weights[::-1], bias, x[::-1])
        return min(there[0], back[0]), min(there[1], back[1])
    least, most = zip(*([x[0][::-1], x[1]] if kind == "implies" else x), strict=True)
    low, high = (truth_at(logic_named(logic), Numbers(), kind, weights, bias, each) for each in (least, most))
    return Numbers.cut(low), Numbers.cut(high)
