"""Formulas found from tables: ``+ - * / ^ sqrt abs`` over columns, constants, and a comparison where it helps."""
