"""Cases: a few for the plain test command, more for the slow one, all for the long one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

SHARE = 24  # with a quarter of them the slow run was at 40 % after 80 minutes on two slow cores


def in_blocks(seeds: range, size: int, plain: int) -> list[object]:
    """The ``seeds`` as parameters, ranges of ``size`` at most: the first ``plain`` alone, of the others one in
    ``SHARE`` is marked slow, the rest long."""
    first, rest = seeds[:plain], seeds[plain:]
    blocks = [rest[start : start + size] for start in range(0, len(rest), size)]
    marks = [pytest.mark.long if place % SHARE else pytest.mark.slow for place in range(len(blocks))]
    marked = [*zip(blocks, marks, strict=True)]
    return [
        pytest.param(block, marks=mark, id=f"{block.start}-{block.stop - 1}")
        for block, mark in ([(first, ()), *marked] if first else marked)
    ]


def at_length(cases: Collection[object], plain: int, several: bool = False) -> list[object]:
    """The ``cases`` as parameters; all after the first ``plain`` are marked slow; of a range of seeds one in ``SHARE``,
    the rest long. With ``several`` each is a tuple of values, one for each name."""

    def marked(case: object, place: int) -> object:
        values = case if several and isinstance(case, tuple) else (case,)
        is_long = isinstance(cases, range) and (place - plain) % SHARE
        return pytest.param(*values, marks=pytest.mark.long if is_long else pytest.mark.slow)

    return [case if place < plain else marked(case, place) for place, case in enumerate(cases)]


def all_but(share: float, block: Sequence[int]) -> int:
    """How many of a block are left without this share, without one at least."""
    return len(block) - max(1, int(share * len(block)))
