"""Products over operands, with gradients that never divide."""

from __future__ import annotations

import torch
from torch import Tensor


def product(factors: Tensor) -> Tensor:
    """The product over the last dimension, ``[..., n] -> [...]``; 1 where it is empty.

    Halves are multiplied with each other, so the gradient of each factor is the product of the others as such, where
    ``torch.prod`` divides the whole by the factor: right at zeros, and without loss where factors are tiny.
    """
    while factors.shape[-1] > 1:
        half = factors.shape[-1] // 2
        pairs = factors[..., :half] * factors[..., half : 2 * half]
        factors = torch.cat([pairs, factors[..., -1:]], -1) if factors.shape[-1] % 2 else pairs
    return factors.prod(-1)
