"""Demand-driven completion (magic sets): computes the demand of bound questions and joins rules with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from lnnkit.analysis.demand import Bound, Demand, Passing, bound_atom, demand
from lnnkit.analysis.needs import Literal, Need, Needs, minimal_needs
from lnnkit.analysis.relevance import Reading
from lnnkit.engine.start.asked import positive_queries
from lnnkit.engine.start.prepared import Prepared
from lnnkit.formula.unfolding import Formula, unfold
from lnnkit.join.bindings import Bindings
from lnnkit.join.instances.grounding import Grounding, sources
from lnnkit.join.literal_join import Joins, Path
from lnnkit.store.columns.sorting import distinct_values
from lnnkit.store.relations import Relation

Completing = tuple[Formula, Needs]
_ENTERED = "listed"  # the column of the table of needed tuples


def narrowed(
    prepared: Prepared, readings: Sequence[Reading], strata: Sequence[Sequence[Completing]]
) -> list[list[Needs]]:
    """The needs of the defining formulas of each stratum, joined with the demand of the questions for their heads. A
    predicate is narrowed only if the questions bind it and no other formula reads it. Predicates that are then
    completed in part are recorded as partly known."""
    every = [needs for own in strata for _, needs in own]
    found = _demand(prepared, readings, [each for own in strata for each in own])
    if found is not None:
        tables = _tables(prepared, found.bound)
        _work_out(prepared.grounding, found, tables)
        prepared.partly_known.update(found.bound)
        prepared.demands.update({table.name: (name, found.bound[name]) for name, table in tables.items()})
        every = [_joined(formula, needs, found.bound, tables) for own in strata for formula, needs in own]
    ready = iter(every)
    return [[next(ready) for _ in own] for own in strata]


def _demand(prepared: Prepared, readings: Sequence[Reading], defining: Sequence[Completing]) -> Demand | None:
    """The demand of the program's questions; None if it is everything."""
    lifted, grounding, atoms = prepared.lifted, prepared.grounding, prepared.grounding.atoms
    derived = lifted.closed_derived
    stated = {name for name in derived if len(atoms.tables[name].listing("given"))}
    whole, moving = set(stated), set(derived)
    for each in readings:
        heads = {each.formula.neurons[leaf].source for leaf in each.formula.heads}
        if not heads or heads & stated:  # else it proposes nothing: downward, a head is read as only facts give it
            whole |= sources(each.formula)
            sides = {(each.table(send.leaf), send.side) for send in each.analysis.sends}
            moving |= {name for name, _ in sides & prepared.relevance.derived}
    asked: list[tuple[str, tuple[int | str, ...]]] = []
    for root in positive_queries(lifted):
        formula = unfold(lifted, root, world=grounding.domain)
        for leaf in formula.leaves:
            neuron = formula.neurons[leaf]
            if not grounding.domain.lacks(lifted.graph.nodes[neuron.source]["sorts"], neuron.arguments):
                asked.append((neuron.source, neuron.arguments))
    still = {name for name, data in lifted.graph.nodes.items() if data["kind"] == "predicate"} - moving
    return demand(defining, whole & derived, asked, still)


def _tables(prepared: Prepared, bound: Bound) -> dict[str, Relation]:
    """A table of needed tuples for each bound predicate, under a reserved name."""
    atoms, found = prepared.grounding.atoms, dict[str, Relation]()
    for predicate, places in bound.items():
        name = f"?{predicate}"
        while name in atoms.tables:
            name = f"?{name}"
        sorts = atoms.tables[predicate].sorts
        found[predicate] = atoms.add_table(name, tuple(sorts[place] for place in places), (0.0, 0.0))
    return found


def _joined(formula: Formula, needs: Needs, bound: Bound, tables: Mapping[str, Relation]) -> Needs:
    """A defining formula's needs for the heads that are needed."""
    heads = [(neuron.source, neuron.arguments) for neuron in (formula.neurons[leaf] for leaf in sorted(formula.heads))]
    if len(formula.blocks) > 1 or not all(name in bound for name, _ in heads):
        return needs
    wanted = [Literal(tables[head[0]].name, bound_atom(head, bound)[1], _ENTERED) for head in heads]
    return replace(
        needs, rows=minimal_needs(Need(need.block, need.literals | {each}) for need in needs.rows for each in wanted)
    )


def _work_out(grounding: Grounding, wanted: Demand, needed: Mapping[str, Relation]) -> None:
    """Compute the demand semi-naively: each magic rule joins the new tuples of its head."""
    atoms, index = grounding.atoms, grounding.domain.index
    for predicate, entities in wanted.asked:
        ids = [np.array([index[text]], np.int32) for text in entities]
        needed[predicate].enlist("listed", atoms.materialise(needed[predicate], ids, 1))
    joins = [_Joined(grounding, each, needed) for each in wanted.passings]
    moved = True
    while moved:
        found = [each.extend() for each in joins]
        moved = any(found)


class _Joined:
    """A magic rule, with the number of needed tuples that it has read."""

    def __init__(self, grounding: Grounding, passing: Passing, needed: Mapping[str, Relation]) -> None:
        head = passing.head
        self._head = None if head is None else Literal(needed[head[0]].name, head[1], _ENTERED)
        self._literals = passing.literals
        self._read: int | None = None
        names = {*(() if head is None else head[1]), *(a for each in passing.literals for a in each.arguments)}
        first, *_ = passing.formula.blocks
        block = replace(first, variables=tuple(each for each in first.variables if each in names))
        formula = replace(passing.formula, blocks=(block,))
        guard = partial(grounding.guard, use="joined")
        self._joins = Joins(formula, grounding.atoms, grounding.domain, guard, -1, None)
        self._atoms = grounding.atoms
        self._table = needed[passing.target[0]]
        self._target = self._joins.pattern((self._table.name, passing.target[1]))

    def extend(self) -> bool:
        """Join the new tuples; returns whether there are any results."""
        before = len(self._table.tuples)
        for found in self._found():
            columns = self._target.tuples(found.column, found.length)
            rows = self._atoms.materialise(self._table, columns, found.length)
            self._table.enlist("listed", distinct_values(rows))
        return len(self._table.tuples) > before

    def _found(self) -> Iterable[Bindings]:
        joins, read = self._joins, self._read
        if self._head is None:
            self._read = 0
            return joins.whole(self._literals, Path(0)) if read is None else ()
        self._read = joins.length(self._head)
        pattern = joins.pattern((self._head.table, self._head.arguments))
        start = joins.matched(pattern, pattern.fitting(joins.listing(self._head)[read or 0 :]))
        return list(joins.joined(start, joins.step(start.known, self._literals), Path(0)))
