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
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.layout import Given
from lnnkit.store.relations import Relation
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
    rest = [root for root in roots if not _about(lifted, root, sort)]
    kept = [root for root in (*roots, *lifted.queries) if root not in rest]
    below = lifted.graph.below(*(root.reference.node for root in kept))
    sorts = {name: {*predicate.sorts} for name, predicate in program.predicates.items() if name in below}
    names = [name for name, kinds in sorts.items() if not {sort, ENTITY} & kinds]
    opens = any(declared.open for declared in program.sorts.values())  # of their unnamed individuals less is known
    if not rest or opens or any({*root.defines} & {*names} for root in kept):
        return None
    if _neurons(lifted, rest) & _neurons(lifted, kept) or _compares(lifted, rest):
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
    lean = replace(program, assertions=tuple(root.origin for root in roots if root in kept), queries=())
    plans = Plans(add_queries(build(lean), program.queries))
    given = [_bounds(run, run.grounding.atoms.tables[name]) for name in names]
    world = run.grounding.domain
    labelled = {name: [ids] for name, ids in world.sorts.items() if name != ENTITY and len(ids)}
    return Beside(plans, [facts for facts in given if len(facts)], labelled)


def _about(lifted: LiftedGraph, root: Root, sort: str) -> bool:
    """Whether a statement reads anything of rows."""
    below = lifted.graph.below(root.reference.node)
    return any({sort, ENTITY} & {*lifted.graph.nodes[node]["sorts"]} for node in below)


def _neurons(lifted: LiftedGraph, roots: Sequence[Root]) -> set[str]:
    """The neurons of statements: one that stands in two passes bounds from one to the other."""
    below = lifted.graph.below(*(root.reference.node for root in roots))
    return {node for node in below if lifted.graph.nodes[node]["kind"] in NEURONS}


def _compares(lifted: LiftedGraph, roots: Sequence[Root]) -> bool:
    """Whether statements compare numbers: comparisons of the same terms imply each other."""
    return any(lifted.graph.nodes[node]["kind"] == COMPARISON for node in _neurons(lifted, roots))


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
