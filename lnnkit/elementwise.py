"""Elementwise functions whose result for an element does not depend on its position or on the length of its array.

numpy's loops have that property over contiguous arrays. On the CPU torch evaluates some functions with vector
instructions, and the elements after the last whole vector with scalar code that may differ in the last bit; so its
tensors are padded to whole vectors. ``exp``, ``log``, ``sqrt``, ``tanh``, ``sin``, ``cos`` and ``asinh`` need no
padding (`tests/test_elementwise.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lnnkit.arrays import Array, namespace

_VECTOR = 64  # elements; torch takes two vectors at a time, of up to 16 numbers each
_GRAIN = 32768  # the least share of a thread in torch, in elements
_PADDING = 0.5  # in the domain of every function


def power(base: Array, exponent: Array | float) -> Array:
    """``base^exponent``; shapes broadcast."""
    if isinstance(base, np.ndarray):
        return np.power(np.ascontiguousarray(base), exponent)
    xp = namespace(base)
    if not isinstance(exponent, float | int) and exponent.ndim:
        return _padded(xp.pow, *xp.broadcast_arrays(base, exponent))
    return _padded(lambda values: values**exponent, base)


def sigmoid(values: Array) -> Array:
    """``1 / (1 + e^-x)``."""
    if isinstance(values, np.ndarray):
        small = np.exp(-abs(values))
        return np.where(values < 0, small, 1.0) / (1.0 + small)
    return _padded(lambda padded: padded.sigmoid(), values)


def logit(values: Array) -> Array:
    """The inverse of `sigmoid`."""
    if isinstance(values, np.ndarray):
        return np.log(values / (1.0 - values))
    return _padded(lambda padded: padded.logit(), values)


def _shared(name: str) -> Callable[[Array], Array]:
    """The function of that name in the library of its operand."""

    def function(values: Array) -> Array:
        of = getattr(namespace(values), name)
        return of(np.ascontiguousarray(values)) if isinstance(values, np.ndarray) else _padded(of, values)

    return function


# The inverse of the hyperbolic tangent, that of the cosine, and the hyperbolic cosine
atanh, acos, cosh = map(_shared, ("atanh", "acos", "cosh"))


def _padded(function: Callable[..., Array], *operands: Any) -> Array:
    """A function of tensors of one shape, padded so that the share of each of torch's threads is whole vectors."""
    first, xp = operands[0], namespace(operands[0])
    count = first.numel()
    if not first.is_cpu or not count:
        return function(*operands)
    from torch import get_num_threads

    threads = min(get_num_threads(), -(-count // _GRAIN))
    missing = -count % (_VECTOR * threads)
    padding = xp.full((missing,), _PADDING, dtype=first.dtype)
    flat = [xp.concat([values.reshape(-1), padding]) for values in operands]  # strided ones take scalar code
    return function(*flat)[:count].view(first.shape)
