"""The facts and statements that meet in contradictions, and their repairs. Start with `conflict`."""
