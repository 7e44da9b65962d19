"""What the readers hand over: a sheet that shows its header first, and the grid of its wanted columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from lnnkit.data.arrow import Column
    from lnnkit.data.table_fault import Fault
    from lnnkit.data.texts import Texts


@dataclass(frozen=True, slots=True)
class Grid:
    """The wanted columns of a table, by position from 0, all of one length.

    ``rows`` numbers the rows as ``FactTable.rows`` does. ``spoiled`` names rows (by index) that are read but cannot
    be trusted, ``lost`` rows (by number) that could not be split into columns and stand in no array. ``texts`` keeps
    columns that were read as texts, for the next statement that reads them.
    """

    columns: dict[int, Column]
    rows: np.ndarray
    spoiled: dict[int, Fault] = field(default_factory=dict)
    lost: tuple[tuple[int, Fault], ...] = ()
    texts: dict[int, Texts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table before it is read: its name, its column names (``named``, or else ``column 1``, ...), how to read
    columns of it, the format of the file that holds it, and what separates the columns of a text (none for a told
    table)."""

    source: str
    names: tuple[str, ...]
    named: bool
    read: Callable[[Sequence[int]], Grid]
    format: str = ""
    delimiter: str = ""

    def title(self, position: int) -> str:
        """A column as a message names it."""
        return f'column "{self.names[position]}"' if self.named else f"column {position + 1}"
