"""Writes a picture in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from lnnkit.markup.palette import PALETTE
from lnnkit.markup.templating import visible
from lnnkit.picture.boxes import FONT_SIZE, Arrow, Drawing

POINTS = 72  # per inch, the unit of box sizes in DOT
_SHAPES = {"connective": "ellipse", "fact": "note"}


def dot(drawing: Drawing, *, sized: bool = False) -> str:
    """The graph, its boxes ``n0, n1, ...`` and arrows ``e0, e1, ...`` in order; arrows point upwards. ``sized`` gives
    boxes the sizes that they have in the SVG instead of Graphviz's own."""
    return "\n".join(_lines(drawing, sized)) + "\n"


def _lines(drawing: Drawing, sized: bool) -> Iterator[str]:
    ink = PALETTE["ink"].light
    font = f'fontname="monospace", fontsize={FONT_SIZE}, fontcolor="{ink}"'
    yield f"digraph {quoted(drawing.title)} {{"
    yield f'  rankdir=BT; node [{font}, style="filled,rounded"]; edge [{font}, arrowsize=0.7];'
    numbers = {box.name: number for number, box in enumerate(drawing.boxes)}
    for number, box in enumerate(drawing.boxes):
        width, height = box.size
        shape = _SHAPES.get(box.kind, "box")
        if sized and width > height:  # the shapes that the SVG draws with straight sides
            shape = "box"
        attributes = [f"label={quoted(*box.shown_lines)}", f"shape={shape}"]
        if shape != "box":
            attributes.append("style=filled")
        role = box.fill
        attributes += [f'fillcolor="{PALETTE[role].light}"', f'color="{PALETTE[f"{role}-line"].light}"']
        if box.note:
            attributes.append(f"tooltip={quoted(box.note)}")
        if sized:
            attributes.append(f"fixedsize=true, width={width / POINTS:.4f}, height={height / POINTS:.4f}")
        yield f"  n{number} [{', '.join(attributes)}];"
    for number, arrow in enumerate(drawing.arrows):
        yield f"  n{numbers[arrow.source]} -> n{numbers[arrow.target]} [id=e{number}, {', '.join(_arrow(arrow))}];"
    yield "}"


def _arrow(arrow: Arrow) -> Iterator[str]:
    yield f'penwidth={arrow.width:.2f}, color="{PALETTE[arrow.role].light}"'
    if arrow.negative:
        yield "arrowhead=tee"
    if arrow.both:
        yield "dir=both"
    if arrow.weight != 1.0:
        yield f'label="{arrow.weight:g}"'


def quoted(*lines: str) -> str:
    """A string of the DOT language; Graphviz reads entities such as ``&amp;`` as HTML does."""
    escaped = [visible(line).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(escaped) + '"'
