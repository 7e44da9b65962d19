"""What the text states about single atoms: facts, labels, and axioms that consist of one literal.

``axiom ~P(anna) in [0.2, 1]`` is the same statement as ``fact ~P(anna) in [0.2, 1]``, and is treated as that fact: it
holds before the first round, it lists its atom, and if it contradicts another one, the atom is arrested, whether they
are facts or axioms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from lnnkit.check.program import Fact
from lnnkit.check.symbols import Formula
from lnnkit.syntax import ast
from lnnkit.syntax.span import Span

_BELOW_ONE = 1 - 2.0**-53  # the greatest truth below 1


def fact(statement: ast.FactStatement | ast.LabelStatement) -> Fact:
    """The fact with its bounds on the atom: ``~P(a) in [l, u]`` becomes ``P(a) in [1 - u, 1 - l]``."""
    found = _of(statement.atom, statement.negated, statement.bounds, statement.span)
    assert found is not None
    trust = statement.trust if isinstance(statement, ast.FactStatement) else None
    return found if trust is None else replace(found, trust=float(trust))


def stated_fact(formula: Formula) -> Fact | None:
    """The fact that an axiom states, if its formula is a literal about named entities; otherwise None. Rules are never
    turned into facts, since they may learn."""
    literal, negated = formula.root, False
    while isinstance(literal, ast.Not):
        literal, negated = literal.operand, not negated
    if formula.kind != "axiom" or not isinstance(literal, ast.Atom):
        return None
    if any(isinstance(argument, ast.Variable) for argument in literal.arguments):
        return None
    return _of(literal, negated, cast(ast.AxiomStatement, formula.statement).bounds, formula.statement.span)


def _of(atom: ast.Atom, negated: bool, bounds: ast.Bounds | None, span: Span) -> Fact | None:
    texts = tuple(argument.text for argument in atom.arguments if isinstance(argument, ast.Constant))
    lower, upper = ends(bounds)
    if not (isinstance(lower, float) and isinstance(upper, float)):
        return None
    if negated:
        lower, upper = negated_ends(lower, upper)
    return Fact(atom.name, texts, lower, upper, span)


def negated_ends(lower: float, upper: float) -> tuple[float, float]:
    """The bounds of a negated atom, ``[1 - U, 1 - L]``; the lower end is 1 only if ``U`` is 0."""
    return 1.0 if upper == 0 else min(1 - upper, _BELOW_ONE), 1 - lower


def ends(bounds: ast.Bounds | None) -> tuple[ast.Learnable | float, ast.Learnable | float]:
    if bounds is None:
        return 1.0, 1.0
    lower, upper = (float(end.value) if isinstance(end, ast.Number) else end for end in (bounds.lower, bounds.upper))
    return lower, upper
