"""A picture as a page that needs nothing beside it."""

from __future__ import annotations

import html

from lnnkit.picture.as_svg import svg
from lnnkit.picture.boxes import Drawing


def page(picture: Drawing) -> str:
    """A whole document: the drawing, and how to read it."""
    title = html.escape(picture.title)
    more = f"<p>{picture.left_out:,} more boxes are left out.</p>" if picture.left_out else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        "<style>body { font: 14px/1.5 system-ui, sans-serif; color: #1d2433; margin: 1.5em; } "
        "svg { max-width: 100%; height: auto; }</style></head>\n"
        f"<body><h1>{title}</h1>{more}{svg(picture)}"
        "<p>Arrows lead from operands and premises to what rests on them; their width is the operand's weight, and red "
        "ones bear on it the other way round.</p></body></html>\n"
    )
