"""The tables of a program, and what was told and taken back since: facts that are gone are left out on first use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import overload

from lnnkit.data.names import Names
from lnnkit.data.table import EntityColumn, FactTable, intern

_SMALL = 1000  # rows: smaller tables are looked through together

_Placed = list[tuple[int, FactTable]]


class FactTables(Sequence[FactTable]):
    """Tables of facts, in their order. To add one, or to take facts back, takes no time for the facts that stay: tables
    without the facts about atoms that were taken back are made when they are first read."""

    __slots__ = ("_state",)

    def __init__(self, tables: Iterable[FactTable] = (), changes: tuple[tuple[FactTable, bool], ...] = ()) -> None:
        # The tables as they were read, and each table since: of facts, or of keys of facts that are taken back (True)
        self._state = tuple(tables), changes

    @staticmethod
    def of(tables: Sequence[FactTable]) -> FactTables:
        """These tables, whatever holds them."""
        return tables if isinstance(tables, FactTables) else FactTables(tables)

    def changed(self, table: FactTable, *, taken: bool) -> FactTables:
        """These, with one more table after them, or without the facts about the atoms that it has."""
        tables, changes = self._state
        return FactTables(tables, (*changes, (table, taken)))

    @property
    def stated(self) -> list[FactTable]:
        """The tables, with what was taken back."""
        tables, changes = self._state
        return [*tables, *(table for table, taken in changes if not taken)]

    def _read(self) -> tuple[FactTable, ...]:
        tables, changes = self._state
        if changes:
            self._state = _left(tables, changes), ()
        return self._state[0]

    @overload
    def __getitem__(self, index: int) -> FactTable: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FactTable, ...]: ...
    def __getitem__(self, index: int | slice) -> FactTable | tuple[FactTable, ...]:
        return self._read()[index]

    def __iter__(self) -> Iterator[FactTable]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self.stated)


def keys_of(predicate: str, atoms: Collection[tuple[str, ...]]) -> FactTable:
    """The keys of the facts about some atoms of a predicate: one at least."""
    import numpy as np

    names = Names.of({text for atom in atoms for text in atom})
    columns = (np.array([names.find(text) for text in texts], np.int32) for texts in zip(*atoms, strict=True))
    ends, rows = np.ones(len(atoms)), np.arange(len(atoms))
    return FactTable(predicate, tuple(EntityColumn(codes, names) for codes in columns), ends, ends, rows, "")


def _left(tables: Sequence[FactTable], changes: Sequence[tuple[FactTable, bool]]) -> tuple[FactTable, ...]:
    placed = [(-1, table) for table in tables]
    placed += [(place, table) for place, (table, taken) in enumerate(changes) if not taken]
    back: dict[str, _Placed] = {}
    for place, (keys, taken) in enumerate(changes):
        if taken and len(keys):
            back.setdefault(keys.predicate, []).append((place, keys))
    left = {id(table): table for _, table in placed}
    for name, keys in back.items():
        some = [(place, table) for place, table in placed if table.predicate == name and len(table)]
        small = [(place, table) for place, table in some if len(table) <= _SMALL]
        large = [[(place, table)] for place, table in some if len(table) > _SMALL]
        for group in filter(None, (*large, small)):
            left |= {id(table): kept for (_, table), kept in zip(group, _without(group, keys), strict=True)}
    return tuple(left[id(table)] for _, table in placed)


def _without(placed: _Placed, back: _Placed) -> Iterator[FactTable]:
    """Tables without the facts that were taken back at a later place."""
    import numpy as np

    from lnnkit.data.cells.texts import ranks_among

    places, tables = zip(*placed, strict=True)
    if not tables[0].columns:
        last = max(place for place, _ in back)
        yield from (table.only(np.full(len(table), place > last)) for place, table in placed)
        return
    known, ids = intern(tables, ())
    names, keys = intern([table for _, table in back], ())
    rank = ranks_among(known.names, names.names)
    wanted = rank.take(np.concatenate([np.stack(columns) for columns in keys], 1))
    when = np.repeat([place for place, _ in back], [len(table) for _, table in back])
    there = (wanted >= 0).all(0)  # no fact is about the others
    wanted, when = wanted[:, there], when[there]
    columns = [np.concatenate(column) for column in zip(*ids, strict=True)] if len(ids) > 1 else ids[0]
    near = np.flatnonzero(np.isin(columns[0], wanted[0]))
    both = [np.append(column.take(near), codes) for column, codes in zip(columns, wanted, strict=True)]
    number = np.unique(np.stack(both, 1), axis=0, return_inverse=True)[1].reshape(-1)
    last = np.full(len(number), -1)
    np.maximum.at(last, number[len(near) :], when)
    lengths = [len(table) for table in tables]
    stated = np.repeat(places, lengths).take(near)
    gone = np.zeros(sum(lengths), bool)
    gone[near[last.take(number[: len(near)]) > stated]] = True
    for table, part in zip(tables, np.split(gone, np.cumsum(lengths)[:-1]), strict=True):
        yield table.only(~part) if part.any() else table
