"""Answers: a query's rows at the fixpoint, upward from the final bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lnnkit.check.program import ENTITY
from lnnkit.graph.lifted import NEURONS, LiftedGraph, Reference, Root
from lnnkit.ground.evaluate import upward
from lnnkit.ground.formula import LEAF, unfold
from lnnkit.ground.grounding import Grounding, leaf_modes
from lnnkit.ground.layout import constants
from lnnkit.ground.needs import Literal, Need, Needs
from lnnkit.ground.relevance import ALL
from lnnkit.infer.inference import Fixpoint
from lnnkit.infer.prepare import Prepared
from lnnkit.infer.sweep import View, reader, whole
from lnnkit.logic.bounds import Bounds, complement, enter, tolerance


@dataclass(frozen=True, slots=True)
class Rows:
    """The answers to one query: a column of entity ids for each of its variables, bounds, and whether the answer rests
    on a contradiction."""

    variables: tuple[str, ...]
    columns: tuple[Tensor, ...]
    lower: Tensor
    upper: Tensor
    contested: Tensor


def covers(fixpoint: Fixpoint, lifted: LiftedGraph, root: Root) -> bool:
    """Whether the fixpoint already knows all that the query needs: its sides, its entities, its neurons' bounds."""
    prepared = fixpoint.prepared
    atoms, domain, relevance = prepared.grounding.atoms, prepared.grounding.domain, prepared.relevance
    if any(
        text not in domain.index or not bool((domain.sorts.get(sort, domain.sorts[ENTITY]) == domain.index[text]).any())
        for sort, texts in constants(replace(lifted, statements=(), queries=(root,))).items()
        for text in texts
    ):
        return False
    positive, _ = _positive(root, lifted)
    node = positive.reference.node
    data = lifted.graph.nodes[node]
    if data["kind"] in NEURONS and not data["shared"] and node not in prepared.observers:
        met = {
            neuron.source
            for member in prepared.inference
            for neuron in prepared.grounding.members[member].formula.neurons
        }
        if node in met:
            return False
    tables = {neuron.source for neuron in unfold(lifted, root).neurons if neuron.kind == LEAF}
    if lifted.graph.nodes[node]["shared"]:
        tables.add(node)
    return all(
        name in atoms.tables
        and all(
            (name, side) not in relevance.derived or relevance.mode(name, side) == ALL for side in ("lower", "upper")
        )
        for name in tables
    )


