"""Atoms: tables of entity ids with their key indexes, facts in canonical order, the entities of each sort."""
