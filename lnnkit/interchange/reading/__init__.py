"""Texts in other notations -> formulas, with the liberties that were taken and what cannot be read."""
