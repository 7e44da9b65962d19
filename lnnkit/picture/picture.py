"""A picture that draws itself as SVG, PNG, DOT or a page. PNG is made by resvg, with the font that matplotlib brings:
both are in the extra ``lnnkit[report]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from lnnkit.markup.optional_libraries import require
from lnnkit.markup.templating import document, rendered
from lnnkit.picture.boxes import Drawing
from lnnkit.picture.dot_writer import dot
from lnnkit.picture.svg_writer import svg

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
