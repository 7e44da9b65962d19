"""Answers: a query's rows at the fixpoint, evaluated upward from the final bounds and met with the bounds of its
neuron."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from lnnkit.analysis.needs import EQUAL
from lnnkit.analysis.relevance import ALL, SIDES
from lnnkit.answers.contested_marks import Marks
from lnnkit.arrays import all_set, any_set, quietly, where_set
from lnnkit.engine.bounds_state import shown
from lnnkit.engine.contested import Contested, Doubted
from lnnkit.engine.inference_run import Run
from lnnkit.engine.planning.inference_plan import comparing, met, query_needs, subsuming_neurons, subsuming_relations
from lnnkit.engine.response.proposing import reader
from lnnkit.engine.response.respond import Read, constant, entering
from lnnkit.formula.passes import upward
from lnnkit.formula.unfolding import LEAF, unfold
from lnnkit.graph.lifted import NUMBER, LiftedGraph, Reference, Related, Root, below_negations
from lnnkit.join.instances.assembled import Assembler, Instances, argument_columns
from lnnkit.join.instances.grounding import Guard, add_equality
from lnnkit.logic.bounds import Bounds, complement, enter, tolerance
from lnnkit.store.layout import Domain, asked_constants
from lnnkit.store.relations import UNNAMED, Relation, Relations
from lnnkit.store.row_arrays import Array, arranged, spelled_out

_NOTHING: Mapping[int, Array] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """The answers to one query: a column of entity ids for each variable, bounds, and whether an answer is contested:
    whether it would change if everything that rests on a contradiction, and all atoms of the reported ones, were
    unknown or at their defaults."""

    variables: tuple[str, ...]
    columns: tuple[Array, ...]
    lower: Array
    upper: Array
    contested: Array


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """Bindings of a query's variables with their bounds; they include all that differ from the query's default, and
    are sorted if they are known to be ``in_order``."""

    columns: tuple[Array, ...]
    value: Bounds
    default: Bounds
    contested: Array
    in_order: bool = False


def covers(run: Run, lifted: LiftedGraph, root: Root) -> bool:
    """Whether the fixpoint already knows all that the query needs: its sides, its entities, its neurons' bounds."""
    world, relevance = run.grounding.domain, run.plan.relevance
    if not all(text in world.index for text in asked_constants(lifted, [root])):
        return False
    leaves = (neuron for neuron in unfold(lifted, root, world=world).neurons if neuron.kind == LEAF)
    tables = {
        leaf.source for leaf in leaves if not world.lacks(lifted.graph.nodes[leaf.source]["sorts"], leaf.arguments)
    }
    reference = below_negations(lifted.graph, root.reference)[0]
    related = comparing(lifted, world, reference)
    for neuron in subsuming_neurons(lifted, world, reference):
        if lifted.graph.nodes[neuron.node]["shared"]:
            tables.add(neuron.node)
        elif neuron.node not in run.plan.observers:
            return False
    if not tables <= run.grounding.atoms.tables.keys():
        return False
    tables |= {comparison.reference.node for comparison in related.comparisons}
    return run.plan.partly_known.isdisjoint(tables) and all(
        (name, side) not in relevance.derived or relevance.mode(name, side) == ALL for name in tables for side in SIDES
    )


@quietly
def answer(
    run: Run, marks: Marks | None, lifted: LiftedGraph, root: Root, *, guard: Guard, entities: Array | None = None
) -> AnswerRows:
    """The bindings whose bounds differ from the query's value with every atom at its default, sorted; a query without
    variables has one answer. With ``entities`` (n,), of a query of one variable, there is one row for each, in order,
    also at the default. ``marks`` are the run's; without any, no answer is contested. The query changes no other
    answer. Raises `TooLarge`."""
    reference, negated = below_negations(lifted.graph, root.reference)
    positive = replace(root, reference=reference)
    rows = _atomic(run, marks, lifted, positive, entities)
    if rows is None:
        rows = _joined(run, marks, lifted, positive, guard, entities)
    value, default = _unknown(rows.value), _unknown(rows.default)
    narrow = value.lower > value.upper
    if any_set(narrow):
        narrow &= value.lower <= value.upper + tolerance(value.lower.dtype)
        value = Bounds(np.where(narrow, value.upper, value.lower), np.where(narrow, value.lower, value.upper))
    if negated:
        value, default = complement(value), complement(default)
    differs = _differ(value, default)
    if entities is not None:
        if not all_set(differs):
            value = Bounds(*(np.where(differs, *ends) for ends in zip(value, default, strict=True)))
        return AnswerRows(root.variables, rows.columns, *value, rows.contested)
    if not root.variables:
        differs[:] = True
    kept = where_set(differs)
    *columns, lower, upper, contested = (column.take(kept) for column in (*rows.columns, *value, rows.contested))
    order = None if rows.in_order else arranged(columns)
    if order is not None:
        *columns, lower, upper, contested = (column.take(order) for column in (*columns, lower, upper, contested))
    return AnswerRows(root.variables, tuple(columns), lower, upper, contested)


