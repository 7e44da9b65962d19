"""The initial store of a program: entities by sort, tables of predicates and numbers, facts."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from lnnkit.arrays import all_set, where_set
from lnnkit.check.program import ENTITY
from lnnkit.check.symbols import negated_ends
from lnnkit.graph.lifted import NUMBER, LiftedGraph, NeuronGraph, Root, below_negations
from lnnkit.numeric import NO_VALUE
from lnnkit.store.relations import Schema
from lnnkit.store.row_arrays import Array, wide
from lnnkit.time_limit import check_time


@dataclass(slots=True, eq=False)
class Domain:
    """The entities of the program. ``sorts`` has the ids of each sort; ``index`` the id of each entity, including those
    that only queries mention and that belong to no sort. ``generic`` is the id that stands for every entity whose row
    is not materialised, ``stranger`` the id of an unnamed individual of an open sort. The ids from ``count`` to
    ``generic`` are free, for entities that facts name later. ``departed`` has (generic + 2,) flags of the entities that
    have left a sort: their rows remain, with default bounds."""

    sorts: dict[str, Array]
    index: ChainMap[str, int]
    generic: int
    open_sorts: frozenset[str]
    count: int
    departed: dict[str, Array] = field(default_factory=dict)
    _flags: dict[str, Array] = field(default_factory=dict)

    @property
    def stranger(self) -> int:
        return self.generic + 1

    @property
    def empty(self) -> frozenset[str]:
        """The sorts without entities."""
        return frozenset(sort for sort, ids in self.sorts.items() if not len(ids))

    def has(self, sort: str, entity: str) -> bool:
        """Whether an entity belongs to a sort."""
        return bool(self.are_members(sort, np.array([self.index[entity]])).all())

    def are_members(self, sort: str, ids: Array) -> Array:
        """(n,) whether each of some ids belongs to a sort."""
        members = self.sorts[sort]  # ascending
        places = np.searchsorted(members, ids)
        return members.take(places, mode="clip") == ids if len(members) else np.zeros(len(ids), bool)

    def lacks(self, sorts: Sequence[str], arguments: Sequence[object]) -> bool:
        """Whether any argument is an entity outside the sort of its position. Only queries can mention such entities,
        and no atom about them has a row."""
        return any(
            isinstance(term, str) and not self.has(sort, term) for sort, term in zip(sorts, arguments, strict=True)
        )

    def member_flags(self, sort: str) -> Array:
        """(generic + 2,) flags of the sort's ids, never of generic ones. `change_members` makes new flags."""
        if sort not in self._flags:
            self._flags[sort] = np.zeros(self.generic + 2, dtype=bool)
            self._flags[sort][self.sorts[sort]] = True
        return self._flags[sort]

    def change_members(self, sort: str, joining: Array, leaving: Array) -> None:
        """Let entities that do not belong to a sort join it, and members leave it."""
        ids = self.sorts[sort]
        ids = np.delete(ids, ids.searchsorted(leaving))
        self.sorts[sort] = np.insert(ids, ids.searchsorted(joining), joining)
        if len(leaving) or sort in self.departed:
            departed = self.departed.setdefault(sort, np.zeros(self.generic + 2, bool))
            departed[joining], departed[leaving] = False, True
        self._flags.pop(sort, None)


_ROOM = 16  # free ids: this many, and one for each this many entities that there are; an estimate

# Ids handled at a time, a limit of memory; 2 ** 13 to 2 ** 21 differ by noise (benchmarks/inference_constants.py)
_PART = 2**17


@dataclass(frozen=True, slots=True)
class Given:
    """All facts about one predicate or number: a column of entity ids for each argument, and their bounds. Rows are
    sorted by ids from the left and may repeat a tuple."""

    predicate: str
    columns: tuple[Array, ...]
    lower: Array
    upper: Array

    def __len__(self) -> int:
        return len(self.lower)


def constants(lifted: LiftedGraph) -> dict[str, set[str]]:
    """The entities that statements and labels mention, by the sort of their position."""
    graph = lifted.graph
    by_sort = _constants(graph, {node for node, data in graph.nodes.items() if data["stated"]}, lifted.statements)
    for label in lifted.program.labels:
        _note(by_sort, label.arguments, lifted.program.predicates[label.predicate].sorts)
    return by_sort


def asked_constants(lifted: LiftedGraph, queries: Sequence[Root]) -> set[str]:
    """The entities that queries over the graph mention."""
    nodes = lifted.graph.below(*(root.reference.node for root in queries))
    return set[str]().union(*_constants(lifted.graph, nodes, queries).values())


