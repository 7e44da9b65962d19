"""Trees of lines that fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lnnkit.markup.templating import rendered

if TYPE_CHECKING:
    from markupsafe import Markup


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
    title: str, said: str, lines: Iterable[TreeLine], above: Sequence[str] = (), below: Sequence[str] = ()
) -> Markup:
    """A fragment of HTML: a title and what is said of it, then paragraphs, the tree, and paragraphs."""
    return rendered("tree.html", title=title, said=said, lines=list(lines), above=above, below=below)
