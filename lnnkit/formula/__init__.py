"""Formulas: roots of the lifted graph unfolded into trees of neurons.

The package has their upward and downward passes over rows, and their text.
"""
