"""What is run: each workload's data, its sizes, and the answers that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.relational import data, ontology
from benchmarks.relational.data import Columns

Checks = Mapping[str, float]


@dataclass(frozen=True)
class Workload:
    """``sizes`` are run smallest first, ``quick`` and ``growth`` instead of them; ``warm`` once before, untimed. Of
    ``runs`` in one process, where there are several, the best counts."""

    key: str
    group: str
    title: str
    unit: str
    make: Callable[[int, Path], Columns]
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    warm: int
    growth: tuple[int, ...] = ()
    known: Mapping[int, Checks] = field(default_factory=dict[int, Checks])
    runs: int = 1


def _in_memory(make: Callable[[int], Columns]) -> Callable[[int, Path], Columns]:
    return lambda size, _: make(size)


def _pairs(counts: Mapping[int, int]) -> dict[int, Checks]:
    return {size: {"answers": count} for size, count in counts.items()}


_CLOSURES = {10: 59, 20: 242, 30: 628, 50: 1296, 100: 7086, 1000: 640_914, 3000: 5_727_868, 10_000: 64_066_372}
_CHAINS = {n: n * (n - 1) // 2 for n in (20, 30, 50, 100, 300, 1000, 3000, 10_000)}
_GENERATIONS = {20: 133, 1000: 106_265, 10_000: 9_001_425}
_SMOKERS = {
    1000: (998, 849.2),
    10_000: (9947, 8420.5),
    100_000: (99_374, 84_137.8),
    1_000_000: (993_711, 841_382.1),
}

_ALL = (
    Workload(
        "closure",
        "W1",
        "closure of a random digraph",
        "nodes",
        _in_memory(data.random_digraph),
        sizes=(100, 300, 1000, 3000),
        quick=(300,),
        warm=20,
        growth=(30, 100, 300, 1000, 3000),
        known=_pairs(_CLOSURES),
    ),
    Workload(
        "chain",
        "W1",
        "closure of a chain",
        "nodes",
        _in_memory(data.chain),
        sizes=(100, 300, 1000, 3000),
        quick=(300,),
        warm=20,
        growth=(30, 100, 300, 1000, 3000),
        known=_pairs(_CHAINS),
    ),
    Workload(
        "closure-closed",
        "W1",
        "closure of a random digraph, path closed",
        "nodes",
        _in_memory(data.random_digraph),
        sizes=(1000,),
        quick=(300,),
        warm=20,
        known=_pairs(_CLOSURES),
    ),
    Workload(
        "chain-closed",
        "W1",
        "closure of a chain, path closed",
        "nodes",
        _in_memory(data.chain),
        sizes=(1000,),
        quick=(300,),
        warm=20,
        known=_pairs(_CHAINS),
    ),
    Workload(
        "smokers",
        "W2",
        "smokers, soft, Friends closed",
        "people",
        _in_memory(data.smokers),
        sizes=(1000, 10_000, 100_000, 1_000_000),
        quick=(10_000,),
        warm=100,
        growth=(1000, 10_000, 100_000, 1_000_000),
        known={size: {"answers": count, "lower": total} for size, (count, total) in _SMOKERS.items()},
    ),
    Workload(
        "smokers-open",
        "W2",
        "smokers, soft, Friends open, non-smokers known",
        "people",
        _in_memory(data.smokers),
        sizes=(1000, 10_000, 100_000, 1_000_000),
        quick=(10_000,),
        warm=100,
        growth=(1000, 10_000, 100_000, 1_000_000),
    ),
    Workload(
        "table",
        "W3",
        "and of ten predicates -> Q, up and down",
        "rows",
        _in_memory(data.table),
        sizes=(10_000, 100_000, 1_000_000, 10_000_000),
        quick=(10_000,),
        warm=100,
        growth=(1000, 10_000, 100_000, 1_000_000),
    ),
    Workload(
        "eligible",
        "W3",
        "(income - debt) / household > 500 & age >= 18 -> Eligible, up and down",
        "rows",
        _in_memory(data.applicants),
        sizes=(10_000, 100_000, 1_000_000),
        quick=(10_000,),
        warm=100,
        growth=(1000, 10_000, 100_000, 1_000_000),
    ),
    Workload(
        "held",
        "W6",
        "(exists Y: alarm(Y)) & item(X) -> hold(X), as many alarms as items",
        "items",
        _in_memory(data.alarms),
        sizes=(1000, 10_000, 100_000, 1_000_000),
        quick=(10_000,),
        warm=100,
        growth=(1000, 10_000, 100_000, 1_000_000),
    ),
    Workload(
        "watch",
        "W7",
        "accounts whose transfers sum to more than 30,000",
        "transfers",
        _in_memory(data.transfers),
        sizes=(10_000, 100_000, 1_000_000),
        quick=(10_000,),
        warm=100,
    ),
    Workload(
        "windows",
        "W7",
        "claims after which a person has more than three in 30 days",
        "claims",
        _in_memory(data.claims),
        sizes=(10_000, 100_000),
        quick=(10_000,),
        warm=100,
    ),
    Workload(
        "paths",
        "W7",
        "shortest paths from one node of a random graph, with five edges a node",
        "edges",
        _in_memory(data.weighted_edges),
        sizes=(10_000, 100_000),
        quick=(10_000,),
        warm=100,
    ),
    Workload(
        "generation",
        "W4",
        "same generation on a random tree",
        "nodes",
        _in_memory(data.random_tree),
        sizes=(100, 1000, 10_000),
        quick=(1000,),
        warm=20,
        growth=(10, 100, 1000, 10_000),
        known=_pairs(_GENERATIONS),
    ),
    Workload(
        "ontology",
        "W5",
        "LUBM, more departments",
        "departments of 7,176 triples",
        ontology.departments,
        sizes=(1, 7, 21, 70, 210),
        quick=(1,),
        warm=1,
        growth=(1, 7, 21, 70, 210),
    ),
    Workload(
        "csv",
        "CSV",
        "reading a CSV of two columns into a predicate",
        "rows",
        data.friendships,
        sizes=(10_000, 100_000, 1_000_000),
        quick=(10_000,),
        warm=100,
    ),
    Workload(
        "csv5m",
        "CSV",
        "edges between numbered nodes from a CSV, loaded and indexed",
        "rows",
        data.edges,
        sizes=(1_000_000, 5_000_000),
        quick=(100_000,),
        warm=100,
        runs=2,
    ),
    Workload(
        "ibm-smokers",
        "IBM",
        "smokers, Friends open, warm",
        "people",
        _in_memory(data.smokers),
        sizes=(100,),
        quick=(100,),
        warm=100,
    ),
    Workload(
        "ibm-chain",
        "IBM",
        "closure of an open chain, warm",
        "nodes",
        _in_memory(data.chain),
        sizes=(15,),
        quick=(15,),
        warm=15,
        known=_pairs({15: 105}),
    ),
    Workload(
        "ibm-table",
        "IBM",
        "and of ten predicates -> Q, warm",
        "rows",
        _in_memory(data.table),
        sizes=(10_000,),
        quick=(10_000,),
        warm=10_000,
    ),
)

WORKLOADS: Mapping[str, Workload] = {workload.key: workload for workload in _ALL}


def selected(names: str | None) -> list[Workload]:
    """The workloads whose key or group is among the comma-separated names; all for None. Raises `ValueError`."""
    if names is None:
        return list(_ALL)
    wanted = {name.strip().lower() for name in names.split(",")}
    unknown = wanted - {w.key for w in _ALL} - {w.group.lower() for w in _ALL}
    if unknown:
        choices = ", ".join(dict.fromkeys([*(w.group for w in _ALL), *(w.key for w in _ALL)]))
        raise ValueError(f"no workload {', '.join(sorted(unknown))}; choose from {choices}")
    return [w for w in _ALL if w.key in wanted or w.group.lower() in wanted]


def write(workload: Workload, size: int, folder: Path) -> None:
    """The workload's data of that size, for `Data` to read."""
    folder.mkdir(parents=True, exist_ok=True)
    data.save(folder, size, workload.make(size, folder))
