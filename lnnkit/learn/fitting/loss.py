"""The loss of a program: how far its bounds are from their labels, and how far bounds are crossed. Batches of labels,
with the replay of each: of what set their bounds, or of all soft supports.

    ========================  ==============================================================================
    ``labels``, squared       mean over labels of ``(L - l)^2 + (U - u)^2``, halved
    ``labels``, log           mean of the cross entropies of ``L`` after ``l`` and of ``U`` after ``u``, halved
    ``contradictions``        sum of ``max(0, L - U)`` over arrested atoms and instances
    ``uncertainty``           mean over labels of ``max(0, (U - L) - (u - l))``
    ``decay``                 sum over weights and biases of ``(w - 1)^2``
    ``slack``                 sum over left-out operands of the violations of conditions of classical neurons
    ========================  ==============================================================================

``l`` and ``u`` are the label's bounds. An end that no rule bounds is constant and has no gradient. For a number, an end
whose error is ``d`` standard deviations of all its labels counts ``d^2 / (1 + d^2)`` instead of the square, under
either distance (Geman and McClure 1987); an unknown end counts 1.

Soft supports are all instances that support a labelled atom, not only the winner; used in training alone. The lower end
of a labelled atom becomes the noisy-or ``1 - prod (1 - v)`` over the bounds ``v`` of its supports, so that each of them
learns. Supports are rules without quantifiers whose consequent is one atom and whose antecedent is an atom or a
conjunction of informative literals; an atom without any keeps its inferred bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lnnkit.analysis.needs import Literal, Need, Needs
from lnnkit.arrays import any_set
from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.join.instances.assembled import Assembler
from lnnkit.join.instances.grounding import Grounding, leaf_modes
from lnnkit.learn.labels import Labels
from lnnkit.learn.replay.recorded_inference import RecordedInference
from lnnkit.learn.replay.replay import Replay
from lnnkit.store.relations import Relation

Distance = OneOf["squared", "log"]
UNLABELLED = frozenset({"decay", "slack"})  # terms that do not depend on labels

_LEAST = 1e-6  # below this truth, or within it of 1, the logarithm continues as its tangent


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of ``n`` labels: ``ends`` (2n,) are their lower, then their upper bounds, ``weight`` (2n,) their
    weights, which sum to 1. ``spread`` (2n,) is positive for numbers only; None: there are none. With ``points`` both
    ends of a label are one value, with one target: ``ends`` and ``weight`` are (n,)."""

    ends: Tensor
    weight: Tensor
    spread: Tensor | None = None
    points: bool = False

    def __len__(self) -> int:
        return len(self.ends) if self.points else len(self.ends) // 2

    def as_points(self) -> Targets | None:
        """The same distance for bounds whose two ends are equal; None if the two targets of a label differ."""
        count = len(self)
        if self.spread is not None or not torch.equal(self.ends[:count], self.ends[count:]):
            return None
        return Targets(self.ends[:count], self.weight[:count] + self.weight[count:], points=True)

    def distance(self, ends: Tensor, distance: Distance) -> Tensor:
        """The distance of bounds (2n,), lower then upper ones, or of ``points`` (n,) from the targets."""
        if self.spread is not None:
            numeric = self.spread > 0
            far = (self.weight * _off(ends, self.ends, self.spread).square())[numeric].sum()
            rest = Targets(torch.where(numeric, 0.0, self.ends), torch.where(numeric, 0.0, self.weight))
            return far + rest.distance(torch.where(numeric, 0.0, ends), distance)
        if distance == "squared":
            loss = _Squared.apply(ends, self.ends, self.weight)
            assert isinstance(loss, Tensor)
            return loss
        true, false = _log(ends), _log(1 - ends)
        return -(self.weight * (self.ends * true + (1 - self.ends) * false)).sum()

    def uncertainty(self, ends: Tensor) -> Tensor:
        """How much wider bounds (2n,) are than the targets."""
        if self.points:
            return torch.zeros((), dtype=ends.dtype)
        count = len(self)
        if self.spread is not None:
            ends = torch.where(self.spread > 0, self.ends, ends)
        width, wanted = ends[count:] - ends[:count], (self.ends[count:] - self.ends[:count]).nan_to_num()
        return 2 * (self.weight[:count] * (width - wanted).clamp(min=0.0)).sum()


