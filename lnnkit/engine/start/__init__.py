"""Preparation before the first round: facts, shared neurons, comparisons, demand from queries."""
