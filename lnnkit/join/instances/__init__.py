"""Bindings -> instances of formulas: their rows, the shapes that they share, arrested ones."""
