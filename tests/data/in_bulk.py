"""Tables of a few rows, read in the way of large ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lnnkit.data import names
from lnnkit.data.readers import delimited


@contextmanager
def reading(in_bulk: bool) -> Iterator[None]:
    """Whether every table is read in the way of large ones."""
    with pytest.MonkeyPatch.context() as patch:
        if in_bulk:
            patch.setattr(names, "SMALL", -1)
            patch.setattr(delimited, "LARGE", 0)
        yield
