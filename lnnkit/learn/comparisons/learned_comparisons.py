"""Comparisons with learned values: their truth, differentiable in them. A learned constant, or a learned weight of a
unit, is one more number of the comparison. A crisp comparison has no gradient; training softens it by a scale that
shrinks as training goes on. Inference never does.

A unit whose weights are learned is the arithmetic of its formula, or a unit over its weights
(`lnnkit.numeric.units.gated_units.opened`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from typing import cast

import torch
from torch import Tensor

from lnnkit.formula.number_terms import opened_comparison, unit_weights
from lnnkit.formula.number_terms import parameters as parameters_of
from lnnkit.graph.lifted import UNITS, LiftedGraph, NeuronGraph
from lnnkit.join.instances.grounding import Grounding
from lnnkit.numeric import Comparator, Comparison, Interval, Learned, Sign, Term
from lnnkit.numeric.crisp import Fixed
from lnnkit.trail.events import Trail


@dataclass(frozen=True, slots=True)
class LearnedUnit:
    """A unit, by its kind, with the attribute of each learned weight, by the parameter's name."""

    kind: str
    keys: Mapping[str, str]


def learned_units(graph: NeuronGraph, top: str, among: Collection[str]) -> tuple[LearnedUnit, ...]:
    """The units below ``top`` with weights ``among`` these parameters."""
    units: list[LearnedUnit] = []
    for node in sorted(graph.below(top)):
        data = graph.nodes[node]
        if data["kind"] in UNITS:
            given = unit_weights(data).items()
            keys = {name: key for key, weights in given for _, name in weights if name is not None and name in among}
            units += [LearnedUnit(data["kind"], keys)] if keys else []
    return tuple(units)


# Of the spread of the differences, the scale at which a crisp comparison is softened first; _LESS where data placed it.
# Accuracies of fitting/gradient_descent.py (0.730, 0.953): with _SHARE 0.15 and 1.5 0.725 and 0.738 of the former, with
# _LESS 0.05 and 0.5 0.952 and 0.948 of the latter.
_SHARE, _LESS = 0.5, 0.15


@dataclass(frozen=True, slots=True)
class LearnedComparison:
    """``left - right`` over the numbers of the comparison's formula, then over the parameters ``names``: constants, and
    weights of units. ``order`` maps each input of the terms to one of these; ``units`` are the learned weights of each
    unit. ``moved``: modules supply some of its numbers."""

    left: Term
    right: Term
    sign: str
    scale: float | str
    weights: tuple[float | str, ...]
    names: tuple[str, ...]
    order: tuple[int, ...]
    units: tuple[LearnedUnit, ...] = ()
    moved: bool = False

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of learned constants, as opposed to weights of units."""
        weights = {name for unit in self.units for name in unit.keys}
        return tuple(name for name in self.names if name not in weights)

    @property
    def relation(self) -> tuple[str, ...]:
        """The three parameters of a register's readout, or none."""
        named = tuple(weight for weight in self.weights if isinstance(weight, str))
        return named if len(named) == 3 else ()

    def started(self, known: Set[str]) -> bool:
        """Whether the weights of its units and of its register are all in ``known``."""
        return known >= {*self.relation, *(name for unit in self.units for name in unit.keys)}

    @property
    def crisp(self) -> bool:
        return self.scale == 0.0

    def sides(self, numbers: Sequence[Interval], parameters: Mapping[str, Tensor]) -> tuple[Interval, Interval]:
        """The intervals of both terms. Parameters are scalars, or have one entry for each row."""
        ordered = self._inputs(numbers, parameters)
        return self.left.hull(ordered)[0], self.right.hull(ordered)[0]

    def _inputs(self, numbers: Sequence[Interval], parameters: Mapping[str, Tensor]) -> list[Interval]:
        rows = len(numbers[0].lower) if numbers else 1
        given = [Interval(*map(_heeding, interval)) for interval in numbers]
        for name in self.names:
            value = parameters[name]
            value = _heeding(value.expand(rows) if value.dim() == 0 else value)
            given.append(Interval(value, value))
        return [given[place] for place in self.order]

    def narrowed(
        self, numbers: Sequence[Interval], parameters: Mapping[str, Tensor], truth: Interval, number: int
    ) -> Interval:
        """One of its numbers, narrowed by bounds on its truth."""
        inputs = self._inputs(numbers, parameters)
        narrowed = Comparison(self.left, self.right, self._relation(parameters)).respond(inputs, truth).inputs
        intervals = [narrowed[place] for place, which in enumerate(self.order) if which == number]
        lowers, uppers = zip(*intervals, strict=True)
        return Interval(reduce(torch.maximum, lowers), reduce(torch.minimum, uppers))

    def _relation(self, parameters: Mapping[str, Tensor]) -> Comparator:
        """The relation at the parameters' values, without gradients."""
        scale = _number(self.scale, parameters)
        if self.sign != "<?>":
            return Fixed(cast("Sign", self.sign), scale)
        plus, zero, bias = (_number(weight, parameters) for weight in self.weights)
        return Learned(plus, zero, bias, scale)

    def difference(self, numbers: Sequence[Interval], parameters: Mapping[str, Tensor]) -> Interval:
        """The interval of ``left - right``, from `sides`."""
        (low, high), (least, most) = self.sides(numbers, parameters)
        return Interval(low - most, high - least)

    def truth(
        self, numbers: Sequence[Interval], parameters: Mapping[str, Tensor], side: int, softness: float
    ) -> Tensor:
        """One end of its truth; ``softness`` is the scale of a crisp comparison."""
        low, high = self.difference(numbers, parameters)
        scale = parameters[self.scale].clamp(min=1e-9) if isinstance(self.scale, str) else self.scale or softness
        low, high = low / scale, high / scale
        if self.sign in (">", ">="):
            return torch.sigmoid(high if side else low)
        if self.sign in ("<", "<="):
            return torch.sigmoid(-low if side else -high)
        turn, best = self._turn(parameters), torch.maximum if side else torch.minimum
        extreme = best(self._curve(low, parameters), self._curve(high, parameters))
        peak = self._curve(turn.expand(low.shape), parameters)
        return torch.where((low < turn) & (turn < high), best(extreme, peak), extreme)

    def _curve(self, x: Tensor, parameters: Mapping[str, Tensor]) -> Tensor:
        t = x.tanh()
        if self.sign == "<?>":
            plus, zero, bias = (parameters[w] if isinstance(w, str) else w for w in self.weights)
            return torch.sigmoid(bias + plus * t + zero * (1 - 2 * t.square()))
        return t.square() if self.sign == "!=" else 1 - t.square()

    def _turn(self, parameters: Mapping[str, Tensor]) -> Tensor:
        """The extremum of the curve, in units of the scale."""
        at = 0.0
        if self.sign == "<?>":
            plus, zero, _ = (_number(weight, parameters) for weight in self.weights)
            at = plus / (4 * zero) if zero else 2.0
        return torch.atanh(torch.tensor(at, dtype=torch.float64)) if abs(at) < 1 else torch.tensor(torch.inf).double()

    def softened(
        self, numbers: Sequence[Interval], parameters: Mapping[str, Tensor], softness: float, placed: Set[str]
    ) -> float:
        """The positive scale that softens a crisp comparison of these numbers: a share of the differences' spread, or
        of their size where modules supply them, which may start far off. ``softness`` decreases from 1; the share is
        less where data ``placed`` all parameters."""
        share = softness * (_LESS if not self.moved and placed >= {*self.names} else _SHARE)
        with torch.no_grad():
            low, high = self.difference(numbers, parameters)
            middle = (low + high) / 2
            middle = middle[middle.isfinite()]
            if self.moved and len(middle):
                return max(share * float(middle.square().mean().sqrt()), 1e-9)
            return max(share * float(middle.std()), 1e-9) if len(middle) > 1 else 1e-9


