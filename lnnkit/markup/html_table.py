"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from lnnkit.markup.templating import rendered

T = TypeVar("T")
HtmlCell = str | float | None

ROWS = 50  # greatest number of rows shown: about two screens


@dataclass(frozen=True, slots=True)
class Table:
    """``rows`` of cells under ``heads`` (empty: no row of heads); numbers are right-aligned, whole ones with commas,
    others to four digits; None is a dash. ``total`` is the number of all rows, ``what`` names them, and ``notes``
    follow the table."""

    caption: str
    heads: Sequence[str]
    rows: Iterable[Sequence[HtmlCell]]
    total: int
    what: str = "rows"
    notes: Sequence[str] = ()


def tables(*shown: Table, text: str = "", notes: Sequence[str] = ()) -> str:
    """A fragment of HTML: a paragraph, the tables, each cut at ``ROWS`` rows with a count of all, and ``notes``."""
    return str(rendered("tables.html", tables=list(map(_cut, shown)), text=text, notes=notes))


def _cut(table: Table) -> tuple[Table, list[Sequence[HtmlCell]], list[str]]:
    rows = list(islice(table.rows, ROWS))
    more = [f"the first {len(rows)} of {table.total:,} {table.what}"] if table.total > len(rows) else []
    return table, rows, [*more, *table.notes]


class Listing(list[T]):
    """A list that prints line by line; in a notebook it is a table with these ``heads`` and the ``cells`` of each."""

    def __init__(self, items: Iterable[T], heads: Sequence[str], cells: Callable[[T], Sequence[HtmlCell]]) -> None:
        super().__init__(items)
        self._heads = heads
        self._cells = cells

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "[]"

    def _repr_html_(self) -> str:
        return tables(Table("", self._heads, map(self._cells, self), len(self)))
