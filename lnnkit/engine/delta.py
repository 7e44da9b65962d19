"""What moved in a round: the bounds that changed are entered where the next round looks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

from lnnkit.analysis.relevance import SIDES
from lnnkit.engine.bounds_state import State, distinct, no_rows
from lnnkit.engine.encoded_bounds import EncodedBounds, Pair
from lnnkit.logic.bounds import Bounds
from lnnkit.store.atoms import Atoms, AtomTable


class Delta:
    """The rows, numbered in their tables, whose lower (0) or upper (1) side has moved."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], Tensor] = {}

    def rows(self, table: str, side: int) -> Tensor | None:
        """Those of a table; None if none has."""
        return self._rows.get((table, side))

    @property
    def where(self) -> Iterable[tuple[str, int]]:
        """The tables and sides on which anything moved."""
        return self._rows.keys()

    def add(self, table: AtomTable, side: int, local: Tensor) -> None:
        """Those of one table, numbered in it."""
        self._rows[table.name, side] = local

    def add_all(self, rows: Tensor, sides: Sequence[int], atoms: Atoms) -> None:
        """Atom rows of any tables."""
        for table, some in _by_table(rows, atoms):
            local = atoms.local(some)
            for side in sides:
                self.add(table, side, local)


def _by_table(rows: Tensor, atoms: Atoms) -> Iterator[tuple[AtomTable, Tensor]]:
    """The rows of each table."""
    for table, mine in atoms.by_table(rows):
        yield table, rows if mine is None else rows.index_select(0, mine)


def note(raised: Tensor, lowered: Tensor, atoms: Atoms, state: State, encoded: EncodedBounds) -> tuple[Delta, Tensor]:
    """Arrest what has crossed of the rows that were raised or lowered, and enter all of them among those that differ
    from their defaults, and among the moves. Returns the moves and the arrested rows."""
    delta = Delta()
    single = not lowered.numel()
    changed = raised if single else distinct([raised, lowered], len(atoms))
    arrested: list[Tensor] = []
    for table, rows in _by_table(changed, atoms):
        bounds = state.read(rows)
        crossed = state.arrest(rows, bounds)
        if crossed.numel():
            arrested.append(crossed)
            bounds = state.read(rows)
        enter(table, rows, bounds, atoms, encoded)
        if single:
            delta.add(table, 0, atoms.local(rows))
    if single and not arrested:
        return delta, no_rows()
    crossed = torch.cat(arrested) if arrested else no_rows()
    atoms.enlist(crossed)
    for side, rows in enumerate((raised, lowered)):
        delta.add_all(distinct([rows, crossed], len(atoms)) if arrested else rows, (side,), atoms)
    return delta, crossed


def note_new(rows: Tensor, side: int, value: float, atoms: Atoms, encoded: EncodedBounds, eps: float) -> Delta | None:
    """As ``note``, for new atoms, in rows that follow one another, that now have the bound ``value`` on one side. None
    where they cross, or are of several tables."""
    table = _only_table(rows, atoms)
    if table is None:
        return None
    low, high = table.default
    pair = (low, value) if side else (value, high)
    return None if pair[0] > pair[1] + eps else _told_new(table, rows, (side,), pair, atoms, encoded)


def rise_new(rows: Tensor, value: float, atoms: Atoms, encoded: EncodedBounds) -> Delta | None:
    """As ``rise``, for new atoms, in rows that follow one another, both ends of which are now ``value``; moves are
    those of the upper ones. None where they are of several tables."""
    table = _only_table(rows, atoms)
    return None if table is None else _told_new(table, rows, (0, 1), (value, value), atoms, encoded)


def _only_table(rows: Tensor, atoms: Atoms) -> AtomTable | None:
    found = atoms.by_table(rows)
    return found[0][0] if len(found) == 1 else None


def _told_new(
    table: AtomTable, rows: Tensor, sides: Sequence[int], pair: Pair, atoms: Atoms, encoded: EncodedBounds
) -> Delta:
    """Enter new rows of one table, which follow one another, with their bounds; the moves of the last of ``sides``."""
    local = atoms.local(rows)
    start, first = int(rows[0]), int(local[0])
    for side in sides:
        atoms.deviate_new(table, SIDES[side], start, range(first, first + local.numel()))
    encoded.tell_new(table.number, start, start + rows.numel(), pair)
    delta = Delta()
    delta.add(table, sides[-1], local)
    return delta


def rise(raised: Tensor, lifted: Tensor, atoms: Atoms, state: State, encoded: EncodedBounds) -> Delta:
    """As ``note``, for a completion, whose ends both rise: until it is done they may cross."""
    delta = Delta()
    for table, rows in _by_table(distinct([raised, lifted], len(atoms)), atoms):
        enter(table, rows, state.read(rows), atoms, encoded)
    delta.add_all(raised, (0,), atoms)
    delta.add_all(lifted, (1,), atoms)
    return delta


def enter(table: AtomTable, rows: Tensor, bounds: Bounds, atoms: Atoms, encoded: EncodedBounds) -> None:
    """Enter rows of one table that now have these bounds where they are looked for."""
    atoms.deviate_of(table, rows, *bounds)
    encoded.update(table.number, rows, *bounds)


def changes(rows: Tensor, atoms: Atoms) -> Delta:
    """Rows that have moved on both sides."""
    delta = Delta()
    delta.add_all(rows, (0, 1), atoms)
    return delta
