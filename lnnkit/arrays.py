"""Kernels over the array API: one source for numpy arrays and for torch tensors with gradients or on a device.

A kernel takes its namespace from its operands (`namespace`). Here are the operations that the two libraries name
differently, or that the standard lacks. Nothing here imports torch: a tensor brings it along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def _shared(name: str) -> Callable[..., Any]:
    """The function of that name in the library of its first operand."""
    of_numpy = getattr(np, name)

    def function(first: Array, *others: Any) -> Any:
        if isinstance(first, _NUMPY):
            return of_numpy(first, *others)
        return getattr(namespace(first), name)(first, *others)

    return function


# What the standard says of functions by these names, which both libraries have.
where, minimum, maximum = map(_shared, ("where", "minimum", "maximum"))
sign, floor, ceil, round = map(_shared, ("sign", "floor", "ceil", "round"))
isinf, isfinite, square, sqrt = map(_shared, ("isinf", "isfinite", "square", "sqrt"))
exp, log, sin, cos, tanh, asinh = map(_shared, ("exp", "log", "sin", "cos", "tanh", "asinh"))
zeros_like, ones_like, full_like = map(_shared, ("zeros_like", "ones_like", "full_like"))
broadcast_to, broadcast_arrays = map(_shared, ("broadcast_to", "broadcast_arrays"))


def equal(one: Array, other: Array) -> bool:
    """Whether two arrays of one shape have the same values."""
    return bool((one == other).all())


def stack(values: Sequence[Array], axis: int = 0) -> Array:
    """Arrays of one shape along a new dimension."""
    return namespace(values[0]).stack(values, axis=axis)


def concat(values: Sequence[Array], axis: int = 0) -> Array:
    """Arrays one after the other."""
    return namespace(values[0]).concat(values, axis=axis)


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
