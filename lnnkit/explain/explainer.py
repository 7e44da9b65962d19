"""Explanations of one fixpoint: of atoms by its history, also by other derivations, and of queries by their atoms or by
statements of the program. Results about the history are cached for later questions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import cast

import numpy as np

from lnnkit.answers.contested_marks import Marks
from lnnkit.answers.query_rows import answer
from lnnkit.arrays import Array, any_set
from lnnkit.check.program import CheckedProgram, Query
from lnnkit.data.names import AnyNames
from lnnkit.engine.inference_run import Run
from lnnkit.engine.planning.inference_plan import comparing, subsuming_neurons
from lnnkit.engine.response.respond import leaf_bound
from lnnkit.engine.response.rule_instances import RuleInstances
from lnnkit.explain.checker.proof_world import ProofWorld
from lnnkit.explain.missing.missing_premises import MissingPremises
from lnnkit.explain.missing.why_not import Added, Missing, Way, WhyNot
from lnnkit.explain.proof.explanation import Explanation
from lnnkit.explain.proof.proof import SIDES, FactSources, Premise, Proof, Step, ground_key
from lnnkit.explain.proof.prover import Prover, Steps
from lnnkit.explain.provenance.bound_sources import END, Event, SourcedBound, variable_names
from lnnkit.explain.provenance.instance_view import InstanceView, Substitution
from lnnkit.formula.as_syntax import as_expression
from lnnkit.formula.unfolding import unfold
from lnnkit.graph.describe import starts
from lnnkit.graph.laws import EVERY, among
from lnnkit.graph.lifted import LiftedGraph, Reference, Root, below_negations
from lnnkit.graph.lifting import add_queries
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.grounding import unlimited
from lnnkit.logic.bounds import Bounds
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression
from lnnkit.trail.events import Kind


class Explainer:
    """Explains the bounds of a ``fixpoint``; ``names`` has the text of each entity id, ``marks`` what is contested."""

    def __init__(
        self, fixpoint: Run, names: AnyNames, program: CheckedProgram, marks: Callable[[], Marks | None]
    ) -> None:
        self._fixpoint = fixpoint
        self._names = names
        self._program = program
        self._marks = marks

    def root(self, query: Query) -> tuple[LiftedGraph, Root]:
        """The query in the graph."""
        lifted = self._fixpoint.plan.lifted
        for root in lifted.queries:
            if root.origin == query:
                return lifted, root
        lifted = add_queries(lifted, [query])
        return lifted, lifted.queries[0]

    def explain(self, lifted: LiftedGraph, root: Root, alpha: float) -> Explanation:
        """The proof of the bounds of a formula without free variables, which the fixpoint covers."""
        reference = root.reference
        kind = lifted.graph.nodes[reference.node]["kind"]
        numeric, beside = root.origin.numeric if isinstance(root.origin, Query) else False, None
        if kind in ("predicate", "number"):
            about = reference.node, [*map(str, reference.arguments)]
            proof = self.prover.prove(*about)
            beside = partial(_others, self.prover, proof, *about)
        else:
            proof = _prove_formula(self.prover, lifted, root)
        marks = self._marks()  # it rests on a contradiction, or is about an atom of one
        contested = marks and any_set(answer(self._fixpoint, marks, lifted, root, guard=unlimited).contested)
        return Explanation(proof, alpha, bool(contested), numeric, _world=lambda: self.world, _others=beside)

    def bounds(self, conclusion: ast.Expression) -> tuple[float, float] | None:
        """The bounds of an atom; None for any other formula, and for an atom with variables or new entities."""
        key, known = ground_key(conclusion), self._fixpoint.grounding.domain.index
        if key is None or not all(text in known for text in key[1]):
            return None
        lower, upper = (self.prover.sources.reading(*key, side).value for side in (0, 1))
        return lower, upper

    def why_not(self, predicate: str, arguments: Sequence[str], side: int, goal: float, added: Added) -> WhyNot:
        """What could move one side of an atom's bounds to ``goal``; ``added`` infers with additional facts."""
        why = self._lacking.why_not(predicate, arguments, side, goal, added)
        return replace(why, ways=[self._because(way) for way in why.ways])

    def _because(self, way: Way) -> Way:
        """The way, with the facts that rule premises out by rules."""
        missing: list[Missing] = []
        for premise in way.missing:
            key = ground_key(premise.formula)
            if premise.through is not None:
                premise = replace(premise, through=self._because(premise.through))
            elif key is not None and premise.against is not None and not premise.unlisted and not way.free:
                proof = self.prover.prove(*key)
                premise = replace(premise, because=proof.facts(proof.lower if premise.side == "upper" else proof.upper))
            missing.append(premise)
        return replace(way, missing=missing)

    @cached_property
    def world(self) -> ProofWorld:
        """The context in which proofs are checked."""
        sorts = self._fixpoint.grounding.domain.sorts
        named = {sort: [self._names[entity] for entity in ids.tolist()] for sort, ids in sorts.items()}
        values = starts(self._fixpoint.plan.lifted.program.assertions)
        return ProofWorld(self._program, named, self.prover.sources.origins, values, self._fixpoint.state.dtype)

    @cached_property
    def prover(self) -> Prover:
        """What proves bounds."""
        return Prover(self._fixpoint, FactSources(self._program), self._names)

    @cached_property
    def _lacking(self) -> MissingPremises:
        return MissingPremises(self.prover.views)


