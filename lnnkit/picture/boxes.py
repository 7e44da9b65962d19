"""Boxes and arrows: their sizes and colours, the legend that explains these, and Graphviz's DOT language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.text import Text

from lnnkit.answer_table import STATES, TruthState
from lnnkit.markup.pages import rendered, role, visible
from lnnkit.syntax.diagnostic import Diagnostic

FONT_SIZE, LINE = 11, 15.0
CELL = 6.7  # pixels of one column of a monospaced font of that size: 0.602 em, rounded up
_PADDING = 9.0
_CELLS = 48  # columns of a line that are shown; the full line is in the tooltip

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
        shown = [Text(visible(line)) for line in self.lines]
        for line in shown:
            line.truncate(_CELLS, overflow="ellipsis")
        return [line.plain for line in shown]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, in pixels."""
        lines = self.shown_lines
        longest = max((cell_len(line) for line in lines), default=1)
        return longest * CELL + 2 * _PADDING, len(lines) * LINE + 2 * _PADDING - 4

    @property
    def radius(self) -> float:
        """The radius of its corners: connectives are round, facts are square."""
        return {"connective": self.size[1] / 2, "fact": 0.0}.get(self.kind, 5.0)

    @property
    def fill(self) -> str:
        """The role of the fill in the palette."""
        return role(self.state) if self.state is not None else "statement" if self.kind == "statement" else "plain"


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
class Drawing:
    """``boxes`` and the ``arrows`` between them. ``left_out`` boxes are not drawn; ``warnings`` concern the request."""

    title: str
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    left_out: int = 0
    warnings: tuple[Diagnostic, ...] = ()


Sample = tuple[str, Box | Arrow]
"""An entry of a legend: what a box or an arrow of this look means."""


def legend(drawing: Drawing) -> Iterator[Sample]:
    """What the colours, shapes and arrows of this drawing mean."""
    states = {box.state for box in drawing.boxes}
    yield from ((state.replace("_", " "), Box("", "atom", (), state)) for state in STATES if state in states)
    kinds = {box.kind for box in drawing.boxes}
    yield from ((words, Box("", kind, ("",))) for kind, words in _KINDS.items() if kind in kinds)
    arrows = drawing.arrows
    if any(not arrow.negative for arrow in arrows):
        yield "counts for", Arrow("", "")
    if any(arrow.negative for arrow in arrows):
        yield "counts against", Arrow("", "", negative=True)
    if any(arrow.both for arrow in arrows):
        yield "both ways", Arrow("", "", both=True)
    if any(arrow.label for arrow in arrows):
        yield "thicker: more weight", Arrow("", "", 2.5)


def dot(drawing: Drawing, *, sized: bool = False) -> str:
    """The graph, its boxes ``n0, n1, ...`` and arrows ``e0, e1, ...`` in order; arrows point upwards. ``sized`` gives
    boxes the sizes that they have in the SVG, and arrows no heads: their curves reach the boxes."""
    numbers = {box.name: number for number, box in enumerate(drawing.boxes)}
    values = {"drawing": drawing, "numbers": numbers, "sized": sized, "font_size": FONT_SIZE, "quoted": _quoted}
    return f"{rendered('picture.dot', **values)}\n"


def _quoted(*lines: str) -> str:
    """A string of the DOT language; Graphviz reads entities such as ``&amp;`` as HTML does."""
    escaped = [visible(line).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(escaped) + '"'
