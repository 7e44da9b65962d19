"""The lifted graph of numbers: comparisons and terms are nodes, learnable values are parameters at their start."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from lnnkit.check import check
from lnnkit.check.checker import check_query
from lnnkit.graph.lifted import NEURONS, TERMS, LiftedGraph, instances
from lnnkit.graph.lifting import add_queries, build
from lnnkit.syntax.parse import parse

DECLARATIONS = (
    "number age(person)\nnumber income(person)\nnumber debt(person)\nnumber limit\npredicate A(person)\n"
    "predicate B(person)\n"
)


def lifted(rules: str) -> LiftedGraph:
    program, problems = parse(DECLARATIONS + rules, "test.lnn")
    assert not problems
    checked, findings = check(program, Path())
    assert checked is not None, findings
    return build(checked)


def nodes(graph: nx.MultiDiGraph, kind: str) -> list[dict[str, Any]]:
    return [data for _, data in graph.nodes(data=True) if data["kind"] == kind]


def rendered(graph: nx.MultiDiGraph, node: str, arguments: tuple[int | str, ...] | None = None) -> str:
    """A node as nested text, its variables as numbers."""
    data = graph.nodes[node]
    if arguments is None:
        arguments = tuple(range(len(data["sorts"])))
    if data["kind"] == "number":
        return f"{node}({','.join(map(str, arguments))})"
    if data["kind"] == "constant":
        return f"{data['value']:g}"
    edges = sorted(graph.out_edges(node, data=True), key=lambda edge: edge[2]["position"])
    parts = [
        rendered(graph, operand, tuple(arguments[a] if isinstance(a, int) else a for a in edge["arguments"]))
        for _, operand, edge in edges
    ]
    return f"{data.get('operator', data['kind'])}[{' '.join(parts)}]"


def test_terms_are_trees_of_nodes() -> None:
    graph = lifted("rule debt(X) / income(Y)^2 - abs(-age(X)) > sqrt(limit) * 3 -> A(X) & B(Y)\n").graph.networkx()
    (comparison,) = [node for node, data in graph.nodes(data=True) if data["kind"] == "compare"]
    assert rendered(graph, comparison) == (
        ">[subtract[divide[debt(0) power[income(1) 2]] abs[negate[age(0)]]] multiply[sqrt[limit()] 3]]"
    )
    data = graph.nodes[comparison]
    assert (data["operator"], data["scale"], data["weight"], data["sorts"]) == (">", None, None, ("person", "person"))
    assert (data["shared"], data["lower"], data["upper"], data["uses"]) == (True, 0.0, 1.0, 1)
    assert {each["kind"] for _, each in graph.nodes(data=True)} <= NEURONS | TERMS | {"predicate"}
    assert nx.is_directed_acyclic_graph(graph)
    for node, each in graph.nodes(data=True):
        assert ("lower" in each) == (each["kind"] in NEURONS), node


def test_equal_comparisons_up_to_renaming_are_one_node() -> None:
    graph = lifted("rule age(X) + 1 >= 18 -> A(X)\nrule age(Who) + 1 >= 18 & B(Who) -> A(Who)\n").graph.networkx()
    (comparison,) = nodes(graph, "compare")
    assert comparison["uses"] == 2
    assert len(nodes(graph, "add")) == 1 and len(nodes(graph, "constant")) == 2


@pytest.mark.parametrize(
    "other",
    [
        "age(X) > 18",
        "age(X) >= 19",
        "18 <= age(X)",
        "(age(X) >= 18){scale: 2}",
        "age(X) >= ?18",
        "age(anna) >= 18",
        "income(X) >= 18",
    ],
)
def test_any_other_comparison_is_another_node(other: str) -> None:
    graph = lifted(f"fact A(anna)\nrule age(X) >= 18 -> A(X)\nrule {other} & B(X) -> A(X)\n").graph.networkx()
    assert len(nodes(graph, "compare")) == 2


def test_which_places_one_entity_fills_matters() -> None:
    graph = lifted("rule age(X) > age(Y) -> A(X) & B(Y)\nrule age(X) > age(X) -> A(X)\n").graph.networkx()
    assert [data["sorts"] for data in nodes(graph, "compare")] == [("person", "person"), ("person",)]


def test_a_chain_is_a_conjunction_of_its_links() -> None:
    graph = lifted(
        "rule (18 <= (age(X) + 0) < 65){scale: 2} -> A(X)\nrule (18 <= (age(X) + 0)){scale: 2} -> B(X)\n"
    ).graph.networkx()
    (conjunction,) = [node for node, data in graph.nodes(data=True) if data["kind"] == "and"]
    assert rendered(graph, conjunction) == "and[<=[18 add[age(0) 0]] <[add[age(0) 0] 65]]"
    first, second = nodes(graph, "compare")
    assert (first["scale"], second["scale"], first["uses"], second["uses"]) == (2.0, 2.0, 2, 1)


def test_statements_give_a_comparison_its_truth() -> None:
    program = lifted("axiom forall X: age(X) >= 0\nrule A(X) -> age(X) >= 0\naxiom age(X) >= 0 in [0.5, 1]\n")
    (comparison,) = nodes(program.graph.networkx(), "compare")
    assert (comparison["lower"], comparison["upper"], comparison["uses"]) == (1.0, 1.0, 3)


def test_learnable_values_are_parameters_at_their_start() -> None:
    program = lifted(
        "rule A(X)@?w=0.7 & B(X)@? & (age(X) > ?cut=50){scale: ?s} -> A(X)@?w in [?t=0.9, 1]\n"
        "rule age(X) > ?cut & income(X) > ?100 & debt(X) > ?100 -> B(X)\n"
        "rule (A(X) | B(X)){bias: ?} -> (income(X) > ?){scale: ?s=2}\n"
    )
    graph, met = program.graph.networkx(), program.parameters.met
    assert {name: parameter.initial for name, parameter in met.items()} == {
        "w": 0.7, "#1": 1.0, "cut": 50.0, "s": 2.0, "t": 0.9, "#2": 100.0, "#3": 100.0, "#4": 1.0, "#5": None
    }  # fmt: skip
    assert [(root.lower, root.upper, root.learned) for root in program.statements] == [
        (0.9, 1.0, ("t", None)), (1.0, 1.0, (None, None)), (1.0, 1.0, (None, None))
    ]  # fmt: skip
    edges = [(data["weight"], data["parameter"]) for _, _, data in graph.edges(data=True) if data["parameter"]]
    assert sorted(edges) == [(0.7, "w"), (0.7, "w"), (1.0, "#1")]
    constants = {data["learned"]["value"]: data["value"] for data in nodes(graph, "constant") if data["learned"]}
    assert math.isnan(constants.pop("#5"))
    assert constants == {"cut": 50.0, "#2": 100.0, "#3": 100.0}
    assert [data["learned"] for data in nodes(graph, "or")] == [{"bias": "#4"}]
    soft = next(data for data in nodes(graph, "compare") if data["scale"] is not None)
    assert (soft["scale"], soft["learned"]) == (2.0, {"scale": "s"})


def test_neurons_with_parameters_are_never_shared_and_comparisons_are() -> None:
    rule = "rule A(X)@?w=0.5 & B(X) & age(X) > ?t=3 -> A(X)\n"
    graph = lifted(rule + rule).graph.networkx()
    assert [data["shared"] for data in nodes(graph, "and")] == [False]
    assert [data["shared"] for data in nodes(graph, "implies")] == [True]
    assert [(data["shared"], data["uses"]) for data in nodes(graph, "compare")] == [(True, 1)]


def test_units_keep_their_attributes() -> None:
    graph = lifted(
        "rule npu(debt(X), income(X)){power: [1, -1], gate: [?g=0.5, 1]} > 0.4 -> A(X)\n"
        "rule nau(debt(X), income(X)){weight: [?, ?v=1]} <?> 0 -> A(X)\n"
        "rule (age(X) <?> limit){weight: [2, -1, -1], scale: 3} -> A(X)\n"
    ).graph.networkx()
    (power,), (linear,) = nodes(graph, "npu"), nodes(graph, "nau")
    assert (power["power"], power["gate"], power["learned"]) == ((1.0, -1.0), (0.5, 1.0), {"gate": ("g", None)})
    assert math.isnan(linear["weight"][0]) and linear["weight"][1] == 1.0
    assert linear["learned"] == {"weight": ("#1", "v")}
    learned, trained = [data for data in nodes(graph, "compare") if data["operator"] == "<?>"]
    assert (learned["weight"], trained["weight"], trained["scale"]) == (None, (2.0, -1.0, -1.0), 3.0)


def test_queries_of_numbers_and_of_comparisons() -> None:
    program = lifted("fact A(anna)\nfact A(bob)\nrule age(X) >= 18 & age(X) < ?u=65 -> A(X)\n")
    texts = ("age(X)", "debt(X) / income(X)", "age(anna) >= 18", "age(bob) < ?u", "age(bob) < 65", "limit")
    queries = [check_query(text, program.program)[0] for text in texts]
    asked = add_queries(program, [query for query in queries if query is not None])
    assert [(root.lower, root.upper) for root in asked.queries] == [
        (-math.inf, math.inf), (-math.inf, math.inf), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (-math.inf, math.inf)
    ]  # fmt: skip
    kinds = [asked.graph.nodes[root.reference.node]["kind"] for root in asked.queries]
    assert kinds == ["number", "divide", "compare", "compare", "compare", "number"]
    assert [asked.graph.nodes[asked.queries[place].reference.node]["shared"] for place in (2, 3, 4)] == [False] * 3
    found = [[reference.arguments for reference in instances(asked.graph, root.reference)] for root in asked.queries]
    assert found == [[], [], [("anna",)], [("bob",)], [], []]
