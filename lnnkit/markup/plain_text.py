"""Texts for people: counts with their noun, lists and lines that are cut, tables with aligned columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence


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
