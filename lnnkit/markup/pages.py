"""HTML for pages, pictures and notebooks: rendered from the templates beside this file, values escaped; the colours of
both schemes, light and dark; tables, and trees of lines that fold. Charts and PNG need libraries that only extras
install. Last are texts for people: counts with their noun, lists and lines that are cut, aligned columns.

Blue and orange stand for true and false, because they differ for people who cannot tell red from green. Text on every
fill and every line on the page keep the contrast that WCAG 2.1 asks for (4.5 and 3); tests work the ratios out.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from lnnkit.errors import Error
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

T = TypeVar("T")
HtmlCell = str | float | None

ROWS = 50  # greatest number of rows shown: about two screens


class Colour(NamedTuple):
    """One role: ``#rrggbb`` on a light and on a dark background."""

    light: str
    dark: str


_ROLES = {
    # what lies behind, texts, and lines that only separate
    "paper": ("#ffffff", "#161a22"), "ink": ("#1d2433", "#e7eaf1"), "soft": ("#5a6476", "#a5afc1"),
    "rule": ("#d8dde7", "#363e4d"), "panel": ("#f4f6fa", "#1f2530"), "mark": ("#fff0b8", "#57470f"),
    # boxes: a fill and the line around it
    "true": ("#c9e0f6", "#123c63"), "true-line": ("#1c5d9c", "#7fbaf0"),
    "likely-true": ("#e8f2fb", "#16283b"), "likely-true-line": ("#5583b1", "#6f9dc9"),
    "unknown": ("#ededed", "#2b2f37"), "unknown-line": ("#737373", "#9ba1ab"),
    "likely-false": ("#fcf0e3", "#36291b"), "likely-false-line": ("#a56c36", "#cb9962"),
    "false": ("#f9d4ad", "#583410"), "false-line": ("#8d4805", "#f2ab64"),
    "contradiction": ("#f7cbdf", "#5b1738"), "contradiction-line": ("#9f1b5a", "#ff8fc2"),
    "number": ("#e3e1f6", "#29254f"), "number-line": ("#5850a1", "#aaa2f1"),
    "statement": ("#e3e9f3", "#252d3e"), "statement-line": ("#495e89", "#90a6d2"),
    "plain": ("#fdfdfe", "#191e27"), "plain-line": ("#647588", "#94a2b4"),
    # arrows
    "for": ("#53627b", "#a4b2ca"), "against": ("#a53d29", "#f1917d"),
    # curves, and bars
    "series-1": ("#0b61a3", "#6db5f1"), "series-2": ("#b64e1d", "#f39b6c"), "series-3": ("#2e7c45", "#80d096"),
    "series-4": ("#893e9f", "#d49ce7"), "series-5": ("#876700", "#dab94b"), "series-6": ("#0e7d84", "#60d1d7"),
    "series-7": ("#a73152", "#f18ba7"), "series-8": ("#585f6c", "#b4bbc7"), "faint": ("#8a93a3", "#6d7788"),
    "tone-true": ("#3d85c6", "#4f95d6"), "tone-false": ("#d9782d", "#d98440"), "tone-none": ("#8c919b", "#7f8591"),
}  # fmt: skip
PALETTE = MappingProxyType({role: Colour(*shades) for role, shades in _ROLES.items()})


def rendered(template: str, **values: object) -> Markup:
    """The rendered template of that file name, as markup that later templates do not escape again."""
    from markupsafe import Markup

    return Markup(_environment().get_template(template).render(values))


def document(title: str, fragment: Markup) -> str:
    """A whole page around a fragment; it loads nothing."""
    return str(rendered("document.html", title=title, fragment=fragment)) + "\n"


def visible(text: str, keep: str = "") -> str:
    """``text`` with control characters escaped: XML has none, and they must not reorder what is read."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii") for c in text)


def installed(library: str) -> bool:
    """Whether it can be imported."""
    return importlib.util.find_spec(library) is not None


def require(what: str, *libraries: str) -> None:
    """Raises `Error` where a library of the extra ``lnnkit[report]`` that ``what`` needs is not installed."""
    missing = [library for library in libraries if not installed(library)]
    if missing:
        message = f"{what} needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        raise Error([Diagnostic("missing-extra", message, "install it with `pip install 'lnnkit[report]'`")])


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("lnnkit.markup"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value, keep="\n\t") if type(value) is str else value,
    )
    environment.globals["palette"] = PALETTE
    return environment


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
    cut = [(table, list(islice(table.rows, ROWS))) for table in shown]
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


class FoldingTree(NamedTuple):
    """A ``title`` and a ``note`` on it, then paragraphs, ``lines`` that fold, and paragraphs."""

    title: str
    note: str
    lines: Iterable[TreeLine]
    above: Sequence[str] = ()
    below: Sequence[str] = ()

    def fragment(self) -> Markup:
        """The tree as HTML."""
        return rendered("tree.html", **self._asdict())


class TreePage:
    """What shows itself as a tree: as a page, and as a fragment in notebooks."""

    def _tree(self, depth: int | None = None) -> FoldingTree:
        """The tree; of a proof, steps deeper than ``depth`` are left out."""
        raise NotImplementedError

    def to_html(self, depth: int | None = None) -> str:
        """A self-contained HTML page."""
        tree = self._tree(depth)
        return document(tree.title, tree.fragment())

    def _repr_html_(self) -> str:
        return str(self._tree().fragment())


def counted(count: int, noun: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(items: Sequence[object], most: int = 5) -> str:
    """The first items, separated by commas; dots stand for the others."""
    return ", ".join([*map(str, items[:most]), *(["..."] if len(items) > most else [])])


def shortened(text: str, most: int) -> str:
    """At most so many characters of a text, the last one an ellipsis where it is cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def width(text: str) -> int:
    """The columns that a text takes on a terminal: two for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, columns: int) -> str:
    """The text with blanks up to a number of columns."""
    return text + " " * (columns - width(text))


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> Iterator[str]:
    """Lines with aligned columns, those with the numbers in ``right`` at their right end."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        shown = [" " * (most - width(cell)) + cell if n in right else padded(cell, most) for n, (cell, most) in cells]
        yield "  ".join(shown).rstrip()
