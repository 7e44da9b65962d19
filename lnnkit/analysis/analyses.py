"""The analyses of a program's formulas, computed once for each shape."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from lnnkit.analysis.supports import Analysis
from lnnkit.formula.shape import shape
from lnnkit.formula.unfolding import Formula

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Known:
    """A cache of results by shape of formula. They do not depend on facts, so the cache outlives an inference."""

    analyses: dict[object, Analysis] = field(default_factory=dict)


class Analyses:
    """Analyses of formulas over given defaults. ``defaults`` has each table's default bounds; atoms of
    ``unpredictable`` tables may differ from them for unnamed individuals. Both may grow while formulas are analysed.
    ``empty`` sorts have no entity, ``open_`` ones may have unnamed individuals."""

    def __init__(
        self,
        defaults: Mapping[str, Bounds],
        empty: Set[str],
        open_: Set[str],
        known: Known,
        unpredictable: Set[str],
    ) -> None:
        self.defaults: dict[str, Bounds] = dict(defaults)
        self._empty = empty
        self._open = open_
        self.known = known
        self.unpredictable: set[str] = set(unpredictable)

    def over(self, defaults: Mapping[str, Bounds]) -> Analyses:
        """The same analyses for tables with other defaults."""
        return Analyses(defaults, self._empty, self._open, self.known, self.unpredictable)

    def of(self, formula: Formula) -> Analysis:
        """The analysis of a formula, shared by formulas of one shape over tables of the same defaults."""
        vacant, doubtful = self._vacant(formula), self._doubtful(formula)
        key = (
            shape(formula, {}, ()),
            (self.defaults[formula.auxiliary], formula.lower, formula.upper) if formula.auxiliary is not None else None,
            tuple(self.defaults[formula.neurons[leaf].source] for leaf in formula.leaves),
            tuple(sorted(vacant.items())),
            doubtful,
        )
        found = self.known.analyses.get(key)
        if found is None:
            found = self.known.analyses[key] = Analysis(formula, self.defaults, vacant, doubtful)
        return found

    def _vacant(self, formula: Formula) -> dict[int, Bounds]:
        """The values of quantifiers over empty sorts: ``forall`` is true and ``exists`` false."""
        found: dict[int, Bounds] = {}
        for index, neuron in enumerate(formula.neurons):
            if neuron.inner < 0:
                continue
            sorts = {formula.sorts[variable] for variable in formula.blocks[neuron.inner].bound}
            if sorts & self._empty:
                found[index] = (1.0, 1.0) if neuron.kind == "forall" else (0.0, 0.0)
        return found

    def _doubtful(self, formula: Formula) -> frozenset[int]:
        """The quantifiers over an open sort whose body may differ for an unnamed individual: no other is there, or it
        is unknown whatever its default; and the leaves that are unknown."""
        found: set[int] = set()
        for index, neuron in enumerate(formula.neurons):
            bound = () if neuron.inner < 0 else formula.blocks[neuron.inner].bound
            sorts = {formula.sorts[variable] for variable in bound}
            if not sorts & self._open or sorts & self._empty - self._open:
                continue
            named = ((leaf, formula.neurons[leaf]) for leaf in formula.leaves)
            unknown = {
                leaf
                for leaf, each in named
                if each.source in self.unpredictable and not {*bound}.isdisjoint(each.arguments)
            }
            found |= {index, *unknown} if unknown or sorts & self._empty else set()
        return frozenset(found)
