"""Truth values and bounds of facts, labels, rules and axioms."""

from __future__ import annotations

import math
from collections.abc import Iterator

from lnnkit.check.findings import error, find, signature
from lnnkit.check.symbols import Symbols
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic


def values(symbols: Symbols) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for kind, statement in symbols.stated():
        name = statement.atom.name
        if name in symbols.declared or not symbols.doubtful(name):  # it may well be a number
            found.extend(_fact(kind, statement, numeric=name in symbols.numbers))
    for statement in symbols.statements():
        match statement:
            case ast.LoadStatement() | ast.LabelTableStatement() if statement.negated:
                if statement.name in symbols.numbers:
                    message = f"`{statement.name}` is a number, which cannot be negated"
                    named = find(statement.span, statement.name, len("load"))
                    found.append(error("number-as-formula", named, message, "take the `~` out"))
            case ast.RuleStatement() | ast.AxiomStatement() if statement.bounds is not None:
                found.extend(_truth(statement.bounds, ""))
            case _:
                pass
    return found


def _fact(kind: str, statement: ast.FactStatement | ast.LabelStatement, numeric: bool) -> Iterator[Diagnostic]:
    bounds, name = statement.bounds, statement.atom.name
    value = f"{kind} {statement.atom.span.text} = 0"
    if numeric:
        if statement.negated:
            message = f"`{name}` is a number, which cannot be negated"
            yield error("number-as-formula", statement.atom.span, message, f"give its value: `{value}`")
        elif bounds is None:
            message = f"`{name}` is a number, and this {kind} gives it no value"
            yield error("number-without-value", statement.atom.span, message, f"add one: `{value}`")
        else:
            yield from _order(bounds)
            yield from _unreachable(bounds)
            if bounds.exact and not math.isfinite(bounds.lower.start or 0):
                message = f"the value {bounds.lower.span.text} is not finite"
                yield error("value-not-finite", bounds.lower.span, message, "write an unknown end as `in [0, inf]`")
    elif bounds is not None:
        declare = f"number {signature(name, len(statement.atom.arguments))}"
        yield from _truth(bounds, f"; if `{name}` is a number, declare `{declare}`")


def _unreachable(bounds: ast.Bounds) -> Iterator[Diagnostic]:
    """Findings about bounds that no finite number satisfies."""
    for end, beyond in ((bounds.lower, math.inf), (bounds.upper, -math.inf)):
        if not bounds.exact and end.start == beyond:
            message = f"no number lies beyond {end.span.text}"
            yield error("value-not-finite", end.span, message, "an unknown end is `-inf` below and `inf` above")


def _truth(bounds: ast.Bounds, otherwise: str) -> Iterator[Diagnostic]:
    outside = False
    for end in bounds.written:
        value = end.start
        if value is not None and not 0 <= value <= 1:
            outside = True
            message = f"the truth value {end.span.text} is not between 0 and 1"
            hint = f"write {value / 100:g} for {value:g} %" if 1 < value <= 100 else "truth runs from 0 to 1"
            yield error("truth-out-of-range", end.span, message, hint + otherwise)
    if not outside:
        yield from _order(bounds)


def _order(bounds: ast.Bounds) -> Iterator[Diagnostic]:
    lower, upper = bounds.lower.start, bounds.upper.start
    if lower is not None and upper is not None and lower > upper:
        low, high = bounds.lower.span.text, bounds.upper.span.text
        message = f"the lower bound {low} is above the upper bound {high}"
        yield error("bounds-reversed", bounds.span, message, f"write `in [{high}, {low}]`")