def _off(ends: Tensor, wanted: Tensor, spread: Tensor) -> Tensor:
    """``d / sqrt(1 + d^2)``, ``d = (ends - wanted) / spread``: 0 for infinite targets, -1 or 1 for infinite ends."""
    unknown = ends.isinf()
    gap = (torch.where(unknown, 0.0, ends) - wanted) / torch.where(spread > 0, spread, 1.0)
    gap = torch.where(wanted.isinf(), 0.0, gap)
    off = gap * torch.rsqrt(1 + gap.square())
    return torch.where(unknown & ~wanted.isinf(), ends.sign(), off)


class _Squared(torch.autograd.Function):
    """``sum weight (x - wanted)^2``, with a fused backward pass: an epoch of 100,000 labels takes 7 % less."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, ends: Tensor, wanted: Tensor, weight: Tensor) -> Tensor:
        gap = ends - wanted
        pull = gap * weight
        ctx.save_for_backward(pull)
        return torch.dot(gap, pull)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (pull,) = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        return pull * (2 * gradients[0]), None, None


def _log(truth: Tensor) -> Tensor:
    """``ln x``, continued by its tangent below the least truth, so that certainly wrong answers still learn."""
    low = truth < _LEAST
    return torch.where(low, (truth - _LEAST) / _LEAST, 0.0) + torch.log(torch.where(low, _LEAST, truth))


def crossing(lower: Tensor, upper: Tensor) -> Tensor:
    """The amount by which the bounds cross."""
    return (lower - upper).clamp(min=0.0).sum()


@dataclass(frozen=True, slots=True)
class LabelBatch:
    """Some labels as targets, and a replay of bounds: those of the labels' atoms, then the lower and the upper ends of
    ``crossed`` atoms, then the amounts by which arrested instances cross."""

    targets: Targets
    replay: Replay
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
    group = labels.predicate[which]
    code = group * 2 + labels.true[which] if balanced else torch.zeros_like(group)
    counts = torch.bincount(code)
    weight = 1.0 / (counts.double()[code] * (counts > 0).sum())  # they sum to 1
    spread = labels.spread[which].repeat(2) if any_set(labels.numeric) else None
    ends = torch.cat([labels.lower[which].double(), labels.upper[which].double()])
    return Targets(ends, weight.repeat(2) / 2, spread)


def crossings(inference: RecordedInference) -> Tensor:
    """The sum of ``max(0, L - U)`` over all crossed bounds of a fixpoint."""
    crossed = [table.crossed for table in inference.fixpoint.state.crossed]
    pairs = [(ends.lower.values, ends.upper.values) for ends in crossed]
    pairs += [arrested.roots for arrested in inference.fixpoint.progress.arrested]
    amounts = (crossing(*(torch.from_numpy(end).double() for end in pair)) for pair in pairs)
    return sum(amounts, torch.zeros((), dtype=torch.float64))


_UNSURE = 1e-9  # keeps log(1 - v) finite


class Supports(NamedTuple):
    """The supports of atoms: ``events`` (m,) that bound the lower ends of ``rows`` (m,), sorted by row."""

    events: Tensor
    rows: Tensor

    def of(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The events of some distinct atom rows, and the place among these of the row that each event supports."""
        mine, order = torch.isin(self.rows, rows), rows.argsort()
        return self.events[mine], order[torch.searchsorted(rows[order], self.rows[mine])]


class SoftEnds(NamedTuple):
    """Lower ends at ``places`` of the labels' bounds: noisy-ors of the replayed values that ``owner`` assigns to
    each."""

    replay: Replay
    places: Tensor
    owner: Tensor

    def soften(self, ends: Tensor, values: Tensor) -> Tensor:
        """``ends`` with those places replaced by the noisy-or of their supports; ``values`` are those of the replay."""
        # Keeps a gradient for a support that is fully true
        within = values + (values.clamp(0.0, 1 - _UNSURE) - values).detach()
        logs = torch.log1p(-within)
        missed = torch.zeros(len(self.places), dtype=ends.dtype).index_add(0, self.owner, logs)
        return ends.index_copy(0, self.places, 1 - missed.exp())


def supports(inference: RecordedInference, rows: Tensor) -> Supports:
    """The supports of the atoms ``rows``, which become listed."""
    run, numbers = inference.fixpoint, inference.numbers
    grounding, atoms = run.grounding, run.grounding.atoms
    events, heads = [torch.zeros(0, dtype=torch.int64)], [torch.zeros(0, dtype=torch.int64)]
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
