"""The atoms that are materialised: tables of entity tuples over one numbering of rows.

Every predicate, shared neuron and observed neuron has a table. Row numbers run over all tables, so that bounds live
in single tensors; each table has a *default row* that stands for every atom not materialised. Rows 0, 1 and 2 are
the constants false, true and unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.ground.tuples import Growing, TupleSet

FALSE, TRUE, UNKNOWN = 0, 1, 2


class AtomTable:
    """The materialised atoms of one predicate or neuron. ``deviating`` lists local rows whose lower, upper or either
    end differs from ``default``, in the order in which they came to; ``listed`` those given by facts or asked for,
    ``given`` those given by facts."""

    def __init__(
        self, name: str, number: int, sorts: tuple[str, ...], default: tuple[float, float], radix: int
    ) -> None:
        self.name = name
        self.number = number
        self.sorts = sorts
        self.default = default
        self.default_row = -1
        self.predictable = True  # an entity that nobody has named would be at the default
        self.tuples = TupleSet(len(sorts), radix)
        self.rows = Growing(torch.int64)
        self.deviating = {end: Growing(torch.int64) for end in ("lower", "upper", "either", "listed", "given")}


class Atoms:
    """All tables of a grounding."""

    def __init__(self, radix: int) -> None:
        self.radix = radix
        self.tables: dict[str, AtomTable] = {}
        self.numbered: list[AtomTable] = []
        self.owner = Growing(torch.int32)
        self.local = Growing(torch.int64)
        self.flags = {"listed": Growing(torch.bool), "given": Growing(torch.bool)}
        self.growth: list[tuple[str, str]] = []  # (table, list) as often as a list of deviating rows has grown
        self._seen = {end: Growing(torch.bool) for end in ("lower", "upper", "either")}
        self._grow(torch.full((3,), -1), torch.zeros(3, dtype=torch.int64))

    def __len__(self) -> int:
        return len(self.owner)

    def _grow(self, owner: Tensor, local: Tensor) -> None:
        self.owner.append(owner.int())
        self.local.append(local)
        off = torch.zeros(len(owner), dtype=torch.bool)
        for flags in (*self.flags.values(), *self._seen.values()):
            flags.append(off)

    def add_table(self, name: str, sorts: tuple[str, ...], default: tuple[float, float]) -> AtomTable:
        table = AtomTable(name, len(self.numbered), sorts, default, self.radix)
        self.tables[name] = table
        self.numbered.append(table)
        table.default_row = len(self)
        self._grow(torch.tensor([table.number]), torch.tensor([-1]))
        return table

    def materialise(self, table: AtomTable, columns: Sequence[Tensor], length: int) -> Tensor:
        """(length,) row numbers of the tuples; those that were not there get rows at the default."""
        numbers, fresh = table.tuples.add(columns, length)
        if len(fresh):
            local = torch.arange(len(table.tuples) - len(fresh), len(table.tuples))
            table.rows.append(torch.arange(len(self), len(self) + len(fresh)))
            self._grow(torch.full((len(fresh),), table.number), local)
        return table.rows.values.index_select(0, numbers)

    def find(self, table: AtomTable, columns: Sequence[Tensor], length: int) -> Tensor:
        """(length,) row numbers of the tuples, the default row where an atom is not materialised."""
        numbers = table.tuples.find(columns, length)
        if not len(table.rows):
            return torch.full((length,), table.default_row)
        rows = table.rows.values.index_select(0, numbers.clamp(min=0))
        return torch.where(numbers >= 0, rows, table.default_row)

    def mark(self, table: AtomTable, rows: Tensor, *, given: bool) -> None:
        """List rows as asked for, or as given by facts too."""
        rows = torch.unique(rows)
        for name in ("listed", "given") if given else ("listed",):
            new = rows[~self.flags[name].values.index_select(0, rows)]
            self.flags[name].values[new] = True
            self._append(table, name, new)

    def deviate(self, rows: Tensor, lower: Tensor, upper: Tensor) -> None:
        """Enter rows into the lists of the ends on which their bounds differ from the default."""
        owners = self.owner.values.index_select(0, rows)
        for number in torch.unique(owners).tolist():
            if number < 0:
                continue
            table = self.numbered[number]
            mine = (owners == number).nonzero().squeeze(1)
            low = lower.index_select(0, mine) != table.default[0]
            high = upper.index_select(0, mine) != table.default[1]
            for end, flag in (("lower", low), ("upper", high), ("either", low | high)):
                self._enlist(table, end, rows.index_select(0, mine[flag]))

    def enlist(self, rows: Tensor) -> None:
        """Enter rows among those that deviate on either end, whatever they read as: arrested ones."""
        owners = self.owner.values.index_select(0, rows)
        for number in torch.unique(owners).tolist():
            self._enlist(self.numbered[number], "either", rows[owners == number])

    def _enlist(self, table: AtomTable, end: str, rows: Tensor) -> None:
        rows = rows[~self._seen[end].values.index_select(0, rows)]
        self._seen[end].values[rows] = True
        self._append(table, end, rows)

    def _append(self, table: AtomTable, column: str, rows: Tensor) -> None:
        if len(rows):
            table.deviating[column].append(self.local.values.index_select(0, rows))
            self.growth.append((table.name, column))
