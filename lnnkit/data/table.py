"""A table of facts in columns: what ``load``, ``label ... from`` and ``kb.tell`` come to."""

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
    """``n`` facts about one predicate, in the order of their source; the same fact may stand there twice.

    ``columns`` holds one column of entities an argument. All share their ``names``: those that the rows use, and no
    other. ``lower`` and ``upper`` are float64
    (truth bounds in [0, 1], or the two ends of a number, -inf and inf where unknown), never nan, ``lower <= upper``.
    No number is infinite: a lower end is below inf, an upper end above -inf.
    ``rows`` (int64) numbers each fact's row in its source, as an editor counts lines for text files and from 1 for
    others. ``trust`` (0 to 1) is what the source is worth when repairs are ranked; it changes no bounds.
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
        """The entities that its rows name."""
        return self.columns[0].names if self.columns else Names()
