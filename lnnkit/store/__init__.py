"""Fact tables -> relations: rows of entity ids with their key index, bounds and lists; facts in canonical order; the
domain of each sort."""
