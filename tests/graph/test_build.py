"""The lifted graph: what is one node, what edges carry, what keeps bounds of its own."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

import lnnkit

DECLARATIONS = "predicate A(thing)\npredicate B(thing)\npredicate R(thing, thing)\npredicate C(thing) closed\n"


def graph_of(rules: str) -> nx.MultiDiGraph:
    return lnnkit.loads(DECLARATIONS + rules).graph


def neurons(graph: nx.MultiDiGraph, kind: str) -> list[dict[str, Any]]:
    return [data for _, data in graph.nodes(data=True) if data["kind"] == kind]


def test_nodes_and_edges_have_the_attributes_of_the_design() -> None:
    graph = graph_of("rule both: (A(X)@0.7 & B(Y)){bias: 1.2, logic: product} -> R(Y, X)\n")
    assert isinstance(graph, nx.MultiDiGraph)
    (conjunction,) = [node for node, data in graph.nodes(data=True) if data["kind"] == "and"]
    assert graph.nodes[conjunction]["logic"] == "product"
    assert graph.nodes[conjunction]["bias"] == 1.2
    assert graph.nodes[conjunction]["span"].text == "(A(X)@0.7 & B(Y)){bias: 1.2, logic: product}"
    edges = sorted(graph.out_edges(conjunction, data=True), key=lambda edge: edge[2]["position"])
    assert [(operand, data["position"], data["weight"]) for _, operand, data in edges] == [("A", 0, 0.7), ("B", 1, 1.0)]
    (implication,) = neurons(graph, "implies")
    assert implication["logic"] == "lukasiewicz"
    assert implication["sorts"] == ("thing", "thing")
    head = [data for _, operand, data in graph.edges(data=True) if operand == "R"]
    assert head[0]["arguments"] == (1, 0)  # the rule's variables are X, Y; the head is R(Y, X)


def test_equal_up_to_renaming_is_one_node() -> None:
    graph = graph_of("axiom (A(X) & R(X, Y)) -> B(Y)\naxiom B(U) -> (A(V) & R(V, W))\n")
    assert len(neurons(graph, "and")) == 1
    assert neurons(graph, "and")[0]["shared"]


@pytest.mark.parametrize(
    "other",
    [
        "R(X, Y) & A(X)",  # another order
        "A(X) & R(Y, X)",  # another pattern
        "A(X) & R(X, X)",
        "A(X)@0.5 & R(X, Y)",  # another weight
        "(A(X) & R(X, Y)){bias: 1.1}",
        "(A(X) & R(X, Y)){logic: godel}",
        'A(X) & R(X, "some one")',
    ],
)
def test_anything_else_is_another_node(other: str) -> None:
    graph = graph_of(f"axiom (A(X) & R(X, Y)) -> B(Y)\naxiom B(X) | ({other})\n")
    assert len(neurons(graph, "and")) == 2
    assert not any(neuron["shared"] for neuron in neurons(graph, "and"))


def test_a_negated_use_is_a_use_and_a_query_is_none() -> None:
    graph = graph_of("axiom (A(X) & B(X)) -> R(X, X)\naxiom ~(A(Y) & B(Y)) | R(Y, Y)\n")
    assert neurons(graph, "and")[0]["uses"] == 2
    graph = graph_of("axiom (A(X) & B(X)) -> R(X, X)\nquery A(Y) & B(Y)\n")
    assert neurons(graph, "and")[0]["uses"] == 1


def test_leading_quantifiers_of_a_statement_are_its_variables() -> None:
    """``forall X: F`` at least l says as much as ``F`` for each X at least l; with an upper truth it says more."""
    assert not neurons(graph_of("axiom forall X: A(X) -> B(X)\n"), "forall")
    assert neurons(graph_of("axiom forall X: A(X) -> B(X) in [0.2, 0.7]\n"), "forall")


def test_definitions_of_closed_predicates_are_never_shared() -> None:
    graph = graph_of("rule one: A(X) -> C(X)\nrule two: A(X) -> C(X)\naxiom B(X) | (A(X) -> C(X))\n")
    (implication,) = neurons(graph, "implies")
    assert implication["uses"] == 3
    assert not implication["shared"]


def test_cycles_of_rules_leave_the_graph_acyclic() -> None:
    graph = graph_of("rule A(X) -> B(X)\nrule B(X) -> A(X)\n")
    assert nx.is_directed_acyclic_graph(graph)
