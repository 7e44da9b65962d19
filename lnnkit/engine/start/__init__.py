"""A plan and facts -> the state before the first round: shared neurons, comparisons, demand from queries."""
