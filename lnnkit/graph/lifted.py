"""The lifted graph: what its nodes, edges and roots hold.

A node is a predicate or a number (its name), a neuron (``"and#3"``), or a
term (``"divide#7"``), with the attributes

- ``kind``: predicate, same, true, false, not, and, or, implies, iff, xor, forall, exists, compare; number (a numeric
  attribute), the other ``TERMS``, and the ``AGGREGATES``
- ``sorts``: the sort of each parameter (the arguments of a predicate, the free variables of a neuron or term in order
  of first occurrence)
- ``bound_sorts``: the sorts of the variables that a quantifier binds, which come after the parameters in the arguments
  of its operand; ``bound_names``: their names as written (one of the ways, if they are written in several)
- ``logic``, ``bias``, ``span``; for a predicate ``closed``; for a closed number that rules derive ``derived``: ``min``
  or ``max`` of its candidates
- ``stated``: a statement contains the node, not only a query; ``defining``: the node is an implication that completes a
  closed predicate, or a conjunction in its consequent
- ``uses``: the number of operand edges and statements that refer to the neuron; ``repeated``: a formula around it has
  more variables, so that several of its instances read the same, and it has few instances itself; ``shared``: it
  keeps its own bounds;
  ``lower``, ``upper``: the truth that its statements give it; ``asserted``: a statement without learned values is the
  neuron or its negation, so that queries may share it
- ``learned``: for each attribute with learnable values, the names of their parameters in the shape of the attribute,
  None where it is fixed. Neurons with parameters are never merged or shared, except comparisons.

A ``compare`` node is one comparison ``left operator right``; a chain is an ``and`` of them. Comparisons of statements
are always shared; one that occurs only in a query keeps no bounds. Its attributes are

- ``operator``: ``>``, ``<``, ``>=``, ``<=``, ``=``, ``!=``, or ``<?>`` (a Neural Status Register)
- ``scale``: None for a crisp comparison, otherwise the divisor of the margin
- ``weight``: for ``<?>`` the weights of the sign bit and of the zero bit, and the bias; None before training

An aggregate binds variables, as a quantifier does. Its operands are its condition and, but for a count, the term whose
values it takes together. Those of statements are always shared: a table keeps their bounds.

Terms have numbers instead of truth values, and neither ``lower`` nor ``upper``. Their kinds are ``constant`` (with
``value`` and the ``unit`` in which it is written; its ``learned`` is the name of the parameter), add, subtract,
multiply, divide, power (two operands), negate, the functions (abs, least, ...), and the units, whose attributes are
those of the program (``weight``, ``power``, ...): numbers, or tuples of them. A number atom that occurs twice in a
comparison is two edges to one node with equal arguments.

An edge leads from a neuron or term to an operand. It has ``position``, ``weight``, ``parameter`` (the name of the
weight's parameter, or None) and ``arguments``: for each parameter of the operand, the index of a variable of the neuron
(an int) or the text of an entity (a str).

A query reads what the program says of the neurons of which it is an instance: ``P(anna) | Q(anna)`` is one of ``P(X) |
Q(X)``; and of the comparisons of the terms that it compares, with what the laws of order conclude from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from lnnkit.check.program import Assertion, CheckedProgram, Query
from lnnkit.graph.describe import ARITHMETIC, Parameters
from lnnkit.graph.laws import EVERY, SIGNS, mirrored
from lnnkit.syntax.identifiers import AGGREGATES, CALENDAR, OPERATION_OF, TIMED

if TYPE_CHECKING:
    import networkx as nx

Arguments = tuple[int | str, ...]
_Bound = tuple[int, int]  # a quantified variable: the depth of its quantifier, and its position there
_Argument = int | str | _Bound
_A = TypeVar("_A", int | str, _Argument)


class NeuronGraph:
    """``nodes`` has the attributes of each node, ``operands`` its operands, each with the attributes of its edge
    (`lnnkit.graph.lifted`). ``mixed``: its neurons have several logics."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.operands: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.mixed = False

    def add_node(self, node: str, **data: Any) -> None:
        """A node without operands; one that is there gets these attributes too."""
        self.nodes.setdefault(node, {}).update(data)
        self.operands.setdefault(node, [])

    def copy(self, among: Iterable[str] | None = None) -> NeuronGraph:
        """A copy, of ``among`` and the operands of these only."""
        copied = NeuronGraph()
        copied.mixed = self.mixed
        for node in self.nodes if among is None else among:
            copied.nodes[node] = {**self.nodes[node]}
            copied.operands[node] = [(operand, {**edge}) for operand, edge in self.operands[node]]
        return copied

    def below(self, *nodes: str, outside: Collection[str] = ()) -> set[str]:
        """These nodes, and all that they are made of, without what stands in nodes of the kinds ``outside`` alone."""
        reached, stack = set(nodes), list(nodes)
        while stack:
            node = stack.pop()
            if not outside or self.nodes[node]["kind"] not in outside:
                new = {operand for operand, _ in self.operands[node]} - reached
                reached |= new
                stack += new
        return reached

    def sort(self) -> None:
        """Have the operands of each node before it, and the nodes otherwise as they are."""
        done: dict[str, None] = {}
        for start in self.nodes:
            stack = [start]
            while stack:
                new = [operand for operand, _ in self.operands[stack[-1]] if operand not in done]
                if new:
                    stack += reversed(new)
                else:
                    done.setdefault(stack.pop())
        self.nodes = {node: self.nodes[node] for node in done}

    def networkx(self) -> nx.MultiDiGraph:
        """The same graph for users, frozen: an edge leads to each operand, and has its ``position``."""
        import networkx as nx

        graph = nx.MultiDiGraph(mixed=self.mixed)
        graph.add_nodes_from(self.nodes.items())
        for node, operands in self.operands.items():
            for position, (operand, edge) in enumerate(operands):
                graph.add_edge(node, operand, position=position, **edge)
        return nx.freeze(graph)


