"""Formulas: roots of the lifted graph unfolded into trees of neurons.

The package evaluates them upward and downward, row by row, and prints them.
"""
