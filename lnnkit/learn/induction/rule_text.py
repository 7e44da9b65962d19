"""Prints an induced rule for readers who do not know the language: thresholds, values, dates as dates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from lnnkit.learn.induction.induced_rule import Induced
from lnnkit.learn.induction.table_literals import Literal, TableColumn
from lnnkit.syntax.digits import in_digits

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rule_lines(rule: Induced, columns: Sequence[TableColumn], positive: str, negative: str) -> Iterator[str]:
    """``positive if ...`` with one conjunction on each line. For a weighted rule, the start of the score and the amount
    that each conjunction adds. ``negative`` is the opposite outcome."""
    named = [" and ".join(_literal(*part, columns) for part in each) for each in rule.conjunctions]
    if rule.plain:
        yield f"{positive} if" if named else f"{negative}, always"
        yield from (f"  {'or ' if place else ''}{each}" for place, each in enumerate(named))
        yield from (f"else {negative}",) if named else ()
        return
    yield f"truth of {positive}: {0.5 + rule.start / rule.span:.4g}"
    order = sorted(range(len(named)), key=lambda place: -abs(float(rule.weights[place])))
    for place in order:
        yield f"  {float(rule.weights[place]) / rule.span:+.4g} if {named[place]}"
    yield f"{positive} if above 0.5, else {negative}"


def _literal(literal: Literal, holds: bool, columns: Sequence[TableColumn]) -> str:
    column = columns[literal.column]
    if column.kind == "truth":
        return column.name if holds else f"not {column.name}"
    if literal.other is not None:
        return f"{column.name} {'>=' if holds else '<'} {columns[literal.other].name}"
    if literal.threshold is None:
        return f"{column.name} {'=' if holds else '!='} {literal.value}"
    soft = "" if literal.scale is None else f" (by degrees, over {_number(literal.scale, column, apart=True)})"
    return f"{column.name} {'>=' if holds else '<'} {_number(literal.threshold, column)}{soft}"


def _number(value: float, column: TableColumn, *, apart: bool = False) -> str:
    """Format a threshold (as a date in a date column), or a difference if ``apart``."""
    if column.kind == "date" and not apart:
        try:
            found = _EPOCH + timedelta(days=value)
        except OverflowError:
            return f"{in_digits(value)} days after 1970"
        return f"{found:%Y-%m-%d}" if value.is_integer() else f"{found:%Y-%m-%d %H:%M:%S}"
    days = " days" if column.kind in ("date", "duration") else ""
    return f"{in_digits(value)}{days}"