def _prove_formula(prover: Prover, lifted: LiftedGraph, root: Root) -> Proof:
    """Both bounds of a formula without free variables, a query of ``lifted``."""
    formula = unfold(lifted, root, world=prover.run.grounding.domain)
    view = prover.views.whole(formula, {})
    whole = unfold(lifted, root, through_shared=True)
    names = variable_names(whole)
    conclusion = as_expression(whole, {}, names, logic=lifted.program.logic)
    _, negated = below_negations(lifted.graph, root.reference)
    known = _ProgramBounds(prover, lifted, root, conclusion)
    steps, ends = Steps(), list[int]()
    for side in (0, 1):
        reads = prover.views.upward_reads(view, (), side, END)
        value = float(view.upward(view.values(reads))[formula.top][side][0])
        stronger = known.more(steps, *((1 - side, 1 - value) if negated else (side, value)))
        if stronger is None:
            premises = prover.premises(steps, view, reads, side, value)
            if isinstance(conclusion, ast.Atom) and len(premises) == 1:  # a unit that passes a number through
                ends.append(premises[0].step)
                continue
        elif negated:
            value, premises = 1 - stronger[1], [Premise(stronger[0], 1.0)]
        else:
            ends.append(stronger[0])
            continue
        ends.append(steps.add(Step(conclusion, SIDES[side], value, "neuron", formula=conclusion, premises=premises)))
    return prover.finished(steps, format_expression(as_expression(whole, {}, names)), *ends)


class _ProgramBounds:
    """The program's bounds on a query below its negations: of neurons that subsume it, of like comparisons."""

    def __init__(self, prover: Prover, lifted: LiftedGraph, root: Root, query: ast.Expression) -> None:
        while isinstance(query, ast.Not):
            query = query.operand
        self._prover, self._conclusion = prover, query
        positive, _ = below_negations(lifted.graph, root.reference)
        atomic, world = lifted.graph.nodes[positive.node]["kind"] == "predicate", prover.run.grounding.domain
        self._references = [positive] if atomic else subsuming_neurons(lifted, world, positive)
        self._related = comparing(lifted, world, positive)

    def more(self, steps: Steps, side: int, value: float) -> tuple[int, float] | None:
        """The step with a tighter bound than ``value`` on a side, and that bound; None if there is none."""
        tightest = min if side else max
        readings = (self._reading(reference, side, crossed=True) for reference in self._references)
        best = tightest([SourcedBound(value, None), *readings], key=lambda reading: reading.value)
        implied = self._implied(steps, side) if best.value != 1 - side else None
        if implied is not None:
            return steps.add(implied), 1.0 - side
        return None if best.source is None else (steps.number(best.source), best.value)

    def _implied(self, steps: Steps, side: int) -> Step | None:
        """The bound implied by one or two other comparisons: those that exclude all signs of the difference but the
        ones that make the comparison true (or false). A comparison that is not false is true, and vice versa."""
        said = [
            (EVERY - comparison.signs if end == 0 else comparison.signs, comparison.reference, end, reading.source)
            for comparison in self._related.comparisons
            for end in (0, 1)
            if (reading := self._reading(comparison.reference, end, crossed=False)).source is not None
        ]
        excluded = self._related.signs if side else EVERY - self._related.signs
        degrees = {reference for _, reference, _, _ in said if sum(other[1] == reference for other in said) > 1}
        plain = [claim for claim in said if claim[1] not in degrees]
        for some in (*itertools.combinations(said, 1), *itertools.combinations(plain, 2)):
            if not excluded <= frozenset[int]().union(*(signs for signs, *_ in some)):
                continue
            conclusion = self._prover.wording.conclusion
            others = [(conclusion(other.node, [*map(str, other.arguments)]), end == 1) for _, other, end, _ in some]
            premises = [Premise(steps.number(source), 1.0) for *_, source in some if source is not None]
            law = among([*others, (self._conclusion, side == 0)])
            formula = cast("ast.Expression", law.formula)
            return Step(self._conclusion, SIDES[side], 1.0 - side, "statement", law, formula, premises=premises)
        return None

    def _reading(self, reference: Reference, side: int, *, crossed: bool) -> SourcedBound:
        table = self._prover.run.plan.observers.get(reference.node, reference.node)
        return self._prover.sources.reading(table, [*map(str, reference.arguments)], side, crossed=crossed)


