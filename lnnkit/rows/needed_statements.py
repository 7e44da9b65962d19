"""What is decided of a program about rows without its rows: the statements that queries need, and the sides of tables
that matter to them; and what statements about other entities derive, inferred once, since rows move nothing of it.

Where a strip names no new entity, the bounds derived stand in for these statements. A closure of 400 links beside
batches of 1,000 rows takes 200 ms a batch otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lnnkit.analysis.relevance import SIDES, AnalysedFormula, Relevance, decide
from lnnkit.analysis.unnamed_individuals import of_strata
from lnnkit.budget import allowed
from lnnkit.check.program import ENTITY, Assertion, CheckedProgram, Query
from lnnkit.engine.inference import infer
from lnnkit.engine.inference_run import Run
from lnnkit.engine.planning.compiling import Plans, outlined
from lnnkit.engine.planning.inference_plan import (
    Outline,
    bounding_neurons,
    informed_sides,
    positive_queries,
    query_atoms,
)
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.graph.laws import Law
from lnnkit.graph.lifted import COMPARISON, NEURONS, LiftedGraph, Root
from lnnkit.graph.lifting import add_queries, build
from lnnkit.store.layout import Domain, Given, asked_constants, constants, domain
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array
from lnnkit.store.stated_facts import Order, merged
from lnnkit.syntax import ast


@dataclass(frozen=True)
class Needed(Outline):
    """The part of a program that its queries need, in a ``world`` without facts: the ``readings`` needed, and the
    closed derived predicates of ``strata`` with the statements that define them."""

    world: Domain
    relevance: Relevance
    strata: tuple[tuple[frozenset[str], tuple[Formula, ...]], ...]

    @property
    def formulas(self) -> Iterator[Formula]:
        """The formulas of statements, shared neurons, and completions."""
        yield from (reading.formula for reading in self.readings)
        for _, formulas in self.strata:
            yield from formulas

    def read(self) -> set[str]:
        """The predicates, numbers and neurons that these formulas, or the queries, read."""
        asked = self.lifted.graph.below(*(root.reference.node for root in self.lifted.queries))
        return asked.union(*({neuron.source for neuron in formula.neurons} for formula in self.formulas))


def needed(program: CheckedProgram, supplied: Collection[str]) -> Needed:
    """What the program's queries need, whatever facts the ``supplied`` predicates and numbers have."""
    lifted = add_queries(build(replace(program, queries=())), program.queries)
    world = _constants_alone(lifted)
    outline = outlined(lifted, world, frozenset())
    readings = outline.readings
    roots = positive_queries(lifted)
    asked = {neuron.node for root in roots for neuron in bounding_neurons(lifted, world, root.reference)}
    asked |= {atom.node for root in roots for atom in query_atoms(lifted, world, root)}
    stated, given = informed_sides(outline)
    stated |= {(name, side) for name in (*lifted.closed_derived, *supplied) for side in SIDES}
    defining = dict(zip(lifted.program.strata, of_strata(lifted, outline.analyses), strict=True))
    while True:
        relevance = decide(readings, stated, given, supplied, (), asked, ())
        kept = [  # those of which an instance may move something that matters, or that bound a query
            reading
            for reading in readings
            if reading.observed or any(sends(reading, relevance, leaf) for leaf in (*reading.formula.leaves, AUXILIARY))
        ]
        read = {reading.formula.table(leaf) for reading in kept for leaf in reading.formula.leaves}
        strata = [stratum for stratum in program.strata if stratum & (asked | read)]
        completing = {
            formula.neurons[leaf].source
            for stratum in strata
            for formula in defining[stratum]
            for leaf in formula.leaves
            if leaf not in formula.heads
        }
        if completing <= asked:
            break
        asked |= completing
    completions = tuple((stratum, tuple(defining[stratum])) for stratum in strata)
    parts = dict(vars(outline), readings=tuple(kept))
    return Needed(**parts, world=world, relevance=relevance, strata=completions)


def _constants_alone(lifted: LiftedGraph) -> Domain:
    """The domain without any fact: the entities that statements and queries mention."""
    stated = {text for texts in constants(lifted).values() for text in texts}
    asked = asked_constants(lifted, lifted.queries) - stated
    index = {text: place for place, text in enumerate(sorted(stated | asked))}
    return domain(lifted, index, [], {}, asked)


def sends(seen: AnalysedFormula, relevance: Relevance, leaf: int) -> bool:
    """Whether an instance may move a side that matters of a leaf's atom."""
    return any(
        send.leaf == leaf
        and leaf not in seen.formula.heads
        and relevance.mode(seen.formula.table(leaf), send.side)
        and any(relevance.available(seen, support) for support in send.supports)
        for send in seen.analysis.sends
    )


def holder(lifted: LiftedGraph, formula: Formula) -> Assertion | Query:
    """The statement or query that a formula is, or the first that contains the shared neuron that it defines."""
    assert formula.root is not None
    if formula.auxiliary is None:
        return formula.root.origin
    return containing(lifted, (*lifted.statements, *lifted.queries), {formula.auxiliary}) or formula.root.origin


def containing(lifted: LiftedGraph, roots: Iterable[Root], nodes: Set[str]) -> Assertion | Query | None:
    """The first of some statements and queries, but for laws, that has one of these nodes in it."""
    plain = (root for root in roots if not isinstance(root.origin, Law))
    return next((root.origin for root in plain if nodes & lifted.graph.below(root.reference.node)), None)


_ROUNDS = 100_000


class Beside(NamedTuple):
    """What is there beside rows: the ``plans`` of statements and queries, the facts ``given`` about other entities, and
    their ids by sort."""

    plans: Plans
    given: Sequence[Given]
    labelled: Mapping[str, Sequence[Array]]


def settled(
    program: CheckedProgram, sort: str, beside: Beside, entities: Mapping[str, int], unnamed: Collection[str]
) -> Beside | None:
    """The statements about rows of a ``sort``, beside what the rest derives from the facts that are there ``beside``
    them, about these ``entities``. None where the rest derives nothing, contradicts itself, or shares more with them
    than predicates and numbers. Raises `TooLarge`."""
    lifted = beside.plans.lifted
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
    run = inferred(Plans(add_queries(build(base), queries)), entities, beside.given, beside.labelled, unnamed)
    if not run.consistent:
        return None
    lean = replace(program, assertions=tuple(root.origin for root in statements), queries=())
    plans = Plans(add_queries(build(lean), program.queries))
    given = [_bounds(run, run.grounding.atoms.tables[name]) for name in names]
    world = run.grounding.domain
    labelled = {name: [ids] for name, ids in world.sorts.items() if name != ENTITY and len(ids)}
    return Beside(plans, [facts for facts in given if len(facts)], labelled)


def inferred(
    plans: Plans,
    entities: Mapping[str, int],
    given: Sequence[Given],
    labelled: Mapping[str, Sequence[Array]],
    unnamed: Collection[str] = (),
    **limits: Any,
) -> Run:
    """The fixpoint, without a record, within the usual limits or others. Raises `TooLarge`."""
    limits = {"guard": allowed(None), "round_limit": _ROUNDS} | limits
    return infer(plans, entities, given, record=False, labelled=labelled, unnamed=unnamed, **limits)


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
