"""The style of boxes: their text, sizes and colours, and the legend that explains them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from lnnkit.answer_table import STATES
from lnnkit.markup.palette import role
from lnnkit.markup.templating import visible
from lnnkit.picture.boxes import Arrow, Box, Drawing

FONT_SIZE, LINE = 11, 15.0
CELL = 6.7  # pixels of one column of a monospaced font of that size: 0.602 em, rounded up
_PADDING = 9.0
_CELLS = 48  # columns of a line that are shown; the full line is in the tooltip

_KINDS = {"statement": "rule or axiom", "predicate": "predicate or number", "connective": "connective", "fact": "given"}


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


def shown_lines(box: Box) -> list[str]:
    """The lines of a box, control characters escaped, long ones cut."""
    return [_cut(visible(line)) for line in box.lines]


def size(box: Box) -> tuple[float, float]:
    """Its width and height, in pixels."""
    lines = shown_lines(box)
    longest = max((cell_len(line) for line in lines), default=1)
    return longest * CELL + 2 * _PADDING, len(lines) * LINE + 2 * _PADDING - 4


def fill(box: Box) -> str:
    """The role of its fill in the palette."""
    if box.state is not None:
        return role(box.state)
    return "statement" if box.kind == "statement" else "plain"


def radius(kind: str, height: float) -> float:
    """The radius of its corners: connectives are round, facts are square."""
    return {"connective": height / 2, "fact": 0.0}.get(kind, 5.0)


def legend(drawing: Drawing) -> Iterator[Sample]:
    """What the colours, shapes and arrows of this drawing mean."""
    states = {box.state for box in drawing.boxes}
    yield from (Sample(state.replace("_", " "), role(state)) for state in STATES if state in states)
    kinds = {box.kind for box in drawing.boxes}
    for kind, words in _KINDS.items():
        if kind in kinds:
            yield Sample(words, "statement" if kind == "statement" else "plain", min(radius(kind, 12.0), 6.0))
    arrows = drawing.arrows
    if any(not arrow.negative for arrow in arrows):
        yield Sample("counts for", arrow=Arrow("", ""))
    if any(arrow.negative for arrow in arrows):
        yield Sample("counts against", arrow=Arrow("", "", negative=True))
    if any(arrow.both for arrow in arrows):
        yield Sample("both ways", arrow=Arrow("", "", both=True))
    if any(arrow.weight != 1.0 for arrow in arrows):
        yield Sample("thicker: more weight", arrow=Arrow("", "", 2.5))


def _cut(line: str) -> str:
    if cell_len(line) <= _CELLS:
        return line
    text = Text(line)
    text.truncate(_CELLS, overflow="ellipsis")
    return text.plain
