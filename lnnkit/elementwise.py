"""Elementwise functions whose result for an element does not depend on its position or on the length of its tensor.

On the CPU torch evaluates some functions with vector instructions, and the elements after the last whole vector with
scalar code that may differ in the last bit. Here tensors are padded to whole vectors. ``exp``, ``log``, ``sqrt``,
``tanh``, ``cos`` and ``asinh`` need no padding (`tests/test_elementwise.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

_VECTOR = 64  # elements; torch takes two vectors at a time, of up to 16 numbers each
_GRAIN = 32768  # the least share of a thread in torch, in elements
_PADDING = 0.5  # in the domain of every function


def power(base: Tensor, exponent: Tensor | float) -> Tensor:
    """``base^exponent``; shapes broadcast."""
    if isinstance(exponent, Tensor) and exponent.dim():
        return _padded(torch.pow, *torch.broadcast_tensors(base, exponent))
    return _padded(lambda values: torch.pow(values, exponent), base)


def sigmoid(values: Tensor) -> Tensor:
    """``1 / (1 + e^-x)``."""
    return _padded(torch.sigmoid, values)


def logit(values: Tensor) -> Tensor:
    """The inverse of `sigmoid`."""
    return _padded(torch.logit, values)


def atanh(values: Tensor) -> Tensor:
    """The inverse of the hyperbolic tangent."""
    return _padded(torch.atanh, values)


def cosh(values: Tensor) -> Tensor:
    """The hyperbolic cosine."""
    return _padded(torch.cosh, values)


def _padded(function: Callable[..., Tensor], *operands: Tensor) -> Tensor:
    """A function of operands of one shape, padded so that the share of each thread is whole vectors."""
    first = operands[0]
    count = first.numel()
    if not first.is_cpu or not count:
        return function(*operands)
    threads = min(torch.get_num_threads(), -(-count // _GRAIN))
    missing = -count % (_VECTOR * threads)
    flat = [each.reshape(-1) for each in operands]
    if missing:
        padding = _constant(_VECTOR * threads, first.dtype)[:missing]
        flat = [torch.cat([each, padding]) for each in flat]
    else:
        flat = [each.contiguous() for each in flat]  # strided elements take scalar code too
    return function(*flat)[:count].view(first.shape)


@cache
def _constant(count: int, dtype: torch.dtype) -> Tensor:
    return torch.full((count,), _PADDING, dtype=dtype)