def _atomic(
    run: Run, marks: Marks | None, lifted: LiftedGraph, root: Root, entities: Array | None
) -> _Evaluated | None:
    """The atoms of ``P(X, Y)`` or ``P(a, b)``, read from their table without a join; None if the query is of another
    form, has constants beside variables or a repeated variable, or is about an atom without a row."""
    node, arguments = root.reference.node, root.reference.arguments
    if lifted.graph.nodes[node]["kind"] not in ("predicate", NUMBER):
        return None
    state, table = run.state, run.grounding.atoms.tables[node]
    in_order = not root.variables
    if entities is not None:
        columns, rows = (entities,), _rows(run, root.reference, (entities,), len(entities))
    elif in_order:
        columns, rows = (), _rows(run, root.reference, (), 1)
        if rows[0] < 0:
            return None
    elif len(arguments) == len(root.variables):  # every variable occurs, so each occurs once
        places = {argument: place for place, argument in enumerate(arguments)}
        order = [places[variable] for variable in range(len(arguments))]
        columns = tuple(table.tuples.columns[place] for place in order)
        rows = range(len(table))
        in_order = table.loaded == len(table) and order == sorted(order)
    else:
        return None
    value = shown(table, rows)
    contested = np.zeros(len(rows), dtype=bool)
    if marks is not None:
        at = spelled_out(rows)
        contested |= _about(marks.contested, table, at)
        for other in marks.doubts:
            contested |= _differ(value, other.read(table, at))
    low, high = run.plan.shared.unstated.get(node, table.default)
    default = Bounds(*(np.broadcast_to(np.array(end, state.dtype), len(rows)) for end in (low, high)))
    return _Evaluated(columns, value, default, contested, in_order)


def _about(contested: Contested, table: Relation, rows: Array) -> Array:
    """A mask of rows whose atoms are contested, whatever their bounds."""
    lower, upper = contested.among(table, rows)
    return lower & upper


def _differ(one: Bounds, other: Bounds) -> Array:
    """A mask of rows where either end differs by more than the tolerance."""
    eps = tolerance(one.lower.dtype)
    return (abs(one.lower - other.lower) > eps) | (abs(one.upper - other.upper) > eps)


def _joined(
    run: Run, marks: Marks | None, lifted: LiftedGraph, root: Root, guard: Guard, entities: Array | None
) -> _Evaluated:
    """The bindings that the query's needs find, or those of ``entities``, evaluated."""
    state, atoms = run.state, run.grounding.atoms
    world = run.grounding.domain
    subsuming, related = (
        subsuming_relations(run.plan, world, lifted, root.reference),
        comparing(lifted, world, root.reference),
    )
    formula = unfold(lifted, root, world=world)
    needs = query_needs(run.plan, world, lifted, root, subsuming, related)
    if any(literal.table == EQUAL for literal in needs.literals):
        add_equality(atoms, world)
    assembler = Assembler(formula, needs, atoms, world, guard, {})
    view = assembler.every() if entities is None else assembler.of([entities], len(entities))
    ids, length = tuple(view.ids[0][variable] for variable in formula.blocks[0].variables), view.length(0)
    general = [(atoms.tables[neuron.node], _rows(run, neuron, ids, length)) for neuron in subsuming]
    others = [(atoms.tables[e.reference.node], _rows(run, e.reference, ids, length)) for e in related.comparisons]
    value = _value(view, state.dtype, [shown(*place) for place in general], related, others)
    contested = np.zeros(length, dtype=bool)
    if marks is not None:
        named, top = _named(view, world, atoms, marks), formula.top
        for doubt, unknown in zip(marks.doubts, (named, {}), strict=True):
            inherited = [doubt.read(*place) for place in general]
            contested |= _differ(value, _value(view, state.dtype, inherited, related, others, doubt, unknown))
        if formula.neurons[top].kind == LEAF:  # the answer is about one atom
            contested |= _about(marks.contested, view.tables[top], view.column(top)) | named.get(top, contested)
    default = upward(formula, _defaults(view, run), view.groupings)[formula.top]
    return _Evaluated(ids, value, default, contested)


