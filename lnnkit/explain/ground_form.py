"""Formulas in a form that tells equal ones: no spans, no spelling, no names of bound variables; logics are explicit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from lnnkit.check.program import ENTITY, Assertion, Predicate, SameEntity
from lnnkit.syntax import ast


@dataclass(frozen=True, slots=True)
class Slot:
    """A variable that a quantifier binds: the depth of that, and the variable's place there."""

    depth: int
    place: int


@dataclass(frozen=True, slots=True)
class Free:
    """A variable that nothing binds: in a blanket conclusion, any entity."""

    name: str


Term = str | Slot | Free


@dataclass(frozen=True, slots=True)
class Form:
    """``kind`` is atom, same, true, false, or that of a neuron of the lifted graph. ``name`` is a predicate or
    a logic, ``count`` the number of variables that a quantifier binds."""

    kind: str
    name: str = ""
    terms: tuple[Term, ...] = ()
    operands: tuple[Form, ...] = ()
    weights: tuple[float, ...] = ()
    bias: float = 1.0
    count: int = 0


def form_of(
    formula: ast.Expression | SameEntity,
    bindings: Mapping[str, str],
    logic: str,
    scope: Mapping[str, Slot] | None = None,
) -> Form:
    """The form of a formula, its free variables replaced by entities; ``logic`` is that of groups that name none."""
    scope = scope or {}

    def term(argument: ast.Argument) -> Term:
        if isinstance(argument, ast.Constant):
            return argument.text
        return scope.get(argument.name) or bindings.get(argument.name) or Free(argument.name)

    def below(operand: ast.Expression) -> Form:
        return form_of(operand, bindings, logic, scope)

    match formula:
        case SameEntity():
            return Form("same", terms=(term(formula.left), term(formula.right)))
        case ast.Comparison(operands=(left, right), operators=("=",)):
            return Form("same", terms=(_entity(left, term), _entity(right, term)))
        case ast.Atom():
            return Form("atom", formula.name, tuple(map(term, formula.arguments)))
        case ast.Truth():
            return Form("true" if formula.value else "false")
        case ast.Not():
            return Form("not", operands=(below(formula.operand),))
        case ast.Weighted():
            return below(formula.operand)
        case ast.Forall() | ast.Exists():
            depth = max((slot.depth for slot in scope.values()), default=-1) + 1
            inner = {v.name: Slot(depth, place) for place, v in enumerate(formula.variables)}
            body = form_of(formula.body, bindings, logic, {**scope, **inner})
            kind = "forall" if isinstance(formula, ast.Forall) else "exists"
            return Form(kind, operands=(body,), count=len(formula.variables))
        case ast.And() | ast.Or() | ast.Implies() | ast.Iff() | ast.Xor():
            operands = _operands(formula)
            attributes = {attribute.key: attribute.value for attribute in formula.attributes}
            bias, own = attributes.get("bias"), attributes.get("logic", logic)
            weights = tuple(_number(o.weight) if isinstance(o, ast.Weighted) else 1.0 for o in operands)
            kind = type(formula).__name__.lower()
            return Form(
                kind, str(own), (), tuple(map(below, operands)), weights, 1.0 if bias is None else _number(bias)
            )
    raise ValueError(f"no form for {type(formula).__name__}")


def statement_form(statement: Assertion, bindings: Mapping[str, str]) -> Form:
    """The instance of a statement, without the universal quantifiers at its head where its upper truth is 1."""
    formula = statement.formula
    while isinstance(formula, ast.Forall) and truth_of(statement)[1] == 1.0:
        formula = formula.body
    return form_of(formula, bindings, statement.logic)


def truth_of(statement: Assertion) -> tuple[float, float]:
    """The bounds that a statement gives its formula."""
    return _number(statement.lower), _number(statement.upper)


def filled(form: Form, depth: int, entities: tuple[str, ...]) -> Form:
    """``form`` with the variables that the quantifier at ``depth`` binds replaced."""
    if form.operands:
        operands = tuple(filled(operand, depth, entities) for operand in form.operands)
        return Form(form.kind, form.name, form.terms, operands, form.weights, form.bias, form.count)
    terms = tuple(entities[t.place] if isinstance(t, Slot) and t.depth == depth else t for t in form.terms)
    return Form(form.kind, form.name, terms)


def atoms(form: Form) -> Iterator[Form]:
    """The atoms in a form, from left to right."""
    stack = [form]
    while stack:
        node = stack.pop()
        if node.kind == "atom":
            yield node
        stack.extend(reversed(node.operands))


def sorts_of(form: Form, predicates: Mapping[str, Predicate], variables: set[Term]) -> dict[Term, str]:
    """The sort of each of the ``variables``, by the places in which it stands."""
    found: dict[Term, str] = dict.fromkeys(variables, ENTITY)
    for atom in atoms(form):
        for one, sort in zip(atom.terms, predicates[atom.name].sorts, strict=True):
            if one in found and sort != ENTITY:
                found[one] = sort
    return found


def _entity(operand: ast.Expression, term: Callable[[ast.Argument], Term]) -> Term:
    match operand:
        case ast.Entity():
            return operand.text
        case ast.Atom():
            return term(ast.Variable(operand.name, span=operand.span))
    raise ValueError("an equality of entities is between names")


def _operands(formula: ast.And | ast.Or | ast.Implies | ast.Iff | ast.Xor) -> tuple[ast.Expression, ...]:
    match formula:
        case ast.And() | ast.Or():
            return formula.operands
        case ast.Implies():
            return formula.antecedent, formula.consequent
        case ast.Iff() | ast.Xor():
            return formula.left, formula.right


def _number(value: object) -> float:
    if isinstance(value, ast.Number):
        return float(value.value)
    assert isinstance(value, (int, float))
    return float(value)
