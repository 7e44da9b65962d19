"""Rows of entity ids in sorted order."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.flags import all_set
from lnnkit.store.columns.sorting import in_order

_BITS = 63


def arranged(columns: Sequence[Tensor]) -> Tensor | None:
    """The permutation that sorts rows by their columns of ids from the left; None if they are sorted.

    It is stable. The ids of a row are packed into one integer where 63 bits hold them.
    """
    if not columns or not len(columns[0]):
        return None
    sizes = [int(column.max()).bit_length() for column in columns]
    if sum(sizes) > _BITS:
        order = torch.arange(len(columns[0]))
        for column in reversed(columns):
            order = order[torch.argsort(column.index_select(0, order), stable=True)]
        return order
    key = columns[0].long()
    for column, bits in zip(columns[1:], sizes[1:], strict=True):
        key = (key << bits).bitwise_or_(column)
    if all_set(key[1:] >= key[:-1]):
        return None
    return torch.from_numpy(in_order(key.numpy(), 1 << sum(sizes))[0])
