"""Negations that nothing can make true: ``~Penguin(X)`` in a body, where no ``Penguin`` ever becomes false.

An atom of an open predicate is unknown until something bounds it, so such a body is never true and the rule derives
nothing. The set of predicates that may become false is over-estimated: a *side* of a predicate, its lower or its upper
bound, is reached if a fact, a table or the declaration moves it, or if a statement may propose it given the sides that
are already reached. The sides of a statement are propagated through its connectives; weights, biases and comparisons
count as reached.

Strata: the order in which closed derived predicates are completed, and cycles through negation.

A rule or axiom whose root is an implication (after leading ``forall``s are stripped, where its upper truth is 1)
defines the closed predicates that are direct positive conjuncts of its consequent. A defined predicate depends on every
closed derived predicate of the antecedent, with the polarity that it has there; under ``<->`` and ``xor`` with both.
What is aggregated or compared counts as negated: it must be known before. A closed number that a rule derives depends
on the numbers of its candidates, which are completed together with it where these rise with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from lnnkit.check.derived_numbers import derivations, derived_numbers, falling
from lnnkit.check.findings import error, name_span, warning
from lnnkit.check.predicates import supplied
from lnnkit.check.program import ENTITY
from lnnkit.check.symbols import Formula, Symbols, ends, fact, stated_fact
from lnnkit.check.walk import aggregated, asserted, atoms, children, measured, signed, unweighted, with_signs
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression, format_predicate, format_statement

Edges = Mapping[tuple[str, str], tuple[ast.Atom, str]]
"""Of a predicate and one that it depends on: an atom of that, and what stands before it where it must be known."""

_NEGATED, _AGGREGATED, _COMPARED, _FALLING = "~", "an aggregate of ", "a comparison of ", "what falls with "
_ITSELF = {
    _NEGATED: "its own negation",
    _AGGREGATED: "an aggregate of itself",
    _COMPARED: "a comparison of itself",
    _FALLING: "what may fall with it or have no value, or is the other of `min` and `max`",
}


def strata(symbols: Symbols) -> list[Diagnostic]:
    return [*stratify(symbols)[1], *_not_completed(symbols), *derived_numbers(symbols)]


def _not_completed(symbols: Symbols) -> Iterator[Diagnostic]:
    """Warnings for equivalences that seem to define a closed predicate which nothing else makes true: it stays
    false."""
    given = {name for name, uses in symbols.uses.items() if any(use.how in ("fact", "load") for use in uses)}
    given |= {fact.predicate for formula in symbols.formulas if (fact := stated_fact(formula)) is not None}
    roots = [_implication(formula) for formula in symbols.formulas if formula.kind != "query"]
    given |= {atom.name for root in roots if root is not None for atom in asserted(root.consequent)}
    empty = {name for name, declared in symbols.declared.items() if declared.closed} - given
    for formula in symbols.formulas if empty else ():
        root = formula.matrix
        if formula.kind == "query" or not isinstance(root, ast.Iff):
            continue
        sides = unweighted(root.left), unweighted(root.right)
        for atom, other in (sides, sides[::-1]):
            if isinstance(atom, ast.Atom) and atom.name in empty:
                reason = "no fact, table or rule makes it true, and `<->` does not complete it"
                rule = f"rule {format_expression(other)} -> {format_expression(atom)}"
                hint = f"write `{rule}`: a closed predicate is false of everything else anyway"
                message = f"closed `{atom.name}` stays false: {reason}"
                yield warning("closed-equivalence", name_span(atom), message, hint)


def stratify(symbols: Symbols) -> tuple[tuple[frozenset[str], ...], list[Diagnostic]]:
    """The strata of closed derived predicates, dependencies first, and findings about cycles through negation."""
    closed = {name for name, predicate in symbols.declared.items() if predicate.closed}
    if not closed:
        return (), []
    defining: list[tuple[str, ast.Expression]] = []
    for formula in symbols.formulas:
        if formula.kind != "query" and (root := _implication(formula)) is not None:
            defining += [(atom.name, root.antecedent) for atom in asserted(root.consequent) if atom.name in closed]
    numbers = [(derived.head.name, derived.aggregate) for derived in derivations(symbols)]
    kinds = {head: aggregate.name for head, aggregate in numbers}
    derived = {name: index for index, name in enumerate(dict.fromkeys([*(head for head, _ in defining), *kinds]))}
    edges: dict[tuple[str, str], tuple[ast.Atom, str]] = {}
    literals = [(h, atom, _NEGATED * (sign < 0)) for h, antecedent in defining for atom, sign in signed(antecedent)]
    literals += [(head, atom, _AGGREGATED) for head, antecedent in defining for atom in aggregated(antecedent)]
    literals += [(head, atom, _COMPARED) for head, antecedent in defining for atom in measured(antecedent)]
    for head, aggregate in numbers:
        falls = {id(atom) for atom in falling(aggregate.operands[0])}
        for atom in atoms(aggregate.operands[0]):
            with_it = id(atom) not in falls and kinds.get(atom.name) == aggregate.name
            literals.append((head, atom, "" if with_it else _FALLING))
        literals += [(head, atom, _AGGREGATED) for atom in atoms(aggregate.operands[-1])]
    for head, atom, mark in literals:
        if atom.name in derived:
            _, before = edges.setdefault((head, atom.name), (atom, mark))
            if mark and not before:
                edges[head, atom.name] = atom, mark
    if all(head == below and not negative for (head, below), (_, negative) in edges.items()):
        return tuple(frozenset([name]) for name in derived), []
    return _ordered(derived, edges)


def _implication(formula: Formula) -> ast.Implies | None:
    root = formula.matrix if ends(formula.bounds)[1] == 1 else formula.root
    return root if isinstance(root, ast.Implies) else None


def _ordered(derived: Mapping[str, int], edges: Edges) -> tuple[tuple[frozenset[str], ...], list[Diagnostic]]:
    import networkx as nx  # a tenth of a second, so only for programs whose closed predicates depend on each other

    graph = nx.DiGraph([(below, head) for head, below in edges])
    graph.add_nodes_from(derived)
    members = [frozenset(component) for component in nx.strongly_connected_components(graph)]
    components = {name: component for component in members for name in component}
    first = [min(derived[name] for name in component) for component in members]
    order = nx.condensation(graph, members)
    layers = tuple(members[index] for index in nx.lexicographical_topological_sort(order, key=first.__getitem__))
    negative = ((head, below) for (head, below), (_, mark) in edges.items() if mark)
    circular = [edge for edge in negative if components[edge[0]] is components[edge[1]]]
    paths = {components[head]: nx.shortest_path(graph, head, below) for head, below in reversed(circular)}
    return layers, [_cycle(path, edges) for path in paths.values()]


def _cycle(path: list[str], edges: Edges) -> Diagnostic:
    """The finding about a cycle; ``path`` leads from the head of the negative edge, through what depends on it, to the
    predicate that the edge negates."""
    steps = [edges[path[0], path[-1]]]
    steps += [edges[path[i], path[i - 1]] for i in range(len(path) - 1, 0, -1)]
    chain = path[0] + "".join(f" -> {mark}{atom.name}" for atom, mark in steps)
    elsewhere = ", ".join(f"{atom.name} on line {atom.span.line}" for atom, _ in steps[1:])
    itself = _ITSELF[steps[0][1]]
    message = f"closed `{path[0]}` depends on {itself}: {chain}" + (f" ({elsewhere})" if elsewhere else "")
    hint = "break the cycle, or leave one of these predicates open (without `closed`)"
    if steps[0][1] == _FALLING:
        hint = "add to it, multiply it with what is never negative, as `abs(...)`, or take `min`, `max` or `exp` of it"
    return error("negative-cycle", name_span(steps[0][0]), message, hint)


SignedFormula = tuple[ast.Expression, list[int]]  # a formula, +1 if it may be stated to be true, -1 if to be false
SignedPredicate = tuple[str, int]  # a predicate, and +1 for its lower bound (it may be true), -1 for its upper (false)


def negations(symbols: Symbols) -> list[Diagnostic]:
    return [*_never(symbols), *_true_by_default(symbols)]


def _true_by_default(symbols: Symbols) -> Iterator[Diagnostic]:
    """Queries for what a closed predicate does not list, `query ~Covered(D)`: where it does not, the answer is that of
    an atom at its default, and left out."""
    queries = (formula for formula in symbols.formulas if formula.kind == "query" and symbols.program is None)
    for root in (unweighted(formula.root) for formula in queries):
        atom = unweighted(root.operand) if isinstance(root, ast.Not) else None
        if not isinstance(atom, ast.Atom) or atom.name not in symbols.declared:
            continue
        declared = symbols.declared[atom.name]
        places = zip(atom.arguments, declared.sorts if declared.closed else (), strict=False)
        free = {argument.name: sort for argument, sort in places if isinstance(argument, ast.Variable)}
        if free:
            what = root.span.on_one_line
            lists = [_listing(name, sort, atom.name, symbols) for name, sort in free.items()]
            named = " & ".join(listing for listing in lists if listing)
            message = f"`{what}` is true by default, and answers that are their default are left out"
            hint = f"join what lists each `{'`, `'.join(free)}`"
            yield warning("true-by-default", root.span, message, f"{hint}: `{named} & {what}`" if all(lists) else hint)


def _listing(variable: str, sort: str, closed: str, symbols: Symbols) -> str:
    """An atom of a declared predicate that is about each entity of a sort; empty if there is none."""
    lists = [
        (name, predicate.sorts)
        for name, predicate in symbols.declared.items()
        if sort in predicate.sorts and sort != ENTITY and name != closed and not predicate.numeric
    ]
    if not lists:
        return ""
    name, sorts = min(lists, key=lambda pair: (pair[1].count(sort), len(pair[1])))  # `Next(day, day)` lists no last day
    others = [f"{variable}{place}" for place in range(1, len(sorts))]
    place = sorts.index(sort)
    atom = f"{format_predicate(name)}({', '.join((*others[:place], variable, *others[place:]))})"
    return f"(exists {', '.join(others)}: {atom})" if others else atom


def _never(symbols: Symbols) -> list[Diagnostic]:
    suspects = [(formula, atom) for formula in symbols.formulas for atom in _denied(formula, symbols)]
    if not suspects or not symbols.whole:
        return []
    known, _ = supplied(symbols)  # predicates that nothing supplies are reported elsewhere
    reached = _given(symbols)
    suspects = [(formula, atom) for formula, atom in suspects if atom.name in known and (atom.name, -1) not in reached]
    _close(reached, list(_stated(symbols)) if suspects else [])
    silent: dict[str, dict[int, tuple[Formula, ast.Atom]]] = {}  # by predicate: the statements, each once
    for formula, atom in suspects:
        if (atom.name, -1) not in reached and not _speaks(formula, reached):
            silent.setdefault(atom.name, {}).setdefault(id(formula), (formula, atom))
    return [_never_false(*next(iter(denials.values())), len(denials) - 1, symbols) for denials in silent.values()]


def _never_false(formula: Formula, atom: ast.Atom, others: int, symbols: Symbols) -> Diagnostic:
    """The warning at the first statement that negates it; ``others`` is the number of further statements that do."""
    what = "so the query is true of nothing" if formula.kind == "query" else f"so the {formula.kind} derives nothing"
    what += f"; {others:,} more statements negate it" if others > 1 else "; one more statement negates it" * others
    message = f"nothing can make `~{atom.span.text}` true: no fact, table or rule makes `{atom.name}` false, {what}"
    sorts = symbols.resolved[atom.name].sorts
    shape = format_statement(ast.PredicateStatement(atom.name, sorts, True, span=atom.span))
    hint = f"if its list is complete, declare it `closed`: `{shape}`; else say where it is false: `fact ~...`"
    return warning("never-false", name_span(atom), message, hint)


def _denied(formula: Formula, symbols: Symbols) -> Iterator[ast.Atom]:
    """The atoms of open predicates that must be false for the body of a statement, or for a compound query, to hold."""
    body = _body(formula)
    if body is None:
        return
    literals = list(signed(body))
    asserted = {id(atom) for atom, sign in literals if sign > 0}  # under `<->`, an atom comes with both signs
    for atom, sign in literals:
        declared = symbols.declared.get(atom.name)
        unlike = declared is not None and (declared.numeric or declared.closed)
        bound = not atom.arguments and any(visit.node is atom and atom.name in visit.scope for visit in formula.visits)
        if sign < 0 and id(atom) not in asserted and not (unlike or bound or symbols.doubtful(atom.name)):
            yield atom


def _body(formula: Formula) -> ast.Expression | None:
    root = unweighted(formula.matrix)
    if formula.kind == "query":
        while isinstance(root, ast.Exists):
            root = root.body
        return root if isinstance(root, ast.And) else None
    return root.antecedent if isinstance(root, ast.Implies) else None


def _speaks(formula: Formula, reached: set[SignedPredicate]) -> bool:
    """Whether the body may hold in another way, or the statement is an axiom that infers in another direction."""
    body = _body(formula)
    if body is not None and _may(body, 1, reached):
        return True
    return formula.kind == "axiom" and bool(_proposed(_asserted(formula.root, *ends(formula.bounds)), reached))


# --- what is given ----------------------------------------------------------------------------------------------------


def _given(symbols: Symbols) -> set[SignedPredicate]:
    facts = [] if symbols.program is None else list(symbols.program.facts)
    facts += [stated for formula in symbols.formulas if (stated := stated_fact(formula)) is not None]
    for statement in symbols.statements(ast.FactStatement):
        if statement.atom.name not in symbols.numbers and all(isinstance(end, float) for end in ends(statement.bounds)):
            facts.append(fact(statement))
    given = [(stated.predicate, stated.lower, stated.upper) for stated in facts]
    tables = [table for table in symbols.tables if len(table)]
    given += [(table.predicate, float(table.lower.max()), float(table.upper.min())) for table in tables]
    loads = symbols.statements(ast.LoadStatement) if not symbols.complete else ()
    given += [(load.name, 1.0, 0.0) for load in loads]  # not read, so anything may be in it
    given += [(name, 0.0, 0.0) for name, predicate in symbols.declared.items() if predicate.closed]
    return {(name, 1) for name, lower, _ in given if lower > 0} | {(name, -1) for name, _, upper in given if upper < 1}


# --- what follows -----------------------------------------------------------------------------------------------------


def _stated(symbols: Symbols) -> Iterator[SignedFormula]:
    """The rules and axioms, also those of the program that a query is about."""
    for formula in symbols.formulas:
        if formula.kind != "query":
            yield _asserted(formula.root, *ends(formula.bounds))
    for assertion in () if symbols.program is None else symbols.program.assertions:
        yield _asserted(cast(ast.Expression, assertion.formula), assertion.lower, assertion.upper)


def _asserted(root: ast.Expression, lower: ast.Value | float, upper: ast.Value | float) -> SignedFormula:
    low, high = (end.value if isinstance(end, ast.Number) else end for end in (lower, upper))
    true, false = isinstance(low, ast.Learnable) or low > 0, isinstance(high, ast.Learnable) or high < 1
    return root, [1] * true + [-1] * false


def _close(reached: set[SignedPredicate], statements: Sequence[SignedFormula]) -> None:
    """Add all sides that statements may propose, until nothing changes."""
    readers: dict[str, list[int]] = {}
    for place, (root, _) in enumerate(statements):
        for name in {atom.name for atom in atoms(root)}:
            readers.setdefault(name, []).append(place)
    due = dict.fromkeys(range(len(statements)))
    while due:
        place = next(iter(due))
        del due[place]
        for side in _proposed(statements[place], reached) - reached:
            reached.add(side)
            due.update(dict.fromkeys(readers.get(side[0], ())))


def _proposed(statement: SignedFormula, reached: set[SignedPredicate]) -> set[SignedPredicate]:
    root, signs = statement
    return {side for sign in signs for side in _down(root, sign, reached)}


def _loose(node: ast.Expression) -> bool:
    """Whether weights or a bias let a connective conclude something before all its operands are known."""
    return bool(getattr(node, "attributes", ())) or any(isinstance(child, ast.Weighted) for child in children(node))


def _parts(node: ast.Expression, sign: int) -> tuple[list[tuple[ast.Expression, int]], bool]:
    """The operands of a formula with the sign that each has where the formula is true (+1) or false (-1), and whether
    all have it there, not just one."""
    together = {ast.And: sign > 0, ast.Or: sign < 0, ast.Implies: sign < 0}.get(type(node), True)
    return [] if isinstance(node, ast.Comparison | ast.NumericNode) else with_signs(node, sign), together


def _may(node: ast.Expression, sign: int, reached: set[SignedPredicate]) -> bool:
    """Whether a formula may become true (+1) or false (-1), at least to some degree."""
    if isinstance(node, ast.Atom):
        return (node.name, sign) in reached
    if isinstance(node, ast.Iff | ast.Xor):
        return all(any(_may(child, either, reached) for either in (1, -1)) for child in children(node))
    parts, together = _parts(node, sign)
    every = all if together and not _loose(node) else any
    return not parts or every(_may(operand, one, reached) for operand, one in parts)


def _down(node: ast.Expression, sign: int, reached: set[SignedPredicate]) -> Iterator[SignedPredicate]:
    """The sides of atoms that a formula may propose if it is true (+1) or false (-1)."""
    if isinstance(node, ast.Atom):
        yield node.name, sign
    elif isinstance(node, ast.Iff | ast.Xor):
        left, right = children(node)
        alike = (sign > 0) == isinstance(node, ast.Iff)
        for one, other in ((left, right), (right, left)):
            for either in (1, -1):
                if _may(other, either, reached):
                    yield from _down(one, either if alike else -either, reached)
                if _loose(node):
                    yield from _down(one, either, reached)
    else:
        parts, together = _parts(node, sign)
        failing = [_may(operand, -one, reached) for operand, one in parts]
        for place, (operand, one) in enumerate(parts):  # each, or only the one that remains when all others fail
            if together or _loose(node) or all(failing[:place] + failing[place + 1 :]):
                yield from _down(operand, one, reached)
