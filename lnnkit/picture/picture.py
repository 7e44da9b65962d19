"""A picture as a value: boxes and arrows, and what they say; it draws itself as SVG, DOT or a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lnnkit.answer_table import TruthState

Kind = Literal["atom", "connective", "statement", "fact", "more"]


@dataclass(frozen=True, slots=True)
class Box:
    """What stands at a place: up to a few ``lines``; ``state`` colours it, if it has bounds."""

    name: str
    kind: Kind
    lines: tuple[str, ...]
    state: TruthState | None = None
    note: str = ""  # shown where one points at it


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a premise to what rests on it, or from an operand to its connective; ``weight`` is its width."""

    source: str
    target: str
    weight: float = 1.0
    negative: bool = False  # it bears on its target the other way round
    dashed: bool = False


@dataclass(frozen=True)
class Picture:
    """``boxes`` and the ``arrows`` between them. ``left_out`` says how many boxes there would be besides."""

    title: str
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    left_out: int = 0

    def to_dot(self) -> str:
        """The picture in the DOT language."""
        from lnnkit.picture.as_dot import dot

        return dot(self)

    def to_svg(self) -> str:
        """Drawn by Graphviz where it is installed, else in layers by networkx."""
        from lnnkit.picture.as_svg import svg

        return svg(self)

    def to_html(self) -> str:
        """A page that needs nothing beside it."""
        from lnnkit.picture.as_page import page

        return page(self)

    def __repr__(self) -> str:
        more = f", {self.left_out:,} left out" if self.left_out else ""
        return f"Picture({self.title}: {len(self.boxes)} boxes, {len(self.arrows)} arrows{more})"

    def _repr_svg_(self) -> str:
        return self.to_svg()
