"""Proofs of a query's bounds: from its atoms, or from statements of the program."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lnnkit.engine.inference_run import Run
from lnnkit.engine.planning.asked import comparing, subsuming_neurons
from lnnkit.explain.proof.proof import SIDES, Premise, Proof, Step
from lnnkit.explain.proof.prover import Prover, Steps
from lnnkit.explain.provenance.bound_sources import END, Reading
from lnnkit.explain.provenance.ground_text import names_within
from lnnkit.formula.as_syntax import as_expression
from lnnkit.formula.unfolding import unfold
from lnnkit.graph.laws import EVERY, among
from lnnkit.graph.lifted import LiftedGraph, Reference, Root
from lnnkit.graph.match import Related, below_negations
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression


def prove_formula(prover: Prover, run: Run, lifted: LiftedGraph, root: Root) -> Proof:
    """Both bounds of a formula without free variables, a query of ``lifted``."""
    formula = unfold(lifted, root, world=run.grounding.domain)
    view = prover.views.whole(formula, {})
    whole = unfold(lifted, root, through_shared=True)
    names = names_within(whole)
    conclusion = as_expression(whole, {}, names, logic=lifted.program.logic)
    positive, negated = below_negations(lifted.graph, root.reference)
    atomic = lifted.graph.nodes[positive.node]["kind"] == "predicate"
    heard = [positive] if atomic else subsuming_neurons(lifted, run.grounding.domain, positive)
    related = comparing(lifted, run.grounding.domain, positive)
    told = _ProgramBounds(prover, run.plan.observers, _below_negations(conclusion), heard, related)
    steps = Steps()
    ends: list[int] = []
    for side in (0, 1):
        reads = prover.upward_reads(view, (), side, END)
        value = float(view.upward(view.values([reads]))[formula.top][side][0])
        own, own_value = (1 - side, 1 - value) if negated else (side, value)
        stronger = told.more(steps, own, own_value)
        if stronger is None:
            premises = prover.premises(steps, formula, prover.upward_needed(view, reads, side, value))
            if isinstance(conclusion, ast.Atom) and len(premises) == 1:  # a unit that passes a number through
                ends.append(premises[0].step)
                continue
        elif negated:
            value, premises = 1 - stronger[1], [Premise(stronger[0], 1.0)]
        else:
            ends.append(stronger[0])
            continue
        ends.append(steps.add(Step(conclusion, SIDES[side], value, "neuron", formula=conclusion, premises=premises)))
    prover.expand(steps)
    return Proof(format_expression(as_expression(whole, {}, names)), steps.done(), *ends)


def _below_negations(formula: ast.Expression) -> ast.Expression:
    while isinstance(formula, ast.Not):
        formula = formula.operand
    return formula


@dataclass(frozen=True, slots=True)
class _ProgramBounds:
    """The program's bounds on a formula: of the neurons of which it is an instance, and, for a comparison, of others of
    the same terms."""

    prover: Prover
    observers: Mapping[str, str]
    conclusion: ast.Expression
    heard: Sequence[Reference]
    related: Related

    def more(self, steps: Steps, side: int, value: float) -> tuple[int, float] | None:
        """The step with a tighter bound than ``value`` on a side, and that bound; None if there is none."""
        tightest = min if side else max
        readings = [self._reading(each, side, crossed=True) for each in self.heard]
        said = [reading for reading in readings if reading.source is not None]
        best = tightest(said, key=lambda reading: reading.value, default=None)
        bound = value if best is None else tightest(value, best.value)
        implied = self._implied(steps, side) if bound != 1 - side else None
        if implied is not None:
            return steps.add(implied), 1.0 - side
        if best is None or best.source is None or bound == value:
            return None
        return steps.number(best.source), bound

    def _implied(self, steps: Steps, side: int) -> Step | None:
        """The bound implied by one or two other comparisons: those that exclude all signs of the difference but the
        ones that make the comparison true (or false). A comparison that is not false is true, and vice versa."""
        said = [
            (EVERY - each.signs if end == 0 else each.signs, each.reference, end, reading)
            for each in self.related.comparisons
            for end in (0, 1)
            if (reading := self._reading(each.reference, end, crossed=False)).source is not None
        ]
        excluded = self.related.signs if side else EVERY - self.related.signs
        degrees = {reference for _, reference, _, _ in said if sum(each[1] == reference for each in said) > 1}
        plain = [each for each in said if each[1] not in degrees]
        for some in (*itertools.combinations(said, 1), *itertools.combinations(plain, 2)):
            if not excluded <= frozenset[int]().union(*(signs for signs, *_ in some)):
                continue
            literals, premises = [(self.conclusion, side == 0)], list[Premise]()
            for _, reference, end, reading in some:
                assert reading.source is not None
                literals.append((self.prover.wording.conclusion(reference.node, _texts(reference)), end == 1))
                premises.append(Premise(steps.number(reading.source), 1.0))
            law = among(literals[1:] + literals[:1])
            formula, truth = cast("ast.Expression", law.formula), (1.0, 1.0)
            return Step(self.conclusion, SIDES[side], 1.0 - side, "statement", law, formula, truth, {}, premises)
        return None

    def _reading(self, reference: Reference, side: int, *, crossed: bool) -> Reading:
        table = self.observers.get(reference.node, reference.node)
        return self.prover.reading(table, _texts(reference), side, crossed=crossed)


def _texts(reference: Reference) -> tuple[str, ...]:
    return tuple(str(argument) for argument in reference.arguments)
