"""Columns of rows, decided side by side: a program over them, its state, its rounds, its answers."""
