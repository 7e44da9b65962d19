"""A picture in the DOT language."""

from __future__ import annotations

from collections.abc import Iterator

from lnnkit.picture.boxes import Drawing
from lnnkit.picture.colours import TEXT, colours, line, width

_SHAPES = {"atom": "box", "connective": "ellipse", "statement": "box", "fact": "note", "more": "plaintext"}


def dot(picture: Drawing) -> str:
    """The graph; arrows point upwards."""
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Drawing) -> Iterator[str]:
    yield f"digraph {quoted(picture.title)} {{"
    yield f'  rankdir=BT; node [fontname="Helvetica", fontsize=11, fontcolor="{TEXT}", style="filled,rounded"];'
    yield '  edge [arrowsize=0.7, fontname="Helvetica", fontsize=9];'
    for box in picture.boxes:
        fill, edge = colours(box)
        label = quoted("\n".join(box.lines))
        tip = f", tooltip={quoted(box.note)}" if box.note else ""
        style = ', style="filled"' if _SHAPES[box.kind] in ("ellipse", "note") else ""
        yield (
            f"  {quoted(box.name)} [label={label}, shape={_SHAPES[box.kind]}{style}, fillcolor={quoted(fill)}, "
            f"color={quoted(edge)}{tip}];"
        )
    for arrow in picture.arrows:
        style = ", style=dashed" if arrow.dashed else ""
        told = f', label="{arrow.weight:g}"' if arrow.weight != 1.0 else ""
        yield (
            f"  {quoted(arrow.source)} -> {quoted(arrow.target)} [penwidth={width(arrow):.2f}, "
            f"color={quoted(line(arrow))}{style}{told}];"
        )
    yield "}"


def quoted(text: str) -> str:
    """A string of the DOT language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
