"""Contradictions, each with the facts and the statements that cause it, and its possible repairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from lnnkit.answers.contradictions import first_of_each
from lnnkit.arrays import Array
from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.engine.inference_run import Run
from lnnkit.explain.checker.proof_world import ProofWorld
from lnnkit.explain.conflict.repairs import (
    ConflictMember,
    Inconsistent,
    Repair,
    StatedFact,
    StatedRule,
    known_range,
    repair,
    with_others,
)
from lnnkit.explain.proof.explanation import Explanation
from lnnkit.explain.proof.proof import Proof
from lnnkit.explain.proof.prover import Prover
from lnnkit.explain.proof.quickxplain import minimal
from lnnkit.explain.provenance.fact_sources import ground_key
from lnnkit.formula.unfolding import unfold
from lnnkit.graph.laws import Law
from lnnkit.markup.fragments import Listing, Table, tables
from lnnkit.outcome import Contradiction

Fits = Callable[[Contradiction], bool]


@dataclass(frozen=True)
class Conflict:
    """A contradiction. ``members`` are the facts and statements on which the derivations of both sides rest;
    closed-world defaults appear in the explanation only. ``minimal`` drops members that are not needed; ``repairs``
    ranks how members could be weakened, numbers by the share of their known range."""

    contradiction: Contradiction
    explanation: Explanation
    members: tuple[ConflictMember, ...]
    _inconsistent: Inconsistent = field(repr=False)
    _world: ProofWorld = field(repr=False)
    is_minimal: bool = False

    @property
    def facts(self) -> tuple[StatedFact, ...]:
        return tuple(member for member in self.members if isinstance(member, StatedFact))

    @property
    def rules(self) -> tuple[Assertion, ...]:
        return tuple(member.statement for member in self.members if isinstance(member, StatedRule))

    def minimal(self) -> Conflict:
        """The conflict with a minimal set of members: each is dropped in turn and the rest inferred again."""
        if self.is_minimal or not self._inconsistent(self.members, None):
            return self
        kept = minimal(self.members, lambda some: self._inconsistent(some, None))
        return replace(self, members=tuple(kept), is_minimal=True)

    def repairs(self) -> Listing[Repair]:
        """For each member of the minimal conflict the least weakening that resolves it, cheapest first."""
        least, ranges = self.minimal(), partial(known_range, self._world.program)
        members = least.members if least.is_minimal else ()
        repairs = (repair(members, member, self._inconsistent, ranges) for member in members)
        complete = (with_others(weakened, self._world.origins.of) for weakened in repairs)
        ranked = sorted(complete, key=lambda weakened: weakened.cost)
        return Listing(ranked, ["repair", "cost", "trust", "fact or rule", "at"], Repair.cells)

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --format json`` prints for a contradiction."""
        return {
            "contradiction": self.contradiction.as_dict(),
            "minimal": self.is_minimal,
            "facts": [{"fact": f.given.text, "file": f.given.file, "row": f.given.row} for f in self.facts],
            "rules": [
                {"rule": r.name, "text": r.text, "file": r.span.source.path, "line": r.span.line} for r in self.rules
            ],
        }

    def lines(self) -> Iterator[str]:
        yield str(self.contradiction)
        yield from (f"  {member}" for member in self.members)

    def cells(self) -> list[str]:
        """The columns of a table: the contradiction and its members."""
        return [str(self.contradiction), "\n".join(map(str, self.members))]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        members = [member.parts for member in self.members]
        return tables(Table(str(self.contradiction), ["fact or rule", "at"], members, len(members)))


def conflicts(
    fixpoint: Run,
    ticks: Sequence[int],
    prover: Prover,
    world: ProofWorld,
    inconsistent: Inconsistent,
    most: int,
    fits: Fits,
) -> list[Conflict]:
    """At most ``most`` conflicts whose contradictions fit: those of arrested atoms and shared formulas first, then
    those of instances. ``ticks`` has the tick at which each instance was arrested."""
    pairs = islice((pair for pair in _proofs(fixpoint, ticks, prover) if fits(pair[0])), most)
    explained = ((contradiction, proof, Explanation(proof, _world=lambda: world)) for contradiction, proof in pairs)
    return [
        Conflict(contradiction, explanation, _members(proof, world.program), inconsistent, world)
        for contradiction, proof, explanation in explained
    ]


def _proofs(fixpoint: Run, ticks: Sequence[int], prover: Prover) -> Iterator[tuple[Contradiction, Proof]]:
    wording = prover.wording
    observed = set(fixpoint.plan.observers.values())
    for row in wording.numbers.crossed.tolist():
        table, entities = wording.table(row), wording.entities(row)
        if table in observed:
            continue
        proof = prover.prove(table, [wording.names[entity] for entity in entities])
        kind = "atom" if wording.is_predicate(table) else "neuron"
        lower, upper = proof.steps[proof.lower].bound, proof.steps[proof.upper].bound
        yield Contradiction(kind, proof.atom, None, None, lower, upper), proof
    for arrested, tick in zip(fixpoint.progress.arrested, ticks, strict=True):
        roots = zip(arrested.roots.lower.tolist(), arrested.roots.upper.tolist(), strict=True)
        repeated = set(_repeated(fixpoint, arrested.shape, arrested.rows))
        for place, (row, (lower, upper)) in enumerate(zip(arrested.rows.tolist(), roots, strict=True)):
            if place in repeated:
                continue
            proof = prover.prove_contradiction(arrested.shape, row, tick)
            statement = proof.steps[proof.lower].statement
            if statement is None or statement.kind == "law":
                yield Contradiction("neuron", proof.atom, None, None, lower, upper), proof
            else:
                span, name = statement.span, statement.name
                parts = statement.kind, proof.atom, name, span.line, lower, upper, span.source.path
                yield Contradiction(*parts), proof


def _repeated(run: Run, shape: int, rows: Array) -> Iterator[int]:
    """The places of the instances that say the same as an earlier one."""
    for formula, places, ids in run.grounding.assignments(shape, rows):
        assert formula.root is not None
        first = first_of_each(unfold(run.plan.lifted, formula.root, through_shared=True), ids)
        if first is not None:
            yield from set(places.tolist()) - set(places.take(first).tolist())


def _members(proof: Proof, program: CheckedProgram) -> tuple[ConflictMember, ...]:
    """The facts and statements of a proof, without repetition: facts in the order of files and rows, then
    statements."""
    facts: dict[object, StatedFact] = {}
    rules: dict[int, StatedRule] = {}
    for step in proof.steps:
        if step.given is not None and (key := ground_key(step.conclusion)) is not None:
            facts[*key, step.given] = StatedFact(*key, step.given, program.predicates[key[0]].numeric)
        statements = step.statement.given if isinstance(step.statement, Law) else (step.statement,)
        rules |= {id(statement): StatedRule(statement) for statement in statements if statement is not None}
    listed = sorted(facts.values(), key=lambda fact: (fact.given.file, fact.given.row, fact.given.text))
    stated = sorted(rules.values(), key=lambda rule: (rule.statement.span.source.path, rule.statement.span.start))
    return (*listed, *stated)