def operands_about(graph: NeuronGraph, node: str, arguments: Sequence[_A]) -> list[tuple[str, tuple[_A, ...]]]:
    """Each operand with its arguments, given the ``arguments`` of the node."""
    return [(operand, _within(arguments, edge["arguments"])) for operand, edge in graph.operands[node]]


def _within(arguments: Sequence[_A], given: Iterable[Any]) -> tuple[_A, ...]:
    """The arguments of what is in a node: the ``given`` ones, with the ``arguments`` of the node by their places."""
    return tuple(arguments[term] if isinstance(term, int) else term for term in given)


COMPARISON = "compare"
LEAST = "forall"  # the least of the rows of its body
GREATEST = "exists"
QUANTIFIERS = (LEAST, GREATEST)
NEURONS = frozenset({"and", "or", "implies", "iff", "xor", *QUANTIFIERS, COMPARISON})
NUMBER = "number"
OPERATIONS = frozenset({*ARITHMETIC.values(), "negate", *OPERATION_OF.values(), *(TIMED + name for name in CALENDAR)})
UNITS = frozenset({"nac", "nalu", "inalu", "nau", "nmu", "npu", "realnpu"})
TERMS = frozenset({NUMBER, "constant", *OPERATIONS, *UNITS})


class Reference(NamedTuple):
    """A node as an operand: its name, and the argument for each of its parameters."""

    node: str
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Root:
    """A statement or query over the graph. ``variables`` are the names of its free variables, ``sorts`` their sorts.

    ``defines`` has the closed predicates whose atoms the statement's consequent defines, or the closed number;
    ``learned`` the parameters of its lower and its upper truth. A query for a number refers to a term; its ``lower``
    and ``upper`` are infinite.
    """

    reference: Reference
    variables: tuple[str, ...]
    sorts: tuple[str, ...]
    lower: float
    upper: float
    origin: Assertion | Query
    defines: frozenset[str] = frozenset()
    learned: tuple[str | None, str | None] = (None, None)

    def __deepcopy__(self, memo: dict[int, object]) -> Root:
        return self


@dataclass(frozen=True, slots=True)
class LiftedGraph:
    """The graph of neurons and terms, its statements and queries, and its parameters. The last statements are the laws
    of order of its comparisons (`lnnkit.graph.laws`)."""

    graph: NeuronGraph
    program: CheckedProgram
    statements: tuple[Root, ...]
    queries: tuple[Root, ...] = ()
    closed_derived: frozenset[str] = field(default=frozenset())
    parameters: Parameters = field(default_factory=lambda: Parameters({}))

    @property
    def derived_numbers(self) -> frozenset[str]:
        """The closed numbers that rules derive."""
        return frozenset(name for name in self.closed_derived if self.graph.nodes[name]["kind"] == NUMBER)


def below_negations(graph: NeuronGraph, reference: Reference) -> tuple[Reference, bool]:
    """The node below the leading negations of a reference, and whether their number is odd."""
    negated = False
    while graph.nodes[reference.node]["kind"] == "not":
        ((operand, arguments),) = operands_about(graph, reference.node, reference.arguments)
        reference, negated = Reference(operand, arguments), not negated
    return reference, negated


def instances(graph: NeuronGraph, query: Reference, among: Iterable[str] | None = None) -> list[Reference]:
    """The program's neurons, or those ``among`` them, of which ``query`` is an instance, each with its substitution: a
    variable of the query, or an entity, for each parameter."""
    kind = graph.nodes[query.node]["kind"]
    if kind not in NEURONS and kind not in AGGREGATES:
        return []
    matches = []
    for node in graph.nodes if among is None else among:
        data = graph.nodes[node]
        if data["kind"] != kind or not data["stated"]:
            continue
        bindings: dict[int, int | str] = {}
        if _match(graph, query.node, query.arguments, node, tuple(range(len(data["sorts"]))), bindings):
            matches.append(Reference(node, tuple(bindings[i] for i in range(len(data["sorts"])))))
    return matches


