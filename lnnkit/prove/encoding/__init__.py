"""Formulas and numbers as expressions of Z3."""
