"""A chart's frame as SVG: axes, grid and titles; what is drawn in it are strings of SVG elements."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lnnkit.report.scale import Scale, number

INK, SOFT, GRID, FAINT = "#1d2433", "#5b6577", "#e4e7ee", "#c3c9d5"
LINES = ("#0b62a4", "#c8501e", "#2f7d46", "#8a3fa0", "#b8860b", "#0f7f86", "#a83253", "#59606d")
LETTER = 6.0  # the width of one, on average


@dataclass(frozen=True, slots=True)
class Box:
    """Where a chart's axes stand, within its drawing: in pixels, from its upper left corner."""

    width: float
    height: float
    left: float = 62.0
    right: float = 14.0
    top: float = 22.0
    bottom: float = 42.0

    @property
    def across(self) -> tuple[float, float]:
        """Where the horizontal scale starts and ends."""
        return self.left, self.width - self.right

    @property
    def upward(self) -> tuple[float, float]:
        """Where the vertical scale starts and ends."""
        return self.height - self.bottom, self.top


def chart(box: Box, x: Scale, y: Scale, parts: Iterable[str], *, across: str, upward: str = "", label: str = "") -> str:
    """A whole SVG element: ``parts`` over axes titled ``across`` and ``upward``; ``label`` says what it shows to those
    who cannot see it."""
    return "".join(
        [
            f'<svg viewBox="0 0 {box.width:.0f} {box.height:.0f}" width="{box.width:.0f}" role="img" '
            f'aria-label="{html.escape(label or across)}">',
            *_grid(box, x, y),
            *parts,
            *_frame(box, across, upward),
            "</svg>",
        ]
    )


def _grid(box: Box, x: Scale, y: Scale) -> Iterable[str]:
    left, right = box.across
    bottom, top = box.upward
    for value in y.ticks():
        at = y(value)
        yield line(left, at, right, at, GRID)
        yield text(left - 7, at + 3.5, number(value), anchor="end", colour=SOFT)
    for value in x.ticks():
        at = x(value)
        yield line(at, bottom, at, bottom + 4, SOFT)
        yield text(at, bottom + 16, number(value), anchor="middle", colour=SOFT)
    yield line(left, top, left, bottom, FAINT)


def _frame(box: Box, across: str, upward: str) -> Iterable[str]:
    left, right = box.across
    bottom, top = box.upward
    yield line(left, bottom, right, bottom, SOFT)
    yield text((left + right) / 2, box.height - 7, across, anchor="middle", colour=SOFT)
    if upward:
        middle = (top + bottom) / 2
        yield (
            f'<text transform="translate(12 {middle:.1f}) rotate(-90)" text-anchor="middle" fill="{SOFT}">'
            f"{html.escape(upward)}</text>"
        )


def line(
    x0: float, y0: float, x1: float, y1: float, colour: str, *, width: float = 1.0, dashes: str = "", tip: str = ""
) -> str:
    """A straight line."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    end = f"><title>{html.escape(tip)}</title></line>" if tip else "/>"
    return (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{dashed}{end}'
    )


def polyline(points: Sequence[tuple[float, float]], colour: str, *, width: float = 1.8, dashes: str = "") -> str:
    """A line through points."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{listed}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'


def text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = INK, bold: bool = False) -> str:
    """Words whose baseline starts, ends or is centred at a point."""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>{html.escape(words)}</text>'


def rectangle(x: float, y: float, width: float, height: float, colour: str, *, tip: str = "") -> str:
    """A filled one."""
    end = f"><title>{html.escape(tip)}</title></rect>" if tip else "/>"
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"{end}'


def shortened(words: str, most: int) -> str:
    """At most so many letters."""
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"
