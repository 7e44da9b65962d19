"""A normal form of formulas: without spans, spelling or names of bound variables (de Bruijn indices), with explicit
logics."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from lnnkit.check.learnables import settled_node, settled_value
from lnnkit.check.program import ENTITY, Assertion, Predicate, SameEntity
from lnnkit.check.walk import children, transform
from lnnkit.explain.checker.ground_arithmetic import arithmetic, renumbered, text
from lnnkit.numeric import Comparison
from lnnkit.numeric import Term as Arithmetic
from lnnkit.syntax import ast

_TRIED = 1000  # assignments tried to recognise a formula as an instance of another, a limit of work


@dataclass(frozen=True, slots=True)
class Slot:
    """A bound variable: the number of quantifiers between, and its position in the one that binds it."""

    between: int
    place: int


@dataclass(frozen=True, slots=True)
class Free:
    """A free variable: in a blanket conclusion, any entity."""

    name: str


GroundTerm = str | Slot | Free


@dataclass(frozen=True, slots=True)
class Form:
    """A normalised formula. ``kind`` is atom, same, true, false, term, or that of a neuron of the lifted graph.
    ``name`` is a predicate, a number, a logic, or the text of the ``arithmetic``; ``count`` the number of variables
    that a quantifier binds."""

    kind: str
    name: str = ""
    terms: tuple[GroundTerm, ...] = ()
    operands: tuple[Form, ...] = ()
    weights: tuple[float, ...] = ()
    bias: float = 1.0
    count: int = 0
    arithmetic: Comparison | Arithmetic | None = field(default=None, compare=False, repr=False)

    @property
    def entities(self) -> tuple[str, ...]:
        """The entities among its terms."""
        return tuple(term for term in self.terms if isinstance(term, str))


def form_of(
    formula: ast.Expression | SameEntity,
    bindings: Mapping[str, str],
    logic: str,
    numbers: Collection[str],
    scope: Mapping[str, Slot] | None = None,  # the variables bound by the enclosing quantifiers
) -> Form:
    """The form of a formula, its free variables replaced by entities; ``logic`` applies to groups that name none. Names
    in ``numbers`` are declared as numbers: in a comparison, any other name is an entity."""
    scope = scope or {}

    def term(argument: ast.Argument) -> GroundTerm:
        if isinstance(argument, ast.Constant):
            return argument.text
        return scope.get(argument.name) or bindings.get(argument.name) or Free(argument.name)

    def below(operand: ast.Expression) -> Form:
        return form_of(operand, bindings, logic, numbers, scope)

    match formula:
        case SameEntity():
            return Form("same", terms=(term(formula.left), term(formula.right)))
        case ast.Comparison(operands=(left, right), operators=("=",)) if all(
            _is_entity(side, numbers) for side in (left, right)
        ):
            return Form("same", terms=(_entity(left, term), _entity(right, term)))
        case ast.Atom():
            return Form("atom", formula.name, tuple(map(term, formula.arguments)))
        case ast.Comparison() | ast.Number() | ast.Arithmetic() | ast.Negate() | ast.Function() | ast.Unit():
            made, atoms = arithmetic(formula)
            return _calculated("compare" if isinstance(made, Comparison) else "term", made, tuple(map(below, atoms)))
        case ast.Truth():
            return Form("true" if formula.value else "false")
        case ast.Not():
            return Form("not", operands=(below(formula.operand),))
        case ast.Weighted():
            return below(formula.operand)
        case ast.Forall() | ast.Exists():
            outer = {name: Slot(slot.between + 1, slot.place) for name, slot in scope.items()}
            inner = {v.name: Slot(0, place) for place, v in enumerate(formula.variables)}
            body = form_of(formula.body, bindings, logic, numbers, {**outer, **inner})
            kind = "forall" if isinstance(formula, ast.Forall) else "exists"
            return Form(kind, operands=(body,), count=len(formula.variables))
        case ast.And() | ast.Or() | ast.Implies() | ast.Iff() | ast.Xor():
            operands = children(formula)
            given = {attribute.key: attribute.value for attribute in formula.attributes}
            weights = tuple(_number(o.weight) if isinstance(o, ast.Weighted) else 1.0 for o in operands)
            kind, logic_name = type(formula).__name__.lower(), str(given.get("logic", logic))
            return Form(kind, logic_name, (), tuple(map(below, operands)), weights, _number(given.get("bias", 1.0)))
    raise ValueError(f"no form for {type(formula).__name__}")


def _calculated(kind: str, made: Comparison | Arithmetic, numbers: tuple[Form, ...]) -> Form:
    """Arithmetic over distinct ``numbers``: different variables may denote the same entities."""
    once = list(dict.fromkeys(numbers))
    if len(once) < len(numbers):
        made = renumbered(made, {index: once.index(number) for index, number in enumerate(numbers)})
    return Form(kind, text(made), (), tuple(once), arithmetic=made)


def statement_form(
    statement: Assertion, bindings: Mapping[str, str], starts: Mapping[str, float], numbers: Collection[str]
) -> Form:
    """The instance of a statement, without leading universal quantifiers if its upper truth is 1; ``starts`` are the
    values of learnable names."""
    return form_of(stated_formula(statement, starts), bindings, statement.logic, numbers)


def stated_formula(statement: Assertion, starts: Mapping[str, float]) -> ast.Expression | SameEntity:
    """The formula that a statement asserts for each instance, with values for all learnable numbers."""
    formula = transform(cast("ast.Expression", statement.formula), lambda node: settled_node(node, starts))
    while isinstance(formula, ast.Forall) and truth_of(statement, starts)[1] == 1.0:
        formula = formula.body
    return formula


def truth_of(statement: Assertion, starts: Mapping[str, float]) -> tuple[float, float]:
    """The bounds that a statement gives its formula."""
    lower, upper = (settled_value(end, starts) for end in (statement.lower, statement.upper))
    return _number(lower, 0.0), _number(upper, 1.0)


def filled(body: Form, entities: tuple[str, ...]) -> Form:
    """The ``body`` of a quantifier with the bound variables replaced by these entities."""
    return _replaced(body, lambda t, around: entities[t.place] if isinstance(t, Slot) and t.between == around else t, 0)


def about(form: Form, entities: Mapping[Free, str]) -> Form:
    """A form with its free variables replaced."""
    return _replaced(form, lambda term, _: entities.get(term, term) if isinstance(term, Free) else term, 0)


def _replaced(form: Form, put: Callable[[GroundTerm, int], GroundTerm], around: int) -> Form:
    """A form with each term replaced, ``around`` being the number of enclosing quantifiers."""
    if form.operands:
        inside = around + (form.kind in ("forall", "exists"))
        operands = tuple(_replaced(operand, put, inside) for operand in form.operands)
        if form.arithmetic is not None:
            return _calculated(form.kind, form.arithmetic, operands)
        return replace(form, operands=operands)
    return Form(form.kind, form.name, tuple(put(term, around) for term in form.terms))


def free_sorts(form: Form, predicates: Mapping[str, Predicate]) -> dict[str, str]:
    """The sort of each free variable, from its positions."""
    inferred: dict[str, str] = {}
    for leaf, _ in _leaves(form):
        sorts = predicates[leaf.name].sorts if leaf.kind == "atom" else (ENTITY,) * len(leaf.terms)
        for one, sort in zip(leaf.terms, sorts, strict=True):
            if isinstance(one, Free) and inferred.get(one.name, ENTITY) == ENTITY:
                inferred[one.name] = sort
    return inferred


def bound_sorts(quantifier: Form, predicates: Mapping[str, Predicate]) -> list[str]:
    """The sorts of the variables that a quantifier binds."""
    sorts = [ENTITY] * quantifier.count
    for leaf, between in _leaves(quantifier.operands[0]):
        if leaf.kind == "atom":
            for one, sort in zip(leaf.terms, predicates[leaf.name].sorts, strict=True):
                if isinstance(one, Slot) and one.between == between and sort != ENTITY:
                    sorts[one.place] = sort
    return sorts


def quantifiers(form: Form) -> Iterator[Form]:
    """The quantifiers in a form."""
    if form.count:
        yield form
    for operand in form.operands:
        yield from quantifiers(operand)


def leaves(form: Form) -> Iterator[Form]:
    """The atoms, equalities and constants in a form."""
    yield from (leaf for leaf, _ in _leaves(form))


def _leaves(form: Form) -> Iterator[tuple[Form, int]]:
    """Each leaf with the number of enclosing quantifiers."""
    stack = [(form, 0)]
    while stack:
        node, between = stack.pop()
        if not node.operands:
            yield node, between
        inside = between + (node.kind in ("forall", "exists"))
        stack.extend((operand, inside) for operand in reversed(node.operands))


def _is_entity(operand: ast.Expression, numbers: Collection[str]) -> bool:
    if isinstance(operand, ast.Atom):
        return not operand.arguments and operand.name not in numbers
    return isinstance(operand, ast.Entity)


def _entity(operand: ast.Expression, term: Callable[[ast.Argument], GroundTerm]) -> GroundTerm:
    match operand:
        case ast.Entity():
            return operand.text
        case ast.Atom():
            return term(ast.Variable(operand.name, span=operand.span))
    raise ValueError("an equality of entities is between names")


def _number(value: object, default: float = 1.0) -> float:
    if isinstance(value, ast.Number):
        return float(value.value)
    if isinstance(value, ast.Learnable):
        return default
    assert isinstance(value, (int, float))
    return float(value)


def covers(pattern: Form, form: Form) -> bool:
    """Whether the pattern, whose free variables stand for any entity, subsumes the form."""
    seen: dict[GroundTerm, GroundTerm] = {}

    def fits(one: Form, other: Form) -> bool:
        head = one.kind, one.name, one.weights, one.bias, one.count
        if head != (other.kind, other.name, other.weights, other.bias, other.count):
            return False
        for expected, term in zip(one.terms, other.terms, strict=True):
            if isinstance(expected, Free):
                if seen.setdefault(expected, term) != term:
                    return False
            elif expected != term:
                return False
        return all(fits(a, b) for a, b in zip(one.operands, other.operands, strict=True))

    if len(list(leaves(pattern))) == len(list(leaves(form))) and fits(pattern, form):
        return True
    return _covers_calculated(pattern, form)


def _covers_calculated(pattern: Form, form: Form) -> bool:
    """The same where variables of the pattern are replaced by entities that it names: arithmetic lists equal numbers
    once."""
    of_pattern, of_form = list(leaves(pattern)), list(leaves(form))
    free = list(dict.fromkeys(term for leaf in of_pattern for term in leaf.terms if isinstance(term, Free)))
    entities = list(dict.fromkeys(term for leaf in of_form for term in leaf.terms if isinstance(term, str)))
    if len(of_pattern) <= len(of_form) or len(entities) ** len(free) > _TRIED:
        return False
    return any(
        about(pattern, dict(zip(free, some, strict=True))) == form
        for some in itertools.product(entities, repeat=len(free))
    )


def consequents(form: Form) -> Iterator[Form]:
    """The conjuncts of an implication's consequent."""
    stack = [form.operands[1]] if form.kind == "implies" else []
    while stack:
        node = stack.pop()
        if node.kind == "and":
            stack.extend(node.operands)
        else:
            yield node
