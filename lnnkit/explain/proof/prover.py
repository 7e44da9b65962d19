"""Builds proofs from a fixpoint's history: from an atom's last event to facts, by what instances read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lnnkit.arrays import Array
from lnnkit.check.date_terms import numeric_kind
from lnnkit.check.program import Assertion
from lnnkit.check.symbols import negated_ends
from lnnkit.engine.inference_run import Run
from lnnkit.explain.proof.proof import SIDES, FactSources, Premise, Proof, Step
from lnnkit.explain.proof.sufficient_premises import CompletionProof, sufficient
from lnnkit.explain.provenance.bound_sources import (
    BoundSource,
    BoundSources,
    Completed,
    EntityOrVariable,
    Event,
    Listed,
    Unlisted,
    variable_names,
)
from lnnkit.explain.provenance.instance_view import EndRead, EndReads, InstanceView, InstanceViews
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.graph.lifted import below_negations
from lnnkit.syntax.printer import format_expression
from lnnkit.trail.events import Kind


class Steps:
    """The steps ``made``, by their sources; ``waiting`` are those to make."""

    def __init__(self) -> None:
        self._numbers: dict[BoundSource, int] = {}
        self.made: list[Step | None] = []
        self.waiting: list[BoundSource] = []

    def number(self, source: BoundSource) -> int:
        if source not in self._numbers:
            self._numbers[source] = self.add(None)
            self.waiting.append(source)
        return self._numbers[source]

    def add(self, step: Step | None) -> int:
        self.made.append(step)
        return len(self.made) - 1

    def premises(self, reads: Iterable[tuple[Formula, EndRead]]) -> list[Premise]:
        """The premises for what formulas read, each once."""
        premises: dict[int, Premise] = {}
        for formula, read in reads:
            assert read.reading.source is not None
            number = self.number(read.reading.source)
            premises.setdefault(number, Premise(number, weight_of(formula, read.leaf)))
        return list(premises.values())


class Prover:
    """Proves bounds of one fixpoint; results about the history are cached for the next proof."""

    def __init__(self, run: Run, origins: FactSources, names: Sequence[str]) -> None:
        self.run = run
        self.sources = BoundSources(run, origins, names)
        self.wording = self.sources.wording
        self.views = InstanceViews(self.sources)
        self._needed: dict[object, tuple[int, ...]] = {}

    def prove(self, predicate: str, arguments: Sequence[str]) -> Proof:
        """Both bounds of an atom. Raises ``KeyError`` for a predicate that the program does not have."""
        steps = Steps()
        ends = [self.end(steps, predicate, arguments, side) for side in (0, 1)]
        return self.finished(steps, format_expression(self.wording.conclusion(predicate, arguments)), *ends)

    def end(self, steps: Steps, predicate: str, arguments: Sequence[EntityOrVariable], side: int) -> int:
        """The number of the step that gives one bound of an atom."""
        reading = self.sources.reading(predicate, arguments, side)
        if reading.source is not None:
            return steps.number(reading.source)
        return steps.add(Step(self.wording.conclusion(predicate, arguments), SIDES[side], reading.value, "open"))

    def prove_contradiction(self, shape: int, row: int, tick: int) -> Proof:
        """The proof that an instance arrested at ``tick`` is unsatisfiable."""
        view, _ = self.views.of(shape, AUXILIARY, row)
        reads, grounding = sorted(self._every_read(view, tick), key=_age), self.run.grounding
        kept = sufficient(grounding, view, reads, lambda some: view.contradictory(view.values(some)).item())
        steps, whole = Steps(), self.wording.instance(view.formula, view.bindings)
        step = Step(whole, "lower", view.formula.lower, "contradiction")
        number = steps.add(self._of_instance(steps, view, kept, step))
        return self.finished(steps, format_expression(whole), number, number)

    def _every_read(self, view: InstanceView, tick: int) -> list[EndRead]:
        return [read for leaf in view.read for side in (0, 1) for read in self.views.reads(view, leaf, side, tick)]

    def finished(self, steps: Steps, conclusion: str, lower: int, upper: int) -> Proof:
        """The proof by the steps and, transitively, all their premises."""
        while steps.waiting:
            source = steps.waiting.pop()
            steps.made[steps.number(source)] = self._step(steps, source)
        made, predicates = [step for step in steps.made if step is not None], self.run.plan.lifted.program.predicates
        for step in made:
            step.numeric = numeric_kind(step.conclusion, predicates)
        return Proof(conclusion, made, lower, upper)

    def _step(self, steps: Steps, source: BoundSource) -> Step:
        """The step of a proof for a bound, by what it comes from."""
        match source:
            case Event(kind=Kind.INITIAL):
                about = Unlisted(*self.wording.about(source.row), source.side)
                return self._initial(steps, about, source.value, source.tick)
            case Event():
                assert source.kind is Kind.SENT, source
                view, place = self.views.of(source.shape, source.leaf, source.instance)
                return self._by_instance(steps, source, view, place, self._reads(source, view))
            case Listed(row, side):
                given = self.sources.fact(row, side)
                conclusion = self.wording.conclusion(*self.wording.about(row))
                return Step(conclusion, SIDES[side], given.end(side), "fact", given=given)
            case Unlisted(table, arguments, side, unnamed):
                value = self.sources.unlisted(table, arguments, side, unnamed=unnamed).value
                if self.wording.is_predicate(table) and not unnamed:
                    return Step(self.wording.conclusion(table, arguments), SIDES[side], value, "closed")
                strata, completions = len(self.run.strata), self.sources.history.completions
                tick = completions[strata - 1].stop if 0 < strata <= len(completions) else 0  # all completed once
                return self._initial(steps, source, value, max(tick, self.run.begun))
            case Completed(table, arguments, _, value):
                relation = self.run.grounding.atoms.tables[table]
                side, reason = SIDES[relation.completed_side], "candidates" if relation.derived else "completed"
                step = Step(self.wording.conclusion(table, arguments), side, value, reason)
                limits = CompletionProof(self.views, source)
                step.premises, step.all_seen = steps.premises(limits.reads), limits.all_seen
                if any(not isinstance(argument, str) for argument in arguments):
                    columns = (column.tolist() for column in self.sources.exceptions(source))
                    texts = ([self.wording.names[entity] for entity in column] for column in columns)
                    step.excepted = frozenset(zip(*texts, strict=True))
                return step

    def _by_instance(self, steps: Steps, event: Event, view: InstanceView, place: int, reads: EndReads) -> Step:
        kept = self._necessary(event, view, place, reads)
        conclusion = self.wording.conclusion(*self.wording.about(event.row))
        step = Step(conclusion, SIDES[event.side], event.value, "neuron")
        return self._of_instance(steps, view, kept, step, view.formula.block_of(event.leaf), place)

    def by_instance(self, steps: Steps, event: Event, view: InstanceView, place: int) -> Step | None:
        """The step by which another, satisfiable instance gives the bound of an event to its row, at ``place``."""
        reads = [read for read in self._reads(event, view) if (read.leaf, read.side) != (event.leaf, event.side)]
        said = view.says(view.values(reads), event.leaf, place, event.side)
        if not self.reached(said, event.side, event.value).item():
            return None
        if not view.completes and view.contradictory(view.values(self._every_read(view, event.tick))).item():
            return None
        return self._by_instance(steps, event, view, place, reads)

    def _of_instance(
        self, steps: Steps, view: InstanceView, kept: EndReads, step: Step, block: int = 0, place: int = 0
    ) -> Step:
        """The step with the instance from which it follows, and what it read; ``place`` is its row in a ``block``."""
        formula = view.formula
        assert formula.root is not None
        step.formula = self.wording.instance(formula, view.bindings)
        if formula.auxiliary is None and isinstance(formula.root.origin, Assertion):  # the whole of its statement
            step.statement = formula.root.origin
            step.reason = "statement" if step.reason == "neuron" else step.reason
            named = variable_names(formula)
            entities = {**view.bindings, **view.entities(block, place)}
            step.bindings = {named.get(v, f"X{v}"): self.wording.names[entity] for v, entity in entities.items()}
        step.premises = steps.premises((formula, read) for read in kept)
        return step

    def _initial(self, steps: Steps, source: Unlisted, value: float, tick: int) -> Step:
        """A shared formula before the first round: bounds from its statements, or from its operands."""
        table, arguments, side = source.table, source.arguments, source.side
        conclusion, lifted = self.wording.conclusion(table, arguments), self.run.plan.lifted
        for root in lifted.statements:
            reference, negated = below_negations(lifted.graph, root.reference)
            truth = negated_ends(root.lower, root.upper) if negated else (root.lower, root.upper)
            near = reference.node == table and abs(truth[side] - value) <= self.sources.eps
            if near and isinstance(root.origin, Assertion):
                pairs = zip(reference.arguments, arguments, strict=True)
                bindings = {root.variables[v]: a for v, a in pairs if isinstance(v, int) and isinstance(a, str)}
                return Step(conclusion, SIDES[side], value, "stated", root.origin, conclusion, bindings)
        formula = next(f for f in self.run.plan.shared.formulas if f.auxiliary == table)
        domain = self.run.grounding.domain
        ids = {place: domain.index[a] if isinstance(a, str) else domain.generic for place, a in enumerate(arguments)}
        view = self.views.whole(formula, ids)
        premises = self.premises(steps, view, self.views.upward_reads(view, arguments, side, tick), side, value)
        return Step(conclusion, SIDES[side], value, "neuron", formula=conclusion, premises=premises)

    def premises(self, steps: Steps, view: InstanceView, reads: EndReads, side: int, value: float) -> list[Premise]:
        """The premises for those of the reads that an upward end needs."""

        def enough(some: EndReads) -> bool:
            return self.reached(view.upward(view.values(some))[view.formula.top][side], side, value).item()

        return steps.premises((view.formula, read) for read in sufficient(self.run.grounding, view, reads, enough))

    def reached(self, bounds: Array, side: int, value: float) -> Array:
        """Whether recomputed bounds reach a value, up to a tolerance relative to the magnitude of numbers."""
        slack = self.sources.eps * max(1.0, abs(value))
        return bounds <= value + slack if side else bounds >= value - slack

    def _reads(self, event: Event, view: InstanceView, *, every_end: bool = False) -> list[EndRead]:
        """The informative reads of an instance for an event: of ``every_end``, or of those that matter by polarity."""
        formula = view.formula
        reads: list[EndRead] = []
        every = dict(self.run.grounding.reads(event.shape, event.leaf, event.side))
        # the other rows of its quantifier; and of a shared neuron its own bounds
        both = [event.leaf] if formula.block_of(event.leaf) and formula.neurons[event.leaf].kind == LEAF else []
        for leaf in (*both, *([AUXILIARY] if formula.auxiliary is not None else ())):
            every.pop(leaf, None)
            every[leaf] = (0, 1)
        if every_end or formula.compares:  # a number that occurs twice is narrowed by its own ends
            every = dict.fromkeys(view.read, (0, 1))
        for leaf, sides in every.items():
            if leaf in formula.heads:  # which its rule reads if facts give it bounds
                given = view.tables[leaf].flags("given").take(view.rows[leaf])[0]
                if view.completes or not given:
                    continue
            for side in sides:
                reads += self.views.reads(view, leaf, side, event.tick)
        return reads

    def _necessary(self, event: Event, view: InstanceView, place: int, reads: EndReads) -> list[EndRead]:
        """A minimal sufficient subset of an instance's reads; earlier ones are preferred."""
        key: object = None
        if not view.has_rows:
            same = tuple(int(rows[0]) for leaf, rows in view.rows.items() if view.formula.neurons[leaf].kind != LEAF)
            shown = tuple((read.leaf, read.side, read.reading.value) for read in reads)
            key = (event.shape, event.leaf, event.side, event.value, shown, same)
            if key in self._needed:
                return [reads[position] for position in self._needed[key]]

        target = event.leaf, place, event.side

        def said(some: EndReads) -> bool:
            return self.reached(view.says(view.values(some), *target), event.side, event.value).item()

        kept = {id(read) for read in sufficient(self.run.grounding, view, sorted(reads, key=_age), said)}
        if len(kept) == len(reads) and not said(reads):
            # In Goedel logic an implication that is less than true fixes its consequent from both sides.
            wider = self._reads(event, view, every_end=True)
            if len(wider) > len(reads):
                return self._necessary(event, view, place, wider)
        positions = tuple(position for position, read in enumerate(reads) if id(read) in kept)
        if key is not None:
            self._needed[key] = positions
        return [reads[position] for position in positions]


def _age(read: EndRead) -> int:
    return read.reading.source.tick if isinstance(read.reading.source, Event) else -1


def weight_of(formula: Formula, leaf: int) -> float:
    """The weight of the operand that a leaf is, or that is its negation."""
    for index, neuron in enumerate(formula.neurons):
        if leaf in neuron.operands:
            if neuron.kind == "not":
                return weight_of(formula, index)
            return neuron.weights[neuron.operands.index(leaf)] if neuron.logic is not None else 1.0
    return 1.0
