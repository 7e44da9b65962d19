"""W5 in DuckDB: triples as numbers in one table, the axioms as tables beside it, semi-naive rounds from Python.

A definition is read as LUBM has them: a class and some relation to a class. What each member *must have* says nothing
about named individuals, so it is left out.
"""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from benchmarks import lubm
from benchmarks.relational.data import Data
from benchmarks.relational.workloads import Checks

# What a round adds to: the triples of the last round (`delta`) meet the axioms and, where two triples are needed, all.
RULES = """
SELECT delta.s AS s, delta.p AS p, d.o AS o FROM delta JOIN subclass d ON delta.p = 0 AND delta.o = d.s
UNION ALL SELECT delta.s, d.o, delta.o FROM delta JOIN subproperty d ON delta.p = d.s
UNION ALL SELECT delta.o, d.o, delta.s FROM delta JOIN inverse d ON delta.p = d.s
UNION ALL SELECT delta.s, 0, d.o FROM delta JOIN domain d ON delta.p = d.s
UNION ALL SELECT delta.o, 0, d.o FROM delta JOIN range d ON delta.p = d.s
UNION ALL SELECT delta.s, delta.p, fact.o FROM delta JOIN transitive d ON delta.p = d.s
    JOIN fact ON fact.p = delta.p AND fact.s = delta.o
UNION ALL SELECT fact.s, delta.p, delta.o FROM delta JOIN transitive d ON delta.p = d.s
    JOIN fact ON fact.p = delta.p AND fact.o = delta.s
UNION ALL SELECT delta.s, 0, d.class FROM delta JOIN defined d ON delta.p = 0 AND delta.o = d.kind
    JOIN fact way ON way.p = d.relation AND way.s = delta.s
    JOIN fact goal ON goal.p = 0 AND goal.s = way.o AND goal.o = d.goal
UNION ALL SELECT delta.s, 0, d.class FROM delta JOIN defined d ON delta.p = d.relation
    JOIN fact kind ON kind.p = 0 AND kind.s = delta.s AND kind.o = d.kind
    JOIN fact goal ON goal.p = 0 AND goal.s = delta.o AND goal.o = d.goal
UNION ALL SELECT way.s, 0, d.class FROM delta JOIN defined d ON delta.p = 0 AND delta.o = d.goal
    JOIN fact way ON way.p = d.relation AND way.o = delta.s
    JOIN fact kind ON kind.p = 0 AND kind.s = way.s AND kind.o = d.kind
"""
NEXT = f"CREATE OR REPLACE TEMP TABLE delta AS SELECT DISTINCT s, p, o FROM ({RULES}) ANTI JOIN fact USING (s, p, o)"


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
        for name, rows in _axioms(axioms).items():
            fields = ("class", "kind", "relation", "goal") if name == "defined" else ("s", "o")
            columns = {
                field: pa.array([number[row[i]] for row in rows], pa.int32()) for i, field in enumerate(fields)
            }
            self._table(name, pa.table(columns))

    def _table(self, name: str, table: pa.Table) -> None:
        self.connection.register("arrow", table)
        self.connection.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow")
        self.connection.unregister("arrow")

    def infer(self) -> None:
        self.connection.execute("CREATE TEMP TABLE delta AS SELECT * FROM fact")
        while self._number("delta"):
            self.connection.execute(NEXT)
            self.connection.execute("INSERT INTO fact SELECT * FROM delta")

    def read(self) -> Checks:
        return {"answers": self._number("fact")}

    def _number(self, table: str) -> int:
        row = self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        assert row is not None
        return int(row[0])


def _triples(data: Data) -> list[pa.Array]:
    table = pv.read_csv(
        data.folder / "abox.tsv",
        read_options=pv.ReadOptions(column_names=["s", "p", "o"], use_threads=False),
        parse_options=pv.ParseOptions(delimiter="\t", quote_char=False),
        convert_options=pv.ConvertOptions(column_types=dict.fromkeys("spo", pa.string())),
    )
    return [pc.fill_null(table.column(name), "").combine_chunks() for name in "spo"]


def _axioms(axioms: list[lubm.Triple]) -> dict[str, list[tuple[str, ...]]]:
    def rows(kind: str) -> list[tuple[str, ...]]:
        return [(subject, object_) for name, subject, object_ in axioms if name == kind]

    kinds, some = rows("definedAnd"), dict(rows("definedSome"))
    return {
        "subclass": [*rows("subClassOf"), *kinds],
        "subproperty": rows("subPropertyOf"),
        "inverse": [*rows("inverseOf"), *((b, a) for a, b in rows("inverseOf"))],
        "domain": rows("domain"),
        "range": rows("range"),
        "transitive": [(name, name) for name, _ in rows("transitive")],
        "defined": [(name, kind, *some[name].split(" ")) for name, kind in kinds],
    }
