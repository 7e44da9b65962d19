"""Steep kernels: ends are computed again from boxes widened by rounding, and used where the result differs.

A truth that is neither 0 nor 1 is known up to `rounding`, so a small one has a large relative error, which quotients
and roots magnify.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.flags import any_set, where_set
from lnnkit.logic.bounds import Bounds, noise, rounding
from lnnkit.logic.logic import Weight


def steep_rows(boxes: Sequence[Bounds], weights: Sequence[Weight]) -> Tensor | None:
    """The indices ``[m]`` of rows of boxes ``[n]`` or ``[k, n]`` with an end so small that powers and roots with these
    weights make its rounding visible; None if there are none."""
    first = boxes[0].lower
    with torch.no_grad():
        own = torch.cat([torch.as_tensor(weight, dtype=first.dtype).reshape(-1) for weight in weights])
        present = own[own > 0]
        if not present.numel():
            return None
        small = rounding(first.dtype) / noise(first.dtype) * float(present.max().clamp(min=1.0))
        small /= float(present.min().clamp(max=1.0))
        found = torch.zeros(first.shape[-1], dtype=torch.bool)
        for end in (end for box in boxes for end in box):
            near = (end > 0) & (end < small)
            found |= near if near.dim() == 1 else near.any(0)
        return where_set(found) if any_set(found) else None


def loosened(box: Bounds, rows: Tensor) -> Bounds:
    """Some rows of a box, widened by rounding, except that a lower end of 1 and an upper end of 0 are exact."""
    lower, upper = (end.index_select(-1, rows) for end in box)
    slack = rounding(lower.dtype)
    return Bounds(
        torch.where(lower < 1, (lower - slack).clamp(min=0.0), lower),
        torch.where(upper > 0, (upper + slack).clamp(max=1.0), upper),
    )


def steadied(found: Bounds, looser: Bounds, rows: Tensor) -> Bounds:
    """``found``, with the ends of ``looser`` at ``rows`` where the two differ by more than rounding."""
    least = noise(found.lower.dtype)
    ends = []
    for end, loose in zip(found, looser, strict=True):
        own = end.index_select(-1, rows)
        ends.append(end.index_copy(-1, rows, torch.where((own - loose).abs() > least, loose, own)))
    return Bounds(*ends)
