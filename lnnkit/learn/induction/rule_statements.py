"""An induced rule as statements of the language, and as text for readers who do not know the language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from lnnkit.check.findings import nearest
from lnnkit.check.walk import nodes
from lnnkit.learn.induction.induced_rule import Induced
from lnnkit.learn.induction.table_literals import TableColumn, TableLiteral
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import in_digits
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_number, format_predicate, format_statement, format_string

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Precision of a weight: those on the grid are whole hundredths for a span of 8, and no rule's span is near 800
_DIGITS = 4
_SHOWN = 10  # values of a column, in a message


def statements(rule: Induced, columns: Sequence[TableColumn], target: str) -> list[str]:
    """The declarations of the columns that a rule reads, and of its closed ``target``; and the rule. The truth of the
    target is one half at score 0 of a weighted rule, and linear in the score."""
    lines = [declaration(columns[place]) for place in rule.columns]
    lines.append(f"predicate {format_predicate(target)}(row) closed")
    body = _body(rule, columns)
    if body:
        lines.append(f"rule {body} -> {format_predicate(target)}(X)")
    program, findings = parse("\n".join(lines))
    assert not findings, findings
    return [format_statement(statement) for statement in program.statements]


def declaration(column: TableColumn) -> str:
    """The declaration of a column: a ``number`` or a predicate of a row, or a predicate of a row and a value."""
    name = format_predicate(column.name)
    if column.kind == "truth":
        return f"predicate {name}(row) closed"
    return f"number {name}(row)" if column.numeric else f"predicate {name}(row, entity) closed"


def _body(rule: Induced, columns: Sequence[TableColumn]) -> str:
    """The antecedent, with more parentheses than it needs; empty for a plain rule without conjunctions."""
    terms: list[str] = []
    start = rule.start
    for weight, conjunction in zip(rule.weights.tolist(), rule.conjunctions, strict=True):
        parts = [_literal(literal, columns, holds=holds == (weight >= 0)) for literal, holds in conjunction]
        terms.append(f"({(' & ' if weight >= 0 else ' | ').join(parts)})")  # a negated conjunction is a disjunction
        start += min(weight, 0.0)
    if rule.plain:
        return " | ".join(terms)
    shares = [round(abs(weight) / rule.span, _DIGITS) for weight in rule.weights.tolist()]
    weighed = [f"{term}@{format_number(share)}" for term, share in zip(terms, shares, strict=True)]
    weighed += ["false"] * (2 - len(weighed))  # a disjunction has at least two operands
    return f"({' | '.join(weighed)}){{bias: {format_number(round(0.5 - start / rule.span, _DIGITS))}}}"


def _literal(literal: TableLiteral, columns: Sequence[TableColumn], *, holds: bool) -> str:
    column, *other = (columns[place] for place in literal.columns)
    name, order, denied = format_predicate(column.name), ">=" if holds else "<", "" if holds else "~"
    if column.kind == "truth":
        return f"{denied}{name}(X)"
    if other:
        return f"{name}(X) {order} {format_predicate(other[0].name)}(X)"
    if literal.threshold is not None:
        scale = "" if literal.scale is None else f"{{scale: {format_number(_plain(literal.scale))}}}"
        return f"({name}(X) {order} {format_number(_plain(literal.threshold))}){scale}"
    assert literal.value is not None
    return f"{denied}{name}(X, {format_string(literal.value)})"


def _plain(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def rule_lines(rule: Induced, columns: Sequence[TableColumn], positive: str, negative: str) -> Iterator[str]:
    """``positive if ...`` with one conjunction on each line. For a weighted rule, the start of the score and the amount
    that each conjunction adds. ``negative`` is the opposite outcome."""
    named = [" and ".join(_literal_text(*part, columns) for part in conjunction) for conjunction in rule.conjunctions]
    if rule.plain:
        yield f"{positive} if" if named else f"{negative}, always"
        yield from (f"  {'or ' if place else ''}{text}" for place, text in enumerate(named))
        yield from (f"else {negative}",) if named else ()
        return
    yield f"truth of {positive}: {0.5 + rule.start / rule.span:.4g}"
    order = sorted(range(len(named)), key=lambda place: -abs(float(rule.weights[place])))
    for place in order:
        yield f"  {float(rule.weights[place]) / rule.span:+.4g} if {named[place]}"
    yield f"{positive} if above 0.5, else {negative}"


def _literal_text(literal: TableLiteral, holds: bool, columns: Sequence[TableColumn]) -> str:
    column = columns[literal.column]
    if column.kind == "truth":
        return column.name if holds else f"not {column.name}"
    if literal.other is not None:
        return f"{column.name} {'>=' if holds else '<'} {columns[literal.other].name}"
    if literal.threshold is None:
        return f"{column.name} {'=' if holds else '!='} {literal.value}"
    soft = "" if literal.scale is None else f" (by degrees, over {_number_text(literal.scale, column, apart=True)})"
    return f"{column.name} {'>=' if holds else '<'} {_number_text(literal.threshold, column)}{soft}"


def _number_text(value: float, column: TableColumn, *, apart: bool = False) -> str:
    """Format a threshold (as a date in a date column), or a difference if ``apart``."""
    if column.kind == "date" and not apart:
        try:
            moment = _EPOCH + timedelta(days=value)
        except OverflowError:
            return f"{in_digits(value)} days after 1970"
        return f"{moment:%Y-%m-%d}" if value.is_integer() else f"{moment:%Y-%m-%d %H:%M:%S}"
    days = " days" if column.kind in ("date", "duration") else ""
    return f"{in_digits(value)}{days}"


def with_values_quoted(text: str, columns: Sequence[TableColumn]) -> str:
    """The program with the values of columns quoted. Raises ``ValueError`` for a value that no row has."""
    values = {
        column.name: sorted({value for value in column.values.tolist() if value is not None})
        for column in columns
        if not column.numeric
    }
    program, _ = parse(text)
    bare: dict[int, ast.Constant] = {}
    for statement in program.statements:
        if not isinstance(statement, ast.RuleOrAxiom):
            continue
        for atom in (node for node in nodes(statement.formula) if isinstance(node, ast.Atom)):
            value = atom.arguments[1] if len(atom.arguments) == 2 else None
            known = values.get(atom.name)
            if known is None or not isinstance(value, ast.Constant):
                continue
            if value.text in known:
                if not value.quoted:
                    bare[value.span.start] = value
                continue
            near = nearest(value.text, known)
            shown = ", ".join(map(repr, known[:_SHOWN])) + (", ..." if len(known) > _SHOWN else "")
            meant = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"no row has {value.text!r} in the column {atom.name!r}; its values are {shown}{meant}")
    for start in sorted(bare, reverse=True):
        text = text[:start] + format_string(bare[start].text) + text[bare[start].span.end :]
    return text
