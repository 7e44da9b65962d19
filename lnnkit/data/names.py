"""The names of entities: a sequence of texts that stay in Arrow until somebody looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast, overload

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_FEW = 20  # to make one text costs so many times what it costs among all


class Names(Sequence[str]):
    """Texts by place, from Python or from Arrow. Equal to any sequence of the same texts."""

    __slots__ = ("_arrow", "_python")

    def __init__(self, texts: Sequence[str] | pa.StringArray) -> None:
        python = isinstance(texts, (tuple, list))
        self._python: tuple[str, ...] | None = tuple(texts) if python else None
        self._arrow: pa.StringArray | None = None if python else cast("pa.StringArray", texts)

    @property
    def arrow(self) -> pa.StringArray:
        """All of them as an Arrow array."""
        if self._arrow is None:
            from lnnkit.data.arrow import strings

            self._arrow = strings(self._python or ())
        return self._arrow

    @property
    def python(self) -> tuple[str, ...]:
        """All of them as Python texts; made once."""
        if self._python is None:
            self._python = tuple(cast("list[str]", self.arrow.to_pylist()))
        return self._python

    def at(self, ids: np.ndarray, expected: int) -> list[str]:
        """Those at some places; ``expected`` says how many will be asked for in all."""
        if self._python is None and expected * _FEW < len(self):
            arrow = self.arrow
            return [cast("str", arrow[place].as_py()) for place in ids.tolist()]
        python = self.python
        return [python[place] for place in ids.tolist()]

    def __len__(self) -> int:
        held = self._arrow if self._python is None else self._python
        return 0 if held is None else len(held)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice) or self._python is not None:
            return self.python[index]
        return cast("str", self.arrow[index].as_py())

    def __iter__(self) -> Iterator[str]:
        return iter(self.python)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names):
            return len(self) == len(other) and self.arrow.equals(other.arrow)
        return isinstance(other, Sequence) and self.python == tuple(other)

    def __hash__(self) -> int:
        return hash(self.python)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.python[:5]))
        return f"Names({len(self):,}: {shown}{', ...' if len(self) > 5 else ''})"
