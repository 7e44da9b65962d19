"""Relations with a scale: truth as a smooth function of ``x = d / s`` that is monotone on each of its branches.

The learned relation is the sigmoid of a quadratic in ``t = tanh x``: ``z = b + w0 + w+ t - 2 w0 t^2``, which has its
extremum at ``t = w+ / (4 w0)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from lnnkit import arrays
from lnnkit.arrays import Array, any_set, clamp, detached, take, where_set
from lnnkit.elementwise import atanh, cosh, logit, sigmoid
from lnnkit.numeric.crisp import LEAST, MOST, TOLERANCE, Comparator, Fixed, Learned, Sign
from lnnkit.numeric.interval import ROUNDING, Interval, Pieces, joined
from lnnkit.numeric.rounded_off import Errors, widened

TRUTH_ROUNDING = 1e-12  # tolerance of a truth
_FELT = 1e-10  # in units of the scale: a difference with a greater error is widened by that error

TruthCurve = Callable[[Array], Array]


class Branch(NamedTuple):
    """The truth between two values of ``x`` where it is monotone; ``inverse`` maps truths back to ``x``. With
    ``reached`` it is 0 or 1 at ``x = 0``, and nowhere else."""

    start: float
    stop: float
    truth: TruthCurve
    inverse: TruthCurve
    reached: bool = False


def image(relation: Comparator, difference: Pieces) -> Interval:
    """The hull of the truths for the differences in a union; ``inf, -inf`` if it is empty. A truth far out is neither 0
    nor 1, though it rounds to one of them: there its lower end is the float below 1, its upper end `LEAST`."""
    low, high = difference.lower / relation.scale, difference.upper / relation.scale
    lower, upper = arrays.full_like(low[0], math.inf), arrays.full_like(low[0], -math.inf)
    for branch in _branches(relation):
        start, stop = clamp(low, least=branch.start), clamp(high, most=branch.stop)
        none = start > stop
        first, last = branch.truth(start), branch.truth(stop)
        least, most = arrays.minimum(first, last), arrays.maximum(first, last)
        ends = clamp(least, most=MOST), clamp(most, least=LEAST)
        if branch.reached:  # An exact 0 gives an exact truth.
            zero = (difference.lower == 0) & (difference.upper == 0)
            ends = arrays.where(zero, least, ends[0]), arrays.where(zero, most, ends[1])
        least, most = ends
        lower = arrays.minimum(lower, arrays.least(arrays.where(none, math.inf, least), 0))
        upper = arrays.maximum(upper, arrays.most(arrays.where(none, -math.inf, most), 0))
    return Interval(lower, upper)


def let_out(relation: Comparator, difference: Pieces, magnitude: Array, errors: Callable[[Array], Errors]) -> Pieces:
    """A difference widened by the ``errors`` of its ends in some rows, where they matter within the scale, or where it
    is 0, which makes an equality true and an inequality false. Errors are at most about ``ROUNDING`` times the
    ``magnitude`` of a row."""
    jumps = isinstance(relation, Fixed) and relation.sign in ("=", "!=")
    felt = magnitude > _FELT / ROUNDING * relation.scale
    if jumps:
        felt = felt | ((difference.lower == 0) | (difference.upper == 0)).any(0)
    rows = where_set(arrays.broadcast_to(felt, (difference.lower.shape[1],)))
    if not len(rows):
        return difference
    margins = []
    for end, error in zip(difference[:2], errors(rows), strict=True):
        here = error > _FELT * relation.scale
        if jumps:
            here = here | (take(detached(end), rows) == 0)
        margins.append(arrays.where(here, error, 0.0))
    return widened(difference, rows, *margins)


def preimage(relation: Comparator, bounds: Interval) -> Pieces:
    """The differences that give a truth in ``bounds``, within the tolerance. A truth of 0 or 1 that is approached but
    never reached counts as reached at a distance of the tolerance. Bounds other than 0 and 1 (which hold exactly or not
    at all) are widened by their rounding error, which grows on the way back."""
    low, high = bounds
    if isinstance(relation, Fixed) and relation.sign == "!=":
        # Near 1 the floats are too sparse to determine the difference.
        relation, (low, high) = relation._replace(sign="="), (1 - high, 1 - low)
        low = arrays.where(bounds.upper > 0, clamp(low, most=MOST), low)
    lower = arrays.where(low >= 1, low, arrays.where(low > TOLERANCE, low - TRUTH_ROUNDING, 0.0))
    upper = arrays.where(high <= 0, high, arrays.where(high < 1 - TOLERANCE, high + TRUTH_ROUNDING, 1.0))
    return joined([_preimage(branch, lower, upper, relation.scale) for branch in _branches(relation)])


def _preimage(branch: Branch, lower: Array, upper: Array, scale: float) -> Pieces:
    first, last = branch.truth(np.array([branch.start, branch.stop])).tolist()
    rises = first <= last
    least, most = (first, last) if rises else (last, first)
    bottom, top = (branch.start, branch.stop) if rises else (branch.stop, branch.start)
    none = (lower > most + TOLERANCE) | (upper < least - TOLERANCE)
    flat = most - least <= 2 * TOLERANCE
    highest = most - (TOLERANCE if most >= 1 else TRUTH_ROUNDING) if math.isinf(top) else most
    lowest = least + (TOLERANCE if least <= 0 else TRUTH_ROUNDING) if math.isinf(bottom) else least
    if not branch.reached:  # A truth that rounds to 0 or 1 does not determine the difference.
        lowest, highest = max(lowest, TOLERANCE), min(highest, 1 - TOLERANCE)
    low, high = arrays.full_like(lower, bottom), arrays.full_like(upper, top)
    if not flat:
        low = arrays.where(lower > least, branch.inverse(clamp(lower, lowest, highest)), low)
        high = arrays.where(upper < most, branch.inverse(clamp(upper, lowest, highest)), high)
    start, stop = (low, high) if rises else (high, low)
    start, stop = clamp(start, branch.start, branch.stop), clamp(stop, branch.start, branch.stop)
    least, most = arrays.where(none, math.inf, start * scale), arrays.where(none, -math.inf, stop * scale)
    return Pieces(least[None], most[None], whole=not any_set(none))


def _branches(relation: Comparator) -> Sequence[Branch]:
    return _register(relation) if isinstance(relation, Learned) else _FIXED[relation.sign]


def _bump(x: Array) -> Array:
    """``1 - tanh^2 x``, without cancellation for large ``x``."""
    return 1 / arrays.square(cosh(x))


def _off_bump(truth: Array) -> Array:
    return arrays.asinh(arrays.sqrt((1 - truth) / truth))


def _mirrored(branch: Branch) -> Branch:
    """The branch over ``-x``."""
    start, stop, truth, inverse, reached = branch
    return Branch(-stop, -start, lambda x: truth(-x), lambda value: -inverse(value), reached)


_RISING = Branch(-math.inf, math.inf, sigmoid, logit)
_BUMP = Branch(0.0, math.inf, _bump, _off_bump, reached=True)
_DENT = _BUMP._replace(truth=lambda x: arrays.square(arrays.tanh(x)), inverse=lambda truth: _off_bump(1 - truth))
_UP, _DOWN = (_RISING,), (_mirrored(_RISING),)
_FIXED: dict[Sign, tuple[Branch, ...]] = {">": _UP, ">=": _UP, "<": _DOWN, "<=": _DOWN}
_FIXED |= {"=": (_mirrored(_BUMP), _BUMP), "!=": (_mirrored(_DENT), _DENT)}


def _register(relation: Learned) -> Sequence[Branch]:
    """The branches of a learned relation, on each of which its truth is monotone in the difference."""
    plus, zero, constant = relation.weight_plus, relation.weight_zero, relation.bias + relation.weight_zero

    def truth(x: Array) -> Array:
        t = arrays.tanh(x)
        return sigmoid(constant + plus * t - 2 * zero * arrays.square(t))

    def only(value: Array) -> Array:
        """The root of the smaller magnitude, for a quadratic whose extremum is outside."""
        level = logit(value) - constant
        spread = arrays.sqrt(clamp(plus**2 - 8 * zero * level, least=0.0))
        return _from_bit(2 * level / (plus + math.copysign(1.0, plus) * spread))

    if abs(plus) >= 4 * abs(zero):
        return (Branch(-math.inf, math.inf, truth, only),)
    turn = plus / (4 * zero)
    peak = constant + plus * turn / 2

    def side(sign: float) -> TruthCurve:
        return lambda value: _from_bit(turn + sign * arrays.sqrt(clamp((peak - logit(value)) / (2 * zero), least=0.0)))

    at = math.atanh(turn)
    return Branch(-math.inf, at, truth, side(-1.0)), Branch(at, math.inf, truth, side(1.0))


def _from_bit(t: Array) -> Array:
    return atanh(clamp(t, -1.0, 1.0))
