"""Cases: a few for the plain test command, all for the slow one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest


def at_length(cases: Sequence[object], plain: int) -> list[object]:
    """The ``cases`` as parameters; all after the first ``plain`` are marked slow."""
    return [case if place < plain else pytest.param(case, marks=pytest.mark.slow) for place, case in enumerate(cases)]
