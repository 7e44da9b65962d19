"""A picture that draws itself as SVG, DOT or a page."""

from __future__ import annotations

from dataclasses import dataclass

from lnnkit.picture.as_dot import dot
from lnnkit.picture.as_page import page
from lnnkit.picture.as_svg import svg
from lnnkit.picture.boxes import Drawing


@dataclass(frozen=True)
class Picture(Drawing):
    """A drawing, with its forms."""

    def to_dot(self) -> str:
        """The picture in the DOT language."""
        return dot(self)

    def to_svg(self) -> str:
        """Drawn by Graphviz where it is installed, else in layers by networkx."""
        return svg(self)

    def to_html(self) -> str:
        """A page that needs nothing beside it."""
        return page(self)

    def __repr__(self) -> str:
        more = f", {self.left_out:,} left out" if self.left_out else ""
        return f"Picture({self.title}: {len(self.boxes)} boxes, {len(self.arrows)} arrows{more})"

    def _repr_svg_(self) -> str:
        return self.to_svg()
