"""Instances of formulas: those that are kept, the shapes they share, those that were arrested."""