def arguments_within(graph: NeuronGraph, node: str) -> tuple[str, ...]:
    """The arguments of the atoms of a neuron in their order: free variables by number, constants by name, bound
    variables alike. Neurons with an instance in common differ in these alone."""
    arguments: list[str] = []
    stack: list[tuple[str, tuple[int | str, ...]]] = [(node, tuple(range(len(graph.nodes[node]["sorts"]))))]
    while stack:
        node, given = stack.pop()
        data = graph.nodes[node]
        if data["kind"] == "same":
            given = _within(given, data["arguments"])
        if data["kind"] in ("predicate", NUMBER, "same"):
            arguments += (f"\0{term}" if isinstance(term, int) else term for term in given)
            continue
        visible = given + ("",) * len(data.get("bound_sorts", ()))
        stack += reversed(operands_about(graph, node, visible))
    return tuple(arguments)


def _match(
    graph: NeuronGraph,
    query: str,
    given: Sequence[_Argument],
    node: str,
    parameters: Sequence[_Argument],
    bindings: dict[int, int | str],
    depth: int = 0,
) -> bool:
    """Whether some substitution for the free parameters of ``node`` (ints) makes it equal to ``query`` with the
    arguments ``given``; one-sided matching, which extends ``bindings``."""
    if query == node:
        return all(_bind(a, b, bindings) for a, b in zip(given, parameters, strict=True))
    asked, other = graph.nodes[query], graph.nodes[node]
    if asked["kind"] in ("predicate", NUMBER) or asked["key"][0] != other.get("key", (None,))[0]:
        return False
    if len(asked.get("bound_sorts", ())) != len(other.get("bound_sorts", ())):
        return False
    if asked["kind"] == "same":
        given, parameters = _within(given, asked["arguments"]), _within(parameters, other["arguments"])
        return all(_bind(a, b, bindings) for a, b in zip(given, parameters, strict=True))
    one, two = ([(e["weight"], e["parameter"]) for _, e in graph.operands[neuron]] for neuron in (query, node))
    if one != two:
        return False
    bound: tuple[_Argument, ...] = tuple((depth, place) for place in range(len(asked.get("bound_sorts", ()))))
    operands = operands_about(graph, query, (*given, *bound)), operands_about(graph, node, (*parameters, *bound))
    return all(_match(graph, *mine, *theirs, bindings, depth + 1) for mine, theirs in zip(*operands, strict=True))


def _bind(given: _Argument, parameter: _Argument, bindings: dict[int, int | str]) -> bool:
    if not isinstance(parameter, int):
        return given == parameter
    if isinstance(given, tuple):  # A free variable is not replaced by a variable that the query binds.
        return False
    return bindings.setdefault(parameter, given) == given and isinstance(bindings[parameter], type(given))


class SignedComparison(NamedTuple):
    """A comparison of the program that is true for these ``signs`` of the difference of the query's terms."""

    reference: Reference
    signs: frozenset[int]


@dataclass(frozen=True, slots=True)
class Related:
    """The signs of the difference that make a query true, and the comparisons of its terms; both empty if the query is
    not a plain comparison."""

    signs: frozenset[int] = EVERY
    comparisons: tuple[SignedComparison, ...] = ()


def related_comparisons(graph: NeuronGraph, query: Reference) -> Related:
    """The program's crisp comparisons (including the query itself) of the terms that a query compares."""
    asked = graph.nodes[query.node]
    if not _is_plain(graph, query.node):
        return Related()
    comparisons: list[SignedComparison] = []
    left, right = _terms(graph, query.node, query.arguments)
    for node, data in graph.nodes.items():
        if data["kind"] != COMPARISON or not data["shared"] or not _is_plain(graph, node):
            continue
        parameters = tuple(range(len(data["sorts"])))
        terms, signs = _terms(graph, node, parameters), SIGNS[data["operator"]]
        for here, there in ((signs, terms), (mirrored(signs), terms[::-1])):
            bindings: dict[int, int | str] = {}
            if _match(graph, *left, *there[0], bindings) and _match(graph, *right, *there[1], bindings):
                comparisons.append(SignedComparison(Reference(node, tuple(bindings[i] for i in parameters)), here))
    return Related(SIGNS[asked["operator"]], tuple(comparisons))


def _is_plain(graph: NeuronGraph, node: str) -> bool:
    """Whether a node is a crisp comparison without learned values."""
    data = graph.nodes[node]
    if data["kind"] != COMPARISON or data["operator"] not in SIGNS or data["scale"] is not None:
        return False
    return not any(graph.nodes[part].get("learned") for part in graph.below(node))


def _terms(graph: NeuronGraph, node: str, arguments: Arguments) -> list[tuple[str, Arguments]]:
    """The two terms that are compared; for a difference compared to 0, the terms of the difference."""
    (left, its), (right, others) = operands_about(graph, node, arguments)
    if graph.nodes[left]["kind"] == "subtract" and graph.nodes[right].get("value") == 0:
        return operands_about(graph, left, its)
    if graph.nodes[right]["kind"] == "subtract" and graph.nodes[left].get("value") == 0:
        return operands_about(graph, right, others)[::-1]
    return [(left, its), (right, others)]
