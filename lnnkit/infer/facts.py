"""The facts enter the state."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.ground.atoms import Atoms
from lnnkit.ground.layout import Given
from lnnkit.infer.state import State


def enter_facts(atoms: Atoms, state: State, given: Sequence[Given]) -> None:
    """Materialise the facts: facts about one atom meet; where they cross, the atom is arrested from the start."""
    for facts in given:
        if not len(facts):
            continue
        table = atoms.tables[facts.predicate]
        rows = atoms.materialise(table, facts.columns, len(facts))
        state.extend(atoms)
        fresh = rows[~atoms.flags["given"].values.index_select(0, rows)]
        state.lower.values[fresh] = 0.0
        state.upper.values[fresh] = 1.0
        atoms.mark(table, rows, given=True)
        *_, crossed = state.meet([(rows, facts.lower.to(state.dtype))], [(rows, facts.upper.to(state.dtype))])
        atoms.enlist(crossed)
    rows = atoms.flags["given"].values.nonzero().squeeze(1)
    atoms.deviate(rows, *state.read(rows))
