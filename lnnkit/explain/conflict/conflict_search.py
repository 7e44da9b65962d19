"""Finds the facts and statements on which each contradiction of a fixpoint rests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import cast

from lnnkit.answers.contradictions import first_of_each
from lnnkit.check.program import Assertion, CheckedProgram, Fact
from lnnkit.check.walk import nodes
from lnnkit.engine.inference import Fixpoint
from lnnkit.engine.start.prepared import Prepared
from lnnkit.explain.checker.proof_checker import World
from lnnkit.explain.conflict.conflict import Conflict
from lnnkit.explain.conflict.conflict_members import Inconsistent, Loosened, Member, StatedFact, StatedRule, bounds_of
from lnnkit.explain.conflict.number_range import known_range
from lnnkit.explain.proof.explanation import Explanation
from lnnkit.explain.proof.proof import Proof, Step
from lnnkit.explain.proof.prover import Prover
from lnnkit.formula.unfolding import unfold
from lnnkit.graph.laws import Law
from lnnkit.outcome import Contradiction
from lnnkit.store.columns.row_arrays import Array
from lnnkit.syntax import ast
from lnnkit.syntax.span import Source, Span

Fits = Callable[[Contradiction], bool]
_NOWHERE = Span(Source("", ""), 0, 0)


def conflicts(
    fixpoint: Fixpoint,
    ticks: Sequence[int],
    prover: Prover,
    world: World,
    inconsistent: Inconsistent,
    most: int,
    fits: Fits,
) -> list[Conflict]:
    """At most ``most`` conflicts whose contradictions fit: those of arrested atoms and shared formulas first, then
    those of instances. ``ticks`` has the tick at which each instance was arrested."""
    ranges = partial(known_range, world.program)
    stated = world.origins.of
    return [
        Conflict(
            told, Explanation(proof, _world=lambda: world), _members(proof, world.program), inconsistent, ranges, stated
        )
        for told, proof in islice((pair for pair in _proofs(fixpoint, ticks, prover) if fits(pair[0])), most)
    ]


def _proofs(fixpoint: Fixpoint, ticks: Sequence[int], prover: Prover) -> Iterator[tuple[Contradiction, Proof]]:
    state, wording = fixpoint.prepared.state, prover.wording
    observed = set(fixpoint.prepared.observers.values())
    for row in sorted(state.crossed.rows.values.tolist()):
        table, entities = wording.table(row), wording.entities(row)
        if table is None or entities is None or table in observed:
            continue
        proof = prover.prove(table, [wording.names[entity] for entity in entities])
        kind = "atom" if wording.is_predicate(table) else "neuron"
        lower, upper = proof.steps[proof.lower].bound, proof.steps[proof.upper].bound
        yield Contradiction(kind, proof.atom, None, None, lower, upper), proof
    for arrested, tick in zip(fixpoint.progress.arrested, ticks, strict=True):
        roots = zip(arrested.roots.lower.tolist(), arrested.roots.upper.tolist(), strict=True)
        repeated = set(_repeated(fixpoint.prepared, arrested.batch, arrested.rows))
        for place, (row, (lower, upper)) in enumerate(zip(arrested.rows.tolist(), roots, strict=True)):
            if place in repeated:
                continue
            proof = prover.prove_contradiction(arrested.batch, row, tick)
            statement = proof.steps[proof.lower].statement
            if statement is None or statement.kind == "law":
                yield Contradiction("neuron", proof.atom, None, None, lower, upper), proof
            else:
                span = statement.span
                told = Contradiction(
                    statement.kind, proof.atom, statement.name, span.line, lower, upper, span.source.path
                )
                yield told, proof


def _repeated(prepared: Prepared, batch: int, rows: Array) -> Iterator[int]:
    """The places of the instances that say the same as an earlier one."""
    for formula, mine, ids in prepared.grounding.assignments(batch, rows):
        assert formula.root is not None
        first = first_of_each(unfold(prepared.lifted, formula.root, through_shared=True), ids)
        if first is not None:
            yield from set(mine.tolist()) - set(mine.take(first).tolist())


def _members(proof: Proof, program: CheckedProgram) -> tuple[Member, ...]:
    """The facts and statements of a proof, without repetition: facts in the order of files and rows, then
    statements."""
    facts: dict[object, StatedFact] = {}
    rules: dict[int, StatedRule] = {}
    for step in proof.steps:
        if step.given is not None and isinstance(step.conclusion, ast.Atom):
            fact = _stated(step, program)
            facts[fact.predicate, fact.arguments, fact.given] = fact
        own = step.statement.given if isinstance(step.statement, Law) else (step.statement,)
        rules |= {id(each): StatedRule(each) for each in own if each is not None}
    listed = sorted(facts.values(), key=lambda fact: (fact.given.file, fact.given.row, fact.given.text))
    stated = sorted(rules.values(), key=lambda rule: (rule.statement.span.source.path, rule.statement.span.start))
    return (*listed, *stated)


def _stated(step: Step, program: CheckedProgram) -> StatedFact:
    assert isinstance(step.conclusion, ast.Atom) and step.given is not None
    arguments = tuple(argument.text for argument in step.conclusion.arguments if isinstance(argument, ast.Constant))
    numeric = program.predicates[step.conclusion.name].numeric
    return StatedFact(step.conclusion.name, arguments, step.given, numeric)


def alone(program: CheckedProgram, members: Sequence[Member], loose: Loosened | None) -> CheckedProgram:
    """The program of these facts and statements only, one of them weakened. Its other facts are kept without bounds,
    since they introduce entities."""
    completed = frozenset[str]().union(*program.strata)
    own = {(member.predicate, member.arguments) for member in members if isinstance(member, StatedFact)}
    facts: list[Fact] = [
        replace(fact, lower=0.0, upper=0.0 if program.predicates[fact.predicate].closed else 1.0)
        for fact in program.facts
        if fact.arguments
        and not program.predicates[fact.predicate].numeric
        and fact.predicate not in completed
        and (fact.predicate, fact.arguments) not in own
    ]
    stated: list[Assertion] = []
    for member in members:
        bounds = bounds_of(member)
        if loose is not None and loose.member == member:
            bounds = loose.lower, loose.upper
        if isinstance(member, StatedFact):
            facts.append(Fact(member.predicate, member.arguments, *bounds, _NOWHERE))
        else:
            stated.append(replace(member.statement, lower=bounds[0], upper=bounds[1]))
    order = {id(statement): place for place, statement in enumerate(program.assertions)}
    places = [order.get(id(m.statement), 0) for m in members if isinstance(m, StatedRule)]
    stated = [statement for _, statement in sorted(zip(places, stated, strict=True), key=lambda pair: pair[0])]
    named = {fact.predicate for fact in facts}
    for statement in stated:
        named |= {node.name for node in nodes(cast("ast.Expression", statement.formula)) if isinstance(node, ast.Atom)}
    predicates = {name: predicate for name, predicate in program.predicates.items() if name in named}
    strata = tuple(stratum & named for stratum in program.strata if stratum & named)
    labels = tuple(label for label in program.labels if label.predicate in named)
    return replace(
        program,
        predicates=predicates,
        facts=tuple(facts),
        tables=(),
        assertions=tuple(stated),
        queries=(),
        strata=strata,
        labels=labels,
        label_tables=(),
    )
