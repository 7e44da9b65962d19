"""A question -> its verdict, with a core or worlds. Start with `question`, then `classical_decision`."""
