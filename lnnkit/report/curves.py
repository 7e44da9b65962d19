"""Curves over the epochs of training: one point an inference, restarts side by side, names where the curves end."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lnnkit.report.chart import FAINT, INK, LETTER, SOFT, Box, chart, line, polyline, shortened, text
from lnnkit.report.scale import Scale, linear
from lnnkit.scores import Epoch

_APART = 13.0  # between names


@dataclass(frozen=True, slots=True)
class Curve:
    """``values`` has one number for each entry of the history, nan where there is none. One without a name is drawn
    behind the others."""

    name: str
    values: Sequence[float]
    colour: str
    dashes: str = ""


def curves(
    history: Sequence[Epoch],
    drawn: Sequence[Curve],
    kept: int | None,
    *,
    title: str,
    width: float = 560.0,
    height: float = 260.0,
    upward: Callable[[Sequence[float], float, float], Scale] = linear,
) -> str:
    """A chart of what went on; a vertical line marks the entry ``kept``. ``upward`` makes the scale of the values."""
    longest = max((len(curve.name) for curve in drawn), default=0)
    box = Box(width, height, right=min(24 + LETTER * min(longest, 34), width * 0.46))
    places, begins = _places(history)
    x = Scale(0.0, max([*places, 1.0]), *box.across, whole=True)
    values = [value for curve in drawn for value in curve.values]
    y = upward(values, *box.upward)
    parts = [*_restarts(begins, x, box), *_kept(places, kept, x, box)]
    for curve in sorted(drawn, key=lambda each: bool(each.name)):
        for points in _pieces(curve, history, places, x, y):
            parts.append(polyline(points, curve.colour, width=1.8 if curve.name else 0.8, dashes=curve.dashes))
    parts += _names(drawn, y, box)
    label = f"{title} by epoch: {', '.join(curve.name for curve in drawn if curve.name)}"
    scale = " (logarithmic)" if y.logarithmic else ""
    across = "epoch" if len(begins) < 2 else "epoch, of all restarts"
    return chart(box, x, y, parts, across=across, upward=title + scale, label=label)


def _places(history: Sequence[Epoch]) -> tuple[list[float], list[float]]:
    """Where each entry stands, restarts after one another, and where each restart begins."""
    places: list[float] = []
    begins: list[float] = []
    restart, shift = None, 0.0
    for entry in history:
        if entry.restart != restart:
            restart, shift = entry.restart, (places[-1] if places else 0.0)
            begins.append(shift)
        places.append(shift + entry.epoch)
    return places, begins


def _pieces(
    curve: Curve, history: Sequence[Epoch], places: Sequence[float], x: Scale, y: Scale
) -> Iterator[list[tuple[float, float]]]:
    """The points of a curve, restart by restart; one alone becomes a short line."""
    entries = zip(history, places, curve.values, strict=True)
    for _, mine in itertools.groupby(entries, key=lambda entry: entry[0].restart):
        points = [(x(place), y(value)) for _, place, value in mine if math.isfinite(value)]
        if points:
            yield points if len(points) > 1 else [points[0], (points[0][0] + 4, points[0][1])]


def _restarts(begins: Sequence[float], x: Scale, box: Box) -> Iterator[str]:
    bottom, top = box.upward
    for count, begin in enumerate(begins[1:], start=2):
        yield line(x(begin), top, x(begin), bottom, FAINT, dashes="2 3", tip=f"restart {count}")


def _kept(places: Sequence[float], kept: int | None, x: Scale, box: Box) -> Iterator[str]:
    if kept is None or kept >= len(places):
        return
    bottom, top = box.upward
    at = x(places[kept])
    yield line(at, top - 5, at, bottom, SOFT, dashes="4 3", tip="the values that were kept")
    yield text(at, top - 9, "kept", anchor="middle", colour=SOFT)


def _names(drawn: Sequence[Curve], y: Scale, box: Box) -> Iterator[str]:
    """The names of the curves beside their ends, apart from each other."""
    ends: list[tuple[float, Curve]] = []
    for curve in drawn:
        finite = [value for value in curve.values if math.isfinite(value)]
        if curve.name and finite:
            ends.append((y(finite[-1]), curve))
    ends.sort(key=lambda end: end[0])
    bottom, top = box.upward
    places = [place for place, _ in ends]
    for number in range(1, len(places)):
        places[number] = max(places[number], places[number - 1] + _APART)
    if places:
        places[-1] = min(places[-1], bottom)
    for number in range(len(places) - 2, -1, -1):
        places[number] = min(places[number], places[number + 1] - _APART)
    right = box.width - box.right
    for place, (end, curve) in zip(places, ends, strict=True):
        yield line(right + 2, end, right + 12, place, curve.colour)
        yield text(right + 15, max(place, top - 6) + 3.5, shortened(curve.name, 34), colour=INK)
