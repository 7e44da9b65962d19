"""Converts terms and comparisons of the lifted graph to programs over the number atoms that they mention."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import zip_longest
from typing import Any, cast

from lnnkit.check.weights import UNIT_ATTRIBUTES
from lnnkit.graph.lifted import NUMBER, OPERATIONS, Arguments, NeuronGraph, operands_about
from lnnkit.numeric import Comparison, Operation, Term, apply, constant, frozen, number, relation, undetermined
from lnnkit.syntax.identifiers import AGGREGATES

NumberAtom = tuple[str, Arguments]  # a number's name, or an aggregate's node, and its arguments
Numbers = dict[NumberAtom | str, int]  # and parameters: those of a comparison or term, with their inputs


def comparison(graph: NeuronGraph, node: str, arguments: Arguments) -> tuple[Comparison, Sequence[NumberAtom]]:
    """A ``compare`` node with these ``arguments``, as a comparison over the number atoms that it mentions."""
    fixed, numbers = opened_comparison(graph, node, arguments, ())
    return fixed, cast("Sequence[NumberAtom]", numbers)


def opened_comparison(
    graph: NeuronGraph, node: str, arguments: Arguments, learned: Collection[str]
) -> tuple[Comparison, Sequence[NumberAtom | str]]:
    """The same over the parameters ``learned`` too, by name: those of constants, and of weights of units."""
    numbers: Numbers = {}
    sides = operands_about(graph, node, arguments)
    left, right = (_term(graph, operand, passed, numbers, learned) for operand, passed in sides)
    data = graph.nodes[node]
    return Comparison(left, right, relation(data["operator"], data["weight"], data["scale"] or 0.0)), [*numbers]


def term(graph: NeuronGraph, node: str, arguments: Arguments) -> tuple[Term, Sequence[NumberAtom]]:
    """A term node with these ``arguments``, as a term over the number atoms that it mentions."""
    numbers: Numbers = {}
    return _term(graph, node, arguments, numbers), cast("Sequence[NumberAtom]", [*numbers])


def parameters(graph: NeuronGraph, node: str) -> tuple[str, ...]:
    """The parameters in a comparison or term."""
    learned: dict[str, None] = {}
    for part in sorted(graph.below(node)):
        stack = list(graph.nodes[part].get("learned", {}).values())
        while stack:
            names = stack.pop()
            if isinstance(names, tuple):
                stack.extend(names)
            elif names is not None:
                learned[names] = None
    return tuple(learned)


def _term(graph: NeuronGraph, node: str, arguments: Arguments, numbers: Numbers, learned: Collection[str] = ()) -> Term:
    """Post-order without recursion: terms may be nested deeper than Python's stack."""

    def parameter(name: str | None) -> Term | None:
        return number(numbers.setdefault(name, len(numbers))) if name is not None and name in learned else None

    done: list[Term] = []
    stack: list[tuple[str, Arguments, bool]] = [(node, arguments, False)]
    while stack:
        node, arguments, ready = stack.pop()
        data = graph.nodes[node]
        if data["kind"] == NUMBER or data["kind"] in AGGREGATES:
            done.append(number(numbers.setdefault((node, arguments), len(numbers))))
            continue
        operands = operands_about(graph, node, arguments)
        if not ready and operands:
            stack.append((node, arguments, True))
            stack.extend((operand, passed, False) for operand, passed in reversed(operands))
        else:
            first = len(done) - len(operands)
            done[first:] = [_applied(data, done[first:], parameter)]
    return done[0]


def _applied(data: Mapping[str, Any], operands: Sequence[Term], parameter: Callable[[str | None], Term | None]) -> Term:
    kind = data["kind"]
    if kind == "constant":
        fixed = undetermined() if math.isnan(data["value"]) else constant(data["value"], data.get("unit") or None)
        return parameter(data["learned"].get("value")) or fixed
    if kind in OPERATIONS:
        return apply(cast("Operation", kind), *operands)
    given = unit_weights(data)
    weights = {key: [parameter(name) or value for value, name in pairs] for key, pairs in given.items()}
    if any(isinstance(weight, Term) for some in weights.values() for weight in some):
        from lnnkit.numeric.units.gated_units import opened

        return opened(kind, weights, operands)
    return frozen(kind, {key: [value for value, _ in pairs] for key, pairs in given.items()}, operands)


def unit_weights(data: Mapping[str, Any]) -> dict[str, list[tuple[float, str | None]]]:
    """The weights of a unit's node that have values, by attribute, each with its parameter. Powers behind a closed
    gate are 0, unless gates or imaginary parts are learned."""
    keys = [key for key in UNIT_ATTRIBUTES[data["kind"]] if data.get(key) is not None]
    given = {key: [*zip_longest(_listed(data[key]), _listed(data["learned"].get(key, ())))] for key in keys}
    gates = given.get("gate", ())
    if "power" in given and not any(name for _, name in gates) and not any(map(any, given.get("imaginary", ()))):
        for place, (gate, _) in enumerate(gates):
            given["power"][place] = given["power"][place] if gate else (0.0, None)
    return given


def _listed(given: Any) -> Sequence[Any]:
    return given if isinstance(given, (tuple, list)) else (given,)
