"""Neurons over boxes: the closed hull of the image upward, of the preimage downward (P2, P3; semantics 1 to 6).

Everything is scalar and follows the definitions. Write ``[L, U]`` for the node's bounds and ``[l, u]`` for an
operand's. ``L = 0`` and ``U = 1`` ask for nothing, since every value is clamped to ``[0, 1]``.

Floats are rounded, so three rules keep hulls from excluding anything. An upper end of 0 and a lower end of 1 are exact:
where rounding alone would make them, the end stays off. Any other end may be wrong by ``ROUNDING``; where that moves a
hull by more than ``STEP``, the hull of the wider boxes stands. Within the tolerance of a jump both sides are possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .program import Box

TOL = 1e-9
STEP = 1e-12  # less is rounding
ROUNDING = 8 * 2.0**-52
BELOW_ONE = 1 - 2.0**-53
INF = math.inf


class Empty(Exception):
    """No operand values give the node's bounds: the instance is contradictory."""


def enter(box: Box) -> Box:
    """Bounds as a kernel reads them: snapped to 0 and 1, clamped, uncrossed within the tolerance."""
    lower, upper = box
    lower = 0.0 if lower <= TOL else min(lower, 1.0)
    upper = 1.0 if upper >= 1.0 - TOL else max(upper, 0.0)
    return (lower, upper) if lower <= upper else (upper, lower)


def clamp(x: float) -> float:
    return min(1.0, max(0.0, x))


def complement(box: Box) -> Box:
    lower = 1.0 - box[1]
    return BELOW_ONE if lower == 1 and box[1] > 0 else lower, 1.0 - box[0]


def beyond(box: Box, image: Box) -> Box:
    """What of ``box`` does not follow from the operands, which make the neuron ``image``."""
    return box[0] if box[0] > image[0] + STEP else 0.0, box[1] if box[1] < image[1] - STEP else 1.0


def wider(box: Box) -> Box:
    """By what rounding may have done to it."""
    lower, upper = box
    return max(0.0, lower - ROUNDING) if lower < 1 else lower, min(1.0, upper + ROUNDING) if upper > 0 else upper


def steady(box: Box, loose: Box) -> Box:
    """``box``, but for ends that rounding moves."""
    lower, upper = (far if abs(near - far) > STEP else near for near, far in zip(box, loose, strict=True))
    return lower, upper


def short(lower: float, sure: bool) -> float:
    """A lower end that is a quotient or a product: it is 1 only for ``sure``."""
    return 1 - ROUNDING if 1 - ROUNDING < lower < 1 + ROUNDING and not sure else lower


def cut(sums: Sequence[float], reach: float, sure: tuple[bool, bool]) -> Box:
    """Two sums clamped; one that is on the cut, or beyond it by less than rounding, and not for ``sure``, stays off."""
    lowest, highest = sums
    lower, upper = clamp(lowest), clamp(highest)
    if 1 <= lowest < 1 + reach and not sure[0]:
        lower = 1 - reach
    if -reach < highest <= 0 and not sure[1]:
        upper = reach
    return lower, upper


def exact_sum(weights: Sequence[float], bias: float, values: Sequence[float], neutral: Sequence[float]) -> bool:
    """Whether no float is rounded in the weighted sum: its numbers are multiples of 1/1024. An operand does not count
    that is absent, or at the value with which it adds nothing."""

    def even(number: float) -> bool:
        return number * 1024 % 1 == 0

    parts = zip(weights, values, neutral, strict=True)
    return even(bias) and all(w == 0 or x == nothing or (even(w) and even(x)) for w, x, nothing in parts)


def narrowed(box: Box, lower: float, upper: float) -> Box:
    """``box`` met with ``[lower, upper]``, which is known to meet it up to rounding: an end never leaves the box."""
    low = min(max(box[0], lower), box[1])
    high = max(min(box[1], upper), box[0])
    return (low, high) if low <= high else (high, low)


