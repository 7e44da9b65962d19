"""Explanations of one fixpoint. Results about its history are cached for later questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from lnnkit.answers.contested_marks import marked
from lnnkit.answers.query_rows import answer
from lnnkit.arrays import any_set
from lnnkit.check.program import CheckedProgram, Query
from lnnkit.data.names import Names
from lnnkit.engine.inference import Budget
from lnnkit.engine.inference_run import Run
from lnnkit.explain.checker.proof_world import ProofWorld
from lnnkit.explain.conflict.conflict import Conflict, Fits, Inconsistent, conflicts
from lnnkit.explain.missing.missing_premises import MissingPremises
from lnnkit.explain.missing.verified_ways import Added
from lnnkit.explain.missing.why_not import Missing, Way, WhyNot
from lnnkit.explain.proof.explanation import Explanation
from lnnkit.explain.proof.proof import Proof
from lnnkit.explain.proof.prover import Prover
from lnnkit.explain.proof.query_proof import prove_formula
from lnnkit.explain.provenance.fact_sources import FactSources, ground_key
from lnnkit.graph.describe import starts
from lnnkit.graph.lifted import TERMS, LiftedGraph, Root
from lnnkit.graph.lifting import add_queries
from lnnkit.syntax import ast
from lnnkit.trail.events import Trail

_UNLIMITED = Budget(instances=2**62)  # a proof reads all instances anyway


class Explainer:
    """Explains the bounds of a ``fixpoint`` with a ``history``; ``names`` has the text of each entity id."""

    def __init__(self, fixpoint: Run, history: Trail, names: Names, program: CheckedProgram) -> None:
        self._fixpoint = fixpoint
        self._history = history
        self._names = names
        self._program = program

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
        numeric = kind in TERMS
        if kind in ("predicate", "number"):
            arguments = [str(argument) for argument in reference.arguments]
            proof = self._prover.prove(reference.node, arguments)
        else:
            proof = prove_formula(self._prover, self._fixpoint, lifted, root)
        marks = marked(self._fixpoint) is not None  # it rests on a contradiction, or is about an atom of one
        contested = marks and any_set(answer(self._fixpoint, lifted, root, budget=_UNLIMITED).contested)
        return Explanation(proof, alpha, contested, numeric, _world=lambda: self.world)

    def bounds(self, conclusion: ast.Expression) -> tuple[float, float] | None:
        """The bounds of an atom; None for any other formula, and for an atom with variables or new entities."""
        key, known = ground_key(conclusion), self._fixpoint.grounding.domain.index
        return None if key is None or not all(text in known for text in key[1]) else self._bounds(*key)

    def _bounds(self, predicate: str, arguments: Sequence[str]) -> tuple[float, float]:
        lower, upper = (self._prover.reading(predicate, arguments, side).value for side in (0, 1))
        return lower, upper

    def why_not(self, predicate: str, arguments: Sequence[str], side: int, goal: float, added: Added) -> WhyNot:
        """What could move one side of an atom's bounds to ``goal``; ``added`` infers with additional facts."""
        found = self._lacking.why_not(predicate, arguments, side, self._bounds(predicate, arguments), goal, added)
        return replace(found, ways=[self._because(way) for way in found.ways])

    def _because(self, way: Way) -> Way:
        """The way, with the facts that rule premises out by rules."""
        missing: list[Missing] = []
        for each in way.missing:
            key = ground_key(each.formula)
            if each.through is not None:
                each = replace(each, through=self._because(each.through))
            elif key is not None and each.against is not None and not each.unlisted and not way.free:
                proof = self.prove(*key)
                each = replace(each, because=proof.facts(proof.lower if each.side == "upper" else proof.upper))
            missing.append(each)
        return replace(way, missing=missing)

    def conflicts(self, inconsistent: Inconsistent, most: int, fits: Fits) -> list[Conflict]:
        """The conflicts behind the contradictions that fit, at most ``most``."""
        return conflicts(self._fixpoint, self._history.arrests, self._prover, self.world, inconsistent, most, fits)

    def prove(self, predicate: str, arguments: Sequence[str]) -> Proof:
        """The proof of an atom's bounds."""
        return self._prover.prove(predicate, arguments)

    @cached_property
    def world(self) -> ProofWorld:
        """The context in which proofs are checked."""
        sorts = self._fixpoint.grounding.domain.sorts
        named = {sort: [self._names[entity] for entity in ids.tolist()] for sort, ids in sorts.items()}
        values = starts(self._fixpoint.plan.lifted.program.assertions)
        return ProofWorld(self._program, named, self._origins, values, self._fixpoint.state.dtype)

    @cached_property
    def _origins(self) -> FactSources:
        return FactSources(self._program)

    @cached_property
    def _lacking(self) -> MissingPremises:
        return MissingPremises(self._fixpoint, self._prover.views, self._prover.wording)

    @cached_property
    def _prover(self) -> Prover:
        return Prover(self._fixpoint, self._history, self._origins, self._names)
