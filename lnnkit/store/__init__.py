"""Storage of atoms: tables of entity ids with key indexes, facts in canonical order, the domain of each sort."""
