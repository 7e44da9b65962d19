"""What stands before the first round: facts, shared neurons, comparisons, what queries ask for."""
