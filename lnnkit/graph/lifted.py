"""The lifted graph: what its nodes, edges and roots carry.

``graph`` is a networkx ``MultiDiGraph``. A node is a predicate (its name) or a neuron (``"and#3"``) with attributes

- ``kind``: predicate, same, true, false, not, and, or, implies, iff, xor, forall, exists
- ``sorts``: one sort a parameter (a predicate's arguments, a neuron's free variables in order of first occurrence)
- ``bound_sorts``: the sorts of the variables that a quantifier binds; its operand sees them after the parameters
- ``logic``, ``bias``, ``span``; a predicate has ``closed``
- ``stated``: a statement holds it, not a query alone; ``defining``: an implication that completes a closed predicate,
  or a conjunction in its consequent
- ``uses``: operand edges and statements that meet in the neuron; ``shared``: it keeps bounds of its own;
  ``lower``, ``upper``: the truth that its statements give it

An edge leads from a neuron to an operand and carries ``position``, ``weight`` and ``arguments``: for each parameter of
the operand, the index of the neuron's variable (an int) or an entity's text (a str).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import networkx as nx

from lnnkit.check.program import Assertion, CheckedProgram, Query

NEURONS = frozenset({"and", "or", "implies", "iff", "xor", "forall", "exists"})


@dataclass(frozen=True, slots=True)
class Reference:
    """A node seen from outside: its name, and what stands for each of its parameters."""

    node: str
    arguments: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Root:
    """A statement or query over the graph. ``variables`` are its free variables' names, ``sorts`` theirs.

    ``defines`` names the closed predicates whose atoms the statement's consequent defines.
    """

    reference: Reference
    variables: tuple[str, ...]
    sorts: tuple[str, ...]
    lower: float
    upper: float
    origin: Assertion | Query
    defines: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LiftedGraph:
    """The graph of neurons, and the statements and queries that stand on it."""

    graph: nx.MultiDiGraph
    program: CheckedProgram
    statements: tuple[Root, ...]
    queries: tuple[Root, ...] = ()
    closed_derived: frozenset[str] = field(default=frozenset())
