"""Comparisons with learned values, and values to start from: `candidates` offers them, `least_squares` fits weights."""
