"""Cycles that converge slowly: carried to the limit of a linear piece, or given up."""
