"""Instances of a formula that say the same: `R(a, b) & R(a, c) -> b = c`, and the same with b and c exchanged."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lnnkit.check.walk import transform
from lnnkit.formula.as_syntax import as_expression
from lnnkit.formula.unfolding import Formula
from lnnkit.store.columns.row_arrays import Array
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression

_MOST = 5  # variables: 120 permutations


def first_of_each(formula: Formula, columns: Callable[[], Sequence[Array]]) -> Array | None:
    """The places of the instances that repeat no earlier one; None if the formula has no symmetry, or too many
    variables for one to be looked for. ``columns`` gives the entity ids of its free variables."""
    count = len(formula.blocks[0].variables)
    if not 1 < count <= _MOST:
        return None
    own = _text(formula, range(count))
    orders = [order for order in itertools.permutations(range(count)) if _text(formula, order) == own][1:]
    if not orders:
        return None
    rows = np.stack(list(columns()), axis=1)
    least = rows.copy()
    for order in orders:
        other = rows[:, order]
        apart = other != least
        at = np.arange(len(rows)), apart.argmax(1)
        least = np.where((apart.any(1) & (other[at] < least[at]))[:, None], other, least)
    turned = np.argsort((least != rows).any(1), kind="stable")  # the least of each comes before the others
    return np.sort(turned[np.unique(least[turned], axis=0, return_index=True)[1]])


def _text(formula: Formula, order: Sequence[int]) -> str:
    """The formula with its variables numbered in this order, and operands whose order does not matter sorted."""
    return format_expression(transform(as_expression(formula, {v: f"v{n}" for v, n in enumerate(order)}), _sorted))


def _sorted(node: ast.Expression) -> ast.Expression:
    if isinstance(node, ast.And | ast.Or) or (isinstance(node, ast.Comparison) and node.operators in (("=",), ("!=",))):
        return replace(node, operands=tuple(sorted(node.operands, key=format_expression)))
    if isinstance(node, ast.Iff | ast.Xor):
        left, right = sorted((node.left, node.right), key=format_expression)
        return replace(node, left=left, right=right)
    return node
