"""Terms with their learned values as numbers: a unit whose weights are learned is the arithmetic of its formula.

A NAU is ``sum w_i x_i``, an NMU ``prod (w_i x_i + 1 - w_i)``, an NPU with open gates ``prod x_i ^ w_i``. A NALU, an
iNALU, and an NPU that learns gates or imaginary parts are units over their weights
(`lnnkit.numeric.units.opened_unit`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, cast

from lnnkit.check.weights import UNIT_ATTRIBUTES
from lnnkit.graph.lifted import NUMBER, UNITS, NeuronGraph
from lnnkit.numeric.units.opened_unit import OpenedUnit, UnitName

_WEIGHTS = {"nau": "weight", "nac": "weight", "nmu": "weight", "npu": "power", "realnpu": "power"}


@dataclass(frozen=True, slots=True)
class LearnedUnit:
    """A unit, by its kind, with each weight (a parameter's name, or a value) and its attribute, one of ``keys``."""

    kind: str
    weights: tuple[float | str, ...]
    keys: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each for each in self.weights if isinstance(each, str))


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
            plain = not {*learned} - {_WEIGHTS.get(data["kind"])} and not any(data.get("imaginary") or ())
            plain = plain and data["kind"] in _WEIGHTS
            unit = _unit(data, among) if plain else _whole_unit(data, learned, among)
            if unit.names:
                units.append(unit)
                parameters |= _Opening(opened, node, unit, plain=plain).parameters
    return opened, parameters, tuple(units)


def _unit(data: Mapping[str, Any], among: Collection[str]) -> LearnedUnit:
    key = _WEIGHTS[data["kind"]]
    named: Sequence[str | None] = data["learned"].get(key) or [None] * len(data[key])  # all are given
    gates = data.get("gate") or (1.0,) * len(data[key])
    weights = [
        (name if name is not None and name in among else value) if gate else 0.0
        for name, value, gate in zip(named, data[key], gates, strict=True)
    ]
    return LearnedUnit(data["kind"], tuple(weights), (key,) * len(weights))


def _whole_unit(data: Mapping[str, Any], learned: Mapping[str, Any], among: Collection[str]) -> LearnedUnit:
    """A unit with all its attributes, given or learned."""
    pairs = [
        (name if name is not None and name in among else value, key)
        for key in UNIT_ATTRIBUTES[data["kind"]]
        if data.get(key) is not None
        for value, name in zip_longest(_listed(data[key]), _listed(learned.get(key)))
    ]
    return LearnedUnit(data["kind"], tuple(weight for weight, _ in pairs), tuple(key for _, key in pairs))


def _listed(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


class _Opening:
    """Rewrites a unit's node as an operation over new nodes; ``parameters`` are those of the new numbers."""

    def __init__(self, graph: NeuronGraph, node: str, unit: LearnedUnit, *, plain: bool) -> None:
        self._graph, self._node, self._unit = graph, node, unit
        self._own = tuple(range(len(graph.nodes[node]["sorts"])))
        self.parameters: dict[str, str] = {}
        if plain:
            self._as_arithmetic()
        else:
            keys, count = tuple(dict.fromkeys(unit.keys)), len(graph.operands[node])
            graph.nodes[node]["opened"] = OpenedUnit(cast("UnitName", unit.kind), keys, count)
            for place, weight in enumerate(unit.weights):  # further operands
                self._append(node, (self._weight(place, weight), ()))

    def _as_arithmetic(self) -> None:
        graph, node = self._graph, self._node
        operands, graph.operands[node] = graph.operands[node], []
        graph.nodes[node]["kind"] = "add" if self._unit.kind in ("nau", "nac") else "multiply"
        for place, ((operand, edge), weight) in enumerate(zip(operands, self._unit.weights, strict=True)):
            factor, x = self._weight(place, weight), (operand, cast("tuple[int | str, ...]", edge["arguments"]))
            self._append(node, (self._part(place, factor, x), self._own))

    def _part(self, place: int, weight: str, x: tuple[str, tuple[int | str, ...]]) -> str:
        w = (weight, ())
        match self._unit.kind:
            case "nau" | "nac":
                return self._operation(f"{place}x", "multiply", w, x)
            case "nmu":
                scaled = self._operation(f"{place}x", "multiply", w, x)
                rest = self._operation(f"{place}r", "subtract", (self._constant(1.0), ()), w)
                return self._operation(f"{place}+", "add", (scaled, self._own), (rest, self._own))
            case _:
                return self._operation(f"{place}^", "power", x, w)

    def _weight(self, place: int, weight: float | str) -> str:
        if not isinstance(weight, str):
            return self._constant(weight)
        name = f"{self._node}/{place}"
        self._graph.add_node(name, kind=NUMBER, sorts=())
        self.parameters[name] = weight
        return name

    def _constant(self, value: float) -> str:
        name = f"{self._node}={value!r}"
        self._graph.add_node(name, kind="constant", sorts=(), value=value)
        return name

    def _operation(self, name: str, kind: str, *operands: tuple[str, tuple[int | str, ...]]) -> str:
        node = f"{self._node}/{name}"
        self._graph.add_node(node, kind=kind, sorts=self._graph.nodes[self._node]["sorts"])
        for operand in operands:
            self._append(node, operand)
        return node

    def _append(self, node: str, operand: tuple[str, tuple[int | str, ...]]) -> None:
        self._graph.operands[node].append((operand[0], {"arguments": operand[1]}))