def answer(fixpoint: Fixpoint, lifted: LiftedGraph, root: Root) -> Rows:
    """Bindings whose bounds differ from the query's value with every atom at its default, sorted; a query without
    variables has one answer. Nothing that the query does changes another answer."""
    prepared = fixpoint.prepared
    state, atoms, domain = prepared.state, prepared.grounding.atoms, prepared.grounding.domain
    graph = lifted.graph
    positive, negated = _positive(root, lifted)
    node = positive.reference.node
    shared = bool(graph.nodes[node]["shared"])
    observer = prepared.observers.get(node)
    formula = unfold(lifted, positive, auxiliary=node if shared else None)
    with torch.no_grad():
        needs = prepared.finder(formula).deviation()
        heard = node if shared else observer
        extra: list[Need] = []
        if heard is not None:
            arguments = positive.reference.arguments
            extra.append(Need(0, frozenset({Literal(heard, arguments, "either")})))
        if formula.neurons[formula.top].kind == LEAF:  # arrested atoms too, which read as unknown
            extra.append(Need(0, frozenset({Literal(node, positive.reference.arguments, "either")})))
        told = set(prepared.analyses.of(formula).default_values(formula.top))
        if shared:
            told = {atoms.tables[node].default}
        bare = unfold(lifted, positive, through_shared=True)
        untold = set(prepared.analyses.of(bare).default_values(bare.top))
        if not root.variables or told != untold:  # what is said of a neuron holds for every entity
            extra.append(Need(0, frozenset()))
        needs = Needs((*needs.rows, *extra), needs.fills)
        scratch = Grounding(atoms, domain, prepared.grounding.guard)
        observers = {formula.top: observer} if observer is not None else {}
        number = scratch.add(
            replace(formula, auxiliary=None),
            prepared.analyses.of(formula),
            needs,
            leaf_modes(formula, lambda _name, _side: 0),
            dict.fromkeys(atoms.tables, False),
            observers | ({formula.top: node} if shared else {}),
        )
        scratch.extend([0])
        state.extend(atoms)
        batch = scratch.batches[number]
        view = whole(batch)
        if not len(batch.blocks[0]):
            empty = torch.empty(0, dtype=state.dtype)
            return Rows(
                root.variables,
                tuple(torch.empty(0, dtype=torch.int32) for _ in root.variables),
                empty,
                empty,
                empty.bool(),
            )
        if formula.neurons[formula.top].kind == LEAF:
            value = state.bounds(view.column(formula.top))
        else:
            value = upward(batch.formula, reader(view, state, atoms), view.groupings)[formula.top]
            if heard is not None:
                known = state.bounds(view.column(formula.top))
                value = Bounds(torch.maximum(value.lower, known.lower), torch.minimum(value.upper, known.upper))
        default = upward(batch.formula, _defaults(view, prepared), view.groupings)[formula.top]
        contested = _contested(fixpoint, view, heard is not None)
        narrow = (value.lower > value.upper) & (value.lower <= value.upper + tolerance(state.dtype))
        value = Bounds(torch.where(narrow, value.upper, value.lower), torch.where(narrow, value.lower, value.upper))
        if negated:
            value, default = complement(value), complement(default)
        eps = tolerance(state.dtype)
        differs = ((value.lower - default.lower).abs() > eps) | ((value.upper - default.upper).abs() > eps)
        if not root.variables:
            differs[:] = True
        picked = differs.nonzero().squeeze(1)
        columns = tuple(
            scratch.members[0].variables(0)[positive.variables.index(name)].index_select(0, picked)
            for name in root.variables
        )
        for place in reversed(range(len(columns))):
            order = torch.argsort(columns[place], stable=True)
            columns = tuple(column.index_select(0, order) for column in columns)
            picked = picked.index_select(0, order)
        lower, upper = value.lower.index_select(0, picked), value.upper.index_select(0, picked)
        return Rows(root.variables, columns, lower, upper, contested.index_select(0, picked))


def _positive(root: Root, lifted: LiftedGraph) -> tuple[Root, bool]:
    """The query without the negations at its head, and whether their number is odd."""
    graph = lifted.graph
    negated = False
    reference = root.reference
    while graph.nodes[reference.node]["kind"] == "not":
        _, operand, edge = next(iter(graph.out_edges(reference.node, data=True)))
        arguments = tuple(reference.arguments[a] if isinstance(a, int) else a for a in edge["arguments"])
        reference = Reference(operand, arguments)
        negated = not negated
    return replace(root, reference=reference), negated


def _defaults(view: View, prepared: Prepared) -> Callable[[int], Bounds]:
    """Reads every atom at its table's default; equalities as they are."""
    formula, state, atoms = view.batch.formula, prepared.state, prepared.grounding.atoms

    def read(index: int) -> Bounds:
        neuron = formula.neurons[index]
        rows = view.length(neuron.block)
        if neuron.kind in ("true", "false"):
            value = torch.full((rows,), float(neuron.kind == "true"), dtype=state.dtype)
            return Bounds(value, value)
        if neuron.kind == "same":
            return enter(state.read(view.column(index)))
        low, high = prepared.shared.untold.get(neuron.source, atoms.tables[neuron.source].default)
        return Bounds(torch.full((rows,), low, dtype=state.dtype), torch.full((rows,), high, dtype=state.dtype))

    return read


def _contested(fixpoint: Fixpoint, view: View, heard: bool) -> Tensor:
    """(rows of block 0,) whether an atom that the answer reads is arrested or rests on a contradiction."""
    either = fixpoint.contested[0] | fixpoint.contested[1]
    missing = len(fixpoint.prepared.grounding.atoms) - len(either)
    either = torch.cat([either, torch.zeros(missing, dtype=torch.bool)])
    formula = view.batch.formula
    hit = torch.zeros(view.length(0), dtype=torch.bool)
    for index, neuron in enumerate(formula.neurons):
        if neuron.kind != LEAF and not (heard and index == formula.top):
            continue
        flags = either.index_select(0, view.column(index))
        grouping = view.groupings[neuron.block]
        if grouping is None:
            hit |= flags
        else:
            hit[grouping.outermost[flags]] = True
    return hit
