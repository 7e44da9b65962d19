"""Builds proofs from a fixpoint's history: from an atom's last event back to facts, by what each instance read at its
tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lnnkit.analysis.families import Polarity
from lnnkit.arrays import Array
from lnnkit.check.program import Assertion
from lnnkit.check.symbols import negated_ends
from lnnkit.engine.inference_run import Run
from lnnkit.explain.proof.completion_proof import CompletionProofs, Enough, for_every_entity
from lnnkit.explain.proof.proof import SIDES, Premise, Proof, Step
from lnnkit.explain.proof.quickxplain import minimal, minimal_at_once
from lnnkit.explain.provenance.bound_sources import (
    BoundHistory,
    BoundSource,
    BoundSources,
    Completed,
    Event,
    Listed,
    Reading,
    Sent,
    Unlisted,
)
from lnnkit.explain.provenance.fact_sources import FactSources
from lnnkit.explain.provenance.ground_text import Argument, GroundText, names_within
from lnnkit.explain.provenance.instance_view import EndRead, InstanceView, InstanceViews
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.graph.lifted import Reference, Root
from lnnkit.graph.match import below_negations
from lnnkit.logic.bounds import tolerance
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression
from lnnkit.trail.events import Kind, Trail


class Steps:
    """Steps by their sources; ``waiting`` are those without premises yet."""

    def __init__(self) -> None:
        self._numbers: dict[BoundSource, int] = {}
        self._made: list[Step | None] = []
        self.waiting: list[tuple[int, BoundSource]] = []

    def number(self, source: BoundSource) -> int:
        if source not in self._numbers:
            self._numbers[source] = self.add()
            self.waiting.append((self._numbers[source], source))
        return self._numbers[source]

    def add(self, step: Step | None = None) -> int:
        self._made.append(step)
        return len(self._made) - 1

    def set(self, number: int, step: Step) -> None:
        self._made[number] = step

    def done(self) -> list[Step]:
        return [step for step in self._made if step is not None]


class Prover:
    """Proves bounds of one fixpoint; results about the history are cached for the next proof."""

    def __init__(self, fixpoint: Run, trail: Trail, origins: FactSources, names: Sequence[str]) -> None:
        self._fixpoint = fixpoint
        self._run = fixpoint
        self._grounding = fixpoint.grounding
        self._eps = tolerance(fixpoint.state.dtype)
        self.wording = GroundText(fixpoint, names)
        history = BoundHistory(trail, self.wording.numbers)
        self.readings = BoundSources(fixpoint, history, origins, self.wording)
        self._timeline = history
        self.views = InstanceViews(self._grounding, self.readings, self.wording)
        self._completions = CompletionProofs(fixpoint, history, self.readings, self.wording, self.views)
        self._strata = len(fixpoint.strata)
        self._needed: dict[object, tuple[int, ...]] = {}

    def prove(self, predicate: str, arguments: Sequence[str]) -> Proof:
        """Both bounds of an atom. Raises ``KeyError`` for a predicate or an entity that the program does not have."""
        steps = Steps()
        conclusion, ends = self.wording.conclusion(predicate, arguments), list[int]()
        for side in (0, 1):
            reading = self.reading(predicate, arguments, side)
            if reading.source is None:
                ends.append(steps.add(Step(conclusion, SIDES[side], reading.value, "open")))
            else:
                ends.append(steps.number(reading.source))
        self.expand(steps)
        return Proof(format_expression(conclusion), steps.done(), *ends)

    def reading(self, table: str, arguments: Sequence[str], side: int, *, crossed: bool = True) -> Reading:
        """One bound of an atom or of a shared formula; where its bounds have ``crossed``, the one that did."""
        relation, index = self._grounding.atoms.tables[table], self._grounding.domain.index
        local = relation.tuples.find([np.array([index[text]], np.int32) for text in arguments], 1)
        if local[0] < 0:
            return self.readings.unlisted(table, arguments, side)
        row = int(self.wording.numbers.of(relation, local)[0])
        arrested = crossed and bool((self.wording.numbers.crossed == row).any())
        return self.readings.crossed(row, side) if arrested else self.readings.of(row, side)

    def prove_contradiction(self, shape: int, row: int, tick: int) -> Proof:
        """The proof that an instance arrested at ``tick`` is unsatisfiable."""
        view, _ = self.views.of(shape, AUXILIARY, row)
        formula = view.formula
        leaves = (*formula.leaves, *((AUXILIARY,) if formula.auxiliary is not None else ()))
        reads = [read for leaf in leaves for side in (0, 1) for read in self.views.reads(view, leaf, side, tick)]
        steps = Steps()
        kept = self._minimal(sorted(reads, key=_age), lambda ways: view.contradictory(view.values(ways)).tolist())
        stated, instance = _statement(formula), self.wording.instance(formula, view.bindings)
        premises, truth = self.premises(steps, formula, kept), (formula.lower, formula.upper)
        bindings = self._bindings(view, 0, 0) if stated else {}
        number = steps.add(
            Step(instance, "lower", truth[0], "contradiction", stated, instance, truth, bindings, premises)
        )
        self.expand(steps)
        return Proof(format_expression(instance), steps.done(), number, number)

    # --- steps ------------------------------------------------------------------------------------------------------

    def expand(self, steps: Steps) -> None:
        """Construct all premises, transitively."""
        while steps.waiting:
            self._expand(steps, *steps.waiting.pop())

    def _expand(self, steps: Steps, number: int, source: BoundSource) -> None:
        match source:
            case Sent(event):
                steps.set(number, self._sent(steps, event))
            case Listed(row, side):
                given = self.readings.fact(row, side)
                steps.set(number, Step(self._of_row(row), SIDES[side], given.end(side), "fact", given=given))
            case Unlisted():
                steps.set(number, self._unlisted(steps, source))
            case Completed():
                steps.set(number, self._completed(steps, source))

    def _unlisted(self, steps: Steps, source: Unlisted) -> Step:
        table, arguments, side = source.table, source.arguments, source.side
        value = self.readings.unlisted(table, arguments, side, unnamed=source.unnamed).value
        if self.wording.is_predicate(table) and not source.unnamed:
            return Step(self.wording.conclusion(table, arguments), SIDES[side], value, "closed")
        return self._initial(steps, table, arguments, side, value, self._timeline.first_complete(self._strata))

    def _completed(self, steps: Steps, source: Completed) -> Step:
        held = self._completions.held(source)
        step = Step(self.wording.conclusion(source.table, source.arguments), "upper", source.value, "completed")
        step.premises, step.all_seen = _premises(steps, held.reads), held.all_seen
        if any(not isinstance(argument, str) for argument in source.arguments):
            step.excepted = self._completions.excepted(source.table, source.completion)
        return step

    def _sent(self, steps: Steps, event: Event) -> Step:
        conclusion, side = self._of_row(event.row), SIDES[event.side]
        if event.kind is Kind.INITIAL:
            return self._initial(steps, *self.readings.about(event.row), event.side, event.value, event.tick)
        assert event.kind is Kind.SENT, event
        view, place = self.views.of(event.shape, event.leaf, event.instance)
        kept = self._necessary(event, view, place, self._reads(event, view))
        formula, stated = view.formula, _statement(view.formula)
        reason = "neuron" if stated is None else "statement"
        instance, truth = self.wording.instance(formula, view.bindings), (formula.lower, formula.upper)
        bindings = {} if stated is None else self._bindings(view, formula.block_of(event.leaf), place)
        premises = self.premises(steps, formula, kept)
        return Step(conclusion, side, event.value, reason, stated, instance, truth, bindings, premises)

    def premises(self, steps: Steps, formula: Formula, reads: Sequence[EndRead]) -> list[Premise]:
        return _premises(steps, [(formula, read) for read in reads])

    def _initial(
        self, steps: Steps, table: str, arguments: Sequence[Argument], side: int, value: float, tick: int
    ) -> Step:
        """A shared formula before the first round: bounds from its statements, or from its operands."""
        conclusion = self.wording.conclusion(table, arguments)
        for root in self._run.plan.lifted.statements:
            reference, negated = below_negations(self._run.plan.lifted.graph, root.reference)
            truth = negated_ends(root.lower, root.upper) if negated else (root.lower, root.upper)
            if reference.node == table and abs(truth[side] - value) <= self._eps and isinstance(root.origin, Assertion):
                bindings = _stated_bindings(root, reference, arguments)
                return Step(conclusion, SIDES[side], value, "stated", root.origin, conclusion, truth, bindings)
        formula = next(f for f in self._run.plan.shared.formulas if f.auxiliary == table)
        domain = self._grounding.domain
        ids = {place: domain.index[a] if isinstance(a, str) else domain.generic for place, a in enumerate(arguments)}
        view = self.views.whole(formula, ids)
        reads = self.upward_reads(view, arguments, side, tick)
        premises = self.premises(steps, formula, self.upward_needed(view, reads, side, value))
        return Step(conclusion, SIDES[side], value, "neuron", formula=conclusion, premises=premises)

    def upward_reads(self, view: InstanceView, outer: Sequence[Argument], side: int, tick: int) -> list[EndRead]:
        """The reads of leaves on which one upward end of a formula's bounds may rest."""
        signs = Polarity(view.formula).signs
        ends = {1: (side,), -1: (1 - side,), 0: (0, 1)}
        return [
            read
            for leaf in view.formula.leaves
            for end in (ends[signs[leaf]] if leaf in signs else ())
            for read in self.views.reads(view, leaf, end, tick, dict(enumerate(outer)))
        ]

    def upward_needed(self, view: InstanceView, reads: Sequence[EndRead], side: int, value: float) -> Sequence[EndRead]:
        return self._minimal(
            reads, lambda ways: self._reached(view.upward(view.values(ways))[view.formula.top][side], side, value)
        )

    def _minimal(self, reads: Sequence[EndRead], enough: Enough) -> Sequence[EndRead]:
        """A minimal sufficient subset of the reads; all of them if not even these suffice."""
        if not enough([reads])[0]:
            return reads
        every = for_every_entity(self._grounding, reads, enough)
        return minimal(reads, lambda some: every([some])[0])

    def _reached(self, bounds: Array, side: int, value: float) -> list[bool]:
        """Whether recomputed bounds reach a value, up to a tolerance relative to the magnitude of numbers."""
        slack = self._eps * max(1.0, abs(value))
        return (bounds <= value + slack if side else bounds >= value - slack).tolist()

    # --- what an instance read --------------------------------------------------------------------------------------

    def _reads(self, event: Event, view: InstanceView, *, every_end: bool = False) -> list[EndRead]:
        """All informative reads of an instance for an event; without ``every_end``, only the ends that can matter given
        the polarity of the leaves."""
        formula = view.formula
        reads: list[EndRead] = []
        every, leaves = dict(self._grounding.reads(event.shape, event.leaf, event.side)), (*formula.leaves, AUXILIARY)
        # the other rows of its quantifier; and of a shared neuron its own bounds
        both = [event.leaf] if formula.block_of(event.leaf) and formula.neurons[event.leaf].kind == LEAF else []
        for leaf in (*both, *([AUXILIARY] if formula.auxiliary is not None else ())):
            every.pop(leaf, None)
            every[leaf] = (0, 1)
        if every_end or formula.compares:  # a number that occurs twice is narrowed by its own ends
            every = {leaf: (0, 1) for leaf in leaves if leaf in view.rows}
        for leaf, sides in every.items():
            if leaf in formula.heads:  # which its rule reads if facts give it bounds
                given = view.instances.tables[leaf].flags("given").take(view.rows[leaf])[0]
                if view.completes or not given:
                    continue
            for side in sides:
                reads += self.views.reads(view, leaf, side, event.tick)
        return reads

    def _necessary(self, event: Event, view: InstanceView, place: int, reads: Sequence[EndRead]) -> list[EndRead]:
        """A minimal sufficient subset of an instance's reads; earlier ones are preferred."""
        key: object = None
        if not view.has_rows:
            same = tuple(int(rows[0]) for leaf, rows in view.rows.items() if view.formula.neurons[leaf].kind != LEAF)
            shown = tuple((read.leaf, read.side, read.reading.value) for read in reads)
            key = (event.shape, event.leaf, event.side, event.value, shown, same)
            if key in self._needed:
                return [reads[position] for position in self._needed[key]]

        target = event.leaf, place, event.side

        def said(ways: Sequence[Sequence[EndRead]]) -> list[bool]:
            return self._reached(view.says(view.values(ways), *target), event.side, event.value)

        every = for_every_entity(self._grounding, reads, said) if view.has_rows else said
        kept = {id(read) for read in minimal_at_once(sorted(reads, key=_age), every)}
        if len(kept) == len(reads) and not said([reads])[0]:
            # In Goedel logic an implication that is less than true fixes its consequent from both sides.
            wider = self._reads(event, view, every_end=True)
            if len(wider) > len(reads):
                return self._necessary(event, view, place, wider)
        positions = tuple(position for position, read in enumerate(reads) if id(read) in kept)
        if key is not None:
            self._needed[key] = positions
        return [reads[position] for position in positions]

    # --- words ------------------------------------------------------------------------------------------------------

    def _of_row(self, row: int) -> ast.Expression:
        return self.wording.conclusion(*self.readings.about(row))

    def _bindings(self, view: InstanceView, block: int, place: int) -> dict[str, str]:
        """The entities of the statement's variables, and those of quantified variables around a row of a block."""
        formula, names = view.formula, self.wording.names
        assert formula.root is not None
        named = {**dict(enumerate(formula.root.variables)), **(names_within(formula) if block else {})}
        entities = {**view.bindings, **view.entities(block, place)}
        return {named.get(variable, f"X{variable}"): names[entity] for variable, entity in entities.items()}


