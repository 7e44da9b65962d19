"""Needs -> assignments: patterns, indexes and joins over the atoms that moved, and the instances that are kept."""
