"""A normal form of formulas: without spans, spelling or names of bound variables (de Bruijn indices), with explicit
logics; comparisons and terms as arithmetic over the number atoms that they read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from lnnkit.check.date_terms import operation_of
from lnnkit.check.learnables import settled_value
from lnnkit.check.program import ENTITY, Assertion, CheckedFormula, CheckedProgram, Predicate, SameEntity
from lnnkit.check.walk import children, transform
from lnnkit.numeric import Apply, Comparison, Constant, Input, Operation, frozen, relation
from lnnkit.numeric import Term as Arithmetic
from lnnkit.numeric.term import apply, constant, number, undetermined
from lnnkit.syntax import ast

_OPERATIONS: dict[str, Operation] = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "power"}
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


_Place = Callable[[ast.Atom | ast.Aggregate], int]
GroundTerm = str | Slot | Free
Scope = Mapping[str, Slot]


@dataclass(frozen=True, slots=True)
class Form:
    """A normalised formula. ``kind`` is atom, same, true, false, term, or that of a neuron of the graph. ``name`` is
    a predicate, a number, a logic, or the text of the ``arithmetic``; a quantifier or an aggregate binds ``count``
    variables. An aggregate has its condition first, then its term. What `xor` joins is `not` of `iff`."""

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

    def walk(self) -> Iterator[tuple[Form, int]]:
        """The form and all forms below it, each with the number of quantifiers around it."""
        stack: list[tuple[Form, int]] = [(self, 0)]
        while stack:
            form, around = stack.pop()
            yield form, around
            inside = around + bool(form.count)
            stack.extend((operand, inside) for operand in reversed(form.operands))

    @property
    def leaves(self) -> list[Form]:
        """The atoms, equalities and constants in it."""
        return [form for form, _ in self.walk() if not form.operands]

    @property
    def all_terms(self) -> list[GroundTerm]:
        """The terms of its atoms and equalities."""
        return [term for leaf in self.leaves for term in leaf.terms]


def form_of(
    formula: CheckedFormula,
    bindings: Mapping[str, str],
    logic: str,
    program: CheckedProgram,
    scope: Scope | None = None,
) -> Form:
    """The form of a formula, its free variables replaced by entities; ``logic`` is that of groups that name none. A
    name in a comparison is an entity unless it is that of a number. ``scope`` has the variables bound around it."""
    scope = scope or {}

    def term(argument: ast.Argument) -> GroundTerm:
        if isinstance(argument, ast.Constant):
            return argument.text
        return scope.get(argument.name) or bindings.get(argument.name) or Free(argument.name)

    def below(operand: ast.Expression) -> Form:
        return form_of(operand, bindings, logic, program, scope)

    if isinstance(formula, SameEntity):
        return Form("same", terms=(term(formula.left), term(formula.right)))
    if isinstance(formula, ast.Comparison) and formula.operators == ("=",):
        named = [argument for side in formula.operands if (argument := _entity(side, program)) is not None]
        if len(named) == len(formula.operands):
            return Form("same", terms=tuple(map(term, named)))
    kind = type(formula).__name__.lower()
    match formula:
        case ast.Atom():
            return Form(kind, formula.name, tuple(map(term, formula.arguments)))
        case ast.Comparison() | ast.Number() | ast.Arithmetic() | ast.Negate() | ast.Function() | ast.Unit():
            read: list[Form] = []
            made = _arithmetic(formula, program, lambda number: read.append(below(number)) or len(read) - 1)
            return _calculated(made, read)
        case ast.Truth():
            return Form("true" if formula.value else "false")
        case ast.Not():
            return Form(kind, operands=(below(formula.operand),))
        case ast.Weighted():
            return below(formula.operand)
        case ast.Forall() | ast.Exists() | ast.Aggregate():
            outer = {name: Slot(slot.between + 1, slot.place) for name, slot in scope.items()}
            inner = {**outer, **{v.name: Slot(0, place) for place, v in enumerate(formula.variables)}}
            parts = tuple(form_of(part, bindings, logic, program, inner) for part in reversed(children(formula)))
            kind = formula.name if isinstance(formula, ast.Aggregate) else kind
            return Form(kind, operands=parts, count=len(formula.variables))
        case ast.And() | ast.Or() | ast.Implies() | ast.Iff() | ast.Xor():
            operands = children(formula)
            given = {attribute.key: attribute.value for attribute in formula.attributes}
            weights = tuple(_number(o.weight, 1.0) if isinstance(o, ast.Weighted) else 1.0 for o in operands)
            named, bias = str(given.get("logic", logic)), _number(given.get("bias", 1.0), 1.0)
            made = Form(kind.replace("xor", "iff"), named, (), tuple(map(below, operands)), weights, bias)
            return Form("not", operands=(made,)) if kind == "xor" else made
    raise ValueError(f"no form for {type(formula).__name__}")


def _entity(side: ast.Expression, program: CheckedProgram) -> ast.Argument | None:
    """What one side of an equality of entities names; None for any other term."""
    if isinstance(side, ast.Atom) and not side.arguments and not program.is_number(side.name):
        return ast.Variable(side.name, span=side.span)
    return ast.Constant(side.text, span=side.span) if isinstance(side, ast.Entity) else None


def _number(value: object, default: float | None = None) -> float:
    if isinstance(value, ast.Learnable):
        if default is None:
            raise ValueError("a learnable number without a value")
        return default
    plain = value.value if isinstance(value, ast.Number) else value
    assert isinstance(plain, (int, float))
    return float(plain)


def _arithmetic(formula: ast.Expression, program: CheckedProgram, place: _Place) -> Comparison | Arithmetic:
    """A comparison of two terms, or a term; ``place`` numbers the atoms and aggregates that it reads."""
    if not isinstance(formula, ast.Comparison):
        return _term(formula, program, place)
    first, second = (_term(side, program, place) for side in formula.operands)
    given, (operator,) = _attributes(formula), formula.operators
    return Comparison(first, second, relation(operator, given.get("weight"), given.get("scale", [0.0])[0]))


def _term(formula: ast.Expression, program: CheckedProgram, place: _Place) -> Arithmetic:
    if isinstance(formula, ast.Atom | ast.Aggregate):
        return number(place(formula))
    operands = [_term(operand, program, place) for operand in children(formula)]
    match formula:
        case ast.Number():
            return constant(float(formula.value))
        case ast.Learnable():
            return undetermined()
        case ast.Negate():
            return apply("negate", *operands)
        case ast.Function():
            return apply(cast("Operation", operation_of(formula, program)), *operands)
        case ast.Arithmetic():
            return apply(_OPERATIONS[formula.operator], *operands)
        case ast.Unit():
            return frozen(formula.name, _attributes(formula), operands)
    raise ValueError(f"no term for {type(formula).__name__}")


def _attributes(formula: ast.Comparison | ast.Unit) -> dict[str, list[float]]:
    values = {attribute.key: attribute.value for attribute in formula.attributes}
    listed = {key: value.items if isinstance(value, ast.ValueList) else [value] for key, value in values.items()}
    return {key: list(map(_number, items)) for key, items in listed.items()}


def _calculated(made: Comparison | Arithmetic, numbers: Sequence[Form]) -> Form:
    """Arithmetic over those of the ``numbers`` that it reads, each once: different variables may denote the same
    entities, and a unit omits operands of weight 0."""
    terms = (made.left, made.right) if isinstance(made, Comparison) else (made,)
    used = [numbers[step.index] for term in terms for step in term.steps if isinstance(step, Input)]
    once = {form: place for place, form in enumerate(dict.fromkeys(used))}
    first, *second = (
        Arithmetic(tuple(Input(once[numbers[s.index]]) if isinstance(s, Input) else s for s in term.steps))
        for term in terms
    )
    if not isinstance(made, Comparison):
        return Form("term", _text(first), (), tuple(once), arithmetic=first)
    text = f"{_text(first)} {made.relation!r} {_text(second[0])}"
    return Form("compare", text, (), tuple(once), arithmetic=Comparison(first, second[0], made.relation))


def _text(term: Arithmetic) -> str:
    """A canonical text: equal for terms that differ only in how sums and products are grouped."""
    built: list[str] = []
    for step in term.steps:
        match step:
            case Input():
                built.append(f"#{step.index}")
            case Constant():
                built.append(repr(step.value))
            case Apply(operation=str() as operation) if operation in _OPERATIONS.values():
                first, *rest = (built[place] for place in step.operands)
                for operand in rest:
                    first = f"({first} {operation} {operand})"
                built.append(first)
            case Apply(operation=operation):
                name = operation if isinstance(operation, str) else repr(operation)
                built.append(f"{name}({', '.join(built[place] for place in step.operands)})")
    return built[-1]


def stated_formula(statement: Assertion, starts: Mapping[str, float]) -> CheckedFormula:
    """The formula that a statement asserts for each instance: without leading universal quantifiers if its upper truth
    is 1, and with values for all learnable numbers, ``starts`` by their names."""
    formula = transform(cast("ast.Expression", statement.formula), lambda node: settled_value(node, starts))
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
        inside = around + bool(form.count)
        operands = tuple(_replaced(operand, put, inside) for operand in form.operands)
        if form.arithmetic is not None:
            return _calculated(form.arithmetic, operands)
        return replace(form, operands=operands)
    return replace(form, terms=tuple(put(term, around) for term in form.terms))


def free_sorts(form: Form, predicates: Mapping[str, Predicate]) -> dict[str, str]:
    """The sort of each free variable, from its positions."""
    inferred: dict[str, str] = {}
    for leaf in form.leaves:
        sorts = predicates[leaf.name].sorts if leaf.kind == "atom" else (ENTITY,) * len(leaf.terms)
        for one, sort in zip(leaf.terms, sorts, strict=True):
            if isinstance(one, Free) and inferred.get(one.name, ENTITY) == ENTITY:
                inferred[one.name] = sort
    return inferred


def bound_sorts(quantifier: Form, predicates: Mapping[str, Predicate]) -> list[str]:
    """The sorts of the variables that a quantifier binds."""
    sorts = [ENTITY] * quantifier.count
    for leaf, between in itertools.chain(*(operand.walk() for operand in quantifier.operands)):
        if leaf.kind == "atom":
            for one, sort in zip(leaf.terms, predicates[leaf.name].sorts, strict=True):
                if isinstance(one, Slot) and one.between == between and sort != ENTITY:
                    sorts[one.place] = sort
    return sorts


def covers(pattern: Form, form: Form) -> bool:
    """Whether the pattern, whose free variables stand for any entity, subsumes the form. Arithmetic lists equal numbers
    once: where the pattern has more of them, entities are tried in place of its variables."""
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

    more = len(pattern.leaves) - len(form.leaves)
    if more <= 0:
        return more == 0 and fits(pattern, form)
    free = list(dict.fromkeys(term for term in pattern.all_terms if isinstance(term, Free)))
    entities = list(dict.fromkeys(term for term in form.all_terms if isinstance(term, str)))
    tries = itertools.product(entities, repeat=len(free)) if len(entities) ** len(free) <= _TRIED else ()
    return any(about(pattern, dict(zip(free, some, strict=True))) == form for some in tries)


def consequents(form: Form) -> Iterator[Form]:
    """The conjuncts of an implication's consequent."""
    stack = [form.operands[1]] if form.kind == "implies" else []
    while stack:
        node = stack.pop()
        if node.kind == "and":
            stack.extend(node.operands)
        else:
            yield node