def hull(first: Box | None, second: Box | None) -> Box | None:
    if first is None or second is None:
        return first or second
    return min(first[0], second[0]), max(first[1], second[1])


# --- upward -----------------------------------------------------------------------------------------------------------


def upward(kind: str, logic: str, weights: Sequence[float], bias: float, boxes: Sequence[Box]) -> Box:
    """The hull of the neuron's values over the operands' box."""
    boxes = [enter(box) for box in boxes]
    match kind:
        case "and":
            return _AND_UPWARD[logic](weights, bias, boxes)
        case "or":
            return complement(upward("and", logic, weights, bias, [complement(box) for box in boxes]))
        case "implies":
            return _IMPLIES_UPWARD[logic](weights, bias, *boxes)
        case "iff":
            return _IFF_UPWARD[logic](weights, bias, *boxes)
        case "xor":
            return complement(_IFF_UPWARD[logic](weights, bias, *boxes))
    raise ValueError(kind)


def _and_upward_lukasiewicz(weights: Sequence[float], bias: float, boxes: Sequence[Box]) -> Box:
    ends, ones = list(zip(*boxes, strict=True)), [1.0] * len(boxes)
    sums = [bias - sum(w * (1 - x) for w, x in zip(weights, end, strict=True)) for end in ends]
    sure = exact_sum(weights, bias, ends[0], ones), exact_sum(weights, bias, ends[1], ones)
    return cut(sums, _reach(weights, bias), sure)


def _reach(weights: Sequence[float], bias: float) -> float:
    return ROUNDING * (1 + bias + sum(weights))


def _and_upward_product(weights: Sequence[float], bias: float, boxes: Sequence[Box]) -> Box:
    def value(end: int, boxes: Sequence[Box]) -> float:
        return math.exp(bias - 1) * math.prod(box[end] ** w for w, box in zip(weights, boxes, strict=True))

    def image(boxes: Sequence[Box]) -> Box:
        lower, upper = clamp(value(0, boxes)), clamp(value(1, boxes))
        lost = any(w > 0 and box[0] < 1 for w, box in zip(weights, boxes, strict=True))
        if lost if bias == 1 else value(0, boxes) < 1 + ROUNDING * (1 + abs(bias - 1)):
            lower = min(lower, BELOW_ONE)
        if all(w == 0 or box[1] > 0 for w, box in zip(weights, boxes, strict=True)):
            upper = max(upper, math.exp(-700))
        return lower, upper

    return steady(image(boxes), image([wider(box) for box in boxes]))


def _and_upward_godel(weights: Sequence[float], bias: float, boxes: Sequence[Box]) -> Box:
    parts = [_Slope(bias, w, box) for w, box in zip(weights, boxes, strict=True)]
    return min(part.low for part in parts), min(part.high for part in parts)


def _implies_upward_lukasiewicz(weights: Sequence[float], bias: float, x: Box, y: Box) -> Box:
    """Falls with ``x``, rises with ``y``."""
    wx, wy = weights
    pairs = (x[1], y[0]), (x[0], y[1])
    sums = [1 - bias + wx * (1 - p) + wy * q for p, q in pairs]
    sure = exact_sum(weights, bias, pairs[0], (1, 0)), exact_sum(weights, bias, pairs[1], (1, 0))
    return cut(sums, _reach(weights, bias), sure)


def _implies_upward_product(weights: Sequence[float], bias: float, x: Box, y: Box) -> Box:
    """Semantics 2."""
    wx, wy = weights

    def value(p: float, q: float) -> float:
        n, d = math.exp(1 - bias) * q**wy, p**wx
        return 1.0 if n >= d else n / d

    def image(x: Box, y: Box) -> Box:
        sure = (wx > 0 and x[1] == 0) or (bias == 1 and (wy == 0 or y[0] == 1))
        return short(value(x[1], y[0]), sure), value(x[0], y[1])

    return steady(image(x, y), image(wider(x), wider(y)))