def _number(given: float | str, parameters: Mapping[str, Tensor]) -> float:
    """The number, or the value of the parameter with that name."""
    return float(parameters[given].detach()) if isinstance(given, str) else given


def _heeding(values: Tensor) -> Tensor:
    """The values, with a backward pass that drops gradients that are not finite."""
    if not values.requires_grad:
        return values
    view = values.view_as(values)
    view.register_hook(lambda gradient: gradient.nan_to_num(0.0, 0.0, 0.0))
    return view


def learned_comparison(
    graph: NeuronGraph, node: str, among: Collection[str], *, moved: bool = False
) -> LearnedComparison | None:
    """The comparison of a ``compare`` node; None if it has no parameters ``among`` these and is not ``moved``."""
    data = graph.nodes[node]
    if not moved and not set(among).intersection(parameters_of(graph, node)):
        return None
    terms, inputs = opened_comparison(graph, node, tuple(range(len(data["sorts"]))), among)
    names = tuple(one for one in inputs if isinstance(one, str))
    numbers = [one for one in inputs if not isinstance(one, str)]
    order = tuple(map([*numbers, *names].index, inputs))
    relation, learned = terms.relation, data["learned"]
    scale: float | str = learned["scale"] if learned.get("scale") in among else data["scale"] or 0.0
    weights: tuple[float | str, ...] = ()
    if isinstance(relation, Learned):
        pairs = zip(learned.get("weight") or [None] * 3, relation[:3], strict=True)
        weights = tuple(value if name is None or name not in among else name for name, value in pairs)
    sign = relation.sign if isinstance(relation, Fixed) else "<?>"
    units = learned_units(graph, node, among)
    return LearnedComparison(terms.left, terms.right, sign, scale, weights, names, order, units, moved)


def opened_comparisons(
    lifted: LiftedGraph, grounding: Grounding, history: Trail, among: Collection[str], supplied: Collection[str]
) -> dict[int, LearnedComparison]:
    """By shape, the comparisons with parameters ``among``, and those of numbers that rest on ``supplied`` ones."""
    initial = [] if history.trace is None else history.trace.scratch  # before the first round
    shapes = [*enumerate(grounding.shapes), *((-2 - n, scratch.shapes[0]) for n, scratch in enumerate(initial))]
    formulas = {number: shape.formula for number, shape in shapes if shape.formula.auxiliary and shape.formula.compares}
    compared = {
        number: {formula.neurons[operand].source for operand in formula.neurons[formula.top].operands}
        for number, formula in formulas.items()
    }
    moved = set(supplied)  # and the numbers derived from them by comparisons
    setting = [(number, leaf) for number, leaf in history.setting_leaves if number in formulas and leaf >= 0]
    heads = [(compared[number], formulas[number].neurons[leaf].source) for number, leaf in setting if supplied]
    while more := {head for numbers, head in heads if numbers & moved} - moved:
        moved |= more
    learned = (
        (number, learned_comparison(lifted.graph, formula.auxiliary or "", among, moved=bool(moved & compared[number])))
        for number, formula in formulas.items()
    )
    return {number: comparison for number, comparison in learned if comparison is not None}
