"""Terms and comparisons over sets of reals: their values and truth upward, and from a truth down to the numbers.

A term is one of::

    ("number", name, (argument, ...))     ("constant", value)
    ("add", t, t)  "subtract"  "multiply"  "divide"  "power"      ("negate", t)  "abs"  "sqrt"
    ("nau", weights, (t, ...))  "nmu"  "realnpu"

``read`` gives the set that a number may be in, ``send`` takes what is left of it: once for each occurrence, since every
occurrence is treated as a number of its own. Where each number occurs once, that loses nothing.
With ``closed``, ends that are only approached count as reached, as they do in an engine of closed intervals.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from .neurons import BELOW_ONE, TOL, Empty
from .program import Box, subterms
from .reals import (
    ALL,
    INF,
    Piece,
    Reals,
    absolute,
    add,
    base_of,
    between,
    closure,
    divide,
    dividend,
    divisor,
    exponent_of,
    exponential,
    factor,
    hull,
    intersect,
    multiply,
    negate,
    power,
    root,
    same,
    subtract,
    union,
    without,
)

ROUNDING = 1e-12  # of a soft truth, which its inverse magnifies
LEAST = sys.float_info.min  # a truth that is not 0 has an upper end that is no less
CRISP = 700.0  # logarithms of odds so great count as truth

Term = tuple[Any, ...]
Read = Callable[[Term], Reals]
Send = Callable[[Term, Reals], None]


def plain(term: Term) -> Term:
    """A unit with fixed weights as the arithmetic that it is: sums, products and powers of two operands."""
    if term[0] not in ("nau", "nmu", "realnpu"):
        return term
    parts = [_weighted(term[0], weight, part) for weight, part in zip(term[1], term[2], strict=True)]
    folded = parts[0]
    for part in parts[1:]:
        folded = ("add" if term[0] == "nau" else "multiply", folded, part)
    return folded


def _weighted(unit: str, weight: float, part: Term) -> Term:
    """``w x``, ``w x + 1 - w``, ``x ^ w``; a weight of 0 leaves the operand out, whether it has a value or not."""
    if unit == "realnpu":
        return ("power", part, ("constant", weight)) if weight else ("constant", 1.0)
    scaled = ("multiply", ("constant", weight), part) if weight else ("constant", 0.0)
    return scaled if unit == "nau" else ("add", scaled, ("constant", 1.0 - weight))


def values(term: Term, read: Read, closed: bool = False) -> Reals:
    """The set of the term's values; empty where it has none."""
    term = plain(term)
    match term[0]:
        case "number":
            return read(term)
        case "constant":
            return between(float(term[1]), float(term[1]))
    found = _combined(term[0], [values(part, read, closed) for part in subterms(term)])
    return closure(found) if closed else found


def _combined(kind: str, below: list[Reals]) -> Reals:
    match kind:
        case "add":
            return add(*below)
        case "subtract":
            return subtract(*below)
        case "multiply":
            return multiply(*below)
        case "divide":
            return divide(*below)
        case "negate":
            return negate(*below)
        case "abs":
            return absolute(*below)
        case "sqrt":
            return root(*below)
        case "power":
            return _power(*below)
    raise ValueError(kind)


def _point(a: Reals) -> float | None:
    return a[0].low if len(a) == 1 and a[0].low == a[0].high else None


def _power(base: Reals, exponent: Reals) -> Reals:
    fixed, positive = _point(exponent), _point(base)
    if fixed is not None:
        return power(base, fixed)
    if positive is not None and positive > 0:
        return exponential(positive, exponent)
    return ALL if base and exponent else []


def push(term: Term, wanted: Reals, read: Read, send: Send, closed: bool) -> None:
    """Downward: what is left of each number if the term is in ``wanted``. Raises :class:`Empty`."""
    term = plain(term)
    wanted = closure(wanted) if closed else wanted
    if not wanted:
        raise Empty
    if term[0] == "number":
        send(term, wanted)
        return
    if term[0] == "constant":
        return
    parts = subterms(term)
    below = [values(part, read, closed) for part in parts]
    for part, left in zip(parts, _inverse(term[0], below, wanted), strict=True):
        push(part, left, read, send, closed)


