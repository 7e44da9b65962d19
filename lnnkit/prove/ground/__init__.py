"""Statements and known bounds -> instances on which a question depends. Start with `parts`, then `ground_reading`."""
