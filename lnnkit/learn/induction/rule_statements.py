"""An induced rule as statements of the language, and as text for readers who do not know the language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from lnnkit.check.findings import nearest
from lnnkit.check.walk import nodes
from lnnkit.learn.induction.induced_rule import Induced
from lnnkit.learn.induction.table_literals import Conjunction, TableColumn, TableLiteral
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import in_digits
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_statement, format_string
from lnnkit.syntax.span import Source, Span

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ROW = "row"  # the sort of rows
_NOWHERE = Span(Source("", ""), 0, 0)
# Precision of a weight: those on the grid are whole hundredths for a span of 8, and no rule's span is near 800
_DIGITS = 4
_SHOWN = 10  # values of a column, in a message


def statements(rule: Induced, columns: Sequence[TableColumn], target: str) -> list[str]:
    """The declarations of the columns that a rule reads, and of its closed ``target``; and the rule. The truth of the
    target is one half at score 0 of a weighted rule, and linear in the score."""
    found = [declaration(columns[place]) for place in rule.columns]
    found.append(ast.PredicateStatement(target, (ROW,), True, span=_NOWHERE))
    body = _formula(rule, columns)
    if body is not None:
        head = ast.Atom(target, (_row(),), span=_NOWHERE)
        found.append(ast.RuleStatement(None, ast.Implies(body, head, span=_NOWHERE), span=_NOWHERE))
    return [format_statement(each) for each in found]


def declaration(column: TableColumn) -> ast.Statement:
    """The declaration of a column: a ``number`` or a predicate of a row, or a predicate of a row and a value."""
    if column.kind == "truth":
        return ast.PredicateStatement(column.name, (ROW,), True, span=_NOWHERE)
    if column.numeric:
        return ast.NumberStatement(column.name, (ROW,), span=_NOWHERE)
    return ast.PredicateStatement(column.name, (ROW, "entity"), True, span=_NOWHERE)


def _row() -> ast.Variable:
    return ast.Variable("X", span=_NOWHERE)


def _formula(rule: Induced, columns: Sequence[TableColumn]) -> ast.Expression | None:
    terms: list[ast.Expression] = []
    start = rule.start
    weights: list[float] = []
    for weight, conjunction in zip(rule.weights.tolist(), rule.conjunctions, strict=True):
        term = _conjunction(conjunction, columns)
        if weight < 0:
            term, start = _negated(term), start + weight
        terms.append(term)
        weights.append(abs(weight))
    if rule.plain:
        if not terms:
            return None
        return terms[0] if len(terms) == 1 else ast.Or(tuple(terms), span=_NOWHERE)
    span = rule.span
    weighed = tuple(
        ast.Weighted(term, ast.Number(round(weight / span, _DIGITS), span=_NOWHERE), span=_NOWHERE)
        for term, weight in zip(terms, weights, strict=True)
    )
    never = (ast.Truth(False, span=_NOWHERE),) * max(0, 2 - len(weighed))  # a disjunction has at least two operands
    return ast.Or((*weighed, *never), (_attribute("bias", round(0.5 - start / span, _DIGITS)),), span=_NOWHERE)


def _attribute(key: str, value: float) -> ast.Attribute:
    return ast.Attribute(key, ast.Number(value, span=_NOWHERE), span=_NOWHERE)


def _conjunction(literals: Conjunction, columns: Sequence[TableColumn]) -> ast.Expression:
    parts = tuple(_literal(literal, columns, holds=holds) for literal, holds in literals)
    return parts[0] if len(parts) == 1 else ast.And(parts, span=_NOWHERE)


def _literal(literal: TableLiteral, columns: Sequence[TableColumn], *, holds: bool) -> ast.Expression:
    column = columns[literal.column]
    name = column.name
    if column.kind == "truth":
        atom = ast.Atom(name, (_row(),), span=_NOWHERE)
        return atom if holds else ast.Not(atom, span=_NOWHERE)
    if literal.other is not None:
        both = tuple(ast.Atom(columns[place].name, (_row(),), span=_NOWHERE) for place in literal.columns)
        return ast.Comparison(both, (">=" if holds else "<",), span=_NOWHERE)
    if literal.threshold is not None:
        number = ast.Number(_plain(literal.threshold), span=_NOWHERE)
        operands = (ast.Atom(name, (_row(),), span=_NOWHERE), number)
        scale = () if literal.scale is None else (_attribute("scale", _plain(literal.scale)),)
        return ast.Comparison(operands, (">=" if holds else "<",), scale, span=_NOWHERE)
    assert literal.value is not None
    atom = ast.Atom(name, (_row(), ast.Constant(literal.value, True, span=_NOWHERE)), span=_NOWHERE)
    return atom if holds else ast.Not(atom, span=_NOWHERE)


def _negated(term: ast.Expression) -> ast.Expression:
    if isinstance(term, ast.Comparison):
        return replace(term, operators=("<" if term.operators[0] == ">=" else ">=",))
    if isinstance(term, ast.And):
        return ast.Or(tuple(_negated(each) for each in term.operands), span=_NOWHERE)
    return term.operand if isinstance(term, ast.Not) else ast.Not(term, span=_NOWHERE)


def _plain(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def rule_lines(rule: Induced, columns: Sequence[TableColumn], positive: str, negative: str) -> Iterator[str]:
    """``positive if ...`` with one conjunction on each line. For a weighted rule, the start of the score and the amount
    that each conjunction adds. ``negative`` is the opposite outcome."""
    named = [" and ".join(_literal_text(*part, columns) for part in each) for each in rule.conjunctions]
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
            found = _EPOCH + timedelta(days=value)
        except OverflowError:
            return f"{in_digits(value)} days after 1970"
        return f"{found:%Y-%m-%d}" if value.is_integer() else f"{found:%Y-%m-%d %H:%M:%S}"
    days = " days" if column.kind in ("date", "duration") else ""
    return f"{in_digits(value)}{days}"


def with_values_quoted(text: str, columns: Sequence[TableColumn]) -> str:
    """The program with the values of columns quoted. Raises ``ValueError`` for a value that no row has."""
    values = {
        each.name: sorted({value for value in each.values.tolist() if value is not None})
        for each in columns
        if not each.numeric
    }
    program, _ = parse(text)
    bare: dict[int, ast.Constant] = {}
    for statement in program.statements:
        if not isinstance(statement, ast.RuleOrAxiom):
            continue
        for atom in (each for each in nodes(statement.formula) if isinstance(each, ast.Atom)):
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
