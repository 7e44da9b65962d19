"""Contradictions -> the facts and statements that meet in them, and their repairs. Start with `conflict`."""
