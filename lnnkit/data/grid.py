"""What readers return: a sheet, which knows its header at once, and the grid of the columns that are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lnnkit.data.arrow import Column
from lnnkit.data.cells.texts import Texts
from lnnkit.data.source import DataFault
from lnnkit.syntax.printer import format_column

TEXT_FORMATS = ("csv", "tsv")


@dataclass(frozen=True, slots=True)
class Grid:
    """The wanted columns of a table, by position from 0, all of one length.

    ``rows`` numbers the rows as ``FactTable.rows`` does. ``spoiled`` lists rows (by index) that were read but are
    unreliable, ``lost`` rows (by number) that could not be split into columns and are in no array. ``texts`` keeps
    columns that were read as texts, for the next statement that needs them.
    """

    columns: dict[int, Column]
    rows: np.ndarray
    spoiled: dict[int, DataFault] = field(default_factory=dict)
    lost: tuple[tuple[int, DataFault], ...] = ()
    texts: dict[int, Texts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table before its cells are read: its name, its column names (from a header if ``named``, otherwise ``column
    1``, ...), a function that reads columns, the format of its file, and the delimiter of a text file (none for a told
    table)."""

    source: str
    names: tuple[str, ...]
    named: bool
    read: Callable[[Sequence[int]], Grid]
    format: str = ""
    delimiter: str = ""

    def title(self, position: int) -> str:
        """A column as messages name it."""
        return f'column "{self.names[position]}"' if self.named else f"column {position + 1}"

    def column(self, position: int) -> str:
        """A column as a statement names it."""
        return format_column(self.names[position] if self.named else position + 1)

    def listed(self, positions: Iterable[int]) -> str:
        """Columns as a statement lists them."""
        return f"({', '.join(map(self.column, positions))})"
