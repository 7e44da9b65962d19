"""Weights of given rules, learned from labelled relations."""
