"""Closed numbers that rules derive: ``rule d(Y) = (min X: d(X) + w(X, Y) where E(X, Y))`` makes each row of the
aggregate a candidate for ``d(Y)``, as facts are; the least (of a ``max`` the greatest) candidate is its value.

Such a rule says ``E(X, Y) -> d(Y) <= d(X) + w(X, Y)``, and completion makes ``d`` as great as that allows. That is a
least fixpoint where a term falls with none of the numbers that are completed together with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lnnkit.check.findings import error
from lnnkit.check.program import CheckedFormula, Predicate
from lnnkit.check.symbols import Formula, Symbols, ends
from lnnkit.check.walk import asserted, atoms, children, conjuncts, nodes
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression

_NOT_MONOTONE = ("abs", "sin", "cos", "sqrt", "log")  # the last two may have no value, which others have


class Derivation(NamedTuple):
    """A rule whose ``aggregate`` derives the closed number ``head``."""

    head: ast.Atom
    aggregate: ast.Aggregate

    @property
    def term(self) -> ast.Expression:
        """The value of a candidate."""
        return self.aggregate.operands[0]

    @property
    def condition(self) -> ast.Expression:
        """What must be true of a candidate."""
        return self.aggregate.operands[-1]

    @property
    def candidate(self) -> ast.Implies:
        """What the rule says of each candidate."""
        relation = "<=" if self.aggregate.name == "min" else ">="
        span = self.aggregate.span
        bound = ast.Comparison((self.head, self.term), (relation,), span=span)
        return ast.Implies(self.condition, bound, span=span)


def derivation(formula: CheckedFormula, predicates: Mapping[str, Predicate]) -> Derivation | None:
    """The derivation that a rule's formula is, if it is one; quantifiers in front are stripped."""
    if not isinstance(formula, ast.Comparison) or formula.operators != ("=",) or formula.attributes:
        return None
    for sides in (formula.operands, formula.operands[::-1]):
        match sides:
            case (ast.Atom() as head, ast.Aggregate("min" | "max") as aggregate) if _is_closed_number(head, predicates):
                return Derivation(head, aggregate)
    return None


def _is_closed_number(atom: ast.Atom, predicates: Mapping[str, Predicate]) -> bool:
    declared = predicates.get(atom.name)
    return declared is not None and bool(declared.numeric) and declared.closed


def derivations(symbols: Symbols) -> Iterator[Derivation]:
    """The derivations of a program."""
    return filter(None, (_derivation(formula, symbols) for formula in symbols.formulas if formula.kind == "rule"))


def _derivation(rule: Formula, symbols: Symbols) -> Derivation | None:
    return derivation(rule.matrix, symbols.declared) if ends(rule.bounds) == (1.0, 1.0) else None


def falling(term: ast.Expression) -> Iterator[ast.Atom]:
    """The numbers with which a term may fall."""
    stack = [(term, 1)]
    while stack:
        node, sign = stack.pop()
        if isinstance(node, ast.Atom):
            yield from (node,) if sign <= 0 else ()
        else:
            stack += [(child, sign * with_it) for child, with_it in _directions(node)]


def _directions(node: ast.Expression) -> Iterator[tuple[ast.Expression, int]]:
    """The operands of a term: 1 where it never falls with one, -1 where it never rises, else 0."""
    below = children(node)
    match node:
        case ast.Negate():
            signs = (-1,)
        case ast.Arithmetic("+" | "-"):
            signs = (1, 1 if node.operator == "+" else -1)
        case ast.Arithmetic("*"):
            signs = (_sign(node.right), _sign(node.left))
        case ast.Arithmetic("/"):
            signs = (_sign(node.right), 0)
        case ast.Arithmetic("^", _, ast.Number(power)) if power % 2 == 1:
            signs = (1, 0)
        case ast.Function() if node.name not in _NOT_MONOTONE:
            signs = (1,) * len(below)
        case _:
            signs = (0,) * len(below)
    yield from zip(below, signs, strict=True)


