"""Memory for arrays that grow."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from lnnkit.store.columns.arrays import Array

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

LARGE = 2**18  # from so many entries on memory is taken only where it is written to
_MUCH = 2**20  # so many bytes that are written in one go get large pages
_LARGE_PAGE = 2**21


class Room:
    """``entries`` (count,), all zero; many take memory only where they are written to."""

    __slots__ = ("_pages", "entries")

    def __init__(self, count: int, dtype: DTypeLike) -> None:
        self._pages: mmap.mmap | None = None
        if count < LARGE:  # numpy's zeros are not written where the system's memory is zero already
            self.entries = np.zeros(count, dtype)
        else:
            self._pages = _pages(count * np.dtype(dtype).itemsize)
            self.entries = np.frombuffer(self._pages, dtype)

    def part(self, start: int, stop: int) -> Array:
        """The entries from ``start`` to ``stop``, all of which are about to be written. Large pages come at a fifth of
        the price; elsewhere they would take memory, and be filled with zeros, of which little is used."""
        size = self.entries.itemsize
        if self._pages is not None and (stop - start) * size >= _MUCH and hasattr(mmap, "MADV_HUGEPAGE"):
            first = start * size // _LARGE_PAGE * _LARGE_PAGE
            last = min(-(-stop * size // _LARGE_PAGE) * _LARGE_PAGE, len(self._pages))
            with suppress(OSError):  # a system that has none
                self._pages.madvise(mmap.MADV_HUGEPAGE, first, last - first)
        return self.entries[start:stop]


def _pages(size: int) -> mmap.mmap:
    """So many bytes, all zero. What nobody else may see is cheaper to come by, where the system tells it apart."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