def _implies_upward_godel(weights: Sequence[float], bias: float, x: Box, y: Box) -> Box:
    """Semantics 3."""
    a, b = _Slope(bias, weights[0], x), _Slope(1.0, weights[1], y)
    falls = clamp(b.low + 1 - bias), clamp(b.high + 1 - bias)
    return 1.0 if a.high < b.low - TOL or _never_above(a, b) else falls[0], 1.0 if a.low <= b.high + TOL else falls[1]


def _never_above(a: _Slope, b: _Slope) -> bool:
    """Whether ``A <= B`` whatever the rounding."""
    return a.high <= 0 or b.low >= 1


def _iff_upward_lukasiewicz(weights: Sequence[float], bias: float, x: Box, y: Box) -> Box:
    """``min(f, C - f)`` with ``f = 1 - b + wx (1 - x) + wy y``: its crest, if any, is ``C / 2``."""
    forth = _implies_upward_lukasiewicz(weights, bias, x, y)
    back = _implies_upward_lukasiewicz(weights[::-1], bias, y, x)
    return min(forth[0], back[0]), min(forth[1], back[1], clamp(1 - bias + sum(weights) / 2))


def _iff_upward_product(weights: Sequence[float], bias: float, x: Box, y: Box) -> Box:
    """The lesser of ``a`` and ``c`` over the greater, with ``a = x^wx`` and ``c = y^wy``; 1 where they are equal."""

    def ratio(p: float, q: float) -> float:
        return 1.0 if p == q else min(p, q) / max(p, q)

    def image(x: Box, y: Box) -> Box:
        a, c = [(box[0] ** w, box[1] ** w) for w, box in zip(weights, (x, y), strict=True)]
        overlap = max(a[0], c[0]) <= min(a[1], c[1])
        upper = 1.0 if overlap else ratio(a[1], c[0]) if a[1] < c[0] else ratio(c[1], a[0])
        forth = _implies_upward_product(weights, 1.0, x, y)
        return min(forth[0], _implies_upward_product(weights[::-1], 1.0, y, x)[0]), upper

    return steady(image(x, y), image(wider(x), wider(y)))


def _iff_upward_godel(weights: Sequence[float], bias: float, x: Box, y: Box) -> Box:
    """The lesser of ``A`` and ``B``, or 1 where they are equal."""
    forth = _implies_upward_godel(weights, 1.0, x, y)
    back = _implies_upward_godel(weights[::-1], 1.0, y, x)
    return min(forth[0], back[0]), min(forth[1], back[1])


_AND_UPWARD = {"lukasiewicz": _and_upward_lukasiewicz, "product": _and_upward_product, "godel": _and_upward_godel}
_IMPLIES_UPWARD = {
    "lukasiewicz": _implies_upward_lukasiewicz,
    "product": _implies_upward_product,
    "godel": _implies_upward_godel,
}
_IFF_UPWARD = {"lukasiewicz": _iff_upward_lukasiewicz, "product": _iff_upward_product, "godel": _iff_upward_godel}


# --- downward ---------------------------------------------------------------------------------------------------------


def downward(
    kind: str, logic: str, weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]
) -> list[Box]:
    """For each operand the hull of the values in its box that can still give a value in ``node``."""
    node, boxes = enter(node), [enter(box) for box in boxes]
    match kind:
        case "and" | "implies" | "iff" if logic == "product":
            return _steadily(_PRODUCT_DOWN[kind], weights, bias, node, boxes)
        case "and":
            return _AND_DOWN[logic](weights, bias, node, boxes)
        case "or":
            flipped = downward("and", logic, weights, bias, complement(node), [complement(box) for box in boxes])
            return [complement(box) for box in flipped]
        case "implies":
            return _IMPLIES_DOWN[logic](weights, bias, node, boxes)
        case "iff":
            return _IFF_DOWN[logic](weights, bias, node, boxes)
        case "xor":
            return downward("iff", logic, weights, bias, complement(node), boxes)
    raise ValueError(kind)