def _sign(term: ast.Expression) -> int:
    """1 for a term that is never negative, -1 for one that is never positive, else 0."""
    match term:
        case ast.Number(value):
            return 1 if value >= 0 else -1
        case ast.Negate(operand):
            return -_sign(operand)
        case ast.Function("abs" | "exp" | "sqrt") | ast.Arithmetic("^", _, ast.Number(2)):
            return 1
        case ast.Arithmetic("*" | "/", left, right):
            return _sign(left) * _sign(right)
        case _:
            return 0


def derived_numbers(symbols: Symbols) -> Iterator[Diagnostic]:
    """Errors for rules that give a closed number its value in another way, or candidates that nothing lists."""
    directions: dict[str, Derivation] = {}
    for formula in (formula for formula in symbols.formulas if formula.kind == "rule"):
        derived = _derivation(formula, symbols)
        if derived is None:
            yield from _given_otherwise(formula, symbols)
            continue
        first = directions.setdefault(derived.head.name, derived)
        if first.aggregate.name != derived.aggregate.name:
            name, other = derived.head.name, first.aggregate
            message = f"`{name}` is the {other.name} of its candidates on line {other.span.line}"
            hint = f"give one of both another name, and take `{derived.aggregate.name}({name}(...), ...)` of them"
            yield error("closed-number", derived.aggregate.span, message, hint)
        yield from _unlisted(derived, symbols)


def _given_otherwise(formula: Formula, symbols: Symbols) -> Iterator[Diagnostic]:
    root = formula.matrix
    for head in conjuncts(root.consequent if isinstance(root, ast.Implies) else root):
        equal = head.operands if isinstance(head, ast.Comparison) and head.operators == ("=",) else ()
        numbers = [side for side in equal if isinstance(side, ast.Atom)]
        for side in numbers[:1] if all(_is_closed_number(side, symbols.declared) for side in numbers) else ():
            name = side.name
            message = f"`{name}` is closed: it has the values that facts and the candidates of a `min` or `max` give"
            hint = f"leave `closed` out of the declaration of `{name}`, or write `rule {name}(...) = (min X: ...)`"
            yield error("closed-number", side.span, message, hint)


def _unlisted(derived: Derivation, symbols: Symbols) -> Iterator[Diagnostic]:
    """Errors for what a candidate may not have: learned values, the number itself, aggregates, and variables that may
    be anything."""
    head, aggregate = derived
    for node in nodes(aggregate):
        if node is not aggregate and isinstance(node, ast.Aggregate | ast.Learnable | ast.UnknownFunction):
            what = "an aggregate" if isinstance(node, ast.Aggregate) else "a learned value"
            message = f"{what} in a candidate for `{head.name}`, a closed number"
            hint = "give it as a number of its own, `rule other(X) = ...`"
            yield error("closed-number", node.span, message, hint)
        if isinstance(node, ast.Atom) and (node.name, node.arguments) == (head.name, head.arguments):
            message = f"`{format_expression(head)}` is a candidate for itself"
            yield error("closed-number", node.span, message, "leave it out: what is less, or greater, remains so")
    opens = {sort.name for sort in symbols.statements(ast.SortStatement) if sort.open}
    implications = (f.matrix for f in symbols.formulas if isinstance(f.matrix, ast.Implies))
    heads = {other.head.name for other in derivations(symbols)}
    heads |= {atom.name for root in implications for atom in asserted(root.consequent)}
    listed: set[str] = set()
    for atom in (*atoms(derived.term), *asserted(derived.condition)):
        declared = symbols.declared.get(atom.name)
        if declared is not None and declared.closed:
            open_ = opens if atom.name in heads else frozenset[str]()  # rules may conclude it of unnamed individuals
            pairs = zip(atom.arguments, declared.sorts, strict=False)
            listed |= {a.name for a, sort in pairs if isinstance(a, ast.Variable) and sort not in open_}
    for variable in (*(a for a in head.arguments if isinstance(a, ast.Variable)), *aggregate.variables):
        if variable.name not in listed:
            message = f"nothing lists `{variable.name}` of the candidates for `{format_expression(head)}`"
            hint = f"name a closed predicate or number that facts give: `where E(..., {variable.name})`"
            yield error("closed-number", variable.span, message, hint)
