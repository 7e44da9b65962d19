"""`fact start(ann) = 2024-01-01`: a date in the place of a number."""

from __future__ import annotations

from lnnkit.syntax.dates import DATE, date_as_number
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.span import Span


def date_literal(fault: Fault) -> Diagnostic | None:
    if fault.in_arguments or fault.expected == {"STRING"} or fault.keyword in ("load", "predicate", "number", "sort"):
        return None
    starts = {fault.start, *(lexeme.start for lexeme in fault.before if lexeme.kind == "number")}
    for match in DATE.finditer(fault.source.text, fault.piece.start, fault.piece.end):
        if match.start() in starts and match.start() <= fault.start < match.end():
            return date_as_number(match[0], Span(fault.source, *match.span()))
    return None
