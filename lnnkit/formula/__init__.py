"""Formulas: roots of the lifted graph unfolded into trees of neurons.

Their upward and downward passes over rows, and their text.
"""
