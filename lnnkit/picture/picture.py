"""A picture: boxes and arrows, drawn as SVG, PNG, Graphviz's DOT language or a page. PNG is made by resvg, with a font
of matplotlib: both are in the extra ``lnnkit[report]``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len, set_cell_size

from lnnkit.answer_table import STATES, TruthState
from lnnkit.markup.pages import document, rendered, require, visible
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from markupsafe import Markup

    from lnnkit.picture.box_layout import Layout, Point

_FONT_SIZE, _LINE = 11, 15.0
_CELL = 6.7  # pixels of one column of a monospaced font of that size: 0.602 em, rounded up
_PADDING = 9.0
_CELLS = 48  # columns of a line that are shown; the full line is in the tooltip
_LEAST = 340.0  # least width in pixels, so that a legend has room
_LEGEND = 500.0  # greatest width in pixels, to fit a phone without scrolling
_ROW, _SWATCH = 19.0, 40.0  # pixels: the height of a row of the legend, and the width of a sample without its words
_MARGIN = 12.0
_ZOOM = 2.0  # pixels per point, as on displays of phones and laptops
_MOST = 4e7  # pixels, which take 160 MB; larger pictures get fewer per point

BoxKind = Literal["atom", "connective", "statement", "fact", "predicate"]
_KINDS: dict[BoxKind, str] = {
    "statement": "rule or axiom", "predicate": "predicate or number", "connective": "connective", "fact": "given"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Box:
    """A box with a few ``lines`` of text; ``state`` colours it, if it has bounds."""

    name: str
    kind: BoxKind
    lines: tuple[str, ...]
    state: TruthState | None = None
    note: str = ""  # shown when the pointer is over the box

    @property
    def shown_lines(self) -> list[str]:
        """The lines, control characters escaped, long ones cut."""
        lines = map(visible, self.lines)
        return [line if cell_len(line) <= _CELLS else f"{set_cell_size(line, _CELLS - 1)}…" for line in lines]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, in pixels."""
        lines = self.shown_lines
        longest = max((cell_len(line) for line in lines), default=1)
        return longest * _CELL + 2 * _PADDING, len(lines) * _LINE + 2 * _PADDING - 4

    @property
    def fill(self) -> str:
        """The role of the fill in the palette; that of the line around it has ``-line`` behind it."""
        if self.state is None:
            return "statement" if self.kind == "statement" else "plain"
        return "number" if self.state == "date" else self.state.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a premise to its conclusion, or from an operand to its connective; ``weight`` sets its width. A ``negative``
    one lowers its target when its source rises; one that leads ``both`` ways has two heads."""

    source: str
    target: str
    weight: float = 1.0
    negative: bool = False
    both: bool = False

    @property
    def width(self) -> float:
        """The width of its line, in pixels; an operand of weight 0 has a faint line."""
        return 0.4 + 1.4 * min(self.weight, 3.0)

    @property
    def role(self) -> str:
        """The role of its colour."""
        return "against" if self.negative else "for"

    @property
    def label(self) -> str:
        """Its weight, unless that is 1."""
        return f"{self.weight:g}" if self.weight != 1.0 else ""


@dataclass(frozen=True)
class Picture:
    """``boxes`` and the ``arrows`` between them. ``left_out`` boxes are not drawn; ``warnings`` concern the request."""

    title: str
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    left_out: int = 0
    warnings: tuple[Diagnostic, ...] = ()

    def to_dot(self) -> str:
        """The picture in the DOT language."""
        return self._dot()

    def _dot(self, sized: bool = False) -> str:
        """The boxes ``n0, n1, ...`` and arrows ``e0, e1, ...`` in order; arrows point upwards. ``sized`` gives boxes
        the sizes that they have in the SVG, and arrows no heads: their curves reach the boxes."""
        numbers = {box.name: number for number, box in enumerate(self.boxes)}
        values = {"drawing": self, "numbers": numbers, "sized": sized, "font_size": _FONT_SIZE, "quoted": _quoted}
        return f"{rendered('picture.dot', **values)}\n"

    def to_svg(self) -> str:
        """Laid out by Graphviz, or by networkx. Its colours follow the reader's scheme, light or dark."""
        return f"{self._svg()}\n"

    _repr_svg_ = to_svg

    def _svg(self) -> Markup:
        """The ``<svg>`` element, in light colours, with a style that has those of the dark scheme."""
        places = self.layout()
        middles = [_middle(points) for points in places.arrows]
        labels = zip(middles, self.arrows, strict=True)
        right = max((x + _CELL * len(arrow.label) for (x, _), arrow in labels if arrow.label), default=0.0) + _MARGIN
        samples = [(_SWATCH + _CELL * cell_len(words), words, sample) for words, sample in self._legend()]
        width = max([places.width, right, _LEAST, *(taken + 2 * _MARGIN for taken, *_ in samples)])
        shown: list[tuple[float, float, str, Box | Arrow]] = []  # the legend, folded: each sample with its place
        left, top, most = _MARGIN, places.height, min(width, _LEGEND) - _MARGIN
        for taken, words, sample in samples:
            if shown and left + taken > most:
                left, top = _MARGIN, top + _ROW
            shown.append((left, top, words, sample))
            left += taken
        height = (top + _ROW if shown else places.height if self.boxes else 40.0) + _MARGIN
        arrows = list(zip(self.arrows, map(_path, places.arrows), middles, strict=True))
        sizes = {"width": width, "height": height, "shift": (width - max(places.width, right)) / 2}
        sizes |= {"font_size": _FONT_SIZE, "line_height": _LINE}
        return rendered("picture.svg", drawing=self, places=places, arrows=arrows, legend=shown, **sizes)

    def _legend(self) -> Iterator[tuple[str, Box | Arrow]]:
        """What the colours, shapes and arrows of this picture mean, each with a sample."""
        states, kinds = {box.state for box in self.boxes}, {box.kind for box in self.boxes}
        yield from ((state.replace("_", " "), Box("", "atom", (), state)) for state in STATES if state in states)
        yield from ((words, Box("", kind, ("",))) for kind, words in _KINDS.items() if kind in kinds)
        if any(not arrow.negative for arrow in self.arrows):
            yield "counts for", Arrow("", "")
        if any(arrow.negative for arrow in self.arrows):
            yield "counts against", Arrow("", "", negative=True)
        if any(arrow.both for arrow in self.arrows):
            yield "both ways", Arrow("", "", both=True)
        if any(arrow.label for arrow in self.arrows):
            yield "thicker: more weight", Arrow("", "", 2.5)

    def layout(self) -> Layout:
        """The places of its boxes and arrows."""
        from lnnkit.picture.box_layout import layout  # it imports networkx

        arrows = [(arrow.source, arrow.target) for arrow in self.arrows]
        return layout({box.name: box.size for box in self.boxes}, arrows, lambda: self._dot(sized=True))

    def to_png(self) -> bytes:
        """The same as pixels, two to a point, in light colours. Needs ``lnnkit[report]``: `Error` without."""
        require_png()
        import matplotlib
        import resvg_py

        text = self.to_svg()
        frame = re.search(r'viewBox="0 0 (\d+) (\d+)"', text)
        assert frame is not None
        zoom = min(_ZOOM, (_MOST / (int(frame[1]) * int(frame[2]))) ** 0.5)
        fonts = [str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")]  # else a system without fonts draws no text
        return resvg_py.svg_to_bytes(svg_string=text, zoom=zoom, font_dirs=fonts, monospace_family="DejaVu Sans Mono")

    def to_html(self) -> str:
        """A page that needs nothing beside it."""
        return document(self.title, rendered("picture.html", picture=self, svg=self._svg(), titled=True))

    def __repr__(self) -> str:
        more = f", {self.left_out:,} left out" if self.left_out else ""
        return f"Picture({self.title}: {len(self.boxes)} boxes, {len(self.arrows)} arrows{more})"

    def _repr_html_(self) -> str:
        return str(rendered("picture.html", picture=self, svg=self._svg(), titled=False))


def require_png() -> None:
    """Raises `Error` where the extra is not installed."""
    require("PNG", "resvg_py", "matplotlib")


def _path(points: Sequence[Point]) -> str:
    """The ``d`` of a chain of cubic curves."""
    pairs = [f"{x:.1f},{y:.1f}" for x, y in points]
    return f"M{pairs[0]} C{' '.join(pairs[1:])}"


def _middle(points: Sequence[Point]) -> Point:
    """The position of a label beside the middle of an arrow's first curve."""
    x, y = ((a + 3 * b + 3 * c + d) / 8 for a, b, c, d in zip(*points[:4], strict=True))
    return x + 5, y + 4


def _quoted(*lines: str) -> str:
    """A string of the DOT language; Graphviz reads entities such as ``&amp;`` as HTML does."""
    return json.dumps("\n".join(map(visible, lines)).replace("&", "&amp;"), ensure_ascii=False)
