"""Sets of rows as bits: 64 rows to a word, so that conjunctions are intersected and weighed without their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LEVELS = 255  # weights are told apart to one part in this of the greatest


def packed(masks: np.ndarray) -> np.ndarray:
    """(..., words) masks (..., n) as words of 64 bits; bits past the last row are 0."""
    short = np.packbits(masks, axis=-1)
    whole = np.zeros((*short.shape[:-1], -(-short.shape[-1] // 8) * 8), np.uint8)
    whole[..., : short.shape[-1]] = short
    return whole.view(np.uint64)


@dataclass(frozen=True, slots=True)
class WeighedRows:
    """Rows with weights, as the bits of the weights in binary: the weight of a set is a sum of counts."""

    planes: np.ndarray
    amounts: tuple[float, ...]

    def within(self, mask: np.ndarray) -> WeighedRows:
        """Those rows that are in a packed ``mask`` too."""
        return WeighedRows(self.planes & mask, self.amounts)

    def of(self, masks: np.ndarray) -> np.ndarray:
        """(...) the weight of the rows of packed masks (..., words)."""
        total = np.zeros(masks.shape[:-1])
        for plane, amount in zip(self.planes, self.amounts, strict=True):
            total += amount * np.bitwise_count(masks & plane).sum(axis=-1, dtype=np.int64)
        return total


def weighed_rows(mask: np.ndarray, weight: np.ndarray) -> WeighedRows:
    """The rows of ``mask`` (n,) with weights (n,). Equal weights are exact, others to 1 / 255 of the greatest."""
    greatest = float(weight.max(initial=1e-300))
    if (weight == greatest).all():
        return WeighedRows(packed(mask)[None], (greatest,))
    levels = np.round(weight / greatest * _LEVELS).astype(np.uint8) * mask
    bits = np.flatnonzero([(levels >> place & 1).any() for place in range(8)]).tolist()
    planes = packed(np.array([levels >> place & 1 for place in bits], bool).reshape(len(bits), len(mask)))
    return WeighedRows(planes, tuple(2.0**place * greatest / _LEVELS for place in bits))