_Down = Callable[[Sequence[float], float, Box, Sequence[Box]], list[Box]]


def _steadily(down: _Down, weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]) -> list[Box]:
    """Quotients and roots of small truths magnify rounding. Empty only where that cannot be why."""
    loose = down(weights, bias, wider(node), [wider(box) for box in boxes])
    loose = [narrowed(box, *found) for box, found in zip(boxes, loose, strict=True)]
    try:
        found = down(weights, bias, node, boxes)
    except Empty:
        return loose
    return [steady(near, far) for near, far in zip(found, loose, strict=True)]


def linear_hull(
    weights: Sequence[float], bias: float, neutral: Sequence[float], boxes: Sequence[Box], low: float, high: float
) -> list[Box] | None:
    """Hull of ``{x in boxes: low <= base + sum(slopes x) <= high}``; None if that is empty. What the neuron adds for an
    operand at its ``neutral`` value is 0: it falls short of 1 - b (of ``b``, where all of them are 1) by the rest.

    One band and a connected box: an operand value is possible if the range that the others leave meets the band.
    """
    conjunction = all(neutral)
    slopes = [-w if nothing and not conjunction else w for w, nothing in zip(weights, neutral, strict=True)]
    base = (bias if conjunction else 1 - bias) - sum(s * x for s, x in zip(slopes, neutral, strict=True))
    least = [min(s * box[0], s * box[1]) for s, box in zip(slopes, boxes, strict=True)]
    most = [max(s * box[0], s * box[1]) for s, box in zip(slopes, boxes, strict=True)]
    if low > high + TOL or base + sum(most) < low - TOL or base + sum(least) > high + TOL:
        return None

    def end(i: int, limit: float, extremes: list[float], side: int) -> float:
        found = (limit - base - sum(m for j, m in enumerate(extremes) if j != i)) / slopes[i]
        stop = float((side == 0) == (slopes[i] > 0))  # of a lower end 1, of an upper end 0
        ends = [box[side if s < 0 else 1 - side] for s, box in zip(slopes, boxes, strict=True)]
        reach = _reach((1.0, *weights), bias)
        if abs(found - stop) < reach and not exact_sum((1.0, *weights), bias, (limit, *ends), (0.0, *neutral)):
            return stop + (reach if stop == 0 else -reach)
        return found

    result = []
    for i, (s, box) in enumerate(zip(slopes, boxes, strict=True)):
        if s == 0:
            result.append(box)
            continue
        ends = [
            end(i, low, most, 0) if low > -INF else -INF / s,
            end(i, high, least, 1) if high < INF else INF / s,
        ]
        result.append(narrowed(box, min(ends), max(ends)))
    return result


def _band(node: Box) -> Box:
    """Where the value before clamping must lie."""
    return -INF if node[0] <= 0 else node[0], INF if node[1] >= 1 else node[1]


def _need(boxes: list[Box] | None) -> list[Box]:
    if boxes is None:
        raise Empty
    return boxes


def _and_down_lukasiewicz(weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]) -> list[Box]:
    return _need(linear_hull(weights, bias, [1.0] * len(boxes), boxes, *_band(node)))


