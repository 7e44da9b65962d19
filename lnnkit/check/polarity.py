"""The polarity with which an atom occurs in a formula."""

from __future__ import annotations

from collections.abc import Iterator

from lnnkit.check.walk import children, nodes
from lnnkit.syntax import ast


def positive(formula: ast.Expression) -> Iterator[ast.Atom]:
    return (atom for atom, sign in signed(formula) if sign > 0)


def measured(formula: ast.Expression) -> Iterator[ast.Atom]:
    """The atoms inside comparisons: numbers of entities."""
    for node in nodes(formula):
        if isinstance(node, ast.Comparison):
            yield from (below for below in nodes(node) if isinstance(below, ast.Atom))


def signed(formula: ast.Expression) -> Iterator[tuple[ast.Atom, int]]:
    """The atoms of a formula with their polarity +1 or -1; atoms under ``<->`` and ``xor`` have both. Atoms in
    comparisons are left out.

    Each atom comes at most twice, however deeply ``<->`` is nested.
    """
    stack: list[tuple[ast.Expression, tuple[int, ...]]] = [(formula, (1,))]
    while stack:
        node, signs = stack.pop()
        match node:
            case ast.Atom():
                yield from ((node, sign) for sign in signs)
            case ast.Not():
                stack.append((node.operand, tuple(-sign for sign in signs)))
            case ast.Implies():
                stack.append((node.consequent, signs))
                stack.append((node.antecedent, tuple(-sign for sign in signs)))
            case ast.Iff() | ast.Xor():
                stack.extend((child, (1, -1)) for child in reversed(children(node)))
            case ast.Comparison():
                pass
            case _:
                stack.extend((child, signs) for child in reversed(children(node)))