def _inverse(kind: str, below: list[Reals], wanted: Reals) -> list[Reals]:
    if len(below) == 1:
        (x,) = below
        match kind:
            case "negate":
                return [intersect(x, negate(wanted))]
            case "abs":
                reached = intersect(wanted, between(0.0, INF))
                return [intersect(x, union([*reached, *negate(reached)]))]
            case "sqrt":
                return [intersect(x, power(intersect(wanted, between(0.0, INF)), 2.0))]
    x, y = below
    match kind:
        case "add":
            return [intersect(x, subtract(wanted, y)), intersect(y, subtract(wanted, x))]
        case "subtract":
            return [intersect(x, add(wanted, y)), intersect(y, subtract(x, wanted))]
        case "multiply":
            return [factor(x, y, wanted), factor(y, x, wanted)]
        case "divide":
            return [dividend(x, y, wanted), divisor(x, y, wanted)]
        case "power":
            fixed, positive = _point(y), _point(x)
            if fixed is not None:
                return [base_of(x, fixed, wanted), y]
            return [x, exponent_of(positive, y, wanted)] if positive is not None and positive > 0 else [x, y]
    raise ValueError(kind)


# --- truth ------------------------------------------------------------------------------------------------------------


def truth(operator: str, scale: float | None, weight: Any, left: Reals, right: Reals) -> Box:
    """The hull of the comparison's truth; ``[0, 1]`` where a side has no value."""
    if not left or not right:
        return 0.0, 1.0
    if operator == "<?>":
        return _register(weight, scale, left, right)
    if scale is not None:
        return _soft(operator, scale, subtract(left, right))
    true = bool(_reaching(operator, left, right))
    false = bool(_reaching(_CONTRARY[operator], left, right))
    return float(not false), float(true)


_CONTRARY = {">": "<=", "<=": ">", "<": ">=", ">=": "<", "=": "!=", "!=": "="}
_MIRROR = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "=", "!=": "!="}


def _reaching(operator: str, left: Reals, right: Reals) -> Reals:
    """The members of ``left`` that are so related to some member of ``right``."""
    match operator:
        case ">":
            least = right[0].low
            return [p for p in intersect(left, [Piece(least, INF, True, True)]) if not same(least, p.high)]
        case ">=":
            return intersect(left, [Piece(right[0].low, INF, right[0].above, True)])
        case "<" | "<=":
            return negate(_reaching(_MIRROR[operator], negate(left), negate(right)))
        case "=":
            return intersect(left, right)
        case "!=":
            only = _point(right)
            return left if only is None else without(left, only)
        case "any":
            return left
    raise ValueError(operator)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _logit(truth: float) -> float:
    """Of a truth that a sigmoid takes: 0 and 1 are read as the tolerance away from them."""
    truth = min(max(truth, TOL), 1 - TOL)
    return math.log(truth) - math.log1p(-truth)


def _soft(operator: str, scale: float, margin: Reals) -> Box:
    low, high = hull(margin)
    match operator:
        case ">" | ">=":
            return _open(_sigmoid(low / scale), _sigmoid(high / scale))
        case "<" | "<=":
            return _open(_sigmoid(-high / scale), _sigmoid(-low / scale))
    low, high = hull(absolute(margin))
    ends = _level(high / scale), _level(low / scale)
    if high == 0:
        return (1.0, 1.0) if operator == "=" else (0.0, 0.0)
    return _open(*ends) if operator == "=" else _open(1 - ends[1], 1 - ends[0])


def _open(low: float, high: float) -> Box:
    """The truths of numbers of which some are neither true nor false, though floats round them to it."""
    return min(low, BELOW_ONE), max(high, LEAST)


def _level(x: float) -> float:
    """``1 - tanh^2 x``."""
    return 0.0 if abs(x) > 350 else 1 / math.cosh(x) ** 2


def _off_level(truth: float) -> float:
    return math.asinh(math.sqrt((1 - truth) / truth))


def _register(weight: Any, scale: float | None, left: Reals, right: Reals) -> Box:
    """A Neural Status Register; unknown where it has no weights."""
    if weight is None:
        return 0.0, 1.0
    plus, zero, bias = weight

    def odds(t: float) -> float:
        return bias + plus * t + zero * (1 - 2 * t * t)

    def at(t: float) -> float:
        return _sigmoid(odds(t))

    def hard(t: float) -> float:
        return float(odds(t) > 0) if abs(odds(t)) >= CRISP else min(at(t), BELOW_ONE)

    if scale is None:
        found = [hard(t) for t, operator in _SIGNS if _reaching(operator, left, right)]
    else:
        found = []
        for low, high, _, _ in subtract(left, right):
            ends = math.tanh(low / scale), math.tanh(high / scale)
            turn = plus / (4 * zero) if zero else 2.0
            found += [at(t) for t in (*ends, *([turn] if ends[0] < turn < ends[1] else []))]
    if scale is not None:
        return _open(min(found), max(found))
    return min(found), max(found)


_SIGNS = ((1.0, ">"), (0.0, "="), (-1.0, "<"))


