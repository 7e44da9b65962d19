"""Cases: a few for the plain test command, all for the slow one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest


def in_blocks(seeds: range, size: int, plain: int) -> list[object]:
    """The ``seeds`` as parameters, ranges of ``size`` at most: the first ``plain`` alone, the rest marked slow."""
    first, rest = seeds[:plain], seeds[plain:]
    blocks = [first] if first else []
    blocks += [rest[start : start + size] for start in range(0, len(rest), size)]
    return [
        pytest.param(block, marks=pytest.mark.slow if block is not first else (), id=f"{block.start}-{block.stop - 1}")
        for block in blocks
    ]


def at_length(cases: Collection[object], plain: int, several: bool = False) -> list[object]:
    """The ``cases`` as parameters; all after the first ``plain`` are marked slow. With ``several`` each is a tuple of
    values, one for each name."""

    def slow(case: object) -> object:
        values = case if several and isinstance(case, tuple) else (case,)
        return pytest.param(*values, marks=pytest.mark.slow)

    return [case if place < plain else slow(case) for place, case in enumerate(cases)]


def all_but(share: float, block: Sequence[int]) -> int:
    """How many of a block are left without this share, without one at least."""
    return len(block) - max(1, int(share * len(block)))
