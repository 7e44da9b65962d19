"""Products over operands, with gradients that never divide."""

from __future__ import annotations

import torch
from torch import Tensor


def product(factors: Tensor) -> Tensor:
    """The product over the last dimension, ``[..., n] -> [...]``; 1 if it is empty.

    Factors are multiplied pairwise, so that the gradient of each factor is computed as the product of the others.
    ``torch.prod`` divides the whole product by the factor, which fails at zeros and loses precision for tiny factors.
    """
    while factors.shape[-1] > 1:
        half = factors.shape[-1] // 2
        pairs = factors[..., :half] * factors[..., half : 2 * half]
        factors = torch.cat([pairs, factors[..., -1:]], -1) if factors.shape[-1] % 2 else pairs
    return factors.prod(-1)