def _and_down_product(weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]) -> list[Box]:
    """``p = e^(b-1) prod x_i^w_i`` in ``[L, U]``: divide by what the others give at their best and at their worst."""
    scale = math.exp(bias - 1)

    def value(end: int, without: int = -1) -> float:
        return scale * math.prod(
            box[end] ** w for i, (w, box) in enumerate(zip(weights, boxes, strict=True)) if i != without
        )

    low, high = node
    if (low > 0 and value(1) < low - TOL) or (high < 1 and value(0) > high + TOL):
        raise Empty
    result = []
    for i, (w, box) in enumerate(zip(weights, boxes, strict=True)):
        lower, upper = 0.0, 1.0
        if w > 0 and low > 0:
            lower = short(min(1.0, low / value(1, i)) ** (1 / w), low == 1 and bias == 1)
        if w > 0 and high < 1 and value(0, i) > high:  # otherwise the others alone keep the product low enough
            upper = (high / value(0, i)) ** (1 / w)
        result.append(narrowed(box, lower, upper))
    return result


def _and_down_godel(weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]) -> list[Box]:
    """``min_i(b - w_i (1 - x_i))``: each part is at least ``L``; if all others exceed ``U``, this one must not."""
    low, high = node
    present = [i for i, w in enumerate(weights) if w > 0]
    least = {i: bias - weights[i] * (1 - boxes[i][0]) for i in present}
    most = {i: bias - weights[i] * (1 - boxes[i][1]) for i in present}
    if low > 0 and min([bias, *most.values()]) < low - TOL:
        raise Empty
    if high < 1 and min([bias, *least.values()]) > high + TOL:
        raise Empty
    result = list(boxes)
    for i in present:
        lower = 1 - (bias - low) / weights[i] if low > 0 else 0.0
        last = high < 1 and bias > high + TOL and all(least[j] > high + TOL for j in present if j != i)
        upper = 1 - (bias - high) / weights[i] if last else 1.0
        result[i] = narrowed(boxes[i], lower, upper)
    return result


def _implies_down_lukasiewicz(weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]) -> list[Box]:
    return _need(linear_hull(weights, bias, (1.0, 0.0), boxes, *_band(node)))


def _quotient(n: Box, d: Box, node: Box) -> tuple[Box, Box] | None:
    """Hull of the pairs with ``N >= L D`` (if ``L > 0``) and ``N <= U D, D > 0`` (if ``U < 1``)."""
    low, high = node
    if high < 1 and (d[1] <= 0 or (low > 0 and n[1] <= 0) or n[0] > high * d[1] + TOL):
        return None
    if low > 0 and n[1] < low * d[0] - TOL:
        return None
    n_low, d_low, n_high, d_high = n[0], d[0], n[1], d[1]
    if low > 0:
        n_low, d_high = max(n_low, low * d[0]), min(d_high, n[1] / low)
    if high < 1:
        n_high = min(n_high, high * d[1])
        if high > 0:
            d_low = max(d_low, n[0] / high)
    return (n_low, n_high), (d_low, d_high)


def _root(box: Box, weight: float, image: Box, wanted: Box, sure: bool, scale: float = 1.0) -> Box:
    """Back from ``scale x^w`` in ``wanted`` to ``x`` in ``box``; ends that did not move stay exactly as they were. For
    ``sure``, a lower end of 1 is no rounding."""
    if weight == 0:
        return box
    lower = short((max(0.0, wanted[0]) / scale) ** (1 / weight), sure) if wanted[0] > image[0] else box[0]
    upper = (max(0.0, wanted[1]) / scale) ** (1 / weight) if wanted[1] < image[1] else box[1]
    return narrowed(box, lower, upper)


def _implies_down_product(weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]) -> list[Box]:
    (wx, wy), (x, y), scale = weights, boxes, math.exp(1 - bias)
    n, d = (scale * y[0] ** wy, scale * y[1] ** wy), (x[0] ** wx, x[1] ** wx)
    found = _quotient(n, d, node)
    if found is None:
        raise Empty
    sure = node[0] == 1 and d[0] == 1 and bias == 1
    return [_root(x, wx, d, found[1], sure), _root(y, wy, n, found[0], sure, scale)]


