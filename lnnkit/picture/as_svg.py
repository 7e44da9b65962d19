"""A picture as SVG: by Graphviz, or drawn here."""

from __future__ import annotations

import html
import itertools
import shutil
import subprocess
from collections.abc import Iterator, Sequence

from lnnkit.picture.as_dot import dot
from lnnkit.picture.boxes import Arrow, Box, Drawing
from lnnkit.picture.colours import FILLS, LEGEND, NEGATIVE, POSITIVE, TEXT, colours, line, width
from lnnkit.picture.layers import LETTER, LINE, Layout, Placed, Point, layout

_FONT = "Helvetica, Arial, sans-serif"
_PATIENCE = 60  # seconds


def svg(picture: Drawing) -> str:
    """A whole SVG document."""
    graphviz = shutil.which("dot")
    if graphviz is not None:
        try:
            done = subprocess.run(
                [graphviz, "-Tsvg"], input=dot(picture), capture_output=True, text=True, timeout=_PATIENCE, check=True
            )
            return done.stdout[done.stdout.index("<svg") :]
        except (OSError, subprocess.SubprocessError, ValueError):
            pass  # drawn here then
    return drawn(picture)


def drawn(picture: Drawing) -> str:
    """The same without Graphviz."""
    return "".join(_parts(picture, layout(picture)))


def _parts(picture: Drawing, places: Layout) -> Iterator[str]:
    legend = _legend(picture)
    wide = max(places.width, sum(len(name) * LETTER + 34 for name in legend) + 20, 160.0)
    high = places.height + 26
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" '
        f'height="{high:.0f}" font-family="{_FONT}" font-size="11">'
    )
    yield f"<title>{html.escape(picture.title)}</title>"
    yield f'<rect width="{wide:.0f}" height="{high:.0f}" fill="#ffffff"/>'
    for colour, name in ((POSITIVE, "for"), (NEGATIVE, "against")):
        yield (
            f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto" markerUnits="userSpaceOnUse"><path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
        )
    for arrow, points in zip(picture.arrows, places.arrows, strict=True):
        yield _arrow(arrow, points)
    for box in picture.boxes:
        yield _box(box, places.boxes[box.name])
    at = 14.0
    for name in legend:
        fill, edge = FILLS[name]
        y = high - 18
        yield f'<rect x="{at:.0f}" y="{y:.0f}" width="11" height="11" rx="2" fill="{fill}" stroke="{edge}"/>'
        yield f'<text x="{at + 16:.0f}" y="{y + 9.5:.1f}" fill="{TEXT}">{name.replace("_", " ")}</text>'
        at += len(name) * LETTER + 34
    yield "</svg>\n"


def _legend(picture: Drawing) -> list[str]:
    """The states that the picture shows."""
    there = {box.state for box in picture.boxes}
    return [name for name in LEGEND if name in there]


def _arrow(arrow: Arrow, points: Sequence[Point]) -> str:
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        bend = (y1 - y0) / 2
        path += f" C{x0:.1f},{y0 + bend:.1f} {x1:.1f},{y1 - bend:.1f} {x1:.1f},{y1:.1f}"
    dashed = ' stroke-dasharray="5 4"' if arrow.dashed else ""
    marker = "against" if arrow.negative else "for"
    drawn_line = (
        f'<path d="{path}" fill="none" stroke="{line(arrow)}" stroke-width="{width(arrow):.2f}"{dashed} '
        f'marker-end="url(#{marker})"/>'
    )
    if arrow.weight == 1.0:
        return drawn_line
    (x0, y0), (x1, y1) = points[0], points[1]
    x, y = (3 * x0 + x1) / 4 + 4, (3 * y0 + y1) / 4
    return f'{drawn_line}<text x="{x:.1f}" y="{y:.1f}" font-size="9.5" fill="{line(arrow)}">{arrow.weight:g}</text>'


def _box(box: Box, at: Placed) -> str:
    fill, edge = colours(box)
    left, top = at.x - at.width / 2, at.y - at.height / 2
    radius = {"connective": at.height / 2, "fact": 0, "more": 0}.get(box.kind, 5)
    shape = (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{at.width:.1f}" height="{at.height:.1f}" rx="{radius:.1f}" '
        f'fill="{fill}" stroke="{edge}"/>'
    )
    first = at.y - (len(box.lines) - 1) * LINE / 2 + 4
    bold = ' font-weight="600"'
    texts = "".join(
        f'<text x="{at.x:.1f}" y="{first + place * LINE:.1f}" text-anchor="middle" fill="{TEXT}"'
        f"{bold if place == 0 and len(box.lines) > 1 else ''}>{html.escape(text)}</text>"
        for place, text in enumerate(box.lines)
    )
    tip = f"<title>{html.escape(box.note)}</title>" if box.note else ""
    return f"<g>{tip}{shape}{texts}</g>"
