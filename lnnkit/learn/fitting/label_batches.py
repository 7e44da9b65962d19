"""Batches of labels, with the replay of each: of what set their bounds, or of all soft supports.

Soft supports are all instances that support a labelled atom, not only the winner; used in training alone. The lower end
of a labelled atom becomes the noisy-or ``1 - prod (1 - v)`` over the bounds ``v`` of its supports, so that each of them
learns. Supports are rules without quantifiers whose consequent is one atom and whose antecedent is an atom or a
conjunction of informative literals; an atom without any keeps its inferred bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from lnnkit.analysis.needs import Literal, Need, Needs
from lnnkit.arrays import any_set
from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.join.instances.assembled import Assembler
from lnnkit.join.instances.grounding import Grounding, leaf_modes
from lnnkit.learn.fitting.objective import Targets, class_weights, crossing
from lnnkit.learn.labels import LabelledBounds, Labels, last_events
from lnnkit.learn.replay.neural_predicates import Binding, BoundReplay, bound_atoms, bound_replay
from lnnkit.learn.replay.recorded_inference import RecordedInference
from lnnkit.store.relations import Relation


@dataclass(frozen=True, slots=True)
class LabelBatch:
    """Some labels as targets, and a replay of bounds: those of the labels' atoms, then the lower and the upper ends of
    ``crossed`` atoms, then the amounts by which arrested instances cross."""

    targets: Targets
    replay: BoundReplay
    crossed: int
    soft: SoftEnds | None = None

    def bounds(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """The bounds (2n,) of the labels' atoms, or (n,) their ``points``, and how far bounds cross; differentiable."""
        bounds, count = self.replay.bounds(values), len(self.targets.ends)
        ends = bounds if len(bounds) == count else bounds[:count]
        if self.soft is not None:
            ends = self.soft.soften(ends, self.soft.replay.bounds(values))
        if len(bounds) == count:
            return ends, torch.zeros((), dtype=bounds.dtype)
        low, high, apart = bounds[count:].split([self.crossed, self.crossed, len(bounds) - count - 2 * self.crossed])
        return ends, crossing(low, high) + apart.clamp(min=0.0).sum()


def targets(labels: Labels, which: Tensor, *, balanced: bool) -> Targets:
    """The targets of some labels; if ``balanced``, each class of each predicate has the same weight."""
    lower, upper = labels.lower[which].double(), labels.upper[which].double()
    weight = class_weights(labels.true[which], labels.predicate[which], balanced=balanced)
    spread = labels.spread[which] if any_set(labels.numeric) else None
    twice = None if spread is None else torch.cat([spread, spread])
    return Targets(torch.cat([lower, upper]), torch.cat([weight, weight]) / 2, twice)


def batches(
    inference: RecordedInference,
    bounds: LabelledBounds,
    labels: Labels,
    parts: Sequence[Tensor],
    bindings: Sequence[Binding],
    *,
    balanced: bool,
    soft: bool,
) -> list[LabelBatch]:
    """A batch for each of the ``parts`` of the labels, each with all contradictions. ``soft``: of all supports."""
    rows = bounds.keys[0] // 2
    supported = supports(inference, rows[torch.cat(list(parts))]) if soft and parts else None
    crossed = torch.from_numpy(inference.numbers.crossed)
    (low, high), (lowered, raised) = last_events(inference, crossed)
    arrested = inference.events.crossings
    owned = [(binding, bound_atoms(binding, inference)) for binding in bindings]
    made = []
    for which in parts:
        events = [*(event[which] for event in bounds.events), lowered, raised, arrested]
        keys = [*(key[which] for key in bounds.keys), low, high, torch.full_like(arrested, -1)]
        replay = inference.replay(torch.cat(events), torch.cat(keys))
        wanted, ends = targets(labels, which, balanced=balanced), None
        if supported is not None:
            several, owner = supported.of(rows[which])
            places, renumbered = torch.unique(owner, return_inverse=True)
            replayed = inference.replay(several, torch.full_like(several, -1))
            ends = SoftEnds(bound_replay(replayed, owned), places, renumbered)
        elif torch.equal(replay.places[: len(wanted)], replay.places[len(wanted) :]):
            points = wanted.as_points()
            if points is not None:  # an epoch of 100,000 labels takes 2.2 ms instead of 2.6
                replay, wanted = replace(replay, places=replay.places[: len(wanted)]), points
        made.append(LabelBatch(wanted, bound_replay(replay, owned), len(crossed), ends))
    return made


