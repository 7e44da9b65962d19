"""The answers for rows: bounds, and which statements set them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.check.program import Assertion
from lnnkit.formula.unfolding import Formula
from lnnkit.graph.laws import Law
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.store.columns.row_arrays import Array


@dataclass(frozen=True, slots=True)
class RowBounds:
    """The bounds of one query, (n,) each, by row. If they are requested, also ``setters``: the numbers of the
    statements that set each end, -1 for none (None for a query that is no atom); and ``contradicted``: which rows a
    contradiction speaks of."""

    lower: Array
    upper: Array
    setters: tuple[Array, Array] | None = None
    contradicted: Array | None = None

    def take(self, rows: Array) -> RowBounds:
        """Some rows."""
        setters = self.setters and (self.setters[0].take(rows), self.setters[1].take(rows))
        marked = None if self.contradicted is None else self.contradicted.take(rows)
        return RowBounds(self.lower.take(rows), self.upper.take(rows), setters, marked)

    @staticmethod
    def joined(parts: Sequence[RowBounds]) -> RowBounds:
        """Consecutive parts in one."""
        if len(parts) == 1:
            return parts[0]
        lower, upper = (np.concatenate([part.lower for part in parts]), np.concatenate([part.upper for part in parts]))
        pairs = [part.setters for part in parts if part.setters is not None]
        setters = (np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])) if pairs else None
        marks = [part.contradicted for part in parts if part.contradicted is not None]
        return RowBounds(lower, upper, setters, np.concatenate(marks) if marks else None)


class StatementNames:
    """``words`` has a statement's name, or its line, by its number."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def number(self, lifted: LiftedGraph, formula: Formula) -> int:
        """The number of the statement that a formula is, or that contains the shared neuron of a graph that it
        defines."""
        word = _word(lifted, formula)
        if word not in self.words:
            self.words.append(word)
        return self.words.index(word)


def _word(lifted: LiftedGraph, formula: Formula) -> str:
    assert formula.root is not None
    origin = formula.root.origin
    if formula.auxiliary is not None:
        holders = [root for root in lifted.statements if not isinstance(root.origin, Law)]
        below = (root.origin for root in holders if formula.auxiliary in lifted.graph.below(root.reference.node))
        origin = next(below, origin)
    return origin.called if isinstance(origin, Assertion) else "the order of numbers"
