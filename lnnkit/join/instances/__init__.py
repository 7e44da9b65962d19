"""Instances of formulas: kept ones, the shapes that they share, arrested ones."""
