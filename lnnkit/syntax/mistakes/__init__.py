"""Mistakes that people make when they come from other languages, each with its own message.

`MISTAKES` is a table of recognisers, tried in order at the place where the parser stopped. Each one answers only if it
is certain: a wrong explanation is worse than a plain syntax error.
"""

from __future__ import annotations

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault, plain
from lnnkit.syntax.mistakes import places, recognisers, tokens, wordings
from lnnkit.syntax.mistakes.clauses import CLAUSES, DECLARATIONS, EXPRESSIONS
from lnnkit.syntax.mistakes.rows import Recogniser, rows
from lnnkit.syntax.mistakes.statements import STATEMENTS

# Order matters where two recognisers match: the more certain or more specific one comes first.
MISTAKES: tuple[Recogniser, ...] = (
    *rows(tokens.TEXTS),
    recognisers.dash_comment,
    recognisers.named_rule,
    recognisers.date_literal,
    recognisers.time_of_day,
    recognisers.called_date,
    *rows(STATEMENTS),
    *rows(tokens.SPACED),
    *rows(CLAUSES),
    recognisers.date_in_table,
    *rows(tokens.UNQUOTED),
    *rows(tokens.SIGNS),
    *rows(wordings.WORDS),
    *rows(DECLARATIONS),
    *rows(places.CAPITALS),
    *rows(places.QUANTIFIERS),
    *rows(places.LISTED),
    recognisers.glued_quantifier,
    recognisers.foreign_function,
    *rows(places.ARGUMENTS),
    *rows(places.EXPRESSIONS),
    *rows(places.BRACKETS),
    *rows(places.IN),
    recognisers.unclosed_group,
    recognisers.interval_in_body,
    *rows(places.BOUNDS),
    recognisers.chained,
    *rows(EXPRESSIONS),
)


def diagnose(fault: Fault) -> Diagnostic:
    """The named mistake at a fault, or a plain syntax error if none is recognised."""
    for recognise in MISTAKES:
        diagnostic = recognise(fault)
        if diagnostic is not None:
            return diagnostic
    return plain(fault)
