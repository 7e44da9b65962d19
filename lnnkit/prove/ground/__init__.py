"""Statements and questions over known bounds, instance by instance. Start with `parts`, then `ground_reading`."""
