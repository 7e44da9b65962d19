"""Verdicts, with cores or worlds. Start with `question`, then `classical_decision`."""
