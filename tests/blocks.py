"""Blocks of seeds: a few for the plain test command, all for the slow one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest


def at_length(blocks: Sequence[int], plain: int) -> list[object]:
    """The ``blocks`` as parameters; all after the first ``plain`` are marked slow."""
    return [
        block if place < plain else pytest.param(block, marks=pytest.mark.slow) for place, block in enumerate(blocks)
    ]
