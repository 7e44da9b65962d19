"""The facts enter the state."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.ground.atoms import Atoms
from lnnkit.ground.layout import Given
from lnnkit.infer.state import State, distinct


def enter_facts(atoms: Atoms, state: State, given: Sequence[Given]) -> None:
    """Materialise the facts: facts about one atom meet; where they cross, the atom is arrested from the start."""
    for facts in given:
        if not len(facts):
            continue
        table = atoms.tables[facts.predicate]
        rows = atoms.materialise(table, facts.columns, len(facts))
        state.extend(atoms)
        fresh = rows[~atoms.flags["given"].values.index_select(0, rows)]
        state.lower.values.index_fill_(0, fresh.long(), 0.0)
        state.upper.values.index_fill_(0, fresh.long(), 1.0)
        atoms.mark(table, rows, given=True)
        state.meet(0, rows, facts.lower)
        state.meet(1, rows, facts.upper)
        atoms.enlist(state.arrest(distinct([rows], len(atoms))))
    rows = atoms.flags["given"].values.nonzero().squeeze(1)
    atoms.deviate(rows, *state.read(rows))
