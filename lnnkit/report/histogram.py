"""A threshold on the histogram of what it is compared with, true labels and false ones apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lnnkit.report.chart import INK, SOFT, Box, chart, line, rectangle, text
from lnnkit.report.scale import Scale, linear, number, snug
from lnnkit.scores import Threshold

TRUE, FALSE, UNLABELLED = "#2f8f4e", "#d9735b", "#b9c0cc"
_MOST = 40  # bars
_INSIDE = 0.01  # of the data on either side may lie beyond the picture, where they would take most of it


def histogram(threshold: Threshold, before: float | None, after: float, width: float = 560.0) -> str:
    """The chart; ``before`` and ``after`` are the threshold's values (None: it had none)."""
    box = Box(width, 250.0, right=18.0, top=34.0)
    values = threshold.turns[np.isfinite(threshold.turns)]
    truths = threshold.truths[np.isfinite(threshold.turns)]
    before = before if before is not None and math.isfinite(before) else None
    marks = [after] if before is None else [before, after]
    low, high = _range(values, marks)
    x, edges = _bins(values, low, high, box)
    shown = np.clip(values, x.low, x.high)
    groups = [(truths > 0.5, TRUE), (truths <= 0.5, FALSE), (np.isnan(truths), UNLABELLED)]
    counts = [(np.histogram(shown[mine], edges)[0], colour) for mine, colour in groups]
    tallest = max(1, int(np.sum([count for count, _ in counts], axis=0).max()))
    y = replace(linear([0, tallest], *box.upward), whole=True)
    parts = [*_bars(counts, edges, x, y), *_marks(before, after, x, box)]
    beyond = int(((values < x.low) | (values > x.high)).sum())
    note = f"; {beyond:,} beyond the edges, in the outermost bars" if beyond else ""
    label = f"histogram of {len(values)} values that {threshold.name} is compared with"
    name = "the constant" if "/" in threshold.name else f"?{threshold.name}"
    across = f"value of {name} at which a row turns ({len(values):,} rows{note})"
    return chart(box, x, y, parts, across=across, upward="rows", label=label)


def _range(values: np.ndarray, marks: Sequence[float]) -> tuple[float, float]:
    """What is shown: all data, but for a few far out."""
    if not len(values):
        return min(marks), max(marks)
    low, high = (float(each) for each in np.quantile(values, [_INSIDE, 1 - _INSIDE]))
    near = values[(values >= low - (high - low)) & (values <= high + (high - low))] if high > low else values
    return min([float(near.min()), *marks]), max([float(near.max()), *marks])


def _bins(values: np.ndarray, low: float, high: float, box: Box) -> tuple[Scale, np.ndarray]:
    """The scale, and the edges of the bars, of equal width: of as many whole numbers each, where values are such."""
    if len(values) and high - low < 2**31 and np.array_equal(values, np.round(values)):
        step = math.ceil((high - low + 1) / _MOST)
        count = math.ceil((math.ceil(high) - math.floor(low) + 1) / step)
        edges = math.floor(low) - 0.5 + step * np.arange(count + 1)
        return Scale(float(edges[0]), float(edges[-1]), *box.across, whole=True), edges
    x = snug([low, high], *box.across)
    count = int(np.clip(math.sqrt(len(values)) * 2, 8, _MOST))
    return x, np.linspace(x.low, x.high, count + 1)


def _bars(counts: Sequence[tuple[np.ndarray, str]], edges: np.ndarray, x: Scale, y: Scale) -> Iterator[str]:
    """Bars on one another."""
    for place in range(len(edges) - 1):
        left, right = x(float(edges[place])), x(float(edges[place + 1]))
        foot = 0
        said = f"{number(float(edges[place]))} to {number(float(edges[place + 1]))}"
        for (count, colour), kind in zip(counts, ("true", "false", "without label"), strict=True):
            many = int(count[place])
            if many:
                top = y(foot + many)
                tip = f"{said}: {many:,} {kind}"
                yield rectangle(left + 0.5, top, max(right - left - 1, 0.8), y(foot) - top, colour, tip=tip)
                foot += many


def _marks(before: float | None, after: float, x: Scale, box: Box) -> Iterator[str]:
    bottom, top = box.upward
    same = before is not None and abs(x(before) - x(after)) < 0.5
    left, right = box.across
    if before is not None and not same:
        at = x(before)
        yield line(at, top - 4, at, bottom, SOFT, width=1.5, dashes="4 3")
        yield _mark(at, top - 20, f"before {number(before)}", SOFT, left, right)
    at = x(after)
    yield line(at, top - 4, at, bottom, INK, width=2.0)
    yield _mark(at, top - 8, f"{'unmoved' if same else 'after'} {number(after)}", INK, left, right)


def _mark(at: float, y: float, words: str, colour: str, left: float, right: float) -> str:
    """Words at a mark, within the chart."""
    anchor = "end" if at > (left + right) / 2 else "start"
    return text(at + (4 if anchor == "start" else -4), y + 6, words, anchor=anchor, colour=colour, bold=colour == INK)
