"""Numbers: checked already and evaluated in a later version, with one finding for the whole program."""

from __future__ import annotations

from collections.abc import Iterator

from lnnkit.check.kinds import compares_numbers, is_numeric
from lnnkit.check.report import warning
from lnnkit.check.symbols import Formula, Symbols
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Span


def unsupported(symbols: Symbols) -> list[Diagnostic]:
    """At most one warning, at the first place, with the number of places."""
    places = [*_statements(symbols), *(span for formula in symbols.formulas for span in _formula(formula, symbols))]
    if not places:
        return []
    files = {entry.statement.span.source.path: None for entry in reversed(symbols.entries)}
    order = {path: index for index, path in enumerate(reversed(files))}
    first = min(places, key=lambda span: (order.get(span.source.path, 0), span.start))
    count = (
        f", here and in {len(places) - 1} more places"
        if len(places) > 2
        else (", here and in one more place" if len(places) == 2 else "")
    )
    message = f"numbers are not evaluated yet{count}"
    hint = "the program can be checked and printed; to run it, take these statements out"
    return [warning("not-yet-evaluated", first, message, hint)]


def _statements(symbols: Symbols) -> Iterator[Span]:
    for statement in symbols.statements():
        match statement:
            case ast.NumberStatement():
                yield statement.span
            case ast.FactStatement() | ast.LabelStatement() if statement.atom.name in symbols.numbers:
                yield statement.span
            case ast.LoadStatement() | ast.LabelTableStatement() if statement.name in symbols.numbers:
                yield statement.span
            case _:
                pass


def _formula(formula: Formula, symbols: Symbols) -> Iterator[Span]:
    below: set[int] = set()  # what stands within a place that is counted already
    for visit in formula.visits:
        node = visit.node
        if visit.parent is not None and id(visit.parent) in below:
            below.add(id(node))
        elif compares_numbers(visit, symbols) or (visit.role == "query" and is_numeric(node, symbols, visit.scope)):
            below.add(id(node))
            yield node.span