def _constants(graph: NeuronGraph, nodes: Collection[str], roots: Sequence[Root]) -> dict[str, set[str]]:
    """The entities that roots, and neurons of the graph, mention, by sort."""
    check_time()
    by_sort: dict[str, set[str]] = {}
    for node in nodes:
        for operand, edge in graph.operands[node]:
            _note(by_sort, edge["arguments"], graph.nodes[operand]["sorts"])
        if graph.nodes[node]["kind"] == "same":
            _note(by_sort, graph.nodes[node]["arguments"], (ENTITY, ENTITY))
    for root in roots:
        _note(by_sort, root.reference.arguments, graph.nodes[root.reference.node]["sorts"])
    return by_sort


def _note(by_sort: dict[str, set[str]], arguments: Sequence[int | str], sorts: Sequence[str]) -> None:
    for argument, sort in zip(arguments, sorts, strict=True):
        if isinstance(argument, str):
            by_sort.setdefault(sort, set()).add(argument)


def domain(
    lifted: LiftedGraph,
    index: Mapping[str, int],
    given: Sequence[Given],
    labelled: Mapping[str, Sequence[Array]],
    unnamed: Collection[str] = (),
) -> Domain:
    """The domain: for each sort, the entities that occur, or are ``labelled``, in a position of that sort. ``entity``
    has all but the ``unnamed`` ones, which only queries mention."""
    program = lifted.program
    mentioned = constants(lifted)
    names = {ENTITY, *program.sorts, *mentioned}
    for _, data in lifted.graph.nodes.items():
        names |= {*data["sorts"], *data.get("bound_sorts", ())}
    seen: dict[str, list[Array]] = {name: [] for name in names}
    for facts in given:
        for sort, column in zip(program.predicates[facts.predicate].sorts, facts.columns, strict=True):
            if sort != ENTITY:
                seen[sort].append(column)
    for sort, columns in labelled.items():
        seen[sort] += columns
    for sort, texts in mentioned.items():
        seen[sort].append(np.array(sorted(index[text] for text in texts), dtype=np.int32))
    every = np.arange(len(index), dtype=np.int32)
    sorts = {name: _ids(columns, every) for name, columns in seen.items()}
    sorts[ENTITY] = every[~np.isin(every, np.array([index[text] for text in unnamed]))] if unnamed else every
    open_sorts = frozenset(name for name, sort in program.sorts.items() if sort.open)
    known = ChainMap(dict[str, int](), cast("MutableMapping[str, int]", index))
    return Domain(sorts, known, len(index) + _ROOM + len(index) // _ROOM, open_sorts, len(index))


def _ids(columns: Sequence[Array], every: Array) -> Array:
    """The distinct ids, of ``every``, in any of the columns, ascending."""
    seen = np.zeros(len(every), dtype=bool)
    # Tables may share columns.
    for column in {(column.ctypes.data, len(column)): column for column in columns}.values():
        for start in range(0, len(column), _PART):
            seen[wide(column[start : start + _PART])] = True
    return every if all_set(seen) else where_set(seen).astype(np.int32)


def predicate_schemas(lifted: LiftedGraph) -> dict[str, Schema]:
    """The relations of predicates and numbers. What completion would say of an unnamed individual is not known; what is
    stated of all holds of it."""
    schemas, stated = dict[str, Schema](), _stated_of_all(lifted)
    for node, data in lifted.graph.nodes.items():
        if data["kind"] == "predicate":
            unnamed = (0.0, 1.0) if node in lifted.closed_derived else None if data["closed"] else stated.get(node)
            schemas[node] = Schema(node, data["sorts"], (0.0, 0.0) if data["closed"] else (0.0, 1.0), unnamed)
        elif data["kind"] == NUMBER:
            default = NO_VALUE if data["closed"] else (-math.inf, math.inf)
            schemas[node] = Schema(node, data["sorts"], default, numeric=True, derived=data.get("derived", ""))
    return schemas


def _stated_of_all(lifted: LiftedGraph) -> dict[str, tuple[float, float]]:
    """The bounds that statements give all atoms of a predicate, where these do not cross."""
    stated: dict[str, tuple[float, float]] = {}
    for root in lifted.statements:
        reference, negated = below_negations(lifted.graph, root.reference)
        variables = [argument for argument in reference.arguments if isinstance(argument, int)]
        data = lifted.graph.nodes[reference.node]
        if data["kind"] != "predicate" or any(root.learned) or len({*variables}) < len(data["sorts"]):
            continue
        low, high = negated_ends(root.lower, root.upper) if negated else (root.lower, root.upper)
        before = stated.get(reference.node, (0.0, 1.0))
        stated[reference.node] = max(before[0], low), min(before[1], high)
    return {node: (low, high) for node, (low, high) in stated.items() if low <= high}
