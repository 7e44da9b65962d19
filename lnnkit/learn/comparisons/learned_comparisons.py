"""Comparisons with learned values: their truth, differentiable in them. A learned constant, or a learned weight of a
unit, is one more number of the comparison. A crisp comparison has no gradient; training softens it by a scale that
shrinks as training goes on. Inference never does.

A unit whose weights are learned is the arithmetic of its formula. A NAU is ``sum w_i x_i``, an NMU ``prod (w_i x_i + 1
- w_i)``, an NPU with open gates ``prod x_i ^ w_i``. A NALU, an iNALU, and an NPU that learns gates or imaginary parts
are units over their weights (`lnnkit.numeric.units.gated_units`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from itertools import zip_longest
from typing import Any, cast

import torch
from torch import Tensor

from lnnkit.check.weights import UNIT_ATTRIBUTES
from lnnkit.formula.number_terms import comparison
from lnnkit.formula.number_terms import parameters as parameters_of
from lnnkit.graph.lifted import NUMBER, UNITS, LiftedGraph, NeuronGraph
from lnnkit.join.instances.grounding import Grounding
from lnnkit.numeric import Comparator, Comparison, Interval, Learned, Sign, Term
from lnnkit.numeric.crisp import Fixed
from lnnkit.numeric.step import UnitName
from lnnkit.numeric.units.gated_units import OpenedUnit
from lnnkit.trail.events import Trail

_Operand = tuple[str, dict[str, Any]]  # a node, and its edge
_WEIGHTS = {"nau": "weight", "nac": "weight", "nmu": "weight", "npu": "power", "realnpu": "power"}


@dataclass(frozen=True, slots=True)
class LearnedUnit:
    """A unit, by its kind, with each weight (a parameter's name, or a value) and its attribute, one of ``keys``."""

    kind: str
    weights: tuple[float | str, ...]
    keys: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(weight for weight in self.weights if isinstance(weight, str))


def opened_terms(
    graph: NeuronGraph, top: str, among: Collection[str]
) -> tuple[NeuronGraph, dict[str, str], tuple[LearnedUnit, ...]]:
    """The graph below ``top`` with parameters ``among`` these as numbers, those parameters, and their units."""
    opened = graph.copy(graph.below(top))
    parameters: dict[str, str] = {}
    units: list[LearnedUnit] = []
    for node in sorted(opened.nodes):
        data = graph.nodes[node]
        learned = data.get("learned") or {}
        if data["kind"] == "constant":
            if learned.get("value") in among:
                opened.nodes[node]["kind"] = NUMBER
                parameters[node] = learned["value"]
        elif data["kind"] in UNITS:
            keys = [key for kind, key in _WEIGHTS.items() if kind == data["kind"]]
            plain = bool(keys) and not {*learned}.difference(keys) and not any(data.get("imaginary") or ())
            unit = _unit(data, among, keys if plain else [*UNIT_ATTRIBUTES[data["kind"]]])
            if plain and data.get("gate"):
                pairs = zip(unit.weights, data["gate"], strict=True)
                unit = replace(unit, weights=tuple(weight if gate else 0.0 for weight, gate in pairs))
            if unit.names:
                units.append(unit)
                parameters |= _open(opened, node, unit, plain=plain)
    return opened, parameters, tuple(units)


def _unit(data: Mapping[str, Any], among: Collection[str], keys: Sequence[str]) -> LearnedUnit:
    """A unit with those of its attributes that have values, given or learned."""
    pairs = [
        (name if name is not None and name in among else value, key)
        for key in keys
        if data.get(key) is not None
        for value, name in zip_longest(_listed(data[key]), _listed(data["learned"].get(key)))
    ]
    return LearnedUnit(data["kind"], tuple(weight for weight, _ in pairs), tuple(key for _, key in pairs))


def _listed(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def _open(graph: NeuronGraph, node: str, unit: LearnedUnit, *, plain: bool) -> dict[str, str]:
    """Rewrite a unit's node as an operation over new nodes; returns the parameters of the new numbers."""
    parameters: dict[str, str] = {}
    sorts = graph.nodes[node]["sorts"]
    positions = tuple(range(len(sorts)))

    def weight(place: int, value: float | str) -> _Operand:
        name = f"{node}/{place}" if isinstance(value, str) else f"{node}={value!r}"
        if isinstance(value, str):
            graph.add_node(name, kind=NUMBER, sorts=())
            parameters[name] = value
        else:
            graph.add_node(name, kind="constant", sorts=(), value=value)
        return name, {"arguments": ()}

    def operation(name: str, kind: str, *operands: _Operand) -> _Operand:
        graph.add_node(f"{node}/{name}", kind=kind, sorts=sorts)
        graph.operands[f"{node}/{name}"].extend(operands)
        return f"{node}/{name}", {"arguments": positions}

    weights = [weight(place, value) for place, value in enumerate(unit.weights)]
    operands = [(operand, {"arguments": edge["arguments"]}) for operand, edge in graph.operands[node]]
    if not plain:
        keys = tuple(dict.fromkeys(unit.keys))
        graph.nodes[node]["opened"] = OpenedUnit(cast("UnitName", unit.kind), keys, len(operands))
        graph.operands[node] += weights  # further operands
        return parameters
    parts: list[_Operand] = []
    for place, (w, x) in enumerate(zip(weights, operands, strict=True)):
        if unit.kind in ("npu", "realnpu"):
            parts.append(operation(f"{place}^", "power", x, w))
            continue
        parts.append(operation(f"{place}x", "multiply", w, x))
        if unit.kind == "nmu":
            rest = operation(f"{place}r", "subtract", weight(place, 1.0), w)
            parts[-1] = operation(f"{place}+", "add", parts[-1], rest)
    graph.nodes[node]["kind"] = "add" if unit.kind in ("nau", "nac") else "multiply"
    graph.operands[node] = parts
    return parameters


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
        weights = {name for unit in self.units for name in unit.names}
        return tuple(name for name in self.names if name not in weights)

    @property
    def relation(self) -> tuple[str, ...]:
        """The three parameters of a register's readout, or none."""
        named = tuple(weight for weight in self.weights if isinstance(weight, str))
        return named if len(named) == 3 else ()

    def started(self, known: Set[str]) -> bool:
        """Whether the weights of its units and of its register are all in ``known``."""
        return known >= {*self.relation, *(name for unit in self.units for name in unit.names)}

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
    opened, parameters, units = opened_terms(graph, node, among)
    arguments = tuple(range(len(data["sorts"])))
    sides, atoms = comparison(opened, node, arguments)
    plain, numbers = comparison(graph, node, arguments)
    order, names = [], []
    for name, passed in atoms:
        if name in parameters:
            if parameters[name] not in names:
                names.append(parameters[name])
            order.append(len(numbers) + names.index(parameters[name]))
        else:
            order.append(numbers.index((name, passed)))
    relation, learned = plain.relation, data["learned"]
    scale: float | str = learned["scale"] if learned.get("scale") in among else data["scale"] or 0.0
    weights: tuple[float | str, ...] = ()
    if isinstance(relation, Learned):
        pairs = zip(learned.get("weight") or [None] * 3, relation[:3], strict=True)
        weights = tuple(value if name is None or name not in among else name for name, value in pairs)
    sign = relation.sign if isinstance(relation, Fixed) else "<?>"
    return LearnedComparison(sides.left, sides.right, sign, scale, weights, tuple(names), tuple(order), units, moved)


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
