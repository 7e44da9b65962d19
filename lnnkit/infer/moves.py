"""What moved in a round: the bounds that changed are entered where the next round looks for them."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor

from lnnkit.ground.atoms import Atoms, AtomTable
from lnnkit.infer.classes import Classes
from lnnkit.infer.state import State, distinct


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
        self._rows[table.name, side] = local


def note(raised: Tensor, lowered: Tensor, crossed: Tensor, atoms: Atoms, state: State, classes: Classes) -> Moves:
    """Enter rows that were raised, lowered or arrested among those that differ from their defaults, and among the
    moves; classify them."""
    moves = Moves()
    single = not len(lowered) and not len(crossed)
    changed = raised if single else distinct([raised, lowered, crossed], len(atoms))
    for table, mine in atoms.by_table(changed):
        rows = changed if mine is None else changed.index_select(0, mine)
        low, high = state.read(rows)
        atoms.deviate_of(table, rows, low, high)
        classes.update(table.number, rows, low, high)
        if single:
            moves.add(table, 0, atoms.local.values.index_select(0, rows))
    atoms.enlist(crossed)
    if not single:
        for side, rows in enumerate((raised, lowered)):
            both = distinct([rows, crossed], len(atoms)) if len(crossed) else rows
            for table, mine in atoms.by_table(both):
                some = both if mine is None else both.index_select(0, mine)
                moves.add(table, side, atoms.local.values.index_select(0, some))
    return moves


def changes(rows: Tensor, atoms: Atoms) -> Moves:
    """Rows that have moved on both sides."""
    moves = Moves()
    for table, mine in atoms.by_table(rows):
        local = atoms.local.values.index_select(0, rows if mine is None else rows.index_select(0, mine))
        for side in (0, 1):
            moves.add(table, side, local)
    return moves
