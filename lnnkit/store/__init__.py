"""Relations: rows of entity ids with key indexes, bounds and lists; facts in canonical order; the domain of each sort."""
