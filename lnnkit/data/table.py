"""A table of facts in columns: what ``load``, ``label ... from`` and ``kb.tell`` come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from lnnkit.syntax.span import Span


@dataclass(frozen=True, slots=True)
class FactTable:
    """``n`` facts about one predicate, in the order of their source; the same fact may stand there twice.

    ``columns`` holds one dictionary-encoded Arrow array (int32, string; no nulls) of NFC texts an argument. All share
    one dictionary: the texts that the rows use, each once, sorted, and no other. ``lower`` and ``upper`` are float64
    (truth bounds in [0, 1], or the two ends of a number, -inf and inf where unknown), never nan, ``lower <= upper``.
    No number is infinite: a lower end is below inf, an upper end above -inf.
    ``rows`` (int64) numbers each fact's row in its source, as an editor counts lines for text files and from 1 for
    others.
    """

    predicate: str
    columns: tuple[pa.DictionaryArray, ...]
    lower: np.ndarray
    upper: np.ndarray
    rows: np.ndarray
    source: str
    span: Span | None = None

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def texts(self) -> pa.StringArray | None:
        """The dictionary of all columns; None for a predicate without arguments."""
        return cast("pa.StringArray", self.columns[0].dictionary) if self.columns else None
