"""Sorting rows of ids, against Python's sort."""

from __future__ import annotations

import pytest
import torch

from lnnkit.answers.row_order import arranged


@pytest.mark.parametrize("largest", [1, 3, 2**10, 2**31 - 1])
@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_as_python_sorts(width: int, largest: int) -> None:
    generator = torch.Generator().manual_seed(width)
    for length in (1, 2, 50):
        columns = [torch.randint(0, 4, (length,), generator=generator, dtype=torch.int32) for _ in range(width)]
        columns[-1][0] = largest
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        order = arranged(columns)
        expected = sorted(range(length), key=rows.__getitem__)
        assert (list(range(length)) if order is None else order.tolist()) == expected
        ready = [column[torch.tensor(expected)] for column in columns]
        assert arranged(ready) is None or sum(int(column.max()).bit_length() for column in ready) > 63


def test_nothing_to_sort() -> None:
    assert arranged([]) is None
    assert arranged([torch.empty(0, dtype=torch.int32)]) is None
