"""Formulas and numbers -> Z3 expressions."""
