"""The supports of a program's formulas, found once for each shape."""

from __future__ import annotations

from collections.abc import Mapping

from lnnkit.ground.batch import shape
from lnnkit.ground.formula import Formula
from lnnkit.ground.supports import Analysis

Bounds = tuple[float, float]


class Analyses:
    """``defaults`` gives each table's default bounds; it may still grow while formulas are analysed."""

    def __init__(self, defaults: Mapping[str, Bounds]) -> None:
        self.defaults: dict[str, Bounds] = dict(defaults)
        self._found: dict[object, Analysis] = {}

    def of(self, formula: Formula) -> Analysis:
        """The analysis of a formula. Formulas of one shape over tables of the same defaults share it."""
        key = (
            shape(formula, {}, ()),
            self.defaults[formula.auxiliary] if formula.auxiliary is not None else None,
            tuple(self.defaults[formula.neurons[leaf].source] for leaf in formula.leaves),
        )
        if key not in self._found:
            self._found[key] = Analysis(formula, self.defaults)
        return self._found[key]
