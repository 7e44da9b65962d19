"""Closed derived predicates, completed stratum by stratum."""
