"""Joins: needs -> assignments. Patterns, indexes and semi-naive joins over the delta; instances."""
