"""Fragments of HTML: tables for notebooks, and trees of lines that fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeVar

from lnnkit.markup.templating import rendered

if TYPE_CHECKING:
    from markupsafe import Markup

T = TypeVar("T")
HtmlCell = str | float | None

ROWS = 50  # greatest number of rows shown: about two screens


@dataclass(frozen=True, slots=True)
class Table:
    """``rows`` of cells under ``heads`` (empty: no row of heads); numbers are right-aligned, whole ones with commas,
    others to four digits; None is a dash. ``what`` names all ``total`` rows; ``notes`` follow the table."""

    caption: str
    heads: Sequence[str]
    rows: Iterable[Sequence[HtmlCell]]
    total: int
    what: str = "rows"
    notes: Sequence[str] = ()


def tables(*shown: Table, text: str = "", notes: Sequence[str] = ()) -> str:
    """A fragment of HTML: a paragraph, the tables, each cut at ``ROWS`` rows with a count of all, and ``notes``."""
    cut: list[tuple[Table, list[Sequence[HtmlCell]], list[str]]] = []
    for table in shown:
        rows = list(islice(table.rows, ROWS))
        more = [f"the first {len(rows)} of {table.total:,} {table.what}"] if table.total > len(rows) else []
        cut.append((table, rows, [*more, *table.notes]))
    return str(rendered("tables.html", tables=cut, text=text, notes=notes))


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


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A ``claim``, a ``note`` on it, and the ``code`` of a statement. ``open`` puts the lines up to its ``close`` below
    it, ``unfolded`` at first or not; those of a ``deep`` one are not indented further. ``side`` is the bound that the
    claim is about; ``to`` is the ``anchor`` of the line above that shows the same."""

    kind: Literal["open", "leaf", "close"]
    claim: str = ""
    note: str = ""
    code: str = ""
    side: Literal["lower", "upper", ""] = ""
    unfolded: bool = False
    deep: bool = False
    anchor: str = ""
    to: str = ""


def tree(
    title: str, note: str, lines: Iterable[TreeLine], above: Sequence[str] = (), below: Sequence[str] = ()
) -> Markup:
    """A fragment of HTML: a title and a ``note`` on it, then paragraphs, the tree, and paragraphs."""
    return rendered("tree.html", title=title, note=note, lines=list(lines), above=above, below=below)
