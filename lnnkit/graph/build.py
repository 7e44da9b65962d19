"""Checked program -> lifted graph. Equal neurons (up to renaming of their variables) become one node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from lnnkit.check.program import ENTITY, Assertion, CheckedProgram, Predicate, Query, SameEntity
from lnnkit.graph.lifted import NEURONS, LiftedGraph, Reference, Root
from lnnkit.syntax import ast

Formula = ast.Expression | SameEntity


def build(program: CheckedProgram) -> LiftedGraph:
    """The lifted graph of a checked program that holds nothing ``unsupported``.

    Statements come first, queries after them: asking for a neuron adds no use to it.
    """
    builder = _Builder(program.predicates, nx.MultiDiGraph())
    for predicate in program.predicates.values():
        if not predicate.numeric:
            builder.graph.add_node(
                predicate.name,
                kind="predicate",
                sorts=predicate.sorts,
                closed=predicate.closed,
                span=predicate.span,
                uses=0,
                shared=False,
                defining=False,
                stated=True,
            )
    closed_derived = frozenset(
        name for assertion in program.assertions for name in defined_predicates(assertion, program.predicates)
    )
    statements = tuple(builder.statement(assertion) for assertion in program.assertions)
    builder.close(statements)
    queries = tuple(builder.query(query) for query in program.queries)
    return LiftedGraph(builder.graph, program, statements, queries, closed_derived)


def add_queries(lifted: LiftedGraph, queries: Sequence[Query]) -> LiftedGraph:
    """The same graph with other queries; neurons that only the earlier queries had stay as unread nodes."""
    builder = _Builder(lifted.program.predicates, lifted.graph.copy())
    builder.recall()
    return LiftedGraph(
        builder.graph,
        lifted.program,
        lifted.statements,
        tuple(builder.query(query) for query in queries),
        lifted.closed_derived,
    )


def stripped(assertion: Assertion) -> Formula:
    """The statement's formula without the universal quantifiers at its head, whose variables are then free.

    Only where the upper truth is 1: ``forall X: F in [l, 1]`` says no more than that each instance is at least ``l``.
    """
    formula = assertion.formula
    while isinstance(formula, ast.Forall) and _number(assertion.upper) == 1.0:
        formula = formula.body
    return formula


def defined_predicates(assertion: Assertion, predicates: Mapping[str, Predicate]) -> frozenset[str]:
    """The closed predicates whose atoms the statement's consequent conjunction asserts."""
    formula = stripped(assertion)
    if not isinstance(formula, ast.Implies):
        return frozenset()
    return frozenset(atom.name for atom in _conjuncts(formula.consequent) if predicates[atom.name].closed)


def _conjuncts(formula: Formula) -> Iterable[ast.Atom]:
    stack = [formula]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Weighted):
            stack.append(part.operand)
        elif isinstance(part, ast.And):
            stack.extend(part.operands)
        elif isinstance(part, ast.Atom):
            yield part


def _number(value: ast.Value | float) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, ast.Number):
        return float(value.value)
    raise AssertionError("learnable values are refused before the graph is built")


@dataclass(frozen=True, slots=True)
class _Part:
    """A built subformula: its node, and what each of its parameters is in the formula around it."""

    node: str
    arguments: tuple[str | ast.Constant, ...]  # a variable's name, or a constant


