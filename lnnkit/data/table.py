"""A table of facts in columns of entities: the result of ``load``, ``label ... from`` and ``kb.tell``; and interning,
which maps every entity of a program, of whatever sort, to a dense id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

from lnnkit.data.names import Entities, Names

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from lnnkit.syntax.diagnostic import Span

_BLOCK = 1 << 12
LIMIT = 2**31 - 1
TOLD = "<told"  # how the sources of told tables begin


@dataclass(slots=True, eq=False, repr=False)
class EntityColumn(Sequence[str]):
    """``codes`` (int32) index ``names``. Behaves as a sequence of texts, and equals any other column of the same
    texts."""

    codes: np.ndarray
    names: Names

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
        (column,) = in_use([self.codes], self.names)
        return list(column.names), column.codes

    def to_arrow(self) -> pa.DictionaryArray:
        """The column as an Arrow dictionary array: its ids, with all names as the dictionary."""
        import numpy as np
        import pyarrow as pa

        from lnnkit.data.arrow import numbers

        return pa.DictionaryArray.from_arrays(numbers(self.codes, np.int32), self.names.arrow)


@dataclass(frozen=True, slots=True)
class FactTable:
    """``n`` facts about one predicate, in the order of their source; a fact may occur twice.

    ``columns`` has one column of entities for each argument. All share their ``names``, which are exactly those that
    occur. ``lower`` and ``upper`` are float64 (truth bounds in [0, 1], or the bounds of a number, -inf and inf if
    unknown), never nan, with ``lower <= upper``. A number is finite: its lower bound is below inf, its upper bound
    above -inf. ``rows`` (int64) is the row of each fact in its source: the line, as an editor counts, in text files;
    from 1 in others. ``trust`` (0 to 1) is the weight of the source when repairs are ranked; it changes no bounds.
    """

    predicate: str
    columns: tuple[EntityColumn, ...]
    lower: np.ndarray
    upper: np.ndarray
    rows: np.ndarray
    source: str
    span: Span | None = None
    trust: float = 1.0

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def names(self) -> Names:
        """The entities that occur in its rows."""
        return self.columns[0].names if self.columns else Names()

    def only(self, keep: np.ndarray) -> FactTable:
        """The facts in the rows that a mask keeps, and the entities of these alone."""
        import numpy as np

        gone = np.flatnonzero(~keep)
        lost = [column.codes[gone] for column in self.columns]
        columns = in_use([np.delete(column.codes, gone) for column in self.columns], self.names, lost)
        lower, upper = (
            end[: len(end) - len(gone)] if end.strides == (0,) else np.delete(end, gone)
            for end in (self.lower, self.upper)
        )
        return replace(self, columns=columns, lower=lower, upper=upper, rows=np.delete(self.rows, gone))


def in_use(
    columns: Sequence[np.ndarray], names: Names, lost: Sequence[np.ndarray] | None = None
) -> tuple[EntityColumn, ...]:
    """Columns of codes that share their ``names``, with the names reduced to those in use. All but the ``lost`` codes
    (default: any) are known to be used."""
    import numpy as np

    used, doubtful = np.full(len(names), lost is not None), np.empty(0, np.int32)
    if lost:
        doubtful = np.unique(np.concatenate(lost))
        used[doubtful] = False
    for codes in columns:
        used[codes if lost is None else codes[np.isin(codes, doubtful)]] = True
    if not used.all():
        place = np.cumsum(used, dtype=np.int32) - np.int32(1)
        columns, names = [place.take(codes) for codes in columns], names.some(used)
    return tuple(EntityColumn(codes, names) for codes in columns)


def intern(tables: Sequence[FactTable], texts: Iterable[str]) -> tuple[Entities, list[tuple[np.ndarray, ...]]]:
    """All entities of the tables and of ``texts`` (in NFC, such as the constants of a program), and for each table its
    columns as int32 ids. Raises ``OverflowError`` if ids exceed int32. Without tables nothing heavy is imported."""
    lists = list({id(table.names): table.names for table in tables if table.columns}.values())
    names: Names = Names.of(texts)
    places: list[np.ndarray] = []
    if lists:
        from lnnkit.data.cells.texts import shared_names

        names, places = shared_names([*lists, names])
    if len(names) > LIMIT:
        raise OverflowError(f"{len(names):,} entities: ids are int32, so at most {LIMIT:,} fit")
    ready = {id(held): place for held, place in zip(lists, places, strict=False)}
    columns: list[tuple[np.ndarray, ...]] = []
    for table in tables:
        codes = tuple(column.codes for column in table.columns)
        same = len(table.names) == len(names)
        columns.append(codes if same else tuple(ready[id(table.names)].take(column) for column in codes))
    return Entities(names), columns
