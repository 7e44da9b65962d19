"""A picture that draws itself as SVG, PNG, DOT or a page."""

from __future__ import annotations

from dataclasses import dataclass

from lnnkit.markup.templating import document, rendered
from lnnkit.picture.boxes import Drawing
from lnnkit.picture.dot_writer import dot
from lnnkit.picture.png_writer import png
from lnnkit.picture.svg_writer import svg


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
