"""The data of the workloads: graphs, people and tables, each from its own ``default_rng(0)``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pv

Ids = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]
Columns = Mapping[str, npt.NDArray[np.generic]]

BODY = 10  # predicates of the table
CAPPED = 10  # one row in so many of the table has a head that is known from above
PEOPLE = 5  # rows of a CSV for each entity in it


def random_digraph(n: int) -> Columns:
    """``2n`` edges drawn among ``n`` nodes, without doubles."""
    return {"edge": np.unique(np.random.default_rng(0).integers(0, n, (2 * n, 2)), axis=0)}


def chain(n: int) -> Columns:
    """``n`` nodes in a row."""
    return {"edge": np.stack([np.arange(n - 1), np.arange(1, n)], 1)}


def random_tree(n: int) -> Columns:
    """Child and parent of the nodes 1 .. ``n`` - 1: each has its parent among those before it."""
    rng = np.random.default_rng(0)
    return {"parent": np.array([(node, rng.integers(0, node)) for node in range(1, n)], dtype=np.int64)}


def smokers(n: int) -> Columns:
    """``n`` people, some five friendships each, one in ten a known smoker and one in ten a known non-smoker."""
    rng = np.random.default_rng(0)
    friends = np.unique(rng.integers(0, n, (5 * n, 2)), axis=0)
    friends = friends[friends[:, 0] != friends[:, 1]]
    known = rng.choice(n, n // 10, replace=False)
    other = rng.choice(np.setdiff1d(np.arange(n), known), n // 10, replace=False)
    return {"friends": friends, "smokers": known, "non_smokers": other}


def alarms(n: int) -> Columns:
    """``n`` alarms and ``n`` items, each to a degree."""
    rng = np.random.default_rng(0)
    return {"alarm": rng.uniform(0.3, 0.9, n), "item": rng.uniform(0, 1, n)}


def table(n: int) -> Columns:
    """``n`` rows with intervals for the predicates p0 .. p9, and for q an upper bound on every tenth row:
    somewhat above what the conjunction gives, so that nothing is contradictory and something is passed down."""
    rng = np.random.default_rng(0)
    columns: dict[str, Values] = {}
    conjunction = np.ones(n)
    for name in (f"p{i}" for i in range(BODY)):
        columns[f"{name}_lower"] = rng.uniform(0.85, 1, n)
        columns[f"{name}_upper"] = np.minimum(columns[f"{name}_lower"] + rng.uniform(0, 0.1, n), 1)
        conjunction += columns[f"{name}_lower"] - 1
    rows = np.arange(0, n, CAPPED)
    cap = np.minimum(np.maximum(conjunction[rows], 0) + rng.uniform(0, 0.2, len(rows)), 1)
    return {**columns, "q_row": rows, "q_upper": cap}


def applicants(n: int) -> Columns:
    """``n`` people with an income, a debt, a household and an age, all known; whole numbers."""
    rng = np.random.default_rng(0)
    ranges = {"income": (500, 6000), "debt": (0, 3000), "household": (1, 7), "age": (1, 90)}
    return {name: rng.integers(*ends, n).astype(np.float64) for name, ends in ranges.items()}


def transfers(n: int) -> Columns:
    """``n`` transfers of up to 5,000, by ten times fewer accounts."""
    rng = np.random.default_rng(0)
    account = rng.integers(0, max(n // 10, 1), n)
    return {"account": account, "amount": rng.integers(1, 5000, n).astype(np.float64)}


def claims(n: int) -> Columns:
    """``n`` claims of one year, by five times fewer people."""
    rng = np.random.default_rng(0)
    return {"person": rng.integers(0, max(n // 5, 1), n), "day": rng.integers(0, 365, n).astype(np.float64)}


def weighted_edges(n: int) -> Columns:
    """``n`` weighted edges, some of them twice, between five times fewer nodes."""
    rng = np.random.default_rng(0)
    nodes = max(n // 5, 2)
    key = np.unique(rng.integers(0, nodes * nodes, n))
    weight = rng.integers(1, 1000, len(key)).astype(np.float64)
    return {"source": key // nodes, "target": key % nodes, "weight": weight, "nodes": np.array(nodes)}


def friendships(n: int, folder: Path) -> Columns:
    """``friends.csv`` of ``n`` rows among ``n / 5`` people."""
    pairs = np.random.default_rng(0).integers(0, max(n // PEOPLE, 1), (n, 2))
    rows = "".join(f"person{a},person{b}\n" for a, b in pairs.tolist())
    (folder / "friends.csv").write_text(f"person,friend\n{rows}", encoding="utf-8")
    return {"rows": np.array(n), "distinct": np.array(len(np.unique(pairs, axis=0)))}


def edges(n: int, folder: Path) -> Columns:
    """``edges.csv`` of ``n`` rows among ``n / 5`` nodes that are named by numbers, in no order, some of them twice."""
    pairs = np.random.default_rng(0).integers(0, max(n // PEOPLE, 1), (n, 2))
    table = pa.table({"source": pairs[:, 0], "target": pairs[:, 1]})
    pv.write_csv(table, folder / "edges.csv", pv.WriteOptions(quoting_style="none"))
    distinct = np.unique(pairs[:, 0] * n + pairs[:, 1])
    return {"distinct": np.array(len(distinct)), "next": np.array(int((distinct < n).sum()))}


class Data:
    """The columns that `save` left in a folder: in memory before an engine's clock starts, as those of a user are. The
    engine that asks for a column owns it, and may drop it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.size: int = json.loads((folder / "size.json").read_text(encoding="utf-8"))
        self._columns = {path.stem: np.load(path) for path in sorted(folder.glob("*.npy"))}

    def ids(self, name: str) -> Ids:
        return self._column(name).astype(np.int64, copy=False)

    def values(self, name: str) -> Values:
        return self._column(name).astype(np.float64, copy=False)

    def _column(self, name: str) -> npt.NDArray[np.generic]:
        column = self._columns.pop(name, None)
        return np.load(self.folder / f"{name}.npy") if column is None else column


def save(folder: Path, size: int, columns: Columns) -> None:
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", column)
    (folder / "size.json").write_text(json.dumps(size), encoding="utf-8")
