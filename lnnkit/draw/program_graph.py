"""A program as a picture: its predicates and the rules and axioms between them, or its formulas, connective by
connective."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from lnnkit.check.program import Assertion, CheckedProgram, SameEntity
from lnnkit.check.walk import children
from lnnkit.graph.lifted import COMPARISON, NUMBER, TERMS, LiftedGraph, Root
from lnnkit.markup.plain_text import counted
from lnnkit.picture.boxes import Arrow, Box
from lnnkit.picture.picture import Picture
from lnnkit.syntax import ast

_SHOWN = 28  # greatest length of a comparison's or term's text
_SYMBOLS = {
    "and": "∧", "or": "∨", "implies": "→", "iff": "↔", "xor": "⊕", "not": "¬", "forall": "∀", "exists": "∃",
    "same": "=", "add": "+", "subtract": "−", "multiply": "×", "divide": "÷", "power": "^", "true": "⊤", "false": "⊥",
}  # fmt: skip

Formula = ast.Expression | SameEntity


def predicate_graph(program: CheckedProgram, title: str, centre: str | None, most: int) -> Picture:
    """A box for each predicate and number, and one for each rule and axiom; if ``centre`` is given or there are more
    than ``most``, only those nearest to that predicate.

    Arrows lead from an implication's antecedent to its consequent. A statement of another form bounds each of its atoms
    by the others: its arrows have two heads. (An implication does too: a false consequent bounds the antecedent from
    above. That is left out of the picture.)
    """
    statements = {
        f"\0{number}": assertion  # no predicate has such a name
        for number, assertion in enumerate(program.assertions)
        if assertion.kind != "law"
    }
    graph = nx.DiGraph()
    graph.add_nodes_from(program.predicates)
    arrows: dict[tuple[str, str, bool], Arrow] = {}
    for name, assertion in statements.items():
        graph.add_node(name)
        premises, conclusion = _sides(assertion.formula)
        edges = [Arrow(predicate, name, negative=negative) for part in premises for predicate, negative in _atoms(part)]
        edges += [
            Arrow(name, predicate, negative=negative, both=not premises) for predicate, negative in _atoms(conclusion)
        ]
        for arrow in edges:
            arrows.setdefault((arrow.source, arrow.target, arrow.negative), arrow)
            graph.add_edge(arrow.source, arrow.target)
    shown = nearest(graph, centre, most) if centre is not None or len(graph) > most else graph
    boxes = [
        _statement(name, statements[name], statements[name].text) if name in statements else _predicate(program, name)
        for name in shown.nodes
    ]
    kept = [arrow for arrow in arrows.values() if arrow.source in shown and arrow.target in shown]
    return Picture(title, boxes, kept, len(graph) - len(shown))


def _matrix(formula: Formula) -> Formula:
    """A formula without the quantifiers and the weight around all of it."""
    while isinstance(formula, ast.Quantifier | ast.Weighted):
        formula = formula.operand if isinstance(formula, ast.Weighted) else formula.body
    return formula


def _sides(formula: Formula) -> tuple[list[Formula], Formula]:
    """The antecedent and the consequent of an implication, split at its last arrow."""
    premises: list[Formula] = []
    rest = _matrix(formula)
    while isinstance(rest, ast.Implies):
        premises.append(rest.antecedent)
        rest = _matrix(rest.consequent)
    return premises, rest


def _atoms(formula: Formula) -> Iterator[tuple[str, bool]]:
    """The names of its predicates and numbers, each with whether it stands under an odd number of negations. Without
    recursion: formulas may be nested deep."""
    stack: list[tuple[Formula, bool]] = [(formula, False)]
    while stack:
        node, negative = stack.pop()
        if isinstance(node, ast.Atom):
            yield node.name, negative
        elif isinstance(node, ast.Not):
            stack.append((node.operand, not negative))
        elif isinstance(node, ast.Implies):
            stack += [(node.consequent, negative), (node.antecedent, not negative)]
        elif not isinstance(node, SameEntity):
            stack += [(child, negative) for child in reversed(children(node))]


def _predicate(program: CheckedProgram, name: str) -> Box:
    predicate = program.predicates[name]
    facts = sum(fact.predicate == name for fact in program.facts)
    facts += sum(len(table) for table in program.tables if table.predicate == name)
    said = ["closed"] if predicate.closed else []
    said += [counted(facts, "fact")] if facts else []
    sorts = f"({', '.join(predicate.sorts)})" if predicate.sorts else ""
    lines = (f"{name}{sorts}", ", ".join(said)) if said else (f"{name}{sorts}",)
    return Box(name, "predicate", lines, "number" if predicate.numeric else None, note=f"{name}{sorts}")


def _statement(name: str, assertion: Assertion, note: str, *more: str) -> Box:
    return Box(name, "statement", (f"{assertion.kind} {assertion.called}", *more), note=note)


def nearest(graph: nx.DiGraph, centre: str | None, most: int) -> nx.DiGraph:
    """The ``most`` nodes nearest to ``centre`` (None, or not in the graph: to the node with most neighbours). Nodes
    that no path connects with it come last, nearest to other nodes with many neighbours."""
    order = sorted(graph.nodes, key=graph.degree, reverse=True)
    kept: dict[str, None] = {}
    both_ways = graph.to_undirected(as_view=True)
    for start in [centre] if centre in graph else order:
        if start not in kept and len(kept) < most:
            near = nx.single_source_shortest_path_length(both_ways, start)
            kept |= dict.fromkeys(sorted(near, key=near.__getitem__)[: most - len(kept)])
    return nx.DiGraph(graph.subgraph(kept))


def syntax_graph(lifted: LiftedGraph, title: str, centre: str | None, most: int) -> Picture:
    """All of the graph, if it has ``most`` boxes or fewer; else those nearest to the predicate ``centre``."""
    graph = lifted.graph
    stated = {root.reference.node for root in lifted.statements}
    shown = nx.DiGraph()
    shown.add_nodes_from(node for node in graph.nodes if graph.nodes[node]["stated"])
    edges = [
        (node, operand, place, edge)
        for node, operands in graph.operands.items()
        for place, (operand, edge) in enumerate(operands)
    ]
    shown.add_edges_from((one, other) for one, other, *_ in edges if one in shown and other in shown)
    statements = {f"\0{number}": root for number, root in enumerate(lifted.statements)}  # no node has such a name
    shown.add_edges_from((name, root.reference.node) for name, root in statements.items())
    shown.remove_nodes_from([node for node in shown if not shown.degree(node) and node not in stated])
    total = len(shown)
    if centre is not None or total > most:
        shown = nearest(shown, centre, most)
    boxes = [_box(lifted, statements, name) for name in shown.nodes]
    kinds = {node: graph.nodes[node]["kind"] for node, *_ in edges}
    arrows = [
        Arrow(other, one, edge["weight"], kinds[one] == "not" or (kinds[one] == "implies" and place == 0))
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
        root = statements[name]
        assert isinstance(root.origin, Assertion)
        bounds = [] if (root.lower, root.upper) == (1.0, 1.0) else [f"in [{root.lower:g}, {root.upper:g}]"]
        return _statement(name, root.origin, root.origin.span.on_one_line, *bounds)
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
    return Box(name, "connective", lines, note=written)
