"""Statements instantiated lazily: solve, find what the model violates, add it, until nothing is violated."""
