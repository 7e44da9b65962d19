"""The lifted graph as a picture: predicates below, connectives above them, statements on top."""

from __future__ import annotations

import networkx as nx

from lnnkit.check.program import Assertion
from lnnkit.draw.predicate_graph import nearest
from lnnkit.graph.lifted import COMPARISON, NUMBER, TERMS, LiftedGraph, Root
from lnnkit.picture.boxes import Arrow, Box
from lnnkit.picture.picture import Picture

_SHOWN = 28  # greatest length of a comparison's or term's text
_SYMBOLS = {
    "and": "∧",
    "or": "∨",
    "implies": "→",
    "iff": "↔",
    "xor": "⊕",
    "not": "¬",
    "forall": "∀",
    "exists": "∃",
    "same": "=",
    "add": "+",
    "subtract": "−",
    "multiply": "×",
    "divide": "÷",
    "power": "^",
    "compare": "compare",
    "true": "⊤",
    "false": "⊥",
}


def syntax_graph(lifted: LiftedGraph, title: str, centre: str | None, most: int) -> Picture:
    """All of the graph, if it has ``most`` boxes or fewer; else those nearest to the predicate ``centre``."""
    graph = lifted.graph
    stated = {root.reference.node for root in lifted.statements}
    shown = nx.DiGraph()
    for node in graph.nodes:
        if graph.nodes[node]["stated"]:
            shown.add_node(node)
    edges = [
        (node, operand, place, edge)
        for node, operands in graph.operands.items()
        for place, (operand, edge) in enumerate(operands)
    ]
    shown.add_edges_from((one, other) for one, other, *_ in edges if one in shown and other in shown)
    statements = {f"\0{number}": root for number, root in enumerate(lifted.statements)}  # no node has such a name
    shown.add_edges_from((name, root.reference.node) for name, root in statements.items())
    lonely = [node for node in shown if not shown.degree(node) and node not in stated]
    shown.remove_nodes_from(lonely)
    total = len(shown)
    if centre is not None or total > most:
        shown = nearest(shown, centre, most)
    boxes = [_box(lifted, statements, name) for name in shown.nodes]
    arrows = [
        _arrow(lifted, one, other, place, edge["weight"])
        for one, other, place, edge in edges
        if shown.has_edge(one, other)
    ]
    arrows += [
        Arrow(root.reference.node, name)
        for name, root in statements.items()
        if shown.has_edge(name, root.reference.node)
    ]
    return Picture(title, boxes, arrows, total - len(shown))


def _box(lifted: LiftedGraph, statements: dict[str, Root], name: str) -> Box:
    if name in statements:
        return _statement(name, statements[name])
    data = lifted.graph.nodes[name]
    if data["kind"] in ("predicate", NUMBER):
        sorts = f"({', '.join(data['sorts'])})" if data["sorts"] else ""
        lines = (name, "closed") if data.get("closed") else (name,)
        return Box(name, "predicate", lines, note=f"{name}{sorts}")
    written = data["span"].on_one_line
    kind = str(data["kind"])
    symbol = _SYMBOLS.get(kind, kind)
    if kind in (COMPARISON, *TERMS) and len(written) <= _SHOWN:
        symbol = written
    elif kind == COMPARISON:
        symbol = str(data["operator"])
    if kind == "same":
        symbol = " = ".join(f"X{a}" if isinstance(a, int) else a for a in data["arguments"])
    bias = data.get("bias", 1.0)
    lines = (symbol, f"bias {bias:g}") if bias != 1.0 else (symbol,)
    return Box(name, "connective", lines, note=data["span"].on_one_line)


def _statement(name: str, root: Root) -> Box:
    assert isinstance(root.origin, Assertion)
    called = root.origin.name or f"line {root.origin.span.line}"
    bounds = "" if (root.lower, root.upper) == (1.0, 1.0) else f"in [{root.lower:g}, {root.upper:g}]"
    lines = (f"{root.origin.kind} {called}", bounds) if bounds else (f"{root.origin.kind} {called}",)
    return Box(name, "statement", lines, note=root.origin.span.on_one_line)


def _arrow(lifted: LiftedGraph, neuron: str, operand: str, position: int, weight: float) -> Arrow:
    kind = lifted.graph.nodes[neuron]["kind"]
    return Arrow(operand, neuron, weight, negative=kind == "not" or (kind == "implies" and position == 0))
