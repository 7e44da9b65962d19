"""Traversal of formulas: every visitor of the checker is a loop over ``visits``, every rewrite a call of ``transform``.

``signed`` gives the polarity with which an atom occurs. Nothing here is recursive, so formulas may be nested thousands
of levels deep or be as wide as memory allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, Literal, get_args

from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Span

Role = Literal["formula", "term", "comparand", "query"]
"""What a place asks for: a truth value, a number, either side of a comparison, or anything that can be asked."""

Scope = Mapping[str, ast.Variable]
"""The variables bound around a place, by name."""

_NAMES = ("operand", "operands", "left", "right", "body", "antecedent", "consequent")
_OPERANDS: dict[type, tuple[str, ...]] = {
    kind: names
    for kind in get_args(ast.Expression)
    if (names := tuple(field.name for field in fields(kind) if field.name in _NAMES))
}
_ROLES: dict[type, Role] = {kind: "term" if issubclass(kind, ast.NumericNode) else "formula" for kind in _OPERANDS}
_ROLES[ast.Comparison] = "comparand"
_CHILDREN: dict[type, attrgetter[Any]] = {kind: attrgetter(*names) for kind, names in _OPERANDS.items()}


@dataclass(frozen=True, slots=True)
class Visit:
    """One node of a formula and its context."""

    node: ast.Expression
    role: Role
    parent: ast.Expression | None
    scope: Scope


def children(node: ast.Expression) -> tuple[ast.Expression, ...]:
    """The operands of a node, in their written order."""
    if type(node) not in _CHILDREN:
        return ()
    value = _CHILDREN[type(node)](node)
    return value if isinstance(value, tuple) else (value,)


def visits(root: ast.Expression, role: Role = "formula") -> Iterator[Visit]:
    """Every node of ``root``, itself included, outer before inner, left before right."""
    stack = [Visit(root, role, None, {})]
    while stack:
        visit = stack.pop()
        yield visit
        node = visit.node
        if type(node) not in _OPERANDS:
            continue
        below, scope = _ROLES[type(node)], visit.scope
        if isinstance(node, ast.Binder):
            scope = {**scope, **{variable.name: variable for variable in node.variables}}
        operands = children(node)
        if isinstance(node, ast.Aggregate):  # its condition, the last operand, is a formula
            stack.append(Visit(operands[-1], "formula", node, scope))
            operands = operands[:-1]
        stack.extend(Visit(child, below, node, scope) for child in reversed(operands))


def nodes(root: ast.Expression, into: Callable[[ast.Expression], bool] = lambda node: True) -> Iterator[ast.Expression]:
    """The nodes of ``visits`` without their context; ``into`` decides below which nodes to descend."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if into(node):
            stack.extend(reversed(children(node)))


def transform(root: ast.Expression, change: Callable[[ast.Expression], ast.Expression]) -> ast.Expression:
    """``root`` with ``change`` applied to every node, operands first; nodes that do not change stay the same
    objects."""
    done: list[ast.Expression] = []
    stack: list[tuple[ast.Expression, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        below = children(node)
        if not ready and below:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(below))
            continue
        if below:
            changed = tuple(done[len(done) - len(below) :])
            del done[len(done) - len(below) :]
            if any(new is not old for new, old in zip(changed, below, strict=True)):
                names = _OPERANDS[type(node)]
                node = replace(node, **dict(zip(names, [changed] if names == ("operands",) else changed, strict=True)))
        done.append(change(node))
    return done[0]


def proposition(visit: Visit) -> ast.Atom | None:
    """The node of a visit if it is a bare name in the place of a formula."""
    node = visit.node
    if isinstance(node, ast.Atom) and not node.arguments and visit.role in ("formula", "query"):
        return node
    return None


def free_variables(seen: Iterable[Visit]) -> Iterator[str]:
    """The name of each argument of an atom that no quantifier binds."""
    atoms = ((visit.node, visit.scope) for visit in seen if isinstance(visit.node, ast.Atom))
    arguments = ((term, scope) for atom, scope in atoms for term in atom.arguments)
    return (term.name for term, scope in arguments if isinstance(term, ast.Variable) and term.name not in scope)


def strip_foralls(formula: ast.Expression) -> ast.Expression:
    """The formula without its leading ``forall``s."""
    while isinstance(formula, ast.Forall):
        formula = formula.body
    return formula


def conjuncts(consequent: ast.Expression) -> Iterator[ast.Expression]:
    """A consequent, its operands if it is a conjunction, and those of nested ones."""
    return nodes(consequent, lambda node: isinstance(node, ast.And | ast.Weighted))


def asserted(consequent: ast.Expression) -> Iterator[ast.Atom]:
    """The atoms that are direct positive conjuncts of a consequent."""
    return (node for node in conjuncts(consequent) if isinstance(node, ast.Atom))


def conjunction(parts: Sequence[ast.Expression], span: Span) -> ast.Expression:
    """One formula, or the ``&`` of several."""
    return parts[0] if len(parts) == 1 else ast.And(tuple(parts), span=span)


def unweighted(formula: ast.Expression) -> ast.Expression:
    """The operand without its weight."""
    while isinstance(formula, ast.Weighted):
        formula = formula.operand
    return formula


def positive(formula: ast.Expression) -> Iterator[ast.Atom]:
    return (atom for atom, sign in signed(formula) if sign > 0)


def atoms(formula: ast.Expression) -> Iterator[ast.Atom]:
    """The atoms of a formula or a term, left before right."""
    return (node for node in nodes(formula) if isinstance(node, ast.Atom))


def measured(formula: ast.Expression) -> Iterator[ast.Atom]:
    """The atoms inside comparisons: numbers of entities."""
    return (atom for node in nodes(formula) if isinstance(node, ast.Comparison) for atom in atoms(node))


def aggregated(formula: ast.Expression) -> Iterator[ast.Atom]:
    """The atoms of the conditions of aggregates."""
    return (atom for node in nodes(formula) if isinstance(node, ast.Aggregate) for atom in atoms(node.operands[-1]))


def signed(formula: ast.Expression) -> Iterator[tuple[ast.Atom, int]]:
    """The atoms of a formula with their polarity +1 or -1; atoms under ``<->`` and ``xor`` have both. Atoms in
    comparisons are left out. Each atom comes at most twice, however deeply ``<->`` is nested."""
    stack: list[tuple[ast.Expression, tuple[int, ...]]] = [(formula, (1,))]
    while stack:
        node, signs = stack.pop()
        if isinstance(node, ast.Atom):
            yield from ((node, sign) for sign in signs)
        elif isinstance(node, ast.Iff | ast.Xor):
            stack.extend((child, (1, -1)) for child in reversed(children(node)))
        elif not isinstance(node, ast.Comparison):
            stack.extend((child, tuple(sign * side for side in signs)) for child, sign in reversed(with_signs(node, 1)))


def with_signs(node: ast.Expression, sign: int) -> list[tuple[ast.Expression, int]]:
    """The operands of a node other than ``<->`` and ``xor``, each with its polarity where that of the node is
    ``sign``."""
    first = -sign if isinstance(node, ast.Not | ast.Implies) else sign
    return [(child, sign if place else first) for place, child in enumerate(children(node))]
