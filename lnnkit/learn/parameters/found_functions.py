"""Substitution of the formulas found for unknown functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.check.unknown_functions import substituted
from lnnkit.check.walk import nodes, strip_foralls, transform
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse_expression
from lnnkit.syntax.span import Span

_PLACE = re.compile(r"x(\d+)")


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """Pairs of a condition (None: always) and a term, texts in which ``?x0`` is the first operand, and so on."""

    cases: tuple[tuple[str | None, str], ...]

    def put(
        self, root: ast.Expression, old: ast.Expression, operands: Sequence[ast.Expression], span: Span
    ) -> ast.Expression:
        """The formula ``root`` with ``old`` replaced by this one, or by each piece of it under its condition."""
        stated: list[ast.Expression] = []
        for condition, term in self.cases:
            found = substituted(root, old, _filled(term, operands, span))
            if condition is not None:
                found = ast.Implies(_filled(condition, operands, span), strip_foralls(found), span=span)
            stated.append(found)
        return stated[0] if len(stated) == 1 else ast.And(tuple(stated), span=span)


def with_functions(program: CheckedProgram, found: Mapping[str, FoundFunction]) -> CheckedProgram:
    """The program with the formulas ``found``, by function name, substituted in its statements."""
    if not found:
        return program
    gone: set[str] = set()
    assertions: list[Assertion] = []
    for each in program.assertions:
        unknown = each.unknown
        if unknown is not None and unknown.function in found:
            root = cast("ast.Expression", each.formula)
            formula = found[unknown.function].put(root, unknown.atom, unknown.operands, unknown.span)
            each = replace(each, formula=formula)
            gone.add(unknown.atom.name)
        assertions.append(each)
    left = {name: each for name, each in program.predicates.items() if name not in gone}
    return replace(program, assertions=tuple(assertions), predicates=left)


def written_with(
    statement: ast.RuleStatement, assertion: Assertion, found: Mapping[str, FoundFunction]
) -> ast.RuleStatement:
    """The statement as written, with the formula found for its unknown function, if there is one."""
    unknown = assertion.unknown
    if unknown is None or unknown.function not in found:
        return statement
    node = next(each for each in nodes(statement.formula) if isinstance(each, ast.UnknownFunction))
    formula = found[unknown.function].put(statement.formula, node, node.operands, unknown.span)
    return replace(statement, formula=formula)


def _filled(text: str, operands: Sequence[ast.Expression], span: Span) -> ast.Expression:
    parsed, findings = parse_expression(text, "<formula>")
    assert parsed is not None, findings

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Learnable):
            place = _PLACE.fullmatch(node.name or "")
            assert place is not None
            return operands[int(place[1])]
        return replace(node, span=span)

    return transform(parsed, change)
