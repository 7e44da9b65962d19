"""Demand-driven completion (magic sets): computes the demand of bound questions, with which rules are joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from lnnkit.analysis.demand import ENTERED, Passing
from lnnkit.analysis.needs import Literal
from lnnkit.engine.planning.inference_plan import Plan
from lnnkit.join.bindings import Bindings
from lnnkit.join.instances.grounding import Grounding
from lnnkit.join.literal_join import Joins, Path
from lnnkit.store.relations import Relation, Schema
from lnnkit.store.row_arrays import distinct_values


def work_out_demand(plan: Plan, grounding: Grounding) -> None:
    """Compute the demand of the queries semi-naively, in relations of its own: each magic rule joins the new tuples of
    its head."""
    if plan.demand is None:
        return
    atoms, index, needed = grounding.atoms, grounding.domain.index, dict[str, Relation]()
    for name, (predicate, places) in plan.demands.items():
        sorts = plan.schemas[predicate].sorts
        needed[predicate] = atoms.add(Schema(name, tuple(sorts[place] for place in places), (0.0, 0.0)))
    for predicate, entities in plan.demand.asked:
        ids = [np.array([index[text]], np.int32) for text in entities]
        needed[predicate].enlist(ENTERED, atoms.materialise(needed[predicate], ids, 1))
    joins = [_Joined(grounding, passing, needed) for passing in plan.demand.passings]
    moved = True
    while moved:
        extended = [join.extend() for join in joins]
        moved = any(extended)


class _Joined:
    """A magic rule, with the number of needed tuples that it has read."""

    def __init__(self, grounding: Grounding, passing: Passing, needed: Mapping[str, Relation]) -> None:
        head = passing.head
        self._head = None if head is None else Literal(needed[head[0]].name, head[1], ENTERED)
        self._literals = passing.literals
        self._read: int | None = None
        names = {*(() if head is None else head[1]), *(a for literal in passing.literals for a in literal.arguments)}
        first, *_ = passing.formula.blocks
        block = replace(first, variables=tuple(variable for variable in first.variables if variable in names))
        formula = replace(passing.formula, blocks=(block,))
        guard = partial(grounding.guard, use="joined")
        self._joins = Joins(formula, grounding.atoms, grounding.domain, guard, -1, None)
        self._atoms = grounding.atoms
        self._table = needed[passing.target[0]]
        self._target = self._joins.pattern((self._table.name, passing.target[1]))

    def extend(self) -> bool:
        """Join the new tuples; returns whether there are any results."""
        before = len(self._table.tuples)
        for bindings in self._bindings():
            columns = self._target.tuples(bindings.column, bindings.length)
            rows = self._atoms.materialise(self._table, columns, bindings.length)
            self._table.enlist(ENTERED, distinct_values(rows))
        return len(self._table.tuples) > before

    def _bindings(self) -> Iterable[Bindings]:
        joins, read = self._joins, self._read
        if self._head is None:
            self._read = 0
            return joins.whole(self._literals, Path(0)) if read is None else ()
        self._read = joins.length(self._head)
        pattern = joins.pattern((self._head.table, self._head.arguments))
        start = joins.matched(pattern, pattern.fitting(joins.listing(self._head)[read or 0 :]))
        return list(joins.joined(start, joins.step(start.known, self._literals), Path(0)))
