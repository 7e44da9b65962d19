"""How far answers can be taken at their word: labels against answers, in ten bins, before and after fitting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lnnkit.report.chart import FAINT, SOFT, Box, chart, line, polyline, rectangle, text
from lnnkit.report.scale import Scale
from lnnkit.scores import Predictions

BEFORE, AFTER = "#9aa3b2", "#0b62a4"
_BINS = 10
_STRIP = 42.0  # of the height, for how many answers fall into each bin


def calibration(own: Predictions, width: float = 380.0) -> str:
    """The chart: a point a bin that holds answers, at their means, as large as they are many; beneath, how many."""
    box = Box(width, 330.0, bottom=42.0 + _STRIP)
    x = Scale(0.0, 1.0, *box.across)
    y = Scale(0.0, 1.0, *box.upward)
    parts = [line(x(0), y(0), x(1), y(1), FAINT, dashes="4 3", tip="answers that are right on the average")]
    for answers, colour in ((own.before, BEFORE), (own.after, AFTER)):
        parts += _points(answers, own.wanted, colour, x, y)
    parts.append(text((x(0) + x(1)) / 2, y(0) + 32, "mean of answers", anchor="middle", colour=SOFT))
    parts += _counts(own, x, box)
    label = f"calibration of {own.predicate} over {len(own.wanted)} labels"
    return chart(box, x, y, parts, across="", upward="mean of labels", label=label)


def _points(answers: np.ndarray, wanted: np.ndarray, colour: str, x: Scale, y: Scale) -> Iterator[str]:
    places = _bins(answers)
    points: list[tuple[float, float]] = []
    circles: list[str] = []
    for bin_ in range(_BINS):
        mine = places == bin_
        if mine.any():
            mean, truth, many = float(answers[mine].mean()), float(wanted[mine].mean()), int(mine.sum())
            points.append((x(mean), y(truth)))
            radius = 3.0 + 6.0 * (many / len(answers)) ** 0.5
            tip = f"{many:,} answers of {mean:.3f} on the average, labels {truth:.3f}"
            circles.append(
                f'<circle cx="{x(mean):.1f}" cy="{y(truth):.1f}" r="{radius:.1f}" fill="{colour}" fill-opacity="0.75">'
                f"<title>{tip}</title></circle>"
            )
    if len(points) > 1:
        yield polyline(points, colour, width=1.2)
    yield from circles


def _counts(own: Predictions, x: Scale, box: Box) -> Iterator[str]:
    """Bars beneath the axis: how many answers each bin holds."""
    counts = [np.bincount(_bins(answers), minlength=_BINS) for answers in (own.before, own.after)]
    tallest = max(1, *(int(count.max()) for count in counts))
    foot = box.height - 4
    for count, colour, shift in ((counts[0], BEFORE, 0.08), (counts[1], AFTER, 0.52)):
        for place, many in enumerate(count.tolist()):
            if many:
                high = max(1.5, (_STRIP - 12) * many / tallest)
                left = x((place + shift) / _BINS)
                wide = x((place + shift + 0.4) / _BINS) - left
                yield rectangle(left, foot - high, wide, high, colour, tip=f"{many:,} answers")


def _bins(answers: np.ndarray) -> np.ndarray:
    return np.clip((answers * _BINS).astype(np.int64), 0, _BINS - 1)
