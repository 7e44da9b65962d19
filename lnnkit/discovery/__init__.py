"""Formulas from tables: ``+ - * / ^ sqrt abs``, constants, a comparison where it helps. Start at `formula_search`."""
