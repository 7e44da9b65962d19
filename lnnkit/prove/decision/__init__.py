"""Verdicts, with cores or worlds. Start with `question`, then `classical_answer` and `exact_answer`."""