class _Slope:
    """``T(x) = clamp(k - w (1 - x))`` over a box, and back. A flat piece of ``T`` is whole within the tolerance."""

    def __init__(self, constant: float, weight: float, box: Box) -> None:
        self.constant, self.weight, self.box = constant, weight, box
        if weight == constant == 1:
            self.low, self.high = box
            return
        sums = [constant - weight * (1 - x) for x in box]
        sure = exact_sum((weight,), constant, box[:1], (1,)), exact_sum((weight,), constant, box[1:], (1,))
        self.low, self.high = cut(sums, _reach((weight,), constant), sure)

    def _inverse(self, t: float) -> float:
        return min(max(1 - (self.constant - t) / self.weight, self.box[0]), self.box[1])

    def at_least(self, t: float) -> float:
        """The least ``x`` with ``T(x) >= t``, which some ``x`` meets."""
        return self.box[0] if t <= self.low + TOL or self.weight == 0 else self._inverse(t)

    def above(self, t: float) -> float:
        """The infimum of ``T(x) > t``, which some ``x`` meets."""
        return self.box[0] if self.low > t + TOL or self.weight == 0 else self._inverse(t)

    def at_most(self, t: float) -> float:
        """The greatest ``x`` with ``T(x) <= t``, which some ``x`` meets."""
        return self.box[1] if t >= self.high - TOL or self.weight == 0 else self._inverse(t)


def _above(a: _Slope, b: _Slope, bias: float, node: Box) -> tuple[Box, Box] | None:
    """Hull of ``{A > B, clamp(B + 1 - b) in [L, U]}``, the second piece of a Goedel implication."""
    low, high = node
    b_low = max(b.low, low + bias - 1) if low > 0 else b.low
    b_high = min(b.high, high + bias - 1) if high < 1 else b.high
    # where it may also hold (U = 1), a tie adds nothing
    if b_low > b_high + TOL or _never_above(a, b) or (a.high < b_low - TOL if high < 1 else a.high <= b_low):
        return None
    return (a.above(b_low), a.box[1]), (b.at_least(b_low), b.at_most(min(b_high, a.high)))


def _pair_hull(first: tuple[Box, Box] | None, second: tuple[Box, Box] | None) -> tuple[Box, Box] | None:
    if first is None or second is None:
        return first or second
    return hull(first[0], second[0]), hull(first[1], second[1])  # type: ignore[return-value]


def _implies_down_godel(weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]) -> list[Box]:
    a, b = _Slope(bias, weights[0], boxes[0]), _Slope(1.0, weights[1], boxes[1])
    found = _above(a, b, bias, node)
    if node[1] >= 1 and a.low <= b.high + TOL:  # {A <= B}
        found = _pair_hull(found, ((a.box[0], a.at_most(b.high)), (b.at_least(a.low), b.box[1])))
    if found is None:
        raise Empty
    return [narrowed(box, *part) for box, part in zip(boxes, found, strict=True)]


def _iff_down_lukasiewicz(weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]) -> list[Box]:
    """``f`` in ``[L, U]`` or in ``[C - U, C - L]``, and never outside ``[L, C - L]``."""
    wx, wy = weights
    total = 2 - 2 * bias + wx + wy
    low, high = _band(node)
    bands = [(low, min(high, total - low)), (max(low, total - high), total - low)]
    found = [linear_hull(weights, bias, (1.0, 0.0), boxes, *band) for band in bands]
    if found[0] is None or found[1] is None:
        return _need(found[0] or found[1])
    return [hull(p, q) or p for p, q in zip(found[0], found[1], strict=True)]


