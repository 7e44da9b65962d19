"""A program with its learned numbers and the formulas found for unknown functions, without learned literals of constant
truth: changed rules are printed anew, all other text is kept. A literal, a learned comparison in a rule's body, is
identified by its position in the file, which the checked rule shares with the file's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from lnnkit.check.learnables import among, in_value, substituted
from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.check.walk import nodes, strip_foralls, transform, visits
from lnnkit.learn.parameters.rule_parameters import (
    ParameterKind,
    ParameterNaming,
    is_opened,
    opened,
    plain,
    rewritten,
    truths,
)
from lnnkit.learn.parameters.unit_readout import crisp_relation
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse_expression
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


@dataclass(frozen=True, slots=True)
class TrainedRule:
    """A rule by its ``name`` and its ``place`` among the assertions, as written, and with learned values."""

    name: str
    place: int
    before: ast.RuleStatement
    after: ast.RuleStatement


def with_values(
    statement: ast.RuleStatement, naming: ParameterNaming, values: Mapping[str, float]
) -> ast.RuleStatement:
    """The statement with these values. A ``?`` stays one with a new start; a value of 1 that did not change is not
    written."""

    def number(kind: ParameterKind, value: ast.Value | float, span: Span) -> ast.Value | float:
        name = naming.name(kind, value)
        if name is None or name not in values:
            return value
        now = values[name]
        now = int(now) if now.is_integer() and abs(now) < 2**53 else now
        if isinstance(value, ast.Learnable) and not is_opened(value):
            return replace(value, initial=now)
        return ast.Number(now, span=span)

    marked, bounds, span = naming.marked, statement.bounds, statement.span
    formula = transform(rewritten(opened(statement.formula), number, (), marked=marked), _plainly)
    one = ast.Number(1, span=span)
    given = (one, one) if bounds is None else (bounds.lower, bounds.upper)
    ends = truths(*given, number, span, marked=marked)
    lower, upper = (e if isinstance(e, (ast.Number, ast.Learnable)) else ast.Number(e, span=span) for e in ends)
    if (lower, upper) != given:
        bounds = ast.Bounds(lower, upper, span=span)
    return replace(statement, formula=formula, bounds=bounds)


def _plainly(node: ast.Expression) -> ast.Expression:
    """A register equal to a relation becomes that relation; a register or unit without values stays bare. Other nodes
    lose weights and biases of 1, the defaults, unless only a written weight is learned."""
    if isinstance(node, ast.Comparison | ast.Unit):
        given = tuple(attribute for attribute in node.attributes if not any(map(is_opened, in_value(attribute.value))))
        if len(given) != len(node.attributes):
            return replace(node, attributes=given)
        return crisp_relation(node) if isinstance(node, ast.Comparison) else node
    if isinstance(node, (ast.And, ast.Or)):
        node = replace(node, operands=tuple(map(_without_one, node.operands)))
    elif isinstance(node, ast.Implies):
        bare = _without_one(node.antecedent)
        node = node if isinstance(bare, (ast.And, ast.Or)) else replace(node, antecedent=bare)
    else:
        return node
    said = {one: None if isinstance(one.value, str | ast.ValueList) else plain(one.value) for one in node.attributes}
    return replace(node, attributes=tuple(one for one, value in said.items() if one.key != "bias" or value != 1))


def _without_one(operand: ast.Expression) -> ast.Expression:
    return operand.operand if isinstance(operand, ast.Weighted) and plain(operand.weight) == 1 else operand


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
            piece = substituted(root, old, _filled(term, operands, span))
            if condition is not None:
                piece = ast.Implies(_filled(condition, operands, span), strip_foralls(piece), span=span)
            stated.append(piece)
        return stated[0] if len(stated) == 1 else ast.And(tuple(stated), span=span)


def with_functions(program: CheckedProgram, functions: Mapping[str, FoundFunction]) -> CheckedProgram:
    """The program with the formulas ``functions``, by function name, substituted in its statements."""
    if not functions:
        return program
    gone: set[str] = set()
    assertions: list[Assertion] = []
    for assertion in program.assertions:
        unknown = assertion.unknown
        if unknown is not None and unknown.function in functions:
            root = cast("ast.Expression", assertion.formula)
            formula = functions[unknown.function].put(root, unknown.atom, unknown.operands, unknown.span)
            assertion = replace(assertion, formula=formula)
            gone.add(unknown.atom.name)
        assertions.append(assertion)
    left = {name: predicate for name, predicate in program.predicates.items() if name not in gone}
    return replace(program, assertions=tuple(assertions), predicates=left)


def with_function(
    statement: ast.RuleStatement, assertion: Assertion, functions: Mapping[str, FoundFunction]
) -> ast.RuleStatement:
    """The statement as written, with the formula found for its unknown function, if there is one."""
    unknown = assertion.unknown
    if unknown is None or unknown.function not in functions:
        return statement
    node = next(node for node in nodes(statement.formula) if isinstance(node, ast.UnknownFunction))
    formula = functions[unknown.function].put(statement.formula, node, node.operands, unknown.span)
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


def learned_literals(formula: ast.Expression) -> Iterator[ast.Comparison]:
    """The comparisons with a learned value in an antecedent or beside an equivalence, except of bound variables."""
    formula, bodies = strip_foralls(formula), ()
    if isinstance(formula, ast.Implies):
        bodies = (formula.antecedent,)
    elif isinstance(formula, ast.Iff):
        bodies = (formula.left, formula.right)
    for visit in (visit for body in bodies for visit in visits(body)):
        if isinstance(visit.node, ast.Comparison) and not visit.scope and any(among(nodes(opened(visit.node)))):
            yield visit.node


def without(formula: ast.Expression, literals: Mapping[LiteralSpan, bool]) -> ast.Expression | None:
    """The formula without literals of constant truth; None if nothing else would remain, or if one decides it."""

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, (ast.Comparison, ast.And)) and place_of(node.span) in literals:
            return ast.Truth(literals[place_of(node.span)], span=node.span)
        if isinstance(node, ast.Not) and isinstance(node.operand, ast.Truth):
            return replace(node.operand, value=not node.operand.value)
        return _without_neutral(node) if isinstance(node, (ast.And, ast.Or)) else node

    shorter = transform(formula, change)
    return None if _decided(shorter) else shorter


def _without_neutral(node: ast.And | ast.Or) -> ast.Expression:
    """The connective without neutral operands (true in a conjunction, false in a disjunction), whatever their weights.
    With a weight or a bias and one operand left, a constant remains beside it. A false operand makes an unweighted
    conjunction false, a true one an unweighted disjunction true."""
    neutral = isinstance(node, ast.And)
    plain = not node.attributes and not any(isinstance(operand, ast.Weighted) for operand in node.operands)
    if plain and any(_truth(operand) is (not neutral) for operand in node.operands):
        return ast.Truth(not neutral, span=node.span)
    kept = [operand for operand in node.operands if _truth(operand) is not neutral]
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
    constants = (visit for visit in visits(formula) if isinstance(visit.node, ast.Truth))
    return any(not isinstance(constant.parent, ast.And if _truth(constant.node) else ast.Or) for constant in constants)
