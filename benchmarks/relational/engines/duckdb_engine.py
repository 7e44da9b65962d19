"""DuckDB, on one thread: recursive queries into temporary tables.

Smokers is its best form of several: the greatest bound is kept in place by ``USING KEY`` and a MAX aggregate, and each
round sends a person one candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import duckdb
import numpy as np

from benchmarks.relational.data import BODY, Data
from benchmarks.relational.engines import duckdb_ontology
from benchmarks.relational.workloads import Checks

CLOSURE = """
WITH RECURSIVE path(x, y) AS (
    SELECT a, b FROM edge
    UNION
    SELECT path.x, edge.b FROM path JOIN edge ON path.y = edge.a)
SELECT x, y FROM path
"""
GENERATION = """
WITH RECURSIVE sg(x, y) AS (
    SELECT one.a, two.a FROM parent one JOIN parent two ON one.b = two.b
    UNION
    SELECT one.a, two.a FROM sg JOIN parent one ON one.b = sg.x JOIN parent two ON two.b = sg.y)
SELECT x, y FROM sg
"""
SMOKERS = """
WITH RECURSIVE smokes(x, l) USING KEY (x, max(l)) AS (
    SELECT a, 1.0::DOUBLE FROM smokers
    UNION
    SELECT friends.b, max(smokes.l) - 0.1
    FROM smokes JOIN friends ON friends.a = smokes.x WHERE smokes.l > 0.1 GROUP BY friends.b)
SELECT x, l FROM smokes
"""
TABLE = "SELECT row, {} AS lower, least({}, coalesce(q_upper, 1)) AS upper FROM p"
WATCH = "SELECT account FROM transfer GROUP BY account HAVING sum(amount) > 30000"
WINDOWS = """
SELECT row FROM (SELECT row, count(*) OVER (
    PARTITION BY person ORDER BY day RANGE BETWEEN 29 PRECEDING AND CURRENT ROW) AS n FROM claim)
WHERE n > 3
"""  # days are whole
PAIRS = "SELECT count(*), count(*) FROM answers"
BOUNDS = "SELECT count(*), sum(l) FROM answers"
ROWS = "SELECT count(*) FILTER (lower > 1e-9), sum(lower) FROM answers"


class Query:
    """One query, its answers kept in a temporary table."""

    def __init__(self, tables: Mapping[str, Mapping[str, np.ndarray]], query: str, summary: str, count: str) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        for name, columns in tables.items():
            self.connection.register("told", dict(columns))
            self.connection.execute(f"CREATE TABLE {name} AS SELECT * FROM told")
            self.connection.unregister("told")
        self.query, self.summary, self.count = query, summary, count

    def infer(self) -> None:
        self.connection.execute(f"CREATE TEMP TABLE answers AS {self.query}")

    def read(self) -> Checks:
        row = self.connection.execute(self.summary).fetchone()
        assert row is not None
        return {self.count: int(row[0]), "lower": float(row[1])}


class Reading:
    """The CSV into a table of text columns."""

    def __init__(self, data: Data) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.path = str(data.folder / "friends.csv")

    def infer(self) -> None:
        self.connection.execute("CREATE TEMP TABLE friends AS SELECT * FROM read_csv($1)", [self.path])

    def read(self) -> Checks:
        row = self.connection.execute("SELECT count(DISTINCT (person, friend)) FROM friends").fetchone()
        assert row is not None
        return {"distinct": int(row[0])}


class Edges:
    """The CSV into a table of numbers, which has no index."""

    def __init__(self, data: Data) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.path = str(data.folder / "edges.csv")

    def infer(self) -> None:
        self.connection.execute("CREATE TABLE edge AS SELECT * FROM read_csv($1)", [self.path])

    def read(self) -> Checks:
        text = "SELECT count(DISTINCT (source, target)), count(DISTINCT target) FILTER (source = 0) FROM edge"
        row = self.connection.execute(text).fetchone()
        assert row is not None
        return {"distinct": int(row[0]), "next": int(row[1])}


def _pairs(edges: np.ndarray) -> dict[str, np.ndarray]:
    edges = edges.astype(np.int32)
    return {"a": edges[:, 0].copy(), "b": edges[:, 1].copy()}


def _closure(data: Data) -> Query:
    return Query({"edge": _pairs(data.ids("edge"))}, CLOSURE, PAIRS, "answers")


def _generation(data: Data) -> Query:
    return Query({"parent": _pairs(data.ids("parent"))}, GENERATION, PAIRS, "answers")


def _smokers(data: Data) -> Query:
    known = {"a": data.ids("smokers").astype(np.int32)}
    return Query({"friends": _pairs(data.ids("friends")), "smokers": known}, SMOKERS, BOUNDS, "answers")


def _table(data: Data) -> Query:
    names = [f"p{i}_{end}" for end in ("lower", "upper") for i in range(BODY)]
    columns: dict[str, np.ndarray] = {"row": np.arange(data.size, dtype=np.int32)}
    columns |= {name: data.values(name) for name in names}
    cap = np.ones(data.size)
    cap[data.ids("q_row")] = data.values("q_upper")
    ends = [f"greatest(0, {' + '.join(part)} - {BODY - 1})" for part in (names[:BODY], names[BODY:])]
    return Query({"p": {**columns, "q_upper": cap}}, TABLE.format(*ends), ROWS, "rows")


def _watch(data: Data) -> Query:
    columns = {"account": data.ids("account").astype(np.int32), "amount": data.values("amount")}
    return Query({"transfer": columns}, WATCH, PAIRS, "answers")


def _windows(data: Data) -> Query:
    columns = {"row": np.arange(data.size, dtype=np.int32), "person": data.ids("person").astype(np.int32)}
    return Query({"claim": {**columns, "day": data.values("day")}}, WINDOWS, PAIRS, "answers")


RUNS: Mapping[str, Callable[[Data], Query | Reading | Edges | duckdb_ontology.Ontology]] = {
    "closure": _closure,
    "chain": _closure,
    "smokers": _smokers,
    "table": _table,
    "watch": _watch,
    "windows": _windows,
    "generation": _generation,
    "ontology": duckdb_ontology.Ontology,
    "csv": Reading,
    "csv5m": Edges,
}
