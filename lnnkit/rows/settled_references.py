"""What statements about other entities than rows derive, inferred once: rows move nothing of it.

Where a strip names no new entity, the bounds derived stand in for these statements. A closure of 400 links beside
batches of 1,000 rows takes 200 ms a batch otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lnnkit.budget import allowed
from lnnkit.check.program import ENTITY, CheckedProgram, Query
from lnnkit.engine.inference import infer
from lnnkit.engine.inference_run import Run
from lnnkit.engine.planning.compiling import Plans
from lnnkit.graph.laws import Law
from lnnkit.graph.lifted import COMPARISON, NEURONS, LiftedGraph, Root
from lnnkit.graph.lifting import add_queries, build
from lnnkit.store.layout import Given
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array
from lnnkit.store.stated_facts import Gathered, Order, merged
from lnnkit.syntax import ast

ROUNDS = 100_000


class Beside(NamedTuple):
    """What is there beside rows: the ``plans`` of statements and queries, the facts ``given`` about other entities, and
    their ids by sort."""

    plans: Plans
    given: Sequence[Given]
    labelled: Mapping[str, Sequence[Array]]


def settled(
    program: CheckedProgram, sort: str, lifted: LiftedGraph, others: Gathered, unnamed: Collection[str]
) -> Beside | None:
    """The statements about rows of a ``sort``, beside what the rest derives from the facts about ``others``. None where
    the rest derives nothing, contradicts itself, or shares more with them than predicates and numbers. Raises
    `TooLarge`."""
    roots = [root for root in lifted.statements if not isinstance(root.origin, Law)]
    rest = [root for root in roots if not _is_about_rows(lifted, root, sort)]
    if not rest or any(declared.open for declared in program.sorts.values()):  # of unnamed individuals less is known
        return None
    statements = [root for root in roots if _is_about_rows(lifted, root, sort)]
    kept = [*statements, *lifted.queries]
    below, above = (lifted.graph.below(*(root.reference.node for root in part)) for part in (rest, kept))
    sorts = {name: {*predicate.sorts} for name, predicate in program.predicates.items() if name in above}
    names = [name for name, kinds in sorts.items() if not {sort, ENTITY} & kinds]
    kinds = {node: lifted.graph.nodes[node]["kind"] for node in below}
    # a neuron that stands in both passes bounds from one to the other, and comparisons imply each other
    shared = any(kind == COMPARISON or (kind in NEURONS and node in above) for node, kind in kinds.items())
    if shared or any({*root.defines} & {*names} for root in statements):
        return None
    base = replace(program, assertions=tuple(root.origin for root in rest), queries=())
    queries = [_every(program, name) for name in names]
    run = infer(
        Plans(add_queries(build(base), queries)),
        others.entities,
        others.given,
        guard=allowed(None),
        round_limit=ROUNDS,
        record=False,
        labelled=others.labelled,
        unnamed=unnamed,
    )
    if not run.consistent:
        return None
    lean = replace(program, assertions=tuple(root.origin for root in statements), queries=())
    plans = Plans(add_queries(build(lean), program.queries))
    given = [_bounds(run, run.grounding.atoms.tables[name]) for name in names]
    world = run.grounding.domain
    labelled = {name: [ids] for name, ids in world.sorts.items() if name != ENTITY and len(ids)}
    return Beside(plans, [facts for facts in given if len(facts)], labelled)


def _is_about_rows(lifted: LiftedGraph, root: Root, sort: str) -> bool:
    """Whether a statement reads anything of rows."""
    below = lifted.graph.below(root.reference.node)
    return any({sort, ENTITY} & {*lifted.graph.nodes[node]["sorts"]} for node in below)


def _every(program: CheckedProgram, name: str) -> Query:
    """A query for all atoms of a predicate, or all values of a number."""
    predicate, span = program.predicates[name], program.assertions[0].span
    variables = tuple(ast.Variable(f"X{place}", span=span) for place in range(predicate.arity))
    return Query(ast.Atom(name, variables, span=span), name, program.logic, span, predicate.numeric)


def _bounds(run: Run, table: Relation) -> Given:
    """What is known of a predicate, as facts."""
    rows = np.flatnonzero(table.flags("either").values | table.flags("given").values)
    columns = [column.take(rows) for column in table.tuples.columns]
    *columns, lower, upper = merged([(*columns, *table.read(rows))], run.grounding.domain.generic, Order())
    return Given(table.name, tuple(columns), lower, upper)
