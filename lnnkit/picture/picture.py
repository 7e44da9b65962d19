"""A picture that draws itself as SVG, PNG, DOT or a page. PNG is made by resvg, with the font that matplotlib brings:
both are in the extra ``lnnkit[report]``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len

from lnnkit.markup.optional_libraries import require
from lnnkit.markup.templating import document, rendered
from lnnkit.picture.boxes import CELL, FONT_SIZE, LINE, Arrow, Box, Drawing, dot, legend
from lnnkit.picture.graph_layout import MARGIN, Point, layout

if TYPE_CHECKING:
    from markupsafe import Markup

_LEAST = 340.0  # least width in pixels, so that a legend has room
_LEGEND = 500.0  # greatest width in pixels, to fit a phone without scrolling
_ROW, _SWATCH = 19.0, 40.0  # pixels: the height of a row of the legend, and the width of a sample without its words
_ZOOM = 2.0  # pixels per point, as on displays of phones and laptops
_MOST = 4e7  # pixels, which take 160 MB; larger pictures get fewer per point


@dataclass(frozen=True)
class Picture(Drawing):
    """A drawing, with its forms."""

    def to_dot(self) -> str:
        """The picture in the DOT language."""
        return dot(self)

    def to_svg(self) -> str:
        """Laid out by Graphviz where it is installed, else in layers by networkx. Its colours follow the reader's
        scheme, light or dark."""
        return str(svg(self)) + "\n"

    def to_png(self) -> bytes:
        """The same as pixels, two to a point, in light colours. Needs ``lnnkit[report]``: `Error` without."""
        return png(self.to_svg())

    def to_html(self) -> str:
        """A page that needs nothing beside it."""
        return document(self.title, rendered("picture.html", picture=self, svg=svg(self), titled=True))

    def __repr__(self) -> str:
        more = f", {self.left_out:,} left out" if self.left_out else ""
        return f"Picture({self.title}: {len(self.boxes)} boxes, {len(self.arrows)} arrows{more})"

    def _repr_html_(self) -> str:
        return str(rendered("picture.html", picture=self, svg=svg(self), titled=False))

    def _repr_svg_(self) -> str:
        return self.to_svg()


def require_png() -> None:
    """Raises `Error` where the extra is not installed."""
    require("PNG", "resvg_py", "matplotlib")


def png(svg: str) -> bytes:
    """The picture ``svg`` in light colours. Raises `Error` where the extra is not installed."""
    require_png()
    import matplotlib
    import resvg_py

    frame = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    assert frame is not None
    zoom = min(_ZOOM, (_MOST / (int(frame[1]) * int(frame[2]))) ** 0.5)
    fonts = str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")  # else no text is drawn on a system without fonts
    return resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom, font_dirs=[fonts], monospace_family="DejaVu Sans Mono")


def svg(drawing: Drawing) -> Markup:
    """The ``<svg>`` element: with the colours of the light scheme, and a style with those of the dark one; nothing is
    loaded."""
    places = layout(drawing)
    middles = [_middle(points) for points in places.arrows]
    labels = zip(middles, drawing.arrows, strict=True)
    right = max((x + CELL * len(arrow.label) for (x, _), arrow in labels if arrow.label), default=0.0) + MARGIN
    samples = [(_SWATCH + CELL * cell_len(words), words, sample) for words, sample in legend(drawing)]
    width = max([places.width, right, _LEAST, *(taken + 2 * MARGIN for taken, *_ in samples)])
    shown: list[tuple[float, float, str, Box | Arrow]] = []  # the legend, folded: each sample with its place
    left, top, most = MARGIN, places.height, min(width, _LEGEND) - MARGIN
    for taken, words, sample in samples:
        if shown and left + taken > most:
            left, top = MARGIN, top + _ROW
        shown.append((left, top, words, sample))
        left += taken
    return rendered(
        "picture.svg",
        drawing=drawing,
        width=width,
        height=(top + _ROW if shown else places.height if drawing.boxes else 40.0) + MARGIN,
        shift=(width - max(places.width, right)) / 2,
        font_size=FONT_SIZE,
        line_height=LINE,
        places=places,
        arrows=list(zip(drawing.arrows, map(_path, places.arrows), middles, strict=True)),
        legend=shown,
    )


def _path(points: Sequence[Point]) -> str:
    """The ``d`` of a chain of cubic curves."""
    pairs = [f"{x:.1f},{y:.1f}" for x, y in points]
    return f"M{pairs[0]} C{' '.join(pairs[1:])}"


def _middle(points: Sequence[Point]) -> Point:
    """The position of a label beside the middle of an arrow's first curve."""
    x, y = ((a + 3 * b + 3 * c + d) / 8 for a, b, c, d in zip(*points[:4], strict=True))
    return x + 5, y + 4
