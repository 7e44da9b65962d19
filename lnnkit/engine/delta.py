"""What moved in a round: the bounds that changed are entered where the next round looks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

from lnnkit.analysis.relevance import SIDES
from lnnkit.engine.bounds_state import State, distinct, no_rows
from lnnkit.engine.encoded_bounds import Classes, Pair
from lnnkit.logic.bounds import Bounds
from lnnkit.store.atoms import Atoms, AtomTable


class Moves:
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


def note(raised: Tensor, lowered: Tensor, atoms: Atoms, state: State, classes: Classes) -> tuple[Moves, Tensor]:
    """Arrest what has crossed of the rows that were raised or lowered, and enter all of them among those that differ
    from their defaults, and among the moves. Returns the moves and the arrested rows."""
    moves = Moves()
    single = not lowered.numel()
    changed = raised if single else distinct([raised, lowered], len(atoms))
    arrested: list[Tensor] = []
    for table, rows in _by_table(changed, atoms):
        bounds = state.read(rows)
        crossed = state.arrest(rows, bounds)
        if crossed.numel():
            arrested.append(crossed)
            bounds = state.read(rows)
        enter(table, rows, bounds, atoms, classes)
        if single:
            moves.add(table, 0, atoms.local(rows))
    if single and not arrested:
        return moves, no_rows()
    crossed = torch.cat(arrested) if arrested else no_rows()
    atoms.enlist(crossed)
    for side, rows in enumerate((raised, lowered)):
        moves.add_all(distinct([rows, crossed], len(atoms)) if arrested else rows, (side,), atoms)
    return moves, crossed


def note_new(rows: Tensor, side: int, value: float, atoms: Atoms, classes: Classes, eps: float) -> Moves | None:
    """As ``note``, for new atoms, in rows that follow one another, that now have the bound ``value`` on one side. None
    where they cross, or are of several tables."""
    table = _only_table(rows, atoms)
    if table is None:
        return None
    low, high = table.default
    pair = (low, value) if side else (value, high)
    return None if pair[0] > pair[1] + eps else _told_new(table, rows, (side,), pair, atoms, classes)


def rise_new(rows: Tensor, value: float, atoms: Atoms, classes: Classes) -> Moves | None:
    """As ``rise``, for new atoms, in rows that follow one another, both ends of which are now ``value``; moves are
    those of the upper ones. None where they are of several tables."""
    table = _only_table(rows, atoms)
    return None if table is None else _told_new(table, rows, (0, 1), (value, value), atoms, classes)


def _only_table(rows: Tensor, atoms: Atoms) -> AtomTable | None:
    found = atoms.by_table(rows)
    return found[0][0] if len(found) == 1 else None


def _told_new(
    table: AtomTable, rows: Tensor, sides: Sequence[int], pair: Pair, atoms: Atoms, classes: Classes
) -> Moves:
    """Enter new rows of one table, which follow one another, with their bounds; the moves of the last of ``sides``."""
    local = atoms.local(rows)
    start, first = int(rows[0]), int(local[0])
    for side in sides:
        atoms.deviate_new(table, SIDES[side], start, range(first, first + local.numel()))
    classes.tell_new(table.number, start, start + rows.numel(), pair)
    moves = Moves()
    moves.add(table, sides[-1], local)
    return moves


def rise(raised: Tensor, lifted: Tensor, atoms: Atoms, state: State, classes: Classes) -> Moves:
    """As ``note``, for a completion, whose ends both rise: until it is done they may cross."""
    moves = Moves()
    for table, rows in _by_table(distinct([raised, lifted], len(atoms)), atoms):
        enter(table, rows, state.read(rows), atoms, classes)
    moves.add_all(raised, (0,), atoms)
    moves.add_all(lifted, (1,), atoms)
    return moves


def enter(table: AtomTable, rows: Tensor, bounds: Bounds, atoms: Atoms, classes: Classes) -> None:
    """Enter rows of one table that now have these bounds where they are looked for."""
    atoms.deviate_of(table, rows, *bounds)
    classes.update(table.number, rows, *bounds)


def changes(rows: Tensor, atoms: Atoms) -> Moves:
    """Rows that have moved on both sides."""
    moves = Moves()
    moves.add_all(rows, (0, 1), atoms)
    return moves
