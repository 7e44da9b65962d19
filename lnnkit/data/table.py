"""A table of facts in columns: the result of ``load``, ``label ... from`` and ``kb.tell``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lnnkit.data.names import Names

if TYPE_CHECKING:
    import numpy as np

    from lnnkit.data.column import EntityColumn
    from lnnkit.syntax.span import Span


@dataclass(frozen=True, slots=True)
class FactTable:
    """``n`` facts about one predicate, in the order of their source; a fact may occur twice.

    ``columns`` has one column of entities for each argument. All share their ``names``, which are exactly those that
    occur. ``lower`` and ``upper`` are float64 (truth bounds in [0, 1], or the bounds of a number, -inf and inf if
    unknown), never nan, with ``lower <= upper``. A number is finite: its lower bound is below inf, its upper bound
    above -inf. ``rows`` (int64) is the row of each fact in its source: the line, as an editor counts, in text files;
    from 1 in others. ``trust`` (0 to 1) is the weight of the source when repairs are ranked; it changes no bounds.
    """

    predicate: str
    columns: tuple[EntityColumn, ...]
    lower: np.ndarray
    upper: np.ndarray
    rows: np.ndarray
    source: str
    span: Span | None = None
    trust: float = 1.0

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def names(self) -> Names:
        """The entities that occur in its rows."""
        return self.columns[0].names if self.columns else Names()
