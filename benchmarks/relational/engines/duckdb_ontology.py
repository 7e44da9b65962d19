"""W5 in DuckDB: triples as numbers in one table, the axioms as tables beside it, semi-naive rounds from Python.

A definition is read as LUBM has them: a class and some relation to a class. What each member *must have* says nothing
about named individuals, so it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from benchmarks import lubm
from benchmarks.relational.data import Data
from benchmarks.relational.workloads import Checks

# One triple of the last round (`delta`) and an axiom. Relation 0 is the type.
SIMPLE = (
    "SELECT delta.s AS s, 0 AS p, d.o AS o FROM delta JOIN subclass d ON delta.o = d.s WHERE delta.p = 0",
    "SELECT delta.s, d.o, delta.o FROM delta JOIN subproperty d ON delta.p = d.s",
    "SELECT delta.o, d.o, delta.s FROM delta JOIN inverse d ON delta.p = d.s",
    "SELECT delta.s, 0, d.o FROM delta JOIN domain d ON delta.p = d.s",
    "SELECT delta.o, 0, d.o FROM delta JOIN range d ON delta.p = d.s",
)
# Several triples, one of the last round, the others any: a query for each axiom, so that only individuals are joined.
TRANSITIVE = """
SELECT one.s, {relation}, two.o FROM {one} one JOIN {two} two ON one.o = two.s
WHERE one.p = {relation} AND two.p = {relation}
"""
DEFINED = """
SELECT kind.s, 0, {name} FROM {kind_of} kind JOIN {way_of} way ON way.s = kind.s JOIN {goal_of} goal ON goal.s = way.o
WHERE kind.p = 0 AND kind.o = {kind} AND way.p = {relation} AND goal.p = 0 AND goal.o = {goal}
"""
NEXT = "CREATE OR REPLACE TEMP TABLE delta AS SELECT DISTINCT s, p, o FROM ({}) ANTI JOIN fact USING (s, p, o)"


class Ontology:
    """The triples that the axioms speak of, and their closure."""

    def __init__(self, data: Data) -> None:
        axioms = lubm.read(data.folder / "tbox.tsv")
        self.spoken = sorted(lubm.classes(axioms) | lubm.relations(axioms))
        triples = _triples(data)
        words = pa.concat_arrays([pa.array([lubm.TYPE, *self.spoken]), *triples]).dictionary_encode()
        number = {word: code for code, word in enumerate(words.dictionary[: len(self.spoken) + 1].to_pylist())}
        rest, size = words.indices[len(self.spoken) + 1 :], len(triples[0])
        columns = {name: rest[i * size : (i + 1) * size] for i, name in enumerate("spo")}
        self.connection = duckdb.connect(config={"threads": 1})
        self._table("told", pa.table(columns))
        limit = len(self.spoken)
        self.connection.execute(
            f"CREATE TABLE fact AS SELECT DISTINCT * FROM told WHERE p BETWEEN 1 AND {limit} OR p = 0 AND o <= {limit}"
        )
        numbers = {name: [[number[word] for word in row] for row in rows] for name, rows in _axioms(axioms).items()}
        defined, transitive = numbers.pop("defined"), numbers.pop("transitive")
        for name, rows in numbers.items():
            self._table(
                name, pa.table({end: pa.array([row[i] for row in rows], pa.int32()) for i, end in enumerate("so")})
            )
        rules = [*SIMPLE]
        for (relation,) in transitive:
            rules += [TRANSITIVE.format(relation=relation, one=one, two=two) for one, two in _one_new(2)]
        for name, kind, relation, goal in defined:
            words = {"name": name, "kind": kind, "relation": relation, "goal": goal}
            rules += [DEFINED.format(**words, kind_of=k, way_of=w, goal_of=g) for k, w, g in _one_new(3)]
        self.next = NEXT.format(" UNION ALL ".join(rules))

    def _table(self, name: str, table: pa.Table) -> None:
        self.connection.register("arrow", table)
        self.connection.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow")
        self.connection.unregister("arrow")

    def infer(self) -> None:
        self.connection.execute("CREATE TEMP TABLE delta AS SELECT * FROM fact")
        while self._number("delta"):
            self.connection.execute(self.next)
            self.connection.execute("INSERT INTO fact SELECT * FROM delta")

    def read(self) -> Checks:
        return {"answers": self._number("fact")}

    def _number(self, table: str) -> int:
        row = self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        assert row is not None
        return int(row[0])


def _one_new(operands: int) -> list[list[str]]:
    return [["delta" if i == new else "fact" for i in range(operands)] for new in range(operands)]


def _triples(data: Data) -> list[pa.Array]:
    table = pv.read_csv(
        data.folder / "abox.tsv",
        read_options=pv.ReadOptions(column_names=["s", "p", "o"], use_threads=False),
        parse_options=pv.ParseOptions(delimiter="\t", quote_char=False),
        convert_options=pv.ConvertOptions(column_types=dict.fromkeys("spo", pa.string())),
    )
    return [pc.fill_null(table.column(name), "").combine_chunks() for name in "spo"]


def _axioms(axioms: list[lubm.Triple]) -> Mapping[str, Sequence[tuple[str, ...]]]:
    def rows(kind: str) -> list[tuple[str, str]]:
        return [(subject, object_) for name, subject, object_ in axioms if name == kind]

    kinds = rows("definedAnd")
    some = {name: object_.split(" ") for name, object_ in rows("definedSome")}
    return {
        "subclass": [*rows("subClassOf"), *kinds],
        "subproperty": rows("subPropertyOf"),
        "inverse": [*rows("inverseOf"), *((b, a) for a, b in rows("inverseOf"))],
        "domain": rows("domain"),
        "range": rows("range"),
        "transitive": [(name,) for name, _ in rows("transitive")],
        "defined": [(name, kind, *some[name]) for name, kind in kinds],
    }