def _unknown(value: Bounds) -> Bounds:
    """The bounds as they are shown: what has no value is unknown."""
    none = value.lower == math.inf
    return (
        Bounds(np.where(none, -math.inf, value.lower), np.where(none, math.inf, value.upper)) if none.any() else value
    )


def _value(
    view: Instances,
    dtype: np.dtype,
    inherited: Sequence[Bounds],
    related: Related,
    others: Sequence[tuple[Relation, Array]],
    doubt: Doubted | None = None,
    named: Mapping[int, Array] = _NOTHING,
) -> Bounds:
    """The query's bounds from its operands, met with those ``inherited`` from the neurons of which it is an instance,
    and with what ``related`` comparisons of its terms imply; in ``doubt`` as it reads them. The rows of leaves that are
    ``named`` are unknown."""
    formula = view.formula
    read = _unknowing(reader(view, dtype, doubt), view, named)
    if formula.neurons[formula.top].kind != LEAF:
        value = upward(formula, entering(read, formula), view.groupings)[formula.top]
    elif doubt is None:
        value = shown(view.tables[formula.top], view.column(formula.top))
    else:
        value = read(formula.top)
    for known in inherited:
        value = Bounds(np.maximum(value.lower, known.lower), np.minimum(value.upper, known.upper))
    implied = [table.read(rows) if doubt is None else doubt.read(table, rows) for table, rows in others]
    return met(value, related, implied) if others else value


def _named(view: Instances, world: Domain, atoms: Relations, marks: Marks) -> dict[int, Array]:
    """For leaves whose atoms are known by default: the rows where a contradiction names one that has no row."""
    unlisted = dict[int, Array]()
    for leaf in view.formula.leaves:
        ids = view.arguments(leaf, world)
        hit = marks.unlisted(atoms, view.formula.neurons[leaf].source, ids, view.column(leaf))
        if any_set(hit):
            unlisted[leaf] = hit
    return unlisted


def _unknowing(read: Read, view: Instances, named: Mapping[int, Array]) -> Read:
    """A reader to which the named rows of leaves are unknown."""

    def unknown(index: int) -> Bounds:
        bounds = read(index)
        if index not in named:
            return bounds
        free = (-math.inf, math.inf) if view.formula.neurons[index].numeric else (0.0, 1.0)
        return Bounds(*(np.where(named[index], end, known) for end, known in zip(free, bounds, strict=True)))

    return unknown


def _rows(run: Run, reference: Reference, ids: Sequence[Array], length: int) -> Array:
    """The rows of a neuron's relation, for each binding of the query's variables."""
    columns = argument_columns(reference.arguments, ids, length, run.grounding.domain)
    return run.grounding.atoms.tables[reference.node].tuples.find(columns, length)


def _defaults(view: Instances, run: Run) -> Callable[[int], Bounds]:
    """A view in which every atom has its table's default, those of unnamed individuals too where it holds of them;
    equalities keep their truth."""
    formula, state, atoms = view.formula, run.state, run.grounding.atoms

    def read(index: int) -> Bounds:
        neuron = formula.neurons[index]
        rows = view.length(neuron.block)
        if neuron.fixed:
            return constant(formula, index, rows, state.dtype)
        if neuron.kind == "same":
            return enter(atoms.truths.read(view.column(index)))
        default = run.plan.shared.unstated.get(neuron.source, atoms.tables[neuron.source].default)
        unnamed = view.column(index) == UNNAMED
        low, high = (
            np.where(unnamed, free, end).astype(state.dtype) for free, end in zip((0.0, 1.0), default, strict=True)
        )
        return Bounds(low, high)

    return read