def _iff_down_product(weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]) -> list[Box]:
    """``c / a`` in ``[L, U]`` with ``a > 0``, or ``a / c`` with ``c > 0``; if ``U = 1``, both ratios at least ``L``."""
    (x, y), (wx, wy) = boxes, weights
    a, c = (x[0] ** wx, x[1] ** wx), (y[0] ** wy, y[1] ** wy)
    low, high = node
    if high >= 1:
        if low > 0 and (c[1] < low * a[0] - TOL or a[1] < low * c[0] - TOL):
            raise Empty
        new = (a, c)
        if low > 0:
            new = ((max(a[0], low * c[0]), min(a[1], c[1] / low)), (max(c[0], low * a[0]), min(c[1], a[1] / low)))
    else:
        flipped = _quotient(a, c, node)  # a / c
        found = _pair_hull(_quotient(c, a, node), flipped and (flipped[1], flipped[0]))
        if found is None:
            raise Empty
        new = (found[1], found[0])
    return [_root(x, wx, a, new[0], low == c[0] == 1), _root(y, wy, c, new[1], low == a[0] == 1)]


def _iff_down_godel(weights: Sequence[float], bias: float, node: Box, boxes: Sequence[Box]) -> list[Box]:
    """``A > B`` with ``B`` in ``[L, U]``, or the other way round, or ``A = B`` if ``U = 1``."""
    a, b = _Slope(1.0, weights[0], boxes[0]), _Slope(1.0, weights[1], boxes[1])
    flipped = _above(b, a, 1.0, node)
    found = _pair_hull(_above(a, b, 1.0, node), flipped and (flipped[1], flipped[0]))
    low, high = max(a.low, b.low), min(a.high, b.high)
    if node[1] >= 1 and low <= high + TOL:
        equal = (a.at_least(low), a.at_most(high)), (b.at_least(low), b.at_most(high))
        found = _pair_hull(found, equal)
    if found is None:
        raise Empty
    return [narrowed(box, *part) for box, part in zip(boxes, found, strict=True)]


_AND_DOWN = {"lukasiewicz": _and_down_lukasiewicz, "godel": _and_down_godel}
_IMPLIES_DOWN = {"lukasiewicz": _implies_down_lukasiewicz, "godel": _implies_down_godel}
_IFF_DOWN = {"lukasiewicz": _iff_down_lukasiewicz, "godel": _iff_down_godel}
_PRODUCT_DOWN = {"and": _and_down_product, "implies": _implies_down_product, "iff": _iff_down_product}


# --- quantifiers ------------------------------------------------------------------------------------------------------


def quantify(kind: str, rows: Sequence[Box], unnamed: Sequence[Box]) -> Box:
    """``forall`` is min, ``exists`` max over the rows, those about unnamed individuals among them.

    An open sort *may* hold more entities: such a row can only keep a ``forall`` from being true and an ``exists`` from
    being false, so its other end is neutral.
    """
    rows = [enter(row) for row in (*rows, *(_optional(kind, row) for row in unnamed))]
    if kind == "exists":
        return max((row[0] for row in rows), default=0.0), max((row[1] for row in rows), default=0.0)
    return min((row[0] for row in rows), default=1.0), min((row[1] for row in rows), default=1.0)


def _optional(kind: str, row: Box) -> Box:
    return (0.0, row[1]) if kind == "exists" else (row[0], 1.0)


def quantify_down(kind: str, node: Box, rows: Sequence[Box], unnamed: Sequence[Box]) -> list[Box]:
    """All rows of a true ``forall``, the last candidate of a false one; ``exists`` dually.

    The rows about unnamed individuals count as candidates and receive nothing.
    """
    if kind == "exists":
        flipped = quantify_down(
            "forall", complement(node), [complement(row) for row in rows], [complement(row) for row in unnamed]
        )
        return [complement(row) for row in flipped]
    (low, high), rows = enter(node), [enter(row) for row in rows]
    others = [*rows, *(enter(_optional(kind, row)) for row in unnamed)]
    if any(row[1] < low - TOL for row in others) or (high < 1 and all(row[0] > high + TOL for row in others)):
        raise Empty
    result = []
    for i, row in enumerate(rows):
        last = high < 1 and all(other[0] > high + TOL for j, other in enumerate(others) if j != i)
        result.append(narrowed(row, low, high if last else 1.0))
    return result
