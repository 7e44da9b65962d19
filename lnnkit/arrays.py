"""Kernels over the array API: one source for numpy arrays and for torch tensors with gradients or on a device.

A kernel takes its namespace from its operands (`namespace`). Here are the operations that the two libraries name
differently, or that the standard lacks. Nothing here imports torch: a tensor brings it along.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, TypeAlias

import array_api_compat
import numpy as np

# A numpy array or a torch tensor; the operands of one kernel are of one library.
Array: TypeAlias = Any

DOUBLE = np.dtype(np.float64)
_NUMPY = (np.ndarray, np.generic)

# Decorates a function in which results may be infinite or nan for a while, which torch never reports.
quietly = np.errstate(over="ignore", invalid="ignore", divide="ignore")


def namespace(array: Array) -> ModuleType:
    """The array API of the library that an array belongs to."""
    return np if isinstance(array, _NUMPY) else array_api_compat.array_namespace(array)


def where(flags: Array, one: Any, other: Any) -> Array:
    """``one`` where flags are set, ``other`` elsewhere; either may be a number."""
    return namespace(flags).where(flags, one, other)


def minimum(one: Array, other: Array) -> Array:
    """The lesser of each two values."""
    return namespace(one).minimum(one, other)


def maximum(one: Array, other: Array) -> Array:
    """The greater of each two values."""
    return namespace(one).maximum(one, other)


def sign(values: Array) -> Array:
    """-1, 0 or 1 by the sign of each value."""
    return namespace(values).sign(values)


def floor(values: Array) -> Array:
    """Each value rounded down."""
    return namespace(values).floor(values)


def ceil(values: Array) -> Array:
    """Each value rounded up."""
    return namespace(values).ceil(values)


def round(values: Array) -> Array:
    """Each value rounded to the nearest whole number."""
    return namespace(values).round(values)


def isinf(values: Array) -> Array:
    """Flags of the infinite values."""
    return namespace(values).isinf(values)


def isfinite(values: Array) -> Array:
    """Flags of the finite values."""
    return namespace(values).isfinite(values)


def exp(values: Array) -> Array:
    """The exponential of each value."""
    return namespace(values).exp(values)


def log(values: Array) -> Array:
    """The natural logarithm of each value."""
    return namespace(values).log(values)


def sqrt(values: Array) -> Array:
    """The square root of each value."""
    return namespace(values).sqrt(values)


def sin(values: Array) -> Array:
    """The sine of each value."""
    return namespace(values).sin(values)


def cos(values: Array) -> Array:
    """The cosine of each value."""
    return namespace(values).cos(values)


def tanh(values: Array) -> Array:
    """The hyperbolic tangent of each value."""
    return namespace(values).tanh(values)


def asinh(values: Array) -> Array:
    """The inverse hyperbolic sine of each value."""
    return namespace(values).asinh(values)


def square(values: Array) -> Array:
    """The square of each value."""
    return namespace(values).square(values)


def zeros_like(values: Array) -> Array:
    """Zeros in the shape of an array."""
    return namespace(values).zeros_like(values)


def ones_like(values: Array) -> Array:
    """Ones in the shape of an array."""
    return namespace(values).ones_like(values)


def full_like(values: Array, value: float) -> Array:
    """One value in the shape of an array."""
    return namespace(values).full_like(values, value)


def equal(one: Array, other: Array) -> bool:
    """Whether two arrays of one shape have the same values."""
    return bool((one == other).all())


def stack(values: Sequence[Array], axis: int = 0) -> Array:
    """Arrays of one shape along a new dimension."""
    return namespace(values[0]).stack(values, axis=axis)


def concat(values: Sequence[Array], axis: int = 0) -> Array:
    """Arrays one after the other."""
    return namespace(values[0]).concat(values, axis=axis)


def repeat(values: Array, count: int, axis: int) -> Array:
    """Each entry of a dimension ``count`` times."""
    return namespace(values).repeat(values, count, axis=axis)


def broadcast_to(values: Array, shape: tuple[int, ...]) -> Array:
    """A view in which dimensions of one entry have those of ``shape``."""
    return namespace(values).broadcast_to(values, shape)


def broadcast_arrays(*values: Array) -> Sequence[Array]:
    """Views of one shape."""
    return namespace(values[0]).broadcast_arrays(*values)


def nan_to_num(values: Array, nan: float) -> Array:
    """The values, with another for nan; infinite ones stay."""
    return where(values == values, values, nan)


def least(values: Array, axis: int | tuple[int, ...]) -> Array:
    """The minimum over dimensions."""
    return values.min(axis) if isinstance(values, _NUMPY) else values.amin(axis)


def most(values: Array, axis: int | tuple[int, ...]) -> Array:
    """The maximum over dimensions."""
    return values.max(axis) if isinstance(values, _NUMPY) else values.amax(axis)


def clamp(values: Array, least: Any = None, most: Any = None) -> Array:
    """Values moved into ``[least, most]``; the ends are numbers, or arrays of the values' shape."""
    if not isinstance(values, _NUMPY):
        return values.clamp(least, most)
    if least is not None:
        values = np.maximum(values, least)
    return values if most is None else np.minimum(values, most)


def take(values: Array, rows: Array) -> Array:
    """The entries at ``rows`` of the last dimension; rows may be a numpy array beside tensors."""
    return values.take(rows, -1) if isinstance(values, np.ndarray) else values.index_select(-1, matching(rows, values))


def matching(values: Array, like: Array) -> Array:
    """Values without a gradient, as an array of the library and on the device of ``like``."""
    if isinstance(like, _NUMPY) or not isinstance(values, _NUMPY):
        return values
    return namespace(like).asarray(values, device=like.device)


def replaced(values: Array, rows: Array, news: Array) -> Array:
    """A copy of ``values`` with other entries at ``rows`` of the last dimension."""
    if not isinstance(values, np.ndarray):
        return values.index_copy(-1, rows, news)
    copy = values.copy()
    copy[..., rows] = news
    return copy


def set_at(count: int, rows: Array) -> Array:
    """Flags (count,), set at ``rows``."""
    xp = namespace(rows)
    flags = xp.zeros(count, dtype=xp.bool, device=rows.device)
    flags[rows] = True
    return flags


def detached(values: Array) -> Array:
    """The same values, without their gradient."""
    return values.detach() if hasattr(values, "detach") else values


def as_numpy(values: Array) -> np.ndarray:
    """The values as a numpy array, without their gradient; in the same memory on the CPU."""
    return values if isinstance(values, np.ndarray) else detached(values).cpu().numpy()


def where_set(flags: Array) -> Array:
    """The positions at which (n,) flags are set, int64, in order."""
    read = _read(flags)
    return matching(read.nonzero()[0], flags) if isinstance(read, np.ndarray) else read.nonzero().squeeze(1)


def chosen(flags: Array, values: Array) -> Array:
    """The (n, ...) values whose flags are set."""
    return values[where_set(flags)]


def any_set(flags: Array) -> bool:
    """Whether any flag is set."""
    return bool(_read(flags).any())


def all_set(flags: Array) -> bool:
    """Whether all flags are set; they are where there are none."""
    return bool(_read(flags).all())


def _read(flags: Array) -> Array:
    """Flags as numpy reads them, on the CPU: five to forty times as fast as torch does."""
    return flags.numpy() if not isinstance(flags, _NUMPY) and flags.is_cpu else flags


def learned(values: Array) -> bool:
    """Whether gradients are asked of values."""
    return bool(getattr(values, "requires_grad", False))