# --- other derivations ------------------------------------------------------------------------------------------------


def _others(prover: Prover, proof: Proof, predicate: str, arguments: Sequence[str]) -> Iterator[Proof]:
    """Proofs of the same atom in which another instance gives its lower, or its upper bound. None rests on the bound
    that it proves. What follows from the absence of rules has no others."""
    local, table = prover.sources.find(predicate, arguments), prover.run.grounding.atoms.tables[predicate]
    if local < 0:
        return
    row = int(prover.wording.numbers.of(table, np.array([local]))[0])
    entities = [prover.run.grounding.domain.index[argument] for argument in arguments]
    steps = Steps()  # shared, so that each premise is proved once
    usual = [prover.end(steps, predicate, arguments, side) for side in (0, 1)]
    for side, end in enumerate((proof.lower, proof.upper)):
        reading, known = prover.sources.reading(predicate, arguments, side), {_shown(proof.steps[end])}
        wanted = Event(-1, Kind.SENT, row, side, reading.value, END, -1, -1, -1)
        for event, view in _instances(prover, predicate, entities, wanted) if reading.source else ():
            for place in np.flatnonzero(view.rows[event.leaf] == local).tolist():
                step = prover.by_instance(steps, event, view, place)
                if step is None or _shown(step) in known:
                    continue
                known.add(_shown(step))
                ends = [*usual]
                ends[side] = steps.add(step)
                every = prover.finished(steps, proof.atom, *ends)
                if not _circular(every, ends[side]):
                    yield every.only(every.reachable(every.lower, every.upper))


def _instances(prover: Prover, table: str, entities: list[int], wanted: Event) -> Iterator[tuple[Event, InstanceView]]:
    """The instances that may give an atom the bound of an event, each with that event by its shape and leaf."""
    grounding = prover.run.grounding
    for member, rule in enumerate(grounding.members):
        finder, number = rule if isinstance(rule, DeltaRule) else rule.finder, grounding.number(member)
        formula, completes = finder.formula.original, grounding.shapes[number].completes
        if (completes and wanted.side) or any(block.unnamed for block in formula.blocks):
            continue
        leaves = formula.heads if completes else formula.leaves
        for leaf in (leaf for leaf in leaves if formula.neurons[leaf].source == table):
            about, event = prover.views.unified(formula, leaf, entities), replace(wanted, shape=number, leaf=leaf)
            for bindings in () if about is None else _bindings(prover, member, finder, about, event):
                yield event, replace(prover.views.whole(formula, bindings), completes=completes)


def _bindings(
    prover: Prover, member: int, finder: DeltaRule, about: Substitution, event: Event
) -> Iterator[Substitution]:
    """The entities of the free variables in instances in which some variables have these. Those without quantifiers
    that do not give the bound of the event by all that they read are left out."""
    free, met = finder.formula.original.blocks[0].variables, set[tuple[int, ...]]()
    inside = {v: entity for v, entity in about.items() if v in finder.formula.blocks[0].variables}
    for part in finder.extending(inside):
        if isinstance(prover.run.grounding.members[member], DeltaRule):
            given = _given(prover.run, member, finder, part, event)
            part = part.at(np.flatnonzero(prover.reached(given, event.side, event.value)))
        columns = [part.column(variable).tolist() for variable in free]
        for ids in zip(*columns, strict=True) if columns else [()] * min(part.length, 1):
            if ids not in met:
                met.add(ids)
                yield dict(zip(free, ids, strict=True))


def _given(run: Run, member: int, rule: DeltaRule, part: Bindings, event: Event) -> Array:
    """(n,) what instances give one side of a leaf where the leaf itself is unknown."""
    shape, leaf = run.grounding.shapes[event.shape], event.leaf
    instances = RuleInstances(shape, member, rule, part, run.grounding.atoms, run.encoded)
    read = instances.reader(range(part.length), run.state.dtype)

    def reader(index: int) -> Bounds:
        bounds, (low, high) = read(index), rule.table_of(leaf).unknown
        return bounds if index != leaf else Bounds(np.full_like(bounds.lower, low), np.full_like(bounds.upper, high))

    return leaf_bound(shape.formula, reader, (None,), leaf, event.side, completes=shape.completes)


def _shown(step: Step) -> object:
    """What tells one derivation from another."""
    formula = "" if step.formula is None else format_expression(step.formula)
    return formula, step.reason, id(step.statement), tuple(sorted(step.bindings.items()))


def _circular(proof: Proof, end: int) -> bool:
    """Whether a step rests on another one with its conclusion."""
    about = proof.steps[end].atom, proof.steps[end].side
    return any((proof.steps[n].atom, proof.steps[n].side) == about for n in proof.reachable(end) if n != end)
