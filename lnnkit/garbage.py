"""Python's collector of cyclic garbage, paused where many objects are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pauses the collector, unless it is off already; also a decorator.

    The collector looks at all objects again whenever their number has grown by a quarter. A program of 1,000 rules is
    inferred in 0.55 CPU seconds where lifting and inference pause it, in 0.68 where only what precedes the rounds does.
    Inference leaves no cycles behind.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
