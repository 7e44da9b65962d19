"""A program as a picture: its predicates and the rules and axioms between them, or its formulas, connective by
connective."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

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
    "add": "+", "subtract": "−", "multiply": "×", "divide": "÷", "power": "^", "true": "⊤", "false": "⊥",
}  # fmt: skip

T = TypeVar("T")
Formula = ast.Expression | SameEntity


def predicate_graph(program: CheckedProgram, title: str, centre: str | None, most: int) -> Picture:
    """A box for each predicate and number, and one for each rule and axiom; if ``centre`` is given or there are more
    than ``most``, only those nearest to that predicate.

    Arrows lead from an implication's antecedent to its consequent. A statement of another form bounds each of its atoms
    by the others: its arrows have two heads. (An implication does too: a false consequent bounds the antecedent from
    above. That is left out of the picture.)
    """
    statements = _named([assertion for assertion in program.assertions if assertion.kind != "law"])
    arrows: dict[tuple[str, str, bool], Arrow] = {}
    for name, assertion in statements.items():
        premises, conclusion = _sides(assertion.formula)
        edges = [Arrow(predicate, name, negative=negative) for part in premises for predicate, negative in _atoms(part)]
        edges += [
            Arrow(name, predicate, negative=negative, both=not premises) for predicate, negative in _atoms(conclusion)
        ]
        for arrow in edges:
            arrows.setdefault((arrow.source, arrow.target, arrow.negative), arrow)

    def box(name: str) -> Box:
        return _statement(name, statements[name]) if name in statements else _predicate(program, name)

    return _nearest(title, [*program.predicates, *statements], [*arrows.values()], box, centre, most)


def syntax_graph(lifted: LiftedGraph, title: str, centre: str | None, most: int) -> Picture:
    """All of the graph, if it has ``most`` boxes or fewer; else those nearest to the predicate ``centre``."""
    nodes, statements = lifted.graph.nodes, _named(lifted.statements)
    arrows: list[Arrow] = []
    for node, operands in lifted.graph.operands.items():
        for place, (operand, edge) in enumerate(operands):
            if nodes[node]["stated"] and nodes[operand]["stated"]:
                kind = nodes[node]["kind"]
                arrows.append(Arrow(operand, node, edge["weight"], kind == "not" or (kind == "implies" and not place)))
    arrows += [Arrow(root.reference.node, name) for name, root in statements.items()]
    joined = {end for arrow in arrows for end in (arrow.source, arrow.target)}

    def box(name: str) -> Box:
        return _root(name, statements[name]) if name in statements else _node(name, nodes[name])

    return _nearest(title, [*(node for node in nodes if node in joined), *statements], arrows, box, centre, most)


def _nearest(
    title: str, names: Sequence[str], arrows: Sequence[Arrow], box: Callable[[str], Box], centre: str | None, most: int
) -> Picture:
    """The picture of all that is named, or if ``centre`` is given or that is more than ``most``, of those nearest to
    it (where it is None or not named: to what has most neighbours). What no path connects with it comes last, nearest
    to others with many neighbours."""
    kept = set(names)
    if centre is not None or len(names) > most:
        graph = nx.Graph()
        graph.add_nodes_from(names)
        graph.add_edges_from((arrow.source, arrow.target) for arrow in arrows)
        kept = set[str]()
        for start in [centre] if centre in graph else sorted(names, key=graph.degree, reverse=True):
            if start not in kept and len(kept) < most:
                near = nx.single_source_shortest_path_length(graph, start)
                kept |= set(sorted(near, key=near.__getitem__)[: most - len(kept)])
    boxes = [box(name) for name in names if name in kept]
    drawn = [arrow for arrow in arrows if arrow.source in kept and arrow.target in kept]
    return Picture(title, boxes, drawn, len(names) - len(kept))


def _named(statements: Sequence[T]) -> dict[str, T]:
    """Each statement by the name of its box, which no predicate or neuron has."""
    return {f"\0{number}": statement for number, statement in enumerate(statements)}


def _sides(formula: Formula) -> tuple[list[Formula], Formula]:
    """The antecedents and the consequent of an implication, split at its last arrow, without the quantifiers and the
    weights around it."""
    premises: list[Formula] = []
    while True:
        match formula:
            case ast.Implies(antecedent, consequent):
                premises.append(antecedent)
                formula = consequent
            case ast.Weighted():
                formula = formula.operand
            case ast.Forall() | ast.Exists():
                formula = formula.body
            case _:
                return premises, formula


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
    details = ["closed"] if predicate.closed else []
    details += [counted(facts, "fact")] if facts else []
    shown = f"{name}{_listed(predicate.sorts)}"
    lines = (shown, ", ".join(details)) if details else (shown,)
    return Box(name, "predicate", lines, "number" if predicate.numeric else None, note=shown)


def _statement(name: str, assertion: Assertion, *more: str) -> Box:
    return Box(name, "statement", (f"{assertion.kind} {assertion.called}", *more), note=assertion.text)


def _root(name: str, root: Root) -> Box:
    assert isinstance(root.origin, Assertion)
    bounds = [] if (root.lower, root.upper) == (1.0, 1.0) else [f"in [{root.lower:g}, {root.upper:g}]"]
    return _statement(name, root.origin, *bounds)


def _node(name: str, data: Mapping[str, Any]) -> Box:
    """The box of a predicate, number, neuron or term, by its attributes (`lnnkit.graph.lifted`)."""
    kind: str = data["kind"]
    if kind in ("predicate", NUMBER):
        lines = (name, "closed") if data.get("closed") else (name,)
        return Box(name, "predicate", lines, note=f"{name}{_listed(data['sorts'])}")
    written = data["span"].on_one_line
    if kind == "same":
        symbol = " = ".join(f"X{a}" if isinstance(a, int) else a for a in data["arguments"])
    elif kind in (COMPARISON, *TERMS) and len(written) <= _SHOWN:
        symbol = written
    else:
        symbol = str(data["operator"]) if kind == COMPARISON else _SYMBOLS.get(kind, kind)
    bias = data.get("bias", 1.0)
    return Box(name, "connective", (symbol, f"bias {bias:g}") if bias != 1.0 else (symbol,), note=written)


def _listed(sorts: Sequence[str]) -> str:
    return f"({', '.join(sorts)})" if sorts else ""
