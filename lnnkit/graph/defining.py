"""What a statement asserts about each instance, and the closed predicates that it defines."""

from __future__ import annotations

from collections.abc import Mapping

from lnnkit.check.program import Assertion, Predicate, SameEntity
from lnnkit.check.walk import asserted
from lnnkit.syntax import ast

Formula = ast.Expression | SameEntity


def stripped(assertion: Assertion) -> Formula:
    """The statement's formula without its leading universal quantifiers, whose variables become free.

    Only if the upper truth is 1: ``forall X: F in [l, 1]`` says exactly that each instance is at least ``l``.
    """
    formula = assertion.formula
    while isinstance(formula, ast.Forall) and assertion.upper == 1.0:
        formula = formula.body
    return formula


def defined_predicates(assertion: Assertion, predicates: Mapping[str, Predicate]) -> frozenset[str]:
    """The closed predicates whose atoms are asserted by the conjunction that is the statement's consequent."""
    formula = stripped(assertion)
    if not isinstance(formula, ast.Implies):
        return frozenset()
    return frozenset(atom.name for atom in asserted(formula.consequent) if predicates[atom.name].closed)
