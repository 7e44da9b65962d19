"""The neurons of a program of which a query is an instance: ``P(anna) | Q(anna)`` is one of ``P(X) | Q(X)``; and the
comparisons of the terms that a query compares, with what the laws of order conclude from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lnnkit.graph.laws import EVERY, SIGNS, mirrored
from lnnkit.graph.lifted import COMPARISON, NEURONS, NUMBER, Arguments, NeuronGraph, Reference, operands_about
from lnnkit.syntax.identifiers import AGGREGATES

_Bound = tuple[int, int]  # a quantified variable: the depth of its quantifier, and its position there
_Argument = int | str | _Bound


def below_negations(graph: NeuronGraph, reference: Reference) -> tuple[Reference, bool]:
    """The node below the leading negations of a reference, and whether their number is odd."""
    negated = False
    while graph.nodes[reference.node]["kind"] == "not":
        ((operand, arguments),) = operands_about(graph, reference.node, reference.arguments)
        reference, negated = Reference(operand, arguments), not negated
    return reference, negated


def instances(graph: NeuronGraph, query: Reference, among: Iterable[str] | None = None) -> list[Reference]:
    """The program's neurons, or those ``among`` them, of which ``query`` is an instance, each with its substitution: a
    variable of the query, or an entity, for each parameter."""
    kind = graph.nodes[query.node]["kind"]
    if kind not in NEURONS and kind not in AGGREGATES:
        return []
    matches = []
    for node in graph.nodes if among is None else among:
        data = graph.nodes[node]
        if data["kind"] != kind or not data["stated"]:
            continue
        bindings: dict[int, int | str] = {}
        if _match(graph, query.node, query.arguments, node, tuple(range(len(data["sorts"]))), bindings):
            matches.append(Reference(node, tuple(bindings[i] for i in range(len(data["sorts"])))))
    return matches


def arguments_within(graph: NeuronGraph, node: str) -> tuple[str, ...]:
    """The arguments of the atoms of a neuron in their order: free variables by number, constants by name, bound
    variables alike. Neurons with an instance in common differ in these alone."""
    arguments: list[str] = []
    stack: list[tuple[str, tuple[int | str, ...]]] = [(node, tuple(range(len(graph.nodes[node]["sorts"]))))]
    while stack:
        node, given = stack.pop()
        data = graph.nodes[node]
        if data["kind"] == "same":
            given = tuple(given[a] if isinstance(a, int) else a for a in data["arguments"])
        if data["kind"] in ("predicate", NUMBER, "same"):
            arguments += (f"\0{term}" if isinstance(term, int) else term for term in given)
            continue
        visible = given + ("",) * len(data.get("bound_sorts", ()))
        stack += reversed(operands_about(graph, node, visible))
    return tuple(arguments)


def _match(
    graph: NeuronGraph,
    query: str,
    given: Sequence[_Argument],
    node: str,
    parameters: Sequence[_Argument],
    bindings: dict[int, int | str],
    depth: int = 0,
) -> bool:
    """Whether some substitution for the free parameters of ``node`` (ints) makes it equal to ``query`` with the
    arguments ``given``; one-sided matching, which extends ``bindings``."""
    if query == node:
        return all(_bind(a, b, bindings) for a, b in zip(given, parameters, strict=True))
    asked, other = graph.nodes[query], graph.nodes[node]
    if asked["kind"] in ("predicate", NUMBER) or asked["key"][0] != other.get("key", (None,))[0]:
        return False
    if len(asked.get("bound_sorts", ())) != len(other.get("bound_sorts", ())):
        return False
    if asked["kind"] == "same":
        return all(
            _bind(_seen(a, given), _seen(b, parameters), bindings)
            for a, b in zip(asked["arguments"], other["arguments"], strict=True)
        )
    bound: tuple[_Argument, ...] = tuple((depth, place) for place in range(len(asked.get("bound_sorts", ()))))
    mine, theirs = graph.operands[query], graph.operands[node]
    if len(mine) != len(theirs):
        return False
    return all(
        (left["weight"], left["parameter"]) == (right["weight"], right["parameter"])
        and _match(
            graph,
            a,
            [_seen(x, (*given, *bound)) for x in left["arguments"]],
            b,
            [_seen(x, (*parameters, *bound)) for x in right["arguments"]],
            bindings,
            depth + 1,
        )
        for (a, left), (b, right) in zip(mine, theirs, strict=True)
    )


def _seen(argument: int | str, visible: Sequence[_Argument]) -> _Argument:
    return visible[argument] if isinstance(argument, int) else argument


def _bind(given: _Argument, parameter: _Argument, bindings: dict[int, int | str]) -> bool:
    if not isinstance(parameter, int):
        return given == parameter
    if isinstance(given, tuple):  # A free variable is not replaced by a variable that the query binds.
        return False
    return bindings.setdefault(parameter, given) == given and isinstance(bindings[parameter], type(given))


class SignedComparison(NamedTuple):
    """A comparison of the program that is true for these ``signs`` of the difference of the query's terms."""

    reference: Reference
    signs: frozenset[int]


@dataclass(frozen=True, slots=True)
class Related:
    """The signs of the difference that make a query true, and the comparisons of its terms; both empty if the query is
    not a plain comparison."""

    signs: frozenset[int] = EVERY
    comparisons: tuple[SignedComparison, ...] = ()


def related_comparisons(graph: NeuronGraph, query: Reference) -> Related:
    """The program's crisp comparisons (including the query itself) of the terms that a query compares."""
    asked = graph.nodes[query.node]
    if not _is_plain(graph, query.node):
        return Related()
    comparisons: list[SignedComparison] = []
    left, right = _terms(graph, query.node, query.arguments)
    for node, data in graph.nodes.items():
        if data["kind"] != COMPARISON or not data["shared"] or not _is_plain(graph, node):
            continue
        parameters = tuple(range(len(data["sorts"])))
        terms, signs = _terms(graph, node, parameters), SIGNS[data["operator"]]
        for here, there in ((signs, terms), (mirrored(signs), terms[::-1])):
            bindings: dict[int, int | str] = {}
            if _match(graph, *left, *there[0], bindings) and _match(graph, *right, *there[1], bindings):
                comparisons.append(SignedComparison(Reference(node, tuple(bindings[i] for i in parameters)), here))
    return Related(SIGNS[asked["operator"]], tuple(comparisons))


def _is_plain(graph: NeuronGraph, node: str) -> bool:
    """Whether a node is a crisp comparison without learned values."""
    data = graph.nodes[node]
    if data["kind"] != COMPARISON or data["operator"] not in SIGNS or data["scale"] is not None:
        return False
    return not any(graph.nodes[part].get("learned") for part in graph.below(node))


def _terms(graph: NeuronGraph, node: str, arguments: Arguments) -> list[tuple[str, Arguments]]:
    """The two terms that are compared; for a difference compared to 0, the terms of the difference."""
    (left, its), (right, others) = operands_about(graph, node, arguments)
    if graph.nodes[left]["kind"] == "subtract" and graph.nodes[right].get("value") == 0:
        return operands_about(graph, left, its)
    if graph.nodes[right]["kind"] == "subtract" and graph.nodes[left].get("value") == 0:
        return operands_about(graph, right, others)[::-1]
    return [(left, its), (right, others)]
