"""Predicates, and the rules and axioms between them: what is derived from what."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from lnnkit.check.program import Assertion, CheckedProgram, SameEntity
from lnnkit.check.walk import children
from lnnkit.markup.plain_text import counted
from lnnkit.picture.boxes import Arrow, Box
from lnnkit.picture.picture import Picture
from lnnkit.syntax import ast

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
        found = [Arrow(predicate, name, negative=negative) for each in premises for predicate, negative in _atoms(each)]
        found += [
            Arrow(name, predicate, negative=negative, both=not premises) for predicate, negative in _atoms(conclusion)
        ]
        for arrow in found:
            arrows.setdefault((arrow.source, arrow.target, arrow.negative), arrow)
            graph.add_edge(arrow.source, arrow.target)
    shown = nearest(graph, centre, most) if centre is not None or len(graph) > most else graph
    boxes = [
        _statement(name, statements[name]) if name in statements else _predicate(program, name) for name in shown.nodes
    ]
    kept = [arrow for arrow in arrows.values() if arrow.source in shown and arrow.target in shown]
    return Picture(title, boxes, kept, len(graph) - len(shown))


def _matrix(formula: Formula) -> Formula:
    """A formula without the quantifiers and the weight around all of it."""
    while isinstance(formula, ast.Forall | ast.Exists | ast.Weighted):
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
            stack += [(each, negative) for each in reversed(children(node))]


def _predicate(program: CheckedProgram, name: str) -> Box:
    predicate = program.predicates[name]
    facts = sum(fact.predicate == name for fact in program.facts)
    facts += sum(len(table) for table in program.tables if table.predicate == name)
    said = ["closed"] if predicate.closed else []
    said += [counted(facts, "fact")] if facts else []
    sorts = f"({', '.join(predicate.sorts)})" if predicate.sorts else ""
    lines = (f"{name}{sorts}", ", ".join(said)) if said else (f"{name}{sorts}",)
    return Box(name, "predicate", lines, "number" if predicate.numeric else None, note=f"{name}{sorts}")


def _statement(name: str, assertion: Assertion) -> Box:
    called = assertion.name or f"line {assertion.span.line}"
    return Box(name, "statement", (f"{assertion.kind} {called}",), note=assertion.text)


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
