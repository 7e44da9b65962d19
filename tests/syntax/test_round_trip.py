"""Printing and parsing undo one another."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse, parse_expression
from lnnkit.syntax.printer import format_expression, format_program
from tests.blocks import at_length
from tests.syntax.strategies import expressions, programs

quick = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
counts = pytest.mark.parametrize("count", at_length([10, 60], plain=1))


@counts
def test_a_printed_program_parses_to_itself(count: int) -> None:
    @settings(quick, max_examples=count)
    @given(programs)
    def check(program: ast.Program) -> None:
        text = format_program(program)
        again, diagnostics = parse(text)
        assert diagnostics == []
        assert again == program
        assert format_program(again) == text

    check()


@counts
def test_a_printed_expression_parses_to_itself(count: int) -> None:
    @settings(quick, max_examples=count)
    @given(expressions())
    def check(expression: ast.Expression) -> None:
        text = format_expression(expression)
        again, diagnostics = parse_expression(text)
        assert diagnostics == []
        assert again is not None and again == expression
        assert format_expression(again) == text

    check()
