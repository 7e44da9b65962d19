"""A fault of the parser -> the mistake that people who come from other languages make there, with its own message.

`MISTAKES` is a table of recognisers, tried in order at the place where the parser stopped. Each one answers only if it
is certain: a wrong explanation is worse than a plain syntax error.
"""

from __future__ import annotations

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault, plain
from lnnkit.syntax.mistakes.places import PLACES
from lnnkit.syntax.mistakes.rows import rows
from lnnkit.syntax.mistakes.signs_and_clauses import CLAUSES, DECLARATIONS, SIGNS, TEXTS
from lnnkit.syntax.mistakes.statements import STATEMENTS
from lnnkit.syntax.mistakes.wordings import WORDS

# Order matters where two recognisers match: the more certain or more specific one comes first.
_TABLES = (TEXTS, STATEMENTS, CLAUSES, SIGNS, WORDS, DECLARATIONS, PLACES)
MISTAKES = tuple(recogniser for table in _TABLES for recogniser in rows(table))


def diagnose(fault: Fault) -> Diagnostic:
    """The named mistake at a fault, or a plain syntax error if none is recognised."""
    known = (diagnostic for recognise in MISTAKES if (diagnostic := recognise(fault)) is not None)
    return next(known, None) or plain(fault)