def _statement(formula: Formula) -> Assertion | None:
    """The statement of which a formula is the whole."""
    origin = None if formula.root is None or formula.auxiliary is not None else formula.root.origin
    return origin if isinstance(origin, Assertion) else None


def _premises(steps: Steps, reads: Sequence[tuple[Formula, EndRead]]) -> list[Premise]:
    """The premises for what formulas read, each once."""
    premises: dict[int, Premise] = {}
    for formula, read in reads:
        assert read.reading.source is not None
        number = steps.number(read.reading.source)
        premises.setdefault(number, Premise(number, weight_of(formula, read.leaf)))
    return list(premises.values())


def _age(read: EndRead) -> int:
    return read.reading.source.event.tick if isinstance(read.reading.source, Sent) else -1


def weight_of(formula: Formula, leaf: int) -> float:
    """The weight of the operand that a leaf is, or that is its negation."""
    place = leaf
    for index, neuron in enumerate(formula.neurons):
        if place in neuron.operands:
            if neuron.kind == "not":
                place = index
                continue
            return neuron.weights[neuron.operands.index(place)] if neuron.logic is not None else 1.0
    return 1.0


def _stated_bindings(root: Root, reference: Reference, arguments: Sequence[Argument]) -> Mapping[str, str]:
    """The entities of a statement's variables, from those of the formula that it states."""
    bindings: dict[str, str] = {}
    for argument, variable in zip(arguments, reference.arguments, strict=True):
        if isinstance(variable, int) and isinstance(argument, str):
            bindings[root.variables[variable]] = argument
    return bindings
