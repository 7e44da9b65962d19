"""Truth bounds as arrays, the inputs and outputs of every logic.

A row is one instance of a neuron, so an operand is a pair of arrays of shape ``[n]``. The tolerance: a lower bound of
at most ``tol``, or an upper bound of at least ``1 - tol``, carries no information.

A lower end of 1 and an upper end of 0 are exact: rounding never produces them (`complement` and the kernels round
outward there), so connectives that jump or are steep at 0 and 1 can rely on them. Any other end may be off by
`rounding`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from lnnkit.arrays import Array, any_set, clamp, namespace


class Bounds(NamedTuple):
    """Lower and upper ends of the same shape, one entry for each row."""

    lower: Array
    upper: Array


class Inverse(NamedTuple):
    """The operands of a neuron, narrowed by its bounds.

    ``operands`` has for each operand the closed hull of the values that it can still take, within its own box.
    ``empty`` marks rows where no values are consistent with the node's bounds (by more than the tolerance); there the
    boxes are returned unchanged.
    """

    operands: tuple[Bounds, ...]
    empty: Array


class DType(Protocol):
    """An element type of numpy or torch."""

    @property
    def itemsize(self) -> int: ...


def epsilon(dtype: DType) -> float:
    """The distance from 1 to the next float."""
    return 2.0**-52 if dtype.itemsize == 8 else 2.0**-23


def tolerance(dtype: DType) -> float:
    """The distance up to which two truth values count as equal: 1e-9 in double precision, 1e-5 in single."""
    return 1e-9 if dtype.itemsize == 8 else 1e-5


def noise(dtype: DType) -> float:
    """The gain up to which a bound counts as unchanged, since it may be rounding: 1e-12 in double precision, 1e-6 in
    single."""
    return 1e-12 if dtype.itemsize == 8 else 1e-6


def rounding(dtype: DType) -> float:
    """How far the rounding of a few operations may have moved an end that is neither 0 nor 1."""
    return 8 * epsilon(dtype)


def below_one(dtype: DType) -> float:
    """The greatest float below 1."""
    return 1 - epsilon(dtype) / 2


def enter(bounds: Bounds) -> Bounds:
    """Bounds as a neuron reads them: within ``[0, 1]``, in order, and with ends inside the tolerance set to 0 or 1."""
    return ordered(enter_lower(bounds.lower), enter_upper(bounds.upper))


def enter_lower(lower: Array) -> Array:
    """Lower ends as a neuron reads them, given that none exceeds its upper end."""
    return namespace(lower).where(lower > tolerance(lower.dtype), clamp(lower, None, 1.0), 0.0)


def enter_upper(upper: Array) -> Array:
    """Upper ends as a neuron reads them, given that none is below its lower end."""
    return namespace(upper).where(upper < 1 - tolerance(upper.dtype), clamp(upper, 0.0), 1.0)


def complement(bounds: Bounds) -> Bounds:
    """The bounds of the negation, ``[1 - U, 1 - L]``; the lower end is 1 only if ``U`` is 0."""
    lower = 1.0 - bounds.upper
    saturated = (bounds.upper > 0) & (lower == 1)
    return Bounds(namespace(lower).where(saturated, below_one(lower.dtype), lower), 1.0 - bounds.lower)


def nearly_complement(bounds: Bounds) -> Bounds:
    """``[1 - U, 1 - L]`` rounded to nearest, for sums that do not distinguish 1 from the float next to it."""
    return Bounds(1.0 - bounds.upper, 1.0 - bounds.lower)


def informative(node: Bounds, image: Bounds) -> Bounds:
    """The bounds of a neuron with ends that are no tighter than its own upward ``image``, up to rounding, relaxed to 0
    or 1. Such ends follow from the operands, so propagating them downward gives nothing new."""
    least = noise(node.lower.dtype)
    xp = namespace(node.lower)
    return Bounds(
        xp.where(node.lower > image.lower + least, node.lower, 0.0),
        xp.where(node.upper < image.upper - least, node.upper, 1.0),
    )


def negative(bounds: Bounds) -> Bounds:
    """``[-U, -L]``: turns a maximum into a minimum without rounding."""
    return Bounds(-bounds.upper, -bounds.lower)


def lesser(one: Bounds, other: Bounds) -> Bounds:
    """The bounds of the minimum of two truths."""
    xp = namespace(one.lower)
    return Bounds(xp.minimum(one.lower, other.lower), xp.minimum(one.upper, other.upper))


def ordered(lower: Array, upper: Array) -> Bounds:
    """The two ends, swapped where rounding made them cross."""
    crossed = lower > upper
    if not any_set(crossed):
        return Bounds(lower, upper)
    xp = namespace(lower)
    return Bounds(xp.where(crossed, upper, lower), xp.where(crossed, lower, upper))


def asks(node: Bounds) -> tuple[Array, Array]:
    """Masks of where the lower and where the upper end of ``node`` carries information."""
    tol = tolerance(node.lower.dtype)
    return node.lower > tol, node.upper < 1 - tol


def misses(image: Bounds, node: Bounds) -> Array:
    """A mask of where two boxes are apart by more than the tolerance."""
    tol = tolerance(node.lower.dtype)
    return (image.upper < node.lower - tol) | (image.lower > node.upper + tol)
