"""Lazy instantiation: solve, find the instances that the model violates, add them, until none is violated."""
