"""Scales of charts: from values to places on the page, linear or logarithmic, with round ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_DECADES = 2.0  # that positive values span before a scale becomes logarithmic


@dataclass(frozen=True, slots=True)
class Scale:
    """``low`` is shown at ``start`` and ``high`` at ``end``, in pixels; ``low`` is below ``high``, and above 0 where
    the scale is logarithmic. The ticks of one that counts are ``whole`` numbers."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False
    whole: bool = False

    def __call__(self, value: float) -> float:
        """Where a value is shown; one outside is shown at the edge."""
        value = min(max(value, self.low), self.high)
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def ticks(self, most: int = 7) -> list[float]:
        """Round values within the scale, about ``most`` at most."""
        if self.logarithmic:
            least, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            every = max(1, math.ceil((last - least + 1) / most))
            return [10.0**power for power in range(least, last + 1, every)]
        step = _step((self.high - self.low) / max(1, most))
        step = float(math.ceil(step)) if self.whole else step
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def linear(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale that holds all finite values, its ends round."""
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-9):
        half = max(abs(low) / 2, 0.5)
        low, high = low - half, high + half
    step = _step((high - low) / 5)
    return Scale(math.floor(low / step + 1e-6) * step, math.ceil(high / step - 1e-6) * step, start, end)


def snug(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale that ends near its least and greatest value."""
    round_ = linear(values, start, end)
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    margin = (max(finite) - min(finite)) / 50
    if not margin:
        return round_
    return Scale(max(round_.low, min(finite) - margin), min(round_.high, max(finite) + margin), start, end)


def share(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale of shares that ends at 1."""
    least = min((value for value in values if math.isfinite(value)), default=0.0)
    return Scale(math.floor(min(least, 0.9) * 10 + 1e-9) / 10, 1.0, start, end)


def positive(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale of values that are 0 or more: logarithmic where they span decades; 0 is then shown at its lower end."""
    finite = [value for value in values if math.isfinite(value)]
    above = [value for value in finite if value > 0]
    if above and math.log10(max(above) / min(above)) > _DECADES:
        low = 10.0 ** math.floor(math.log10(max(min(above), max(above) * 1e-6)))
        return Scale(low, 10.0 ** math.ceil(math.log10(max(above))), start, end, logarithmic=True)
    return linear([0.0, *finite], start, end)


def number(value: float) -> str:
    """A value of a tick: short, a true minus."""
    if value and not 1e-3 <= abs(value) < 1e5:
        mantissa, _, power = f"{value:.2e}".partition("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
    else:
        text = f"{value:.6g}"
    return text.replace("-", "−")


def _step(least: float) -> float:
    """The next round number."""
    unit = 10.0 ** math.floor(math.log10(least))
    return next(factor * unit for factor in _STEPS if factor * unit >= least * (1 - 1e-9))
