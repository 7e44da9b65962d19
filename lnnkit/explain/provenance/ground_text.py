"""Formats rows of a grounding as text: atoms, shared formulas and instances of statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np

from lnnkit.check.program import Assertion
from lnnkit.engine.inference_run import Run
from lnnkit.engine.planning.compiling import neuron_root
from lnnkit.formula.as_syntax import as_expression, bound_names
from lnnkit.formula.unfolding import AUXILIARY, Formula, unfold
from lnnkit.graph.lifted import Root
from lnnkit.graph.lifting import stripped
from lnnkit.store.relations import RowNumbers
from lnnkit.syntax import ast

Argument = str | ast.Variable


class GroundText:
    """``names`` has the text of each entity id."""

    def __init__(self, run: Run, names: Sequence[str]) -> None:
        self.names = names
        self._run = run
        self._whole: dict[object, tuple[Formula, Mapping[int, str]]] = {}
        self._columns: dict[str, tuple[int, list[np.ndarray]]] = {}
        self._atoms = run.grounding.atoms
        self.numbers = RowNumbers(self._atoms)

    def table(self, row: int) -> str:
        """The predicate or shared formula of a row, by its number among all."""
        return self.numbers.behind(row)[0].name

    def entities(self, row: int) -> tuple[int, ...]:
        """The entity ids of a row."""
        table, local = self.numbers.behind(row)
        length, columns = self._columns.get(table.name, (-1, []))
        if length != len(table.tuples):
            columns = list(table.tuples.columns)
            self._columns[table.name] = len(table.tuples), columns
        return tuple(int(column[local]) for column in columns)

    def is_predicate(self, table: str) -> bool:
        """Whether a table holds atoms of a predicate or number, rather than a shared formula."""
        return self._run.plan.lifted.graph.nodes[_node(table)]["kind"] in ("predicate", "number")

    def is_number(self, table: str) -> bool:
        return self._atoms.tables[table].numeric

    def conclusion(self, table: str, arguments: Sequence[Argument]) -> ast.Expression:
        """An atom, or a shared formula, with these arguments; unnamed ones become variables."""
        if self.is_predicate(table):
            return ast.Atom(table, tuple(ast.Constant(a) if isinstance(a, str) else a for a in arguments))
        whole, _ = self._unfolded(neuron_root(self._run.plan.lifted, _node(table)), _node(table))
        bindings = {place: a for place, a in enumerate(arguments) if isinstance(a, str)}
        names = {place: a.name for place, a in enumerate(arguments) if isinstance(a, ast.Variable)}
        return as_expression(whole, bindings, names, logic=self._run.plan.lifted.program.logic)

    def instance(self, formula: Formula, bindings: Mapping[int, int]) -> ast.Expression:
        """A formula with its free variables bound, every connective with its logic."""
        assert formula.root is not None
        whole, names = self._unfolded(formula.root, formula.auxiliary)
        free = range(len(formula.root.variables))
        return as_expression(
            whole, {v: self.names[bindings[v]] for v in free}, names, logic=self._run.plan.lifted.program.logic
        )

    def pattern(self, formula: Formula, leaf: int, known: Mapping[int, Argument]) -> tuple[Argument, ...]:
        """The arguments of a leaf or of the formula's own neuron; variables that are not ``known`` stay variables."""
        assert formula.root is not None
        named = {**dict(enumerate(formula.root.variables)), **names_within(formula)}
        arguments = formula.blocks[0].variables if leaf == AUXILIARY else formula.neurons[leaf].arguments
        return tuple(
            argument
            if isinstance(argument, str)
            else known.get(argument) or ast.Variable(named.get(argument, f"X{argument}"))
            for argument in arguments
        )

    def _unfolded(self, root: Root, neuron: str | None) -> tuple[Formula, Mapping[int, str]]:
        """A statement or a shared ``neuron``, with all shared neurons unfolded; the names of its bound variables."""
        key = neuron or id(root)
        if key not in self._whole:
            whole = unfold(self._run.plan.lifted, root, through_shared=True)
            self._whole[key] = whole, names_within(whole) if neuron is None else bound_names(whole, {})
        return self._whole[key]


def _node(table: str) -> str:
    """The neuron of a table; observed neurons have table names of their own."""
    return table.removeprefix("?")


def names_within(formula: Formula) -> Mapping[int, str]:
    """The names of a formula's quantified variables, as in its own statement where possible."""
    root = formula.root
    if root is None:
        return {}
    origin = root.origin
    whole = cast(ast.Expression, stripped(origin) if isinstance(origin, Assertion) else origin.formula)
    written = [variable.name for quantifier in _quantifiers(whole) for variable in quantifier]
    bound = [variable for block in formula.blocks[1:] for variable in block.bound]
    if formula.auxiliary is not None or len(written) != len(bound):
        named = bound_names(formula, dict(enumerate(root.variables)))
        return {variable: named[variable] for variable in bound}
    return dict(zip(bound, written, strict=True))


def _quantifiers(formula: ast.Expression) -> Iterator[tuple[ast.Variable, ...]]:
    """The variables of each quantifier, outermost and leftmost first."""
    stack: list[ast.Expression] = [formula]
    while stack:
        node = stack.pop()
        match node:
            case ast.Forall() | ast.Exists():
                yield node.variables
                stack.append(node.body)
            case ast.And() | ast.Or():
                stack.extend(reversed(node.operands))
            case ast.Implies():
                stack += [node.consequent, node.antecedent]
            case ast.Iff() | ast.Xor():
                stack += [node.right, node.left]
            case ast.Not() | ast.Weighted():
                stack.append(node.operand)
            case _:
                pass
