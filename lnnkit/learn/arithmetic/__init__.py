"""Comparisons and terms with learned values, as functions of these: start at `learned_comparisons`."""
