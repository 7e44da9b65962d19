"""A column of entities: ids, and the names that they stand for. Names are made only when they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from lnnkit.data.names import Names

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 1 << 12


class EntityColumn(Sequence[str]):
    """``codes`` (int32) index ``names``. Behaves as a sequence of texts, and equals any other column of the same
    texts."""

    __slots__ = ("codes", "names")

    def __init__(self, codes: np.ndarray, names: Names) -> None:
        self.codes = codes
        self.names = names

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> EntityColumn: ...
    def __getitem__(self, index: int | slice) -> str | EntityColumn:
        if isinstance(index, slice):
            return EntityColumn(self.codes[index], self.names)
        return self.names[int(self.codes[index])]

    def __iter__(self) -> Iterator[str]:
        for low in range(0, len(self), _BLOCK):
            yield from self.names.at(self.codes[low : low + _BLOCK], len(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str) or len(self) != len(other):
            return False
        if isinstance(other, EntityColumn) and other.names is self.names:
            return bool((self.codes == other.codes).all())
        return all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:5]))
        return f"[{shown}, ... {len(self):,} in all]" if len(self) > 5 else f"[{shown}]"

    def distinct(self) -> tuple[list[str], np.ndarray]:
        """The distinct names of the column, sorted, and the index of each row's name among them."""
        used = np.zeros(len(self.names), bool)
        used[self.codes] = True
        place = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return self.names.at(np.flatnonzero(used), len(self)), place.take(self.codes)

    def to_arrow(self) -> pa.DictionaryArray:
        """The column as an Arrow dictionary array: its ids, with all names as the dictionary."""
        import pyarrow as pa

        from lnnkit.data.arrow import numbers

        return pa.DictionaryArray.from_arrays(numbers(self.codes, np.int32), self.names.arrow)
