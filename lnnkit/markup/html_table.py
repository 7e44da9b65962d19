"""Tables and lines of text for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from lnnkit.markup.templating import rendered

ROWS = 50  # that a table shows: about two screens


@dataclass(frozen=True, slots=True)
class Table:
    """``rows`` of cells under ``heads`` (empty: no row of heads); whole numbers are set to the right, with commas.
    ``total`` counts the rows that there are, ``what`` names them, and ``notes`` stand beneath."""

    caption: str
    heads: Sequence[str]
    rows: Iterable[Sequence[str | int]]
    total: int
    what: str = "rows"
    notes: Sequence[str] = ()


def tables(*shown: Table, text: str = "") -> str:
    """A fragment of HTML: a paragraph, and the tables, each cut at ``ROWS`` rows with a count of all."""
    cut = [(table, list(islice(table.rows, ROWS))) for table in shown]
    return str(rendered("tables.html", tables=cut, text=text))


def preformatted(text: str) -> str:
    """A fragment of HTML: lines as they are, folded where they are too long."""
    return str(rendered("preformatted.html", text=text))
