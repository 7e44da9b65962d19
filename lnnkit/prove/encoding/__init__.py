"""Encodings of formulas and numbers as Z3 expressions."""
