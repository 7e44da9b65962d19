"""The contradictions of a fixpoint, in the user's terms; each is formatted only when it is read. And the statements
whose instances still set bounds when inference gave up."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np

from lnnkit.check.date_terms import numeric_kind
from lnnkit.check.program import Assertion
from lnnkit.check.walk import transform
from lnnkit.engine.inference_run import Run
from lnnkit.engine.planning.compiling import whole_neuron
from lnnkit.engine.start.impossible_comparisons import everywhere
from lnnkit.formula.as_syntax import as_expression, as_text
from lnnkit.formula.unfolding import Formula, unfold
from lnnkit.graph.laws import Law, variable_name
from lnnkit.graph.lifted import NUMBER
from lnnkit.logic.bounds import Bounds
from lnnkit.outcome import Contradiction, Contradictions, Creeping
from lnnkit.store.row_arrays import Array
from lnnkit.syntax import ast
from lnnkit.syntax.dates import Numeric
from lnnkit.syntax.identifiers import AGGREGATES
from lnnkit.syntax.printer import format_expression


def creeping(run: Run) -> tuple[Creeping, ...]:
    """The statements on cycles that were stopped, in the order of their positions."""
    statements = [
        Creeping(statement.kind, statement.name, statement.span.line, statement.span.source.path, _text(statement))
        for statement in _statements(run)
        if statement.kind != "law"
    ]
    return tuple(sorted(statements, key=lambda statement: (statement.file, statement.line)))


def _text(statement: Assertion) -> str:
    """The statement on one line, without its keyword."""
    return statement.text.removeprefix(f"{statement.kind} ")


def _statements(run: Run) -> list[Assertion]:
    """The statements of the members on cycles that were stopped; if these are shared neurons only, the statements that
    contain them."""
    graph = run.plan.lifted.graph
    roots = {id(root.origin): root for root in run.plan.lifted.statements}
    formulas = [run.grounding.members[member].formula for member in run.progress.creeping]
    neurons = {formula.auxiliary for formula in formulas if formula.auxiliary is not None}
    named = {id(formula.root.origin) for formula in formulas if formula.auxiliary is None and formula.root is not None}
    named |= {key for key, root in roots.items() if root.reference.node in neurons}
    if neurons and not named:
        named = {key for key, root in roots.items() if not neurons.isdisjoint(graph.below(root.reference.node))}
    return [root.origin for key, root in roots.items() if key in named and isinstance(root.origin, Assertion)]


_MOST = 5  # variables: 120 permutations


def first_of_each(formula: Formula, columns: Callable[[], Sequence[Array]]) -> Array | None:
    """The places of the instances that repeat no earlier one; None if the formula has no symmetry, or too many
    variables for one to be looked for. ``columns`` gives the entity ids of its free variables."""
    count = len(formula.blocks[0].variables)
    if not 1 < count <= _MOST:
        return None
    text = _reordered(formula, range(count))
    orders = [order for order in itertools.permutations(range(count)) if _reordered(formula, order) == text][1:]
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


def _reordered(formula: Formula, order: Sequence[int]) -> str:
    """The formula with its variables numbered in this order, and operands whose order does not matter sorted."""
    return format_expression(transform(as_expression(formula, {v: f"v{n}" for v, n in enumerate(order)}), _sorted))


def _sorted(node: ast.Expression) -> ast.Expression:
    if isinstance(node, ast.And | ast.Or) or (isinstance(node, ast.Comparison) and node.operators in (("=",), ("!=",))):
        return replace(node, operands=tuple(sorted(node.operands, key=format_expression)))
    if isinstance(node, ast.Iff | ast.Xor):
        left, right = sorted((node.left, node.right), key=format_expression)
        return replace(node, left=left, right=right)
    return node


@dataclass(frozen=True)
class _Group:
    """Contradictions of one kind: what finds their columns of entity ids, the bounds that crossed, and what is equal
    for all of them; ``text`` shows one from the names of its entities."""

    key: tuple[object, ...]  # the sort key of groups
    entities: Callable[[], Sequence[Array]]
    bounds: Bounds
    text: Callable[[Sequence[str]], str]
    shared: Contradiction

    def __len__(self) -> int:
        return len(self.bounds.lower)

    @cached_property
    def columns(self) -> Sequence[Array]:
        """The entity ids of each place; found when an entry is read."""
        return list(self.entities())

    @cached_property
    def order(self) -> Array:
        """The permutation that sorts its entries by entities."""
        order = np.arange(len(self))
        for column in reversed(self.columns):
            order = order[np.argsort(column[order], stable=True)]
        return order

    def entry(self, position: int, names: Sequence[str]) -> Contradiction:
        at = int(self.order[position])
        entities = [names[int(column[at])] for column in self.columns]
        lower, upper = float(self.bounds.lower[at]), float(self.bounds.upper[at])
        return replace(self.shared, atom=self.text(entities), lower=lower, upper=upper)


def contradictions(run: Run, names: Sequence[str]) -> Contradictions:
    """Arrested atoms and shared neurons, then arrested instances of statements; sorted by predicate, or by file and
    line, then by entities. A contradiction that holds for every entity is reported once, with variables."""
    groups = _merged([*_atoms(run), *_instances(run), *_everywhere(run)])
    ends: list[int] = []
    for group in groups:
        ends.append(len(group) + (ends[-1] if ends else 0))

    def entry(position: int) -> Contradiction:
        number = next(n for n, end in enumerate(ends) if position < end)
        return groups[number].entry(position - (ends[number - 1] if number else 0), names)

    return Contradictions(ends[-1] if ends else 0, entry)


def _merged(groups: Sequence[_Group]) -> list[_Group]:
    """Merge the groups of equal keys; sorted by key."""
    by_key: dict[tuple[object, ...], list[_Group]] = {}
    for group in groups:
        by_key.setdefault(group.key, []).append(group)
    return [
        replace(
            same[0],
            entities=partial(_together, same),
            bounds=Bounds(*map(np.concatenate, zip(*(group.bounds for group in same), strict=True))),
        )
        for key, same in sorted(by_key.items(), key=lambda item: item[0])
    ]


def _together(groups: Sequence[_Group]) -> Sequence[Array]:
    return [np.concatenate(parts) for parts in zip(*(group.entities() for group in groups), strict=True)]


def _atoms(run: Run) -> Iterator[_Group]:
    lifted, observed = run.plan.lifted, set(run.plan.observers.values())
    for table in run.state.crossed:
        if table.name in observed:
            continue
        crossed = table.crossed
        columns = partial(list[Array], [column.take(crossed.rows.values) for column in table.tuples.columns])
        bounds = Bounds(crossed.lower.values, crossed.upper.values)
        kind = lifted.graph.nodes[table.name]["kind"]
        if kind in ("predicate", NUMBER):
            alike = _alike("atom", lifted.program.predicates[table.name].numeric)
            yield _Group((0, table.name), columns, bounds, partial(_atom, table.name), alike)
        else:
            whole = whole_neuron(lifted, table.name)
            numeric = kind in AGGREGATES and numeric_kind(as_expression(whole, {}), lifted.program.predicates)
            yield _Group((0, as_text(whole, {})), columns, bounds, partial(_of, whole), _alike("neuron", numeric))


def _alike(kind: Literal["atom", "neuron"], numeric: Numeric = False) -> Contradiction:
    """What is equal for the contradictions of an atom or a neuron."""
    return Contradiction(kind, "", None, None, 0.0, 0.0, numeric=numeric)


def _atom(predicate: str, entities: Sequence[str]) -> str:
    return format_expression(ast.Atom(predicate, tuple(map(ast.Constant, entities))))


def _of(formula: Formula, entities: Sequence[str]) -> str:
    return as_text(formula, dict(enumerate(entities)))


def _instances(run: Run) -> Iterator[_Group]:
    for arrested in run.progress.arrested:
        for formula, places, ids in run.grounding.assignments(arrested.shape, arrested.rows):
            assert formula.root is not None
            whole = unfold(run.plan.lifted, formula.root, through_shared=True)
            first = first_of_each(whole, ids)
            if first is not None:
                places, ids = places.take(first), partial(_some, ids, first)
            bounds = Bounds(arrested.roots.lower.take(places), arrested.roots.upper.take(places))
            origin, key, alike = formula.root.origin, (1, "", 0, formula.key), _alike("neuron")
            if formula.auxiliary is None and not isinstance(origin, Law):
                assert isinstance(origin, Assertion) and origin.kind != "law"
                path, line = origin.span.source.path, origin.span.line
                key = (1, path, line, formula.key)
                alike = replace(alike, kind=origin.kind, rule=origin.name, line=line, file=path)
            yield _Group(key, ids, bounds, partial(_of, whole), alike)


def _some(columns: Callable[[], Sequence[Array]], places: Array) -> list[Array]:
    return [column.take(places) for column in columns()]


def _everywhere(run: Run) -> Iterator[_Group]:
    """Numbers, comparisons and laws that contradict for every entity."""
    lifted = run.plan.lifted
    for clash in everywhere(run):
        alike = _alike("neuron")
        if isinstance(clash.what, str):  # a number, or an aggregate
            count = len(run.grounding.atoms.tables[clash.what].sorts)
            made: ast.Expression = ast.Atom(clash.what, tuple(map(ast.Variable, _names(count))))
            aggregate = lifted.graph.nodes[clash.what]["kind"] in AGGREGATES
            if aggregate:
                made = as_expression(whole_neuron(lifted, clash.what), {})
            text, numeric = format_expression(made), numeric_kind(made, lifted.program.predicates)
            alike = _alike("neuron" if aggregate else "atom", numeric)
        elif isinstance(clash.what, Formula):  # of a comparison
            names = dict(enumerate(_names(len(clash.what.sorts))))
            text = format_expression(as_expression(whole_neuron(lifted, str(clash.what.auxiliary)), {}, names))
        else:  # a law
            text = clash.what.span.text
        bounds = Bounds(*(np.array([end], dtype=np.float64) for end in clash.bounds))
        yield _Group((0, text, "everywhere"), list[Array], bounds, partial(_same, text), alike)


def _same(text: str, entities: Sequence[str]) -> str:
    return text


def _names(count: int) -> list[str]:
    return [variable_name(place) for place in range(count)]
