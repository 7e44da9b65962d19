"""Equality of entities as a table of pairs (e, e), so that joins treat the literal ``X = Z`` as any other."""

from __future__ import annotations

from lnnkit.analysis.needs import EQUAL
from lnnkit.check.program import ENTITY
from lnnkit.store.atoms import Atoms
from lnnkit.store.domain import Domain


def add_equality(atoms: Atoms, domain: Domain) -> None:
    """Add the table unless it exists. Its bounds are never read; its rows are listed as deviating on the lower end."""
    if EQUAL in atoms.tables:
        return
    table = atoms.add_table(EQUAL, (ENTITY, ENTITY), (0.0, 0.0))
    entities = domain.sorts[ENTITY]
    rows = atoms.add_new(table, (entities, entities), len(entities))
    atoms.deviate_new(table, "lower", rows.start, range(len(entities)))
