"""Boxes and arrows, with their style: sizes, colours, and the legend that explains them. They are written in the DOT
language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.text import Text

from lnnkit.answer_table import STATES, TruthState
from lnnkit.markup.palette import PALETTE, role
from lnnkit.markup.templating import visible
from lnnkit.syntax.diagnostic import Diagnostic

FONT_SIZE, LINE = 11, 15.0
CELL = 6.7  # pixels of one column of a monospaced font of that size: 0.602 em, rounded up
_PADDING = 9.0
_CELLS = 48  # columns of a line that are shown; the full line is in the tooltip

BoxKind = Literal["atom", "connective", "statement", "fact", "predicate"]
_KINDS = {"statement": "rule or axiom", "predicate": "predicate or number", "connective": "connective", "fact": "given"}


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
        for each in shown:
            each.truncate(_CELLS, overflow="ellipsis")
        return [each.plain for each in shown]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, in pixels."""
        lines = self.shown_lines
        longest = max((cell_len(line) for line in lines), default=1)
        return longest * CELL + 2 * _PADDING, len(lines) * LINE + 2 * _PADDING - 4

    @property
    def fill(self) -> str:
        """The role of the fill in the palette."""
        return role(self.state) if self.state is not None else kind_fill(self.kind)


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


@dataclass(frozen=True)
class Drawing:
    """``boxes`` and the ``arrows`` between them. ``left_out`` counts the boxes that are not drawn; ``warnings`` are
    those about the request."""

    title: str
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    left_out: int = 0
    warnings: tuple[Diagnostic, ...] = ()


def kind_fill(kind: str) -> str:
    """The role of the fill of boxes of a kind that have no state."""
    return "statement" if kind == "statement" else "plain"


def radius(kind: str, height: float) -> float:
    """The radius of a box's corners: connectives are round, facts are square."""
    return {"connective": height / 2, "fact": 0.0}.get(kind, 5.0)


@dataclass(frozen=True, slots=True)
class Sample:
    """A line of a legend: a box of the ``fill`` role and corner ``radius``, or an ``arrow``, and what it means."""

    words: str
    fill: str = ""
    radius: float = 3.0
    arrow: Arrow | None = None

    @property
    def width(self) -> float:
        return 40.0 + CELL * cell_len(self.words)


def legend(drawing: Drawing) -> Iterator[Sample]:
    """What the colours, shapes and arrows of this drawing mean."""
    states = {box.state for box in drawing.boxes}
    yield from (Sample(state.replace("_", " "), role(state)) for state in STATES if state in states)
    kinds = {box.kind for box in drawing.boxes}
    for kind, words in _KINDS.items():
        if kind in kinds:
            yield Sample(words, kind_fill(kind), min(radius(kind, 12.0), 6.0))
    arrows = drawing.arrows
    if any(not arrow.negative for arrow in arrows):
        yield Sample("counts for", arrow=Arrow("", ""))
    if any(arrow.negative for arrow in arrows):
        yield Sample("counts against", arrow=Arrow("", "", negative=True))
    if any(arrow.both for arrow in arrows):
        yield Sample("both ways", arrow=Arrow("", "", both=True))
    if any(arrow.weight != 1.0 for arrow in arrows):
        yield Sample("thicker: more weight", arrow=Arrow("", "", 2.5))


_POINTS = 72  # per inch, the unit of box sizes in DOT
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
        straight = sized and width > height  # the shapes that the SVG draws with straight sides
        shape = "box" if straight else _SHAPES.get(box.kind, "box")
        attributes = [f"label={quoted(*box.shown_lines)}", f"shape={shape}"]
        if shape != "box":
            attributes.append("style=filled")
        fill, line = PALETTE[box.fill], PALETTE[f"{box.fill}-line"]
        attributes += [f'fillcolor="{fill.light}"', f'color="{line.light}"']
        if box.note:
            attributes.append(f"tooltip={quoted(box.note)}")
        if sized:
            attributes.append(f"fixedsize=true, width={width / _POINTS:.4f}, height={height / _POINTS:.4f}")
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
