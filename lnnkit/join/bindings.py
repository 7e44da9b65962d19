"""Partial results of a join: which entities the variables are bound to, which atoms are matched. Columns are made when
they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from lnnkit.store.growing import spelled_out

Matched = tuple[str, tuple[int | str, ...]]  # a table's name and an atom's arguments


class Bindings:
    """``length`` assignments. Each layer holds what was bound last, and where in the layer beneath the rest stands.

    Of the ``matched`` atoms those ``listed`` stand in the lists of their tables that they were matched in.
    ``column(v)`` gives (length,) entity ids of a variable, ``local(m)`` the rows of a matched atom in its table.
    See `Pointwise` for what is known of some more than that.
    """

    __slots__ = ("_columns", "_makers", "_rows", "_under", "_via", "length", "listed", "matched", "moved", "variables")

    origin: object = None  # what no assignment is twice among, whatever else has the same origin
    run: range | None = None  # the rows of every matched atom, where they are the same and follow one another
    absent: frozenset[Matched] = frozenset()  # atoms that are known not to be there

    def __init__(
        self,
        length: int,
        columns: Mapping[int, Tensor | Callable[[], Tensor]],
        rows: Mapping[Matched, Tensor],
        under: Bindings | None = None,
        via: Tensor | None = None,
        listed: frozenset[Matched] | None = None,
    ) -> None:
        self.length = length
        self.moved: tuple[Matched, int] | None = None  # an atom all of whose rows have just moved on a side
        self._columns = {v: made for v, made in columns.items() if isinstance(made, Tensor)}
        self._makers = {v: made for v, made in columns.items() if not isinstance(made, Tensor)}
        self._rows = dict(rows)
        self._under = under
        self._via = via
        self.variables: frozenset[int] = frozenset(columns) | (under.variables if under is not None else frozenset())
        own = frozenset(rows) if listed is None else listed
        self.listed: frozenset[Matched] = own | (under.listed if under is not None else frozenset())
        self.matched: frozenset[Matched] = frozenset(rows) | (under.matched if under is not None else frozenset())

    def column(self, variable: int) -> Tensor:
        """The ids that a bound variable has."""
        found = self._columns.get(variable)
        if found is None:
            if variable in self._makers:
                found = self._makers[variable]()
            else:
                assert self._under is not None and self._via is not None
                found = self._under.column(variable).index_select(0, self._via)
            self._columns[variable] = found
        return found

    def local(self, matched: Matched) -> Tensor:
        """The rows of a matched atom."""
        found = self._rows.get(matched)
        if found is None:
            assert self._under is not None and self._via is not None
            found = self._under.local(matched).index_select(0, self._via)
            self._rows[matched] = found
        return found

    def at(self, positions: Tensor) -> Bindings:
        """The assignments at these positions."""
        return Bindings(len(positions), {}, {}, self, positions)

    def narrowed(self, positions: Tensor) -> Bindings:
        """As ``at``, for when nothing more is asked of what is left out."""
        own = [*self._columns, *self._makers]
        columns = {v: (lambda v=v: self.column(v).index_select(0, positions)) for v in own}
        rows = {matched: rows.index_select(0, positions) for matched, rows in self._rows.items()}
        via = positions if self._via is None else self._via.index_select(0, positions)
        listed = self.listed if self._under is None else self.listed - self._under.listed
        return Bindings(positions.numel(), columns, rows, self._under, via, listed)

    def slice(self, start: int, stop: int) -> Bindings:
        """The assignments from ``start`` to ``stop``."""
        if (start, stop) == (0, self.length):
            return self
        return self.at(torch.arange(start, stop, dtype=torch.int32))


class Pointwise(Bindings):
    """Assignments of all variables, each once, to which tables are aligned: what is matched stands in the same ``rows``
    of its tables, and ``absent`` atoms stand nowhere."""

    __slots__ = ("absent", "origin", "run")

    def __init__(
        self,
        columns: Mapping[int, Tensor],
        matched: frozenset[Matched],
        rows: Tensor | range,
        listed: frozenset[Matched],
        absent: frozenset[Matched],
        origin: object,
    ) -> None:
        own: dict[int, Tensor | Callable[[], Tensor]] = {}
        for variable, column in columns.items():
            if isinstance(rows, range):
                own[variable] = column[rows.start : rows.stop]
            else:
                own[variable] = partial(column.index_select, 0, rows)
        super().__init__(len(rows), own, {}, listed=listed)
        self.matched = matched
        self.absent = absent
        self.origin = origin
        self.run = rows if isinstance(rows, range) else None
        if not isinstance(rows, range):
            self._rows = dict.fromkeys(matched, rows)

    def narrowed(self, positions: Tensor) -> Bindings:
        return self.at(positions)

    def local(self, matched: Matched) -> Tensor:
        if self.run is not None and matched not in self._rows:
            self._rows = dict.fromkeys(self.matched, spelled_out(self.run))
        return self._rows[matched]
