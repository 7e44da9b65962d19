"""The known range of a number: the scale on which changes of it are measured."""

from __future__ import annotations

import math

from lnnkit.check.program import CheckedProgram


def known_range(program: CheckedProgram, number: str) -> float:
    """The width of the hull of all finite ends that facts and tables state of a number. Where they state one value
    alone, its magnitude; 1 where that is 0 too."""
    stated = [each for fact in program.facts if fact.predicate == number for each in (fact.lower, fact.upper)]
    ends = [end for end in stated if math.isfinite(end)]
    for table in program.tables:
        if table.predicate == number:
            for column in (table.lower, table.upper):
                known = column[abs(column) < math.inf]
                ends += [float(known.min()), float(known.max())] if len(known) else []
    if not ends:
        return 1.0
    return max(ends) - min(ends) or abs(ends[0]) or 1.0
