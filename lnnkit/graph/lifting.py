"""Lifts a checked program to a graph. Neurons and terms that are equal up to renaming of variables become one node."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lnnkit.check.program import ENTITY, Assertion, CheckedFormula, CheckedProgram, Query, SameEntity
from lnnkit.check.symbols import negated_ends
from lnnkit.check.walk import asserted, children, conjuncts
from lnnkit.garbage import collection_paused
from lnnkit.graph.describe import Description, Parameters, defined_predicates, derived_by, describe, starts, stripped
from lnnkit.graph.laws import laws
from lnnkit.graph.lifted import (
    COMPARISON,
    NEURONS,
    NUMBER,
    TERMS,
    LiftedGraph,
    NeuronGraph,
    Reference,
    Root,
    arguments_within,
    below_negations,
    instances,
)
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Span
from lnnkit.syntax.identifiers import AGGREGATES
from lnnkit.time_limit import check_time

_Edge = tuple[str, tuple[float, str | None], tuple[int | str, ...]]  # operand, weight and its parameter, arguments
_CONSTANT = ("true", "false", "constant")
_UNSTATED = {"uses": 0, "repeated": False, "shared": False, "defining": False, "stated": False, "asserted": False}


@collection_paused()
def build(program: CheckedProgram) -> LiftedGraph:
    """The lifted graph of a checked program. Statements come before queries, so that asking for a neuron does not count
    as a use of it."""
    builder = _Builder(program, NeuronGraph(), Parameters(starts(program.assertions)))
    for predicate in program.predicates.values():
        data = {"kind": NUMBER if predicate.numeric else "predicate", "sorts": predicate.sorts, "span": predicate.span}
        builder.graph.add_node(predicate.name, **{**_UNSTATED, **data, "closed": predicate.closed, "stated": True})
    for assertion in program.assertions:
        if (derived := derived_by(assertion, program.predicates)) is not None:
            builder.graph.nodes[derived.head.name]["derived"] = derived.aggregate.name
    closed_derived = frozenset(
        name for assertion in program.assertions for name in defined_predicates(assertion, program.predicates)
    )
    stated = (*program.assertions, *laws([a for a in program.assertions if derived_by(a, program.predicates) is None]))
    statements = tuple(builder.statement(assertion) for assertion in stated)
    builder.close(statements)
    used = {data["logic"] for _, data in builder.graph.nodes.items() if "logic" in data}
    builder.graph.mixed = len(used) > 1
    queries = tuple(builder.query(query) for query in program.queries)
    statements = tuple(map(builder.asserting, statements))
    return LiftedGraph(builder.graph, program, statements, queries, closed_derived, builder.parameters)


def add_queries(lifted: LiftedGraph, queries: Sequence[Query]) -> LiftedGraph:
    """The same graph with other queries; neurons of the earlier queries remain as unused nodes."""
    if all(isinstance(query.formula, ast.Atom) for query in queries):  # they add nothing, and a copy takes long
        builder = _Builder(lifted.program, lifted.graph, lifted.parameters)
        return replace(lifted, queries=tuple(map(builder.query, queries)))
    builder = _Builder(lifted.program, lifted.graph.copy(), lifted.parameters)
    builder.recall()
    asked = tuple(map(builder.query, queries))
    statements = tuple(map(builder.asserting, lifted.statements))
    return replace(lifted, graph=builder.graph, statements=statements, queries=asked)


@dataclass(frozen=True, slots=True)
class _Part:
    """A subformula in the graph: its node, and the argument for each parameter of the node in the surrounding
    formula."""

    node: str
    arguments: tuple[str | ast.Constant, ...]  # a variable's name, or a constant


@dataclass(slots=True)
class _Builder:
    program: CheckedProgram
    graph: NeuronGraph
    parameters: Parameters
    nodes: dict[object, str] = field(default_factory=dict)
    counter: int = 0
    asked: set[str] | None = None  # while a query is built: the nodes that it adds, whose operands count no use

    def recall(self) -> None:
        """Restore the hash-consing keys of a graph built earlier, so that its neurons are reused."""
        for node, data in self.graph.nodes.items():
            if "key" in data:
                self.nodes[data["key"]] = node
        self.counter = len(self.graph.nodes)

    def statement(self, assertion: Assertion) -> Root:
        check_time()
        derived = derived_by(assertion, self.program.predicates)
        formula = stripped(assertion) if derived is None else derived.candidate
        defines = defined_predicates(assertion, self.program.predicates)
        part, built = self._formula(formula, assertion.logic)
        if defines:  # A defining rule reads its own heads as unknown, so they must be leaves of its instances.
            assert isinstance(formula, ast.Implies)
            self.graph.nodes[built[id(formula)].node]["defining"] = True
            for node in (node for node in conjuncts(formula.consequent) if isinstance(node, ast.And)):
                if any(self.program.predicates[atom.name].closed for atom in asserted(node)):
                    self.graph.nodes[built[id(node)].node]["defining"] = True
        ends = self.parameters.read(assertion.lower, 1.0), self.parameters.read(assertion.upper, 1.0)
        return self._root(part, ends, assertion, defines)

    def query(self, query: Query) -> Root:
        self.asked = added = set[str]()
        part, _ = self._formula(query.formula, query.logic)
        self.asked = None
        ends = (-math.inf, math.inf) if query.numeric else (0.0, 1.0)
        linked = replace(part, node=self._linked(part.node, added))
        return self._root(linked, ((ends[0], None), (ends[1], None)), query, frozenset())

    def _linked(self, top: str, added: Collection[str]) -> str:
        """Make a query read those neurons of the program of which its subformulas are instances: neurons that keep
        their own bounds, and asserted ones, which then keep bounds too. The formula asked for, below its negations, is
        evaluated itself. Nodes that it has not ``added`` stay unchanged, since others read them: with other operands
        such a node becomes a new one. Returns the query's node."""
        negations, _ = self._negations(top)
        now: dict[str, str] = {}  # the replacement of each node in the query
        links: dict[str, list[_Edge]] = {}  # the edges of each node, as far as they are known
        stack = [top]
        while stack:
            node = stack[-1]
            if node not in links:
                links[node] = [self._link(edge, node in negations) for edge in self._edges(node)]
                stack += [operand for operand, *_ in links[node] if node in negations or self._is_opened(operand)]
                continue
            stack.pop()
            if node not in now:
                edges = [(now.get(operand, operand), weight, given) for operand, weight, given in links[node]]
                now[node] = self._reading(node, edges, added)
        return now[top]

    def _link(self, edge: _Edge, asked: bool) -> _Edge:
        """The edge of a query, redirected to a neuron of the program of which its operand is an instance, if there is
        one and the operand is not what is ``asked`` for."""
        operand, weight, arguments = edge
        if asked or self.graph.nodes[operand]["kind"] not in NEURONS | AGGREGATES or self._is_kept(operand):
            return edge
        met = instances(self.graph, Reference(operand, arguments))
        kept = [reference for reference in met if self._is_kept(reference.node)]
        kept = kept or [reference for reference in met if self.graph.nodes[reference.node]["asserted"]]
        if not kept:
            return edge
        self.graph.nodes[kept[0].node]["shared"] = True
        return kept[0].node, weight, kept[0].arguments

    def _is_kept(self, node: str) -> bool:
        """Whether a neuron keeps its own bounds regardless of queries: other queries must not change an answer."""
        data = self.graph.nodes[node]
        always = data["kind"] == COMPARISON or data["kind"] in AGGREGATES
        return data["shared"] and (always or data["uses"] >= 2 or data["repeated"])

    def _is_opened(self, node: str) -> bool:
        """Whether a query evaluates the operands of a node that no statement uses."""
        data = self.graph.nodes[node]
        return data["kind"] == "not" or (data["kind"] in NEURONS and not data["shared"])

    def _edges(self, node: str) -> list[_Edge]:
        return [
            (operand, (edge["weight"], edge["parameter"]), edge["arguments"])
            for operand, edge in self.graph.operands[node]
        ]

    def _reading(self, node: str, edges: Sequence[_Edge], added: Collection[str]) -> str:
        """The node with these edges: itself, or a copy if it has other edges and the query has not ``added`` it."""
        if edges == self._edges(node):
            return node
        data = self.graph.nodes[node]
        if node not in added:
            key = (*data["key"][:2], tuple(edges))
            if key in self.nodes:
                return self.nodes[key]
            self.counter += 1
            node = self.nodes[key] = f"{data['kind']}#{self.counter}"
            self.graph.add_node(node, **(data | _UNSTATED | {"key": key, "lower": 0.0, "upper": 1.0}))
        self._connect(node, edges)
        return node

    def close(self, statements: Sequence[Root]) -> None:
        """Decide which neurons keep their own bounds, and which truth statements give them. Comparisons always keep
        bounds, since what they say about their numbers depends on those."""
        learned = {root.reference.node for root in statements if any(root.learned)}
        beneath = {self._negations(root.reference.node)[1] for root in statements}
        fixed = set[str]()
        for node, data in self.graph.nodes.items():
            data["stated"] = True
            if data["kind"] in NEURONS and not (data["defining"] or node in learned or self._trainable(node)):
                fixed.add(node)
                data["asserted"] = node in beneath
        self._read_asserted()
        roots = [root.reference.node for root in statements]
        self._count(roots)
        numbers = {name for name, predicate in self.program.predicates.items() if predicate.numeric}
        stated = (root.reference.node for root in statements if numbers.isdisjoint(root.defines))
        narrowing = self.graph.below(*stated, outside=AGGREGATES)
        for node, data in self.graph.nodes.items():
            if data["kind"] in NEURONS:
                several = data["uses"] >= 2 or data["repeated"]
                compares = data["kind"] == COMPARISON and node in narrowing
                data["shared"] = compares or (node in fixed and several)
            data["shared"] |= data["kind"] in AGGREGATES
        for root in map(self._beneath_negations, statements):
            data = self.graph.nodes[root.reference.node]
            if data["kind"] in NEURONS:
                data["lower"] = max(data["lower"], root.lower)
                data["upper"] = min(data["upper"], root.upper)

    def _read_asserted(self) -> None:
        """Make each part of a statement that is an instance of an asserted neuron read that neuron: it is one of its
        instances, and what the program says of all of them it says of this."""
        asserted: dict[str, list[str]] = {}
        for node, data in self.graph.nodes.items():
            if data["kind"] in NEURONS and data["kind"] != COMPARISON and data["asserted"]:
                asserted.setdefault(data["kind"], []).append(node)
        parts = [
            node
            for node, edges in self.graph.operands.items()
            if any(self.graph.nodes[operand]["kind"] in asserted for operand, _ in edges)
        ]
        for node in parts:
            self._connect(node, [self._general(edge, asserted) for edge in self._edges(node)])
        if parts:
            self.graph.sort()

    def _general(self, edge: _Edge, asserted: Mapping[str, Sequence[str]]) -> _Edge:
        """The edge, led to one of the ``asserted`` neurons of which the operand is an instance."""
        operand, weight, arguments = edge
        data = self.graph.nodes[operand]
        if data["kind"] not in asserted or data["asserted"] or data["defining"]:
            return edge
        met = instances(self.graph, Reference(operand, arguments), asserted[data["kind"]])
        if not met:
            return edge
        first = min(met, key=lambda reference: arguments_within(self.graph, reference.node))
        return first.node, weight, first.arguments

    def _count(self, roots: Sequence[str]) -> None:
        """Count the uses of each neuron. A use of a negation counts for what it negates, since a negation keeps no
        bounds. A part is repeated if the formula around it has more variables and it has few instances of its own: it
        has one variable at most, or each of its atoms has all of them."""
        nodes = self.graph.nodes
        for node in roots:
            nodes[self._negations(node)[1]]["uses"] += 1
        compares = set[str]()  # the nodes that compare entities: no one default holds for most of their instances
        whole = set[str]()  # the nodes each atom of which has all variables
        stated = self.graph.below(*roots)
        for node, data in nodes.items():  # operands come first
            edges = self.graph.operands[node]
            parameters = range(len(data["sorts"]))
            if data["kind"] == "same" or not compares.isdisjoint(operand for operand, _ in edges):
                compares.add(node)
            if all(
                nodes[operand]["kind"] in _CONSTANT or (operand in whole and {*parameters}.issubset(edge["arguments"]))
                for operand, edge in edges
            ):
                whole.add(node)
            if node not in stated or data["kind"] == "not":
                continue
            for operand, edge in edges:
                core = nodes[operand]
                if core["kind"] == "not":
                    core = nodes[self._negations(operand)[1]]
                core["uses"] += 1
                fewer = len({a for a in edge["arguments"] if isinstance(a, int)}) < len(parameters)
                few = operand in whole or len(core["sorts"]) < 2
                core["repeated"] |= fewer and few and operand not in compares

    def asserting(self, root: Root) -> Root:
        """A statement; if it negates a neuron that keeps bounds, rewritten as a statement about that neuron."""
        beneath = self._beneath_negations(root)
        return beneath if self.graph.nodes[beneath.reference.node]["shared"] else root

    def _beneath_negations(self, root: Root) -> Root:
        """A statement rewritten without its leading negations. One with a learned truth stays as it is."""
        reference, negated = below_negations(self.graph, root.reference)
        if any(root.learned):
            return root
        lower, upper = negated_ends(root.lower, root.upper) if negated else (root.lower, root.upper)
        return replace(root, reference=reference, lower=lower, upper=upper)

    def _root(
        self,
        part: _Part,
        ends: tuple[tuple[float, str | None], tuple[float, str | None]],
        origin: Assertion | Query,
        defines: frozenset[str],
    ) -> Root:
        variables = tuple(dict.fromkeys(a for a in part.arguments if isinstance(a, str)))
        index = {name: position for position, name in enumerate(variables)}
        reference = Reference(part.node, _arguments(part, index))
        (lower, low), (upper, high) = ends
        sorts = self._sorts([(part.node, (1.0, None), reference.arguments)], len(variables))
        return Root(reference, variables, sorts, lower, upper, origin, defines, (low, high))

    def _formula(self, formula: CheckedFormula, logic: str) -> tuple[_Part, Mapping[int, _Part]]:
        """The parts that the formula and each of its subformulas (by id) become. Post-order without recursion: formulas
        may be nested deeper than Python's stack."""
        built: dict[int, _Part] = {}
        stack: list[tuple[CheckedFormula, bool]] = [(formula, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                built[id(node)] = self._node(node, built, logic)
            else:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(_operands(node)))
        return built[id(formula)], built

    def _node(self, formula: CheckedFormula, built: Mapping[int, _Part], logic: str) -> _Part:
        match formula:
            case ast.Atom():
                return _Part(
                    formula.name, tuple(a.name if isinstance(a, ast.Variable) else a for a in formula.arguments)
                )
            case ast.Weighted():
                return built[id(formula.operand)]
        described = describe(formula, logic, self.parameters, self.program)
        weights = tuple(self._weight(operand) for operand in _operands(formula))
        if isinstance(formula, SameEntity):
            sides = (formula.left, formula.right)
            parts = (_Part("=", tuple(s.name if isinstance(s, ast.Variable) else s for s in sides)),)
            weights = ((1.0, None),)
        else:
            parts = tuple(built[id(operand)] for operand in _operands(formula))
        bound = tuple(v.name for v in formula.variables) if isinstance(formula, ast.Binder) else ()
        names = tuple(dict.fromkeys(a for p in parts for a in p.arguments if isinstance(a, str) and a not in bound))
        index = {name: position for position, name in enumerate(names + bound)}
        edges = tuple((p.node, weight, _arguments(p, index)) for p, weight in zip(parts, weights, strict=True))
        key = (described.key, len(bound), edges)
        name = self.nodes.get(key)
        if name is None:
            name = self.nodes[key] = self._add(described, edges, len(names), len(index), formula.span, key)
        data = self.graph.nodes[name]
        if bound and not data["stated"]:  # Choose one of several notations that are equal up to the order of operands.
            data["bound_names"] = min(bound, data.get("bound_names", bound))
        return _Part(name, names)

    def _weight(self, operand: CheckedFormula) -> tuple[float, str | None]:
        return self.parameters.read(operand.weight, 1.0) if isinstance(operand, ast.Weighted) else (1.0, None)

    def _add(
        self, described: Description, edges: Sequence[_Edge], free: int, count: int, span: Span, key: object
    ) -> str:
        """Add a node of ``count`` variables, the first ``free`` of which are its parameters; returns its name."""
        kind = described.kind
        self.counter += 1
        name, sorts = f"{kind}#{self.counter}", self._sorts(edges, count)
        data: dict[str, object] = {
            "kind": kind,
            "sorts": sorts[:free],
            "bound_sorts": sorts[free:],
            "span": span,
            "learned": described.learned,
            "key": key,
            **_UNSTATED,
            **described.attributes,
        }
        if kind in AGGREGATES:
            data |= {"lower": -math.inf, "upper": math.inf}
        elif kind not in TERMS:
            data |= {"lower": 0.0, "upper": 1.0}
        if kind == "same":
            self.graph.add_node(name, **data, arguments=edges[0][2])
            return name
        self.graph.add_node(name, **data)
        self._connect(name, edges)
        if self.asked is not None:
            self.asked.add(name)
        return name

    def _connect(self, node: str, edges: Sequence[_Edge]) -> None:
        self.graph.operands[node] = [
            (operand, {"weight": weight, "parameter": parameter, "arguments": arguments})
            for operand, (weight, parameter), arguments in edges
        ]

    def _negations(self, node: str) -> tuple[set[str], str]:
        """The leading negations of a formula, and the node below them."""
        negations = set[str]()
        while self.graph.nodes[node]["kind"] == "not":
            negations.add(node)
            ((node, _),) = self.graph.operands[node]
        return negations, node

    def _sorts(self, edges: Sequence[_Edge], count: int) -> tuple[str, ...]:
        """The sort of each variable, from the operands' parameters in which it is used."""
        sorts = [ENTITY] * count
        for operand, _, arguments in edges:
            if operand == "=":
                continue
            for argument, sort in zip(arguments, self.graph.nodes[operand]["sorts"], strict=True):
                if isinstance(argument, int) and sort != ENTITY:
                    sorts[argument] = sort
        return tuple(sorts)

    def _trainable(self, node: str) -> bool:
        """Whether the neuron has parameters of its own."""
        operands = self.graph.operands[node]
        return bool(self.graph.nodes[node]["learned"]) or any(edge["parameter"] is not None for _, edge in operands)


def _arguments(part: _Part, index: Mapping[str, int]) -> tuple[int | str, ...]:
    return tuple(index[a] if isinstance(a, str) else a.text for a in part.arguments)


def _operands(formula: CheckedFormula) -> tuple[ast.Expression, ...]:
    if isinstance(formula, SameEntity):
        return ()
    operands = children(formula)
    return operands[::-1] if isinstance(formula, ast.Aggregate) else operands  # its condition first