@dataclass(slots=True)
class _Builder:
    predicates: Mapping[str, Predicate]
    graph: nx.MultiDiGraph
    nodes: dict[object, str] = field(default_factory=dict)
    counter: int = 0

    def recall(self) -> None:
        """Take the keys of a graph that was built before, so that its neurons are met again."""
        for node, data in self.graph.nodes(data=True):
            if "key" in data:
                self.nodes[data["key"]] = node
        self.counter = len(self.graph)

    def statement(self, assertion: Assertion) -> Root:
        formula = stripped(assertion)
        defines = defined_predicates(assertion, self.predicates)
        part, built = self._formula(formula, assertion.logic)
        if defines:  # a defining rule reads its own heads as unknown, so they must be in sight of its instances
            assert isinstance(formula, ast.Implies)
            for conjunction in (formula, *_conjunctions(formula.consequent)):
                if any(self.predicates[atom.name].closed for atom in _conjuncts(conjunction)) or conjunction is formula:
                    self.graph.nodes[built[id(conjunction)].node]["defining"] = True
        if self.graph.nodes[part.node]["kind"] in NEURONS:
            self.graph.nodes[part.node]["uses"] += 1
        return self._root(part, _number(assertion.lower), _number(assertion.upper), assertion, defines)

    def query(self, query: Query) -> Root:
        before = {node: data["uses"] for node, data in self.graph.nodes(data=True)}
        part, _ = self._formula(query.formula, query.logic)
        for node, data in self.graph.nodes(data=True):
            data["uses"] = before.get(node, 0)
        return self._root(part, 0.0, 1.0, query, frozenset())

    def close(self, statements: Iterable[Root]) -> None:
        """Decide which neurons keep bounds of their own, and which truth statements give them."""
        for _, data in self.graph.nodes(data=True):
            data["stated"] = True
            data["shared"] = data["kind"] in NEURONS and data["uses"] >= 2 and not data["defining"]
        for root in statements:
            data = self.graph.nodes[root.reference.node]
            if data["shared"]:
                data["lower"] = max(data["lower"], root.lower)
                data["upper"] = min(data["upper"], root.upper)

    def _root(
        self, part: _Part, lower: float, upper: float, origin: Assertion | Query, defines: frozenset[str]
    ) -> Root:
        variables = tuple(dict.fromkeys(a for a in part.arguments if isinstance(a, str)))
        sorts = dict.fromkeys(variables, ENTITY)
        for argument, sort in zip(part.arguments, self.graph.nodes[part.node]["sorts"], strict=True):
            if isinstance(argument, str) and sort != ENTITY:
                sorts[argument] = sort
        index = {name: position for position, name in enumerate(variables)}
        return Root(
            Reference(part.node, _arguments(part, index)),
            variables,
            tuple(sorts[name] for name in variables),
            lower,
            upper,
            origin,
            defines,
        )

    def _formula(self, formula: Formula, logic: str) -> tuple[_Part, Mapping[int, _Part]]:
        """What the formula and each of its subformulas (by id) are built into. Post-order without recursion: formulas
        may be nested deeper than Python's stack."""
        built: dict[int, _Part] = {}
        stack: list[tuple[Formula, bool]] = [(formula, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                built[id(node)] = self._node(node, built, logic)
            else:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(_operands(node)))
        return built[id(formula)], built

    def _node(self, formula: Formula, built: Mapping[int, _Part], logic: str) -> _Part:
        match formula:
            case ast.Atom():
                return _Part(
                    formula.name, tuple(a.name if isinstance(a, ast.Variable) else a for a in formula.arguments)
                )
            case ast.Weighted():
                return built[id(formula.operand)]
        kind = _kind(formula)
        attributes = {a.key: a.value for a in getattr(formula, "attributes", ())}
        bias = attributes.get("bias", 1.0)
        bias = _number(bias) if not isinstance(bias, (str, ast.ValueList)) else 1.0
        own_logic = attributes.get("logic", logic)
        weights = tuple(_number(o.weight) if isinstance(o, ast.Weighted) else 1.0 for o in _operands(formula))
        if isinstance(formula, SameEntity):
            sides = (formula.left, formula.right)
            arguments = tuple(s.name if isinstance(s, ast.Variable) else s for s in sides)
            parts = (_Part("=", arguments),)
            names = tuple(dict.fromkeys(a for a in arguments if isinstance(a, str)))
            bound: tuple[str, ...] = ()
        else:
            parts = tuple(built[id(operand)] for operand in _operands(formula))
            bound = tuple(v.name for v in formula.variables) if isinstance(formula, (ast.Forall, ast.Exists)) else ()
            names = tuple(dict.fromkeys(a for p in parts for a in p.arguments if isinstance(a, str) and a not in bound))
        index = {name: position for position, name in enumerate(names + bound)}
        edges = tuple(
            (p.node, weight, _arguments(p, index)) for p, weight in zip(parts, weights or (1.0,), strict=False)
        )
        connective = kind in {"and", "or", "implies", "iff", "xor"}
        key = (kind, own_logic if connective else None, bias if connective else None, len(bound), edges)
        name = self.nodes.get(key)
        if name is None:
            self.counter += 1
            name = f"{kind}#{self.counter}"
            sorts = self._sorts(edges, len(index))
            data: dict[str, object] = {
                "kind": kind,
                "sorts": sorts[: len(names)],
                "bound_sorts": sorts[len(names) :],
                "span": formula.span,
                "uses": 0,
                "shared": False,
                "defining": False,
                "stated": False,
                "lower": 0.0,
                "upper": 1.0,
            }
            if connective:
                data |= {"logic": own_logic, "bias": bias}
            if kind == "same":
                data["arguments"] = edges[0][2]
            data["key"] = key
            self.nodes[key] = name
            self.graph.add_node(name, **data)
            for position, (operand, weight, arguments) in enumerate(edges if kind != "same" else ()):
                self.graph.add_edge(name, operand, position=position, weight=weight, arguments=arguments)
                self.graph.nodes[operand]["uses"] += 1
        return _Part(name, names)

    def _sorts(self, edges: Sequence[tuple[str, float, tuple[int | str, ...]]], count: int) -> tuple[str, ...]:
        """The sort of each variable, from the operands' parameters that it stands for."""
        sorts = [ENTITY] * count
        for operand, _, arguments in edges:
            if operand == "=":
                continue
            for argument, sort in zip(arguments, self.graph.nodes[operand]["sorts"], strict=True):
                if isinstance(argument, int) and sort != ENTITY:
                    sorts[argument] = sort
        return tuple(sorts)


def _arguments(part: _Part, index: Mapping[str, int]) -> tuple[int | str, ...]:
    return tuple(index[a] if isinstance(a, str) else a.text for a in part.arguments)


def _operands(formula: Formula) -> tuple[Formula, ...]:
    match formula:
        case ast.Not() | ast.Weighted():
            return (formula.operand,)
        case ast.And() | ast.Or():
            return formula.operands
        case ast.Implies():
            return (formula.antecedent, formula.consequent)
        case ast.Iff() | ast.Xor():
            return (formula.left, formula.right)
        case ast.Forall() | ast.Exists():
            return (formula.body,)
    return ()


def _conjunctions(formula: Formula) -> Iterable[Formula]:
    """The conjunctions between a consequent and its conjuncts."""
    stack = [formula]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Weighted):
            stack.append(part.operand)
        elif isinstance(part, ast.And):
            yield part
            stack.extend(part.operands)


def _kind(formula: Formula) -> str:
    match formula:
        case SameEntity():
            return "same"
        case ast.Truth():
            return "true" if formula.value else "false"
    return type(formula).__name__.lower()
