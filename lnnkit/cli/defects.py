"""The report of an unexpected exception: what failed and what to do, without a traceback."""

from __future__ import annotations

from lnnkit.cli import streams


def tell(problem: Exception) -> None:
    """Report the exception on standard error: out of memory, or a defect of lnnkit."""
    if isinstance(problem, MemoryError) or "allocate memory" in str(problem):
        streams.note("error[out-of-memory] there is not enough memory for this program and its data")
        streams.note("  hint: bind the variables of its widest rules by further literals, or set --max-groundings")
    else:
        first = next(iter(str(problem).splitlines()), "")
        streams.note(f"error[internal] lnnkit failed: {type(problem).__name__}: {first}")
        streams.note("  hint: this is a defect of lnnkit; LNNKIT_TRACEBACK=1 shows where, for a report")
