"""Evaluation of rows in columns: a dense program, its state, its rounds, its answers."""
