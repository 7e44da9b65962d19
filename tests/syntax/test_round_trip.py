"""Printing and parsing undo one another."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse, parse_expression
from lnnkit.syntax.printer import format_expression, format_program
from tests.syntax.strategies import expressions, programs

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(programs)
def test_a_printed_program_parses_to_itself(program: ast.Program) -> None:
    text = format_program(program)
    again, diagnostics = parse(text)
    assert diagnostics == []
    assert again == program
    assert format_program(again) == text


@quick
@given(expressions())
def test_a_printed_expression_parses_to_itself(expression: ast.Expression) -> None:
    text = format_expression(expression)
    again, diagnostics = parse_expression(text)
    assert diagnostics == []
    assert again is not None and again == expression
    assert format_expression(again) == text
