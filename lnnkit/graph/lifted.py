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
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lnnkit.check.program import Assertion, CheckedProgram, Query
from lnnkit.graph.describe import Parameters
from lnnkit.syntax.identifiers import CALENDAR, OPERATION_OF, TIMED

if TYPE_CHECKING:
    import networkx as nx


Arguments = tuple[int | str, ...]


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


def operands_about(graph: NeuronGraph, node: str, arguments: Arguments) -> list[tuple[str, Arguments]]:
    """Each operand with its arguments, given the ``arguments`` of the node."""
    return [
        (operand, tuple(arguments[a] if isinstance(a, int) else a for a in edge["arguments"]))
        for operand, edge in graph.operands[node]
    ]


COMPARISON = "compare"
LEAST = "forall"  # the least of the rows of its body
GREATEST = "exists"
QUANTIFIERS = (LEAST, GREATEST)
NEURONS = frozenset({"and", "or", "implies", "iff", "xor", *QUANTIFIERS, COMPARISON})
NUMBER = "number"
OPERATIONS = frozenset(
    {
        "add",
        "subtract",
        "multiply",
        "divide",
        "power",
        "negate",
        *OPERATION_OF.values(),
        *(TIMED + name for name in CALENDAR),
    }
)
UNITS = frozenset({"nac", "nalu", "inalu", "nau", "nmu", "npu", "realnpu"})
TERMS = frozenset({NUMBER, "constant", *OPERATIONS, *UNITS})


class Reference(NamedTuple):
    """A node as an operand: its name, and the argument for each of its parameters."""

    node: str
    arguments: tuple[int | str, ...]


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
