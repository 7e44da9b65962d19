"""The collector is paused, and as it was afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import lnnkit
from lnnkit.garbage import collection_paused


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    yield
    gc.enable()


def test_it_is_paused_and_goes_on() -> None:
    with collection_paused(), collection_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(lnnkit.ProgramError):
        lnnkit.loads("rule P(X) -> \n").infer()
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    lnnkit.loads("fact P(a)\nquery P(a)\n").answers()
    assert not gc.isenabled()
