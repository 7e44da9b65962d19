"""Tables and lines of text for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from lnnkit.markup.templating import rendered

ROWS = 50  # greatest number of rows shown: about two screens


@dataclass(frozen=True, slots=True)
class Table:
    """``rows`` of cells under ``heads`` (empty: no row of heads); whole numbers are right-aligned, with commas.
    ``total`` is the number of all rows, ``what`` names them, and ``notes`` follow the table."""

    caption: str
    heads: Sequence[str]
    rows: Iterable[Sequence[str | int]]
    total: int
    what: str = "rows"
    notes: Sequence[str] = ()


def tables(*shown: Table, text: str = "", notes: Sequence[str] = ()) -> str:
    """A fragment of HTML: a paragraph, the tables, each cut at ``ROWS`` rows with a count of all, and ``notes``."""
    cut = [(table, list(islice(table.rows, ROWS))) for table in shown]
    return str(rendered("tables.html", tables=cut, text=text, notes=notes))


def preformatted(text: str) -> str:
    """A fragment of HTML: lines as they are, folded where they are too long."""
    return str(rendered("preformatted.html", text=text))
