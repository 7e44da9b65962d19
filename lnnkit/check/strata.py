"""Strata: the order in which closed derived predicates are completed, and cycles through negation.

A rule or axiom whose root is an implication (after leading ``forall``s are stripped, where its upper truth is 1)
defines the closed predicates that are direct positive conjuncts of its consequent. A defined predicate depends on every
closed derived predicate of the antecedent, with the polarity that it has there; under ``<->`` and ``xor`` with both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lnnkit.check.findings import error, name_span, warning
from lnnkit.check.stated import stated_fact
from lnnkit.check.symbols import Formula, Symbols
from lnnkit.check.walk import signed, strip_foralls, unweighted
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression

Edges = Mapping[tuple[str, str], tuple[ast.Atom, bool]]
"""Of a predicate and one that it depends on: an atom of that, and whether it is negative."""


def strata(symbols: Symbols) -> list[Diagnostic]:
    return [*stratify(symbols)[1], *_not_completed(symbols)]


def _not_completed(symbols: Symbols) -> Iterator[Diagnostic]:
    """Warnings for equivalences that seem to define a closed predicate which nothing else makes true: it stays
    false."""
    given = {name for name, uses in symbols.uses.items() if any(use.how in ("fact", "load") for use in uses)}
    given |= {table.predicate for table in symbols.told}
    given |= {fact.predicate for formula in symbols.formulas if (fact := stated_fact(formula)) is not None}
    roots = [_implication(formula) for formula in symbols.formulas if formula.kind != "query"]
    given |= {atom.name for root in roots if root is not None for atom in defined(root.consequent)}
    empty = {name for name, declared in symbols.declared.items() if declared.closed} - given
    for formula in symbols.formulas if empty else ():
        root = strip_foralls(formula.root)
        if formula.kind == "query" or not isinstance(root, ast.Iff):
            continue
        sides = unweighted(root.left), unweighted(root.right)
        for atom, other in (sides, sides[::-1]):
            if isinstance(atom, ast.Atom) and atom.name in empty:
                reason = "no fact, table or rule makes it true, and `<->` does not complete it"
                rule = f"rule {format_expression(other)} -> {format_expression(atom)}"
                hint = f"write `{rule}`: a closed predicate is false of everything else anyway"
                yield warning(
                    "closed-equivalence", name_span(atom), f"closed `{atom.name}` stays false: {reason}", hint
                )


def defined(atoms: ast.Expression) -> Iterator[ast.Atom]:
    """The atoms that are direct positive conjuncts of a consequent."""
    stack = [unweighted(atoms)]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Atom):
            yield node
        elif isinstance(node, ast.And):
            stack.extend(unweighted(operand) for operand in reversed(node.operands))


def stratify(symbols: Symbols) -> tuple[tuple[frozenset[str], ...], list[Diagnostic]]:
    """The strata of closed derived predicates, dependencies first, and findings about cycles through negation."""
    closed = {name for name, predicate in symbols.declared.items() if predicate.closed}
    if not closed:
        return (), []
    defining: list[tuple[str, ast.Expression]] = []
    for formula in symbols.formulas:
        if formula.kind != "query" and (root := _implication(formula)) is not None:
            defining += [(atom.name, root.antecedent) for atom in defined(root.consequent) if atom.name in closed]
    derived = {name: index for index, name in enumerate(dict.fromkeys(head for head, _ in defining))}
    edges: dict[tuple[str, str], tuple[ast.Atom, bool]] = {}
    for head, antecedent in defining:
        for atom, sign in signed(antecedent):
            if atom.name in derived:
                _, negative = edges.setdefault((head, atom.name), (atom, sign < 0))
                if sign < 0 and not negative:
                    edges[head, atom.name] = atom, True
    if all(head == below and not negative for (head, below), (_, negative) in edges.items()):
        return tuple(frozenset([name]) for name in derived), []
    return _ordered(derived, edges)


def _implication(formula: Formula) -> ast.Implies | None:
    bounds = getattr(formula.statement, "bounds", None)
    upper = 1 if bounds is None else bounds.upper.value if isinstance(bounds.upper, ast.Number) else None
    root = strip_foralls(formula.root) if upper == 1 else formula.root
    return root if isinstance(root, ast.Implies) else None


def _ordered(derived: Mapping[str, int], edges: Edges) -> tuple[tuple[frozenset[str], ...], list[Diagnostic]]:
    import networkx as nx  # a tenth of a second, so only for programs whose closed predicates depend on each other

    graph = nx.DiGraph()
    graph.add_nodes_from(derived)
    graph.add_edges_from((below, head) for head, below in edges)
    members = [frozenset(component) for component in nx.strongly_connected_components(graph)]
    components = {name: component for component in members for name in component}
    first = [min(derived[name] for name in component) for component in members]
    order = nx.condensation(graph, members)
    layers = tuple(members[index] for index in nx.lexicographical_topological_sort(order, key=first.__getitem__))
    diagnostics = []
    reported: set[frozenset[str]] = set()
    for (head, below), (_, negative) in edges.items():
        component = components[head]
        if negative and component is components[below] and component not in reported:
            reported.add(component)
            back = nx.shortest_path(graph, head, below) if head != below else [head]
            diagnostics.append(_cycle(back, edges))
    return layers, diagnostics


def _cycle(path: list[str], edges: Edges) -> Diagnostic:
    """The finding about a cycle; ``path`` leads from the head of the negative edge, through what depends on it, to the
    predicate that the edge negates."""
    steps = [edges[path[0], path[-1]]]
    steps += [edges[path[i], path[i - 1]] for i in range(len(path) - 1, 0, -1)]
    chain = path[0] + "".join(f" -> {'~' if negative else ''}{atom.name}" for atom, negative in steps)
    elsewhere = ", ".join(f"{atom.name} on line {atom.span.line}" for atom, _ in steps[1:])
    message = f"closed `{path[0]}` depends on its own negation: {chain}" + (f" ({elsewhere})" if elsewhere else "")
    hint = "break the cycle, or leave one of these predicates open (without `closed`)"
    return error("negative-cycle", name_span(steps[0][0]), message, hint)
