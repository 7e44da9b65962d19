"""Formulas in the place of unknown functions: one term, and several cases on their conditions."""

from __future__ import annotations

from typing import Any, cast

from lnnkit.learn.learner import FoundFunction
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_statement


def put(rule: str, *cases: tuple[str | None, str]) -> str:
    program, findings = parse(f"rule {rule}\n", "<test>")
    assert not findings
    statement = cast("ast.RuleStatement", program.statements[0])
    terms = [statement.formula]
    while not isinstance(terms[-1], ast.UnknownFunction):
        node = cast("Any", terms[-1])
        below = (node.consequent,) if isinstance(node, ast.Implies) else ()
        below = below or ((node.body,) if isinstance(node, ast.Forall) else ())
        below = below or ((node.operands[1],) if isinstance(node, ast.Comparison) else ())
        terms.append((below or (cast("Any", node).right,))[0])
    node = cast("ast.UnknownFunction", terms[-1])
    found = FoundFunction(tuple(cases)).put(statement.formula, node, node.operands, node.span)
    text = format_statement(ast.RuleStatement(None, found, None, span=statement.span))
    again, findings = parse(f"{text}\n", "<test>")
    assert not findings and cast("ast.RuleStatement", again.statements[0]).formula == found
    return text


def test_a_term_keeps_its_place() -> None:
    assert put("y(X) = 2 * ?f(a(X), b(X))", (None, "?x0 + ?x1")) == "rule y(X) = 2 * (a(X) + b(X))"
    assert put("y(X) = 1 - ?f(a(X))", (None, "?x0 - 3")) == "rule y(X) = 1 - (a(X) - 3)"
    assert put("y(X) = c(X) / ?f(a(X))", (None, "-?x0")) == "rule y(X) = c(X) / -a(X)"
    assert put("P(X) -> y(X) = ?f(a(X) + 1)", (None, "2 * ?x0^2")) == "rule P(X) -> y(X) = 2 * (a(X) + 1)^2"


def test_the_eleventh_operand_is_not_the_first() -> None:
    operands = ", ".join(f"a{place}(X)" for place in range(12))
    assert put(f"y(X) = ?f({operands})", (None, "?x1 * ?x10 / ?x11")) == "rule y(X) = a1(X) * a10(X) / a11(X)"


def test_each_case_has_its_condition() -> None:
    cases = (("?x0 > 3", "?x0"), ("?x0 <= 3", "5"))
    text = "rule (a(X) > 3 -> P(X) -> y(X) = a(X)) & (a(X) <= 3 -> P(X) -> y(X) = 5)"
    assert put("P(X) -> y(X) = ?f(a(X))", *cases) == text
    assert put("forall X: P(X) -> y(X) = ?f(a(X))", *cases) == text
