"""Equality of entities as a table: each is itself. What needs ``X = Z`` is joined with it as with any other."""

from __future__ import annotations

from lnnkit.analysis.needs import EQUAL
from lnnkit.check.program import ENTITY
from lnnkit.store.atoms import Atoms
from lnnkit.store.domain import Domain


def add_equality(atoms: Atoms, domain: Domain) -> None:
    """Add the table, unless it is there. Nothing reads bounds of it; its rows stand among those whose lower end is
    above the default."""
    if EQUAL in atoms.tables:
        return
    table = atoms.add_table(EQUAL, (ENTITY, ENTITY), (0.0, 0.0))
    entities = domain.sorts[ENTITY]
    rows = atoms.add_new(table, (entities, entities), len(entities))
    atoms.deviate_new(table, "lower", rows.start, range(len(entities)))
