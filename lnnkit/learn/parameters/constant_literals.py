"""Learned comparisons in a rule's body as literals, and the rule without those whose truth is constant. A literal is
identified by its position in the file, which the checked rule shares with the file's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lnnkit.check.learnables import among
from lnnkit.check.walk import nodes, strip_foralls, transform, visits
from lnnkit.learn.parameters.learnable_places import opened
from lnnkit.syntax import ast
from lnnkit.syntax.span import Span

LiteralSpan = tuple[int, int]  # start and end of a literal in the file's text


@dataclass(frozen=True, slots=True)
class Dropped:
    """The ``literals``, each with its truth, that a rule omits while its parameters have these ``values``."""

    rule: int
    literals: Mapping[LiteralSpan, bool]
    values: Mapping[str, float]

    def holds(self, values: Mapping[str, float]) -> bool:
        """Whether the rule's parameters still have these values."""
        return all(values.get(name) == value for name, value in self.values.items())


def place_of(span: Span) -> LiteralSpan:
    return span.start, span.end


def learned_literals(formula: ast.Expression) -> Iterator[ast.Comparison]:
    """The comparisons with a learned value in an antecedent or beside an equivalence, except of bound variables."""
    formula = strip_foralls(formula)
    match formula:
        case ast.Implies():
            bodies = [formula.antecedent]
        case ast.Iff():
            bodies = [formula.left, formula.right]
        case _:
            bodies = []
    for body in bodies:
        for node in (visit.node for visit in visits(body) if not visit.scope):
            if isinstance(node, ast.Comparison) and any(among(nodes(opened(node)))):
                yield node


def without(formula: ast.Expression, literals: Mapping[LiteralSpan, bool]) -> ast.Expression | None:
    """The formula without literals of constant truth; None if nothing else would remain, or if one decides it."""

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, (ast.Comparison, ast.And)) and place_of(node.span) in literals:
            return ast.Truth(literals[place_of(node.span)], span=node.span)
        if isinstance(node, ast.Not) and isinstance(node.operand, ast.Truth):
            return replace(node.operand, value=not node.operand.value)
        return _without_neutral(node) if isinstance(node, (ast.And, ast.Or)) else node

    found = transform(formula, change)
    return None if _decided(found) else found


def _without_neutral(node: ast.And | ast.Or) -> ast.Expression:
    """The connective without neutral operands (true in a conjunction, false in a disjunction), whatever their weights.
    With a weight or a bias and one operand left, a constant remains beside it. A false operand makes an unweighted
    conjunction false, a true one an unweighted disjunction true."""
    neutral = isinstance(node, ast.And)
    plain = not node.attributes and not any(isinstance(each, ast.Weighted) for each in node.operands)
    if plain and any(_truth(each) is (not neutral) for each in node.operands):
        return ast.Truth(not neutral, span=node.span)
    kept = [each for each in node.operands if _truth(each) is not neutral]
    if len(kept) == len(node.operands):
        return node
    if not kept:
        return ast.Truth(neutral, span=node.span)
    if len(kept) > 1:
        return replace(node, operands=tuple(kept))
    if not node.attributes and not isinstance(kept[0], ast.Weighted):
        return kept[0]
    return replace(node, operands=(*kept, ast.Truth(neutral, span=node.span)))


def _truth(operand: ast.Expression) -> bool | None:
    inner = operand.operand if isinstance(operand, ast.Weighted) else operand
    return inner.value if isinstance(inner, ast.Truth) else None


def _decided(formula: ast.Expression) -> bool:
    """Whether a constant occurs other than as the neutral operand of a conjunction or disjunction."""
    for visit in visits(formula):
        if isinstance(visit.node, ast.Truth):
            parent = visit.parent
            neutral = isinstance(parent, ast.And) if visit.node.value else isinstance(parent, ast.Or)
            if not neutral:
                return True
    return False
