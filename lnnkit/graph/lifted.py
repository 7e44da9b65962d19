"""The lifted graph: what its nodes, edges and roots carry.

``graph`` is a networkx ``MultiDiGraph``. A node is a predicate or a number (its name), a neuron (``"and#3"``), or a
term (``"divide#7"``), with attributes

- ``kind``: predicate, same, true, false, not, and, or, implies, iff, xor, forall, exists, compare; number (a numeric
  attribute) and the other ``TERMS``
- ``sorts``: one sort a parameter (a predicate's arguments, a neuron's or term's free variables in order of first
  occurrence)
- ``bound_sorts``: the sorts of the variables that a quantifier binds; its operand sees them after the parameters;
  ``bound_names``: how they are written, once if there are several ways
- ``logic``, ``bias``, ``span``; a predicate has ``closed``
- ``stated``: a statement holds it, not a query alone; ``defining``: an implication that completes a closed predicate,
  or a conjunction in its consequent
- ``uses``: operand edges and statements that meet in the neuron; ``shared``: it keeps bounds of its own;
  ``lower``, ``upper``: the truth that its statements give it; ``asserted``: a statement is the neuron, or its
  negation, and nothing of it is learned, so that queries may have it shared
- ``learned``: for each attribute that holds learnable values, the names of their parameters in the attribute's own
  shape, None where it is fixed. Two neurons with parameters are never one that is shared, but for comparisons.

A ``compare`` node is one comparison ``left operator right``; a chain is an ``and`` of them. Those of statements are
always shared; one that only a query holds keeps no bounds. It has

- ``operator``: ``>``, ``<``, ``>=``, ``<=``, ``=``, ``!=``, or ``<?>`` (a Neural Status Register)
- ``scale``: None for a crisp comparison, else what the margin is divided by
- ``weight``: of ``<?>``, the weights of the sign bit and of the zero bit, and the bias; None where not trained

Terms hold numbers, no truth, and have neither ``lower`` nor ``upper``. Their kinds: ``constant`` (with ``value``; its
``learned`` names the parameter), add, subtract, multiply, divide, power (two operands), negate, abs, sqrt (one), and
the units, which have the attributes that the program gives them (``weight``, ``power``, ...): numbers, or tuples of
them. A number atom that occurs twice in a comparison is two edges to one node with equal arguments.

An edge leads from a neuron or term to an operand and carries ``position``, ``weight``, ``parameter`` (the name of the
weight's, or None) and ``arguments``: for each parameter of the operand, the index of the neuron's variable (an int) or
an entity's text (a str).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import networkx as nx

from lnnkit.check.program import Assertion, CheckedProgram, Query
from lnnkit.graph.initial_parameters import Parameters

COMPARISON = "compare"
NEURONS = frozenset({"and", "or", "implies", "iff", "xor", "forall", "exists", COMPARISON})
NUMBER = "number"
OPERATIONS = frozenset({"add", "subtract", "multiply", "divide", "power", "negate", "abs", "sqrt"})
UNITS = frozenset({"nac", "nalu", "inalu", "nau", "nmu", "npu", "realnpu"})
TERMS = frozenset({NUMBER, "constant", *OPERATIONS, *UNITS})


@dataclass(frozen=True, slots=True)
class Reference:
    """A node as an operand: its name, and what stands for each of its parameters."""

    node: str
    arguments: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Root:
    """A statement or query over the graph. ``variables`` are its free variables' names, ``sorts`` theirs.

    ``defines`` names the closed predicates whose atoms the statement's consequent defines; ``learned`` the parameters
    that its lower and its upper truth are. A query of a number refers to a term, and ``lower`` and ``upper`` are
    infinite.
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

    graph: nx.MultiDiGraph
    program: CheckedProgram
    statements: tuple[Root, ...]
    queries: tuple[Root, ...] = ()
    closed_derived: frozenset[str] = field(default=frozenset())
    parameters: Parameters = field(default_factory=lambda: Parameters({}))