def crossings(inference: RecordedInference) -> Tensor:
    """The sum of ``max(0, L - U)`` over all crossed bounds of a fixpoint."""
    total = torch.zeros((), dtype=torch.float64)
    for table in inference.fixpoint.state.crossed:
        ends = (table.crossed.lower, table.crossed.upper)
        total = total + crossing(*(torch.from_numpy(end.values).double() for end in ends))
    for arrested in inference.fixpoint.progress.arrested:
        total = total + crossing(*(torch.from_numpy(end).double() for end in arrested.roots))
    return total


_LEAST = 1e-9  # keeps log(1 - v) finite


@dataclass(frozen=True, slots=True)
class Supports:
    """The supports of atoms: ``events`` (m,) that bound the lower ends of ``rows`` (m,), sorted by row."""

    events: Tensor
    rows: Tensor

    def of(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The events of some distinct atom rows, and the place among these of the row that each event supports."""
        mine, order = torch.isin(self.rows, rows), rows.argsort()
        return self.events[mine], order[torch.searchsorted(rows[order], self.rows[mine])]


@dataclass(frozen=True, slots=True)
class SoftEnds:
    """Lower ends at ``places`` of the labels' bounds: noisy-ors of the replayed values that ``owner`` assigns to
    each."""

    replay: BoundReplay
    places: Tensor
    owner: Tensor

    def soften(self, ends: Tensor, values: Tensor) -> Tensor:
        """``ends`` with those places replaced by the noisy-or of their supports; ``values`` are those of the replay."""
        # Keeps a gradient for a support that is fully true
        within = values + (values.clamp(0.0, 1 - _LEAST) - values).detach()
        logs = torch.log1p(-within)
        missed = torch.zeros(len(self.places), dtype=ends.dtype).index_add(0, self.owner, logs)
        return ends.index_copy(0, self.places, 1 - missed.exp())


def supports(inference: RecordedInference, rows: Tensor) -> Supports:
    """The supports of the atoms ``rows``, which become listed."""
    run = inference.fixpoint
    grounding, atoms = run.grounding, run.grounding.atoms
    events, heads = [torch.zeros(0, dtype=torch.int64)], [torch.zeros(0, dtype=torch.int64)]
    numbers = inference.numbers
    for table, _, some in numbers.by_relation(torch.unique(rows).numpy()):
        table.enlist("listed", some[some >= 0].astype(np.int32))
        for formula, leaf in _concluding(grounding, table):
            literals = frozenset(
                Literal(neuron.source, neuron.arguments, "listed" if place == leaf else "either")
                for place, neuron in ((place, formula.neurons[place]) for place in formula.leaves)
            )
            needs = Needs((Need(0, literals),), {})
            every = Assembler(formula, needs, atoms, grounding.domain, grounding.guard, {}).every()
            scratch = Grounding(atoms, grounding.domain, grounding.guard)
            scratch.add(formula, run.plan.analyses.of(formula), needs, leaf_modes(formula, lambda _name, _side: 0), {})
            scratch.hold(0, every)
            events.append(inference.enter(scratch, leaf, 0))
            heads.append(torch.from_numpy(numbers.of(table, every.rows[leaf])))
    order = torch.cat(heads).argsort(stable=True)
    return Supports(torch.cat(events)[order], torch.cat(heads)[order])


def _concluding(grounding: Grounding, table: Relation) -> Iterator[tuple[Formula, int]]:
    """The formulas with atoms of a table as head, each with the head's leaf."""
    for number, member in enumerate(grounding.members):
        formula = member.formula
        top = formula.neurons[formula.top]
        if grounding.shapes[grounding.number(number)].completes or len(formula.blocks) > 1 or top.kind != "implies":
            continue
        antecedent, leaf = formula.neurons[top.operands[0]], top.operands[1]
        operands = antecedent.operands if antecedent.kind == "and" else (top.operands[0],)
        plain = all(formula.neurons[operand].kind == LEAF for operand in operands)
        if plain and formula.neurons[leaf].kind == LEAF and formula.neurons[leaf].source == table.name:
            yield formula, leaf
