"""Writes a picture as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lnnkit.markup.templating import rendered
from lnnkit.picture.box_style import CELL, FONT_SIZE, LINE, Sample, fill, legend, radius, shown_lines
from lnnkit.picture.boxes import Arrow, Drawing
from lnnkit.picture.graph_layout import MARGIN, Point, layout

if TYPE_CHECKING:
    from markupsafe import Markup

_LEAST = 340.0  # least width in pixels, so that a legend has room
_LEGEND = 500.0  # greatest width in pixels, to fit a phone without scrolling
_ROW = 19.0  # pixels, the height of a row of the legend


def svg(drawing: Drawing) -> Markup:
    """The ``<svg>`` element: with the colours of the light scheme, and a style with those of the dark one; nothing is
    loaded."""
    places = layout(drawing)
    samples = list(legend(drawing))
    labels = [_label(arrow, points) for arrow, points in zip(drawing.arrows, places.arrows, strict=True)]
    right = max((label["x"] + CELL * len(label["words"]) for label in labels if label), default=0.0) + MARGIN
    width = max([places.width, right, _LEAST, *(sample.width + 2 * MARGIN for sample in samples)])
    rows = _rows(samples, min(width, _LEGEND) - 2 * MARGIN)
    return rendered(
        "picture.svg",
        title=drawing.title,
        empty="" if drawing.boxes else "nothing to draw",
        width=width,
        height=(places.height if drawing.boxes else 40.0) + _ROW * len(rows) + MARGIN,
        shift=(width - max(places.width, right)) / 2,
        font_size=FONT_SIZE,
        line_height=LINE,
        boxes=[
            {
                "at": (at := places.boxes[box.name]),
                "fill": fill(box),
                "radius": radius(box.kind, at.height),
                "lines": shown_lines(box),
                "bold": len(box.lines) > 1,
                "note": box.note,
            }
            for box in drawing.boxes
        ],
        arrows=[
            {"arrow": arrow, "path": _path(points), "label": label}
            for arrow, points, label in zip(drawing.arrows, places.arrows, labels, strict=True)
        ],
        legend=[
            (MARGIN + left, places.height + _ROW * number, sample)
            for number, row in enumerate(rows)
            for left, sample in row
        ],
    )


def _rows(samples: Sequence[Sample], width: float) -> list[list[tuple[float, Sample]]]:
    """The legend, folded to a width; each sample with its left edge."""
    rows: list[list[tuple[float, Sample]]] = []
    left = width
    for sample in samples:
        if left + sample.width > width:
            rows.append([])
            left = 0.0
        rows[-1].append((left, sample))
        left += sample.width
    return rows


def _path(points: Sequence[Point]) -> str:
    """The ``d`` of a chain of cubic curves."""
    pairs = [f"{x:.1f},{y:.1f}" for x, y in points]
    return f"M{pairs[0]} C{' '.join(pairs[1:])}"


def _label(arrow: Arrow, points: Sequence[Point]) -> dict[str, Any] | None:
    """The weight of an arrow that has one, and its position beside the middle of the arrow's first curve."""
    if arrow.weight == 1.0:
        return None
    x, y = ((a + 3 * b + 3 * c + d) / 8 for a, b, c, d in zip(*points[:4], strict=True))
    return {"words": f"{arrow.weight:g}", "x": x + 5, "y": y + 4}
