"""How truth states and kinds of boxes look. Each state has a fill, a line and a text that is legible on it."""

from __future__ import annotations

from lnnkit.picture.boxes import Arrow, Box

FILLS = {
    "true": ("#bfe6c8", "#2f7d46"),
    "likely_true": ("#e4f3e1", "#6a9f6d"),
    "unknown": ("#eeeeee", "#888888"),
    "likely_false": ("#f9e3dc", "#c08573"),
    "false": ("#f3bdb2", "#a8402c"),
    "contradiction": ("#ffd76b", "#b26b00"),
    "number": ("#dfe8f7", "#4a6fa5"),
}
LEGEND = ("true", "likely_true", "unknown", "likely_false", "false", "contradiction")
_PLAIN = ("#ffffff", "#667788")
_STATEMENT = ("#e3e9f5", "#4a5f8a")
TEXT = "#1d2433"
NEGATIVE = "#a8402c"
POSITIVE = "#53627a"


def colours(box: Box) -> tuple[str, str]:
    """Fill and line."""
    if box.state is not None:
        return FILLS[box.state]
    return _STATEMENT if box.kind == "statement" else _PLAIN


def width(arrow: Arrow) -> float:
    """Of the line of an arrow: that of an absent operand is hardly there."""
    return 0.4 + 1.4 * min(arrow.weight, 3.0)


def line(arrow: Arrow) -> str:
    """The colour of an arrow."""
    return NEGATIVE if arrow.negative else POSITIVE