# --- from the truth downward ------------------------------------------------------------------------------------------


def contract(
    operator: str,
    scale: float | None,
    weight: Any,
    left: Term,
    right: Term,
    box: Box,
    read: Read,
    send: Send,
    closed: bool = False,
) -> None:
    """What is left of the numbers if the truth is in ``box``. Raises :class:`Empty` where nothing is."""
    if box[0] <= TOL and box[1] >= 1 - TOL:
        return
    a, b = values(left, read, closed), values(right, read, closed)
    if not a or not b or (operator == "<?>" and weight is None):
        return
    mirror = _MIRROR.get(operator, operator)
    push(left, _related(operator, scale, weight, a, b, box, closed), read, send, closed)
    push(right, _related(mirror, scale, _mirrored(weight), b, a, box, closed), read, send, closed)


def _mirrored(weight: Any) -> Any:
    return None if weight is None else (-weight[0], *weight[1:])


def _related(operator: str, scale: float | None, weight: Any, a: Reals, b: Reals, box: Box, closed: bool) -> Reals:
    """The members of ``a`` that with some member of ``b`` give a truth in ``box``."""
    if scale is not None or operator == "<?>":
        low, high = box  # 0 and 1 are met exactly or not at all
        box = low if low >= 1 else max(0.0, low - ROUNDING), high if high <= 0 else min(1.0, high + ROUNDING)
    if operator == "<?>":
        return _registered(weight, scale, a, b, box, closed)
    if scale is not None:
        return intersect(a, add(b, _margins(operator, scale, box)))
    wanted = [operator] * (box[1] >= 1 - TOL) + [_CONTRARY[operator]] * (box[0] <= TOL)
    return union(piece for each in wanted for piece in _reaching(_limit(each, closed), a, b))


def _limit(operator: str, closed: bool) -> str:
    """What is left of a strict relation where ends that are approached count as reached."""
    return {">": ">=", "<": "<=", "!=": "any"}.get(operator, operator) if closed else operator


def _margins(operator: str, scale: float, box: Box) -> Reals:
    """The differences whose soft truth is in ``box``; an end that says nothing asks for nothing."""
    low, high = box
    if operator in ("<", "<="):
        return negate(_margins(">", scale, box))
    if operator in (">", ">="):
        return between(-INF if low <= TOL else scale * _logit(low), INF if high >= 1 - TOL else scale * _logit(high))
    if operator == "!=":
        low, high = 1 - high, 1 - low
    near = 0.0 if high >= 1 - TOL else scale * _off_level(max(high, TOL))
    far = INF if low <= TOL else scale * _off_level(min(low, 1.0))
    return union([*between(near, far), *between(-far, -near)]) if near <= far else []


def _registered(weight: Any, scale: float | None, a: Reals, b: Reals, box: Box, closed: bool) -> Reals:
    plus, zero, bias = weight
    low = -INF if box[0] <= TOL else _logit(box[0])
    high = INF if box[1] >= 1 - TOL else _logit(box[1])
    if scale is None:
        wanted = [
            piece
            for t, operator in _SIGNS
            if low - TOL <= bias + plus * t + zero * (1 - 2 * t * t) <= high + TOL
            for piece in _reaching(_limit(operator, closed), a, b)
        ]
        return union(wanted)
    inside = intersect(_above(plus, zero, bias - low), _above(-plus, -zero, high - bias))

    def gap(t: float) -> float:
        return math.copysign(INF, t) if abs(t) >= 1 else scale * math.atanh(t)

    return intersect(a, add(b, union(piece for p in inside for piece in between(gap(p.low), gap(p.high)))))


def _above(plus: float, zero: float, rest: float) -> Reals:
    """``t`` in [-1, 1] with ``rest + plus t + zero (1 - 2 t^2) >= 0``, by the roots of the quadratic."""
    if rest == INF:
        return between(-1.0, 1.0)
    a, b, c = -2 * zero, plus, rest + zero
    if a == 0:
        roots = [-c / b] if b else []
    else:
        inner = b * b - 4 * a * c
        roots = sorted((-b + sign * math.sqrt(inner)) / (2 * a) for sign in (-1, 1)) if inner >= 0 else []
    cuts = [-1.0, *(t for t in roots if -1 < t < 1), 1.0]
    kept = []
    for low, high in pairwise(cuts):
        middle = (low + high) / 2
        if (a * middle + b) * middle + c >= 0:
            kept += between(low, high)
    kept += [piece for t in cuts if abs((a * t + b) * t + c) <= TOL for piece in between(t, t)]
    return union(kept)
