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
            plain = not {*learned} - {_WEIGHTS.get(data["kind"])} and not any(data.get("imaginary") or ())
            plain = plain and data["kind"] in _WEIGHTS
            unit = _unit(data, among) if plain else _whole_unit(data, learned, among)
            if unit.names:
                units.append(unit)
                parameters |= _open(opened, node, unit, plain=plain)
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
