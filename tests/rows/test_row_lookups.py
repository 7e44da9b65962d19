"""What rows look up in reference tables: against `ask` on the whole table."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest

import lnnkit
from tests.rows.row_programs import RowProgram
from tests.rows.test_row_oracle import differences

HEAD = """sort loan
sort region
predicate Late(loan)
predicate LivesIn(loan, region) closed
predicate WorksIn(loan, region)
predicate Risky(region) closed
predicate Far(region, region) closed
predicate Calm(region)
number limit(region)
number income(loan)
load Late from "loans.parquet" (id, late)
load income from "loans.parquet" (id, income)
load LivesIn from "loans.parquet" (id, region, sure)
load WorksIn from "loans.parquet" (id, work) where work is not null
load Risky from "regions.csv" (region, risk)
load limit from "regions.csv" (region, limit)
load Far from "far.csv"
fact Calm(rome) in [0.2, 0.9]
fact Calm(oslo) in [0.5, 1]
fact Calm(oslo) in [0, 0.25]
"""
PROGRAMS = {
    "one": "rule LivesIn(X, R) & Risky(R) -> D(X)\nquery D(X)\n",
    "open": "rule WorksIn(X, R) & Risky(R) -> D(X)\nquery D(X)\nquery ~D(X) | Late(X)\n",
    "number": "rule LivesIn(X, R) & income(X) < limit(R) -> D(X)\nquery D(X)\n",
    "pair": "rule LivesIn(X, R) & WorksIn(X, T) & Far(R, T) -> D(X)\nquery D(X)\n",
    "same": "rule LivesIn(X, R) & WorksIn(X, R) -> D(X)\nquery D(X)\n",
    "entity": 'rule LivesIn(X, "rome") & Risky("oslo") & Late(X) -> ~D(X)\nquery D(X)\n',
    "closure": "predicate Way(region, region) closed\nrule Far(R, T) -> Way(R, T)\n"
    "rule Way(R, S) & Far(S, T) -> Way(R, T)\nrule LivesIn(X, R) & Way(R, T) & Risky(T) -> D(X)\nquery D(X)\n",
    "stated": "rule Risky(R) & Calm(R) -> Seen(R)\nfact Seen(kiel) = 0\n"
    "rule LivesIn(X, R) & (Risky(R) & Calm(R)) -> D(X)\nquery D(X)\n",
    "compared": "axiom limit(R) < 6\nrule LivesIn(X, R) & limit(R) <= 7 -> D(X)\nquery D(X)\n",
    "derived": "rule Risky(R) & Far(R, T) -> Seen(T)\nrule WorksIn(X, T) & Seen(T) -> D(X)\nquery D(X)\n",
    "contradiction": "rule WorksIn(X, R) & Calm(R) -> D(X)\nrule Late(X) -> ~D(X)\nquery D(X)\n",
    "closed": "predicate D(loan) closed\nrule LivesIn(X, R) & Risky(R) & Late(X) -> D(X)\nquery D(X)\n",
    "closed facts": "predicate D(loan) closed\nfact D(l2) = 0\nfact D(l3) = 0.1\n"
    "rule LivesIn(X, R) & Risky(R) -> D(X)\nrule D(X) -> E(X)\nquery D(X)\nquery E(X)\n",
    "shared": "rule LivesIn(X, R) & (Risky(R) & Late(X)) -> D(X)\nrule LivesIn(X, R) & (Risky(R) & Late(X)) -> ~E(X)\n"
    "query D(X)\nquery E(X)\n",
    "either": "rule LivesIn(X, R) | Risky(R) -> D(X)\nquery D(X)\n",
    "free": "rule LivesIn(X, R) & Far(R, T) -> D(X)\nquery D(X)\n",
    "completed": "predicate D(loan) closed\nrule WorksIn(X, R) & Risky(R) -> D(X)\nquery D(X)\n",
    "fact": "fact WorksIn(l3, oslo)\nrule WorksIn(X, R) & Risky(R) -> D(X)\nquery D(X)\n",
    "twice": 'load WorksIn from "loans.parquet" (id, region)\nrule WorksIn(X, R) & Risky(R) -> D(X)\nquery D(X)\n',
}


def program(text: str, folder: Path, rows: int = 12) -> RowProgram:
    rng = random.Random(text)
    regions = ["rome", "oslo", "bern", "kiel", "nowhere"]
    (folder / "regions.csv").write_text("region,risk,limit\nrome,0.8,5\noslo,0.25,3\nbern,1,\nkiel,0,7\n")
    (folder / "far.csv").write_text("a,b\nrome,oslo\nrome,kiel\nbern,rome\noslo,rome\n")
    columns = {
        "id": [f"l{row}" for row in range(rows)],
        "late": [rng.choice([0.0, 1.0, rng.random()]) for _ in range(rows)],
        "income": [rng.choice([None, float(rng.randint(0, 9))]) for _ in range(rows)],
        "region": [rng.choice(regions) for _ in range(rows)],
        "sure": [rng.choice([1.0, 1.0, 0.7]) for _ in range(rows)],
        "work": [rng.choice([*regions, None]) for _ in range(rows)],
    }
    table = pa.table(columns)
    pq.write_table(table, folder / "loans.parquet")
    return RowProgram(HEAD + text, table)


@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_beside_reference_tables_answer_as_the_whole(name: str, tmp_path: Path) -> None:
    found = program(PROGRAMS[name], tmp_path)
    assert differences(found, tmp_path, (5, 1000)) == []


@pytest.mark.parametrize("region", ["rome", "oslo", "nowhere"])
@pytest.mark.parametrize(
    "query", ["LivesIn(X, {})", "~LivesIn(X, {})", "Late(X) & LivesIn(X, {})", "Late(X) | Bad({})"]
)
def test_a_query_that_names_what_rows_name(query: str, region: str, tmp_path: Path) -> None:
    (tmp_path / "loans.csv").write_text("id,late,region\nl1,0.5,rome\nl2,1,oslo\nl3,0.25,\nl4,0,rome\n")
    text = f"""sort loan
predicate Late(loan)
predicate LivesIn(loan, region) closed
predicate Bad(region) closed
load Late from "loans.csv" (id, late)
load LivesIn from "loans.csv" (id, region) where region is not null
fact Bad(oslo) = 0.75
rule Late(X) & LivesIn(X, R) & Bad(R) -> Review(X)
query {query.format(region)}
query Review(X)
"""
    whole = lnnkit.loads(text, tmp_path)
    scorer = lnnkit.loads(text, tmp_path, streamed="loan").scorer("loan", why=True)
    found = scorer(pv.read_csv(tmp_path / "loans.csv"))
    for name, answers in zip(scorer.names, whole.answers(), strict=True):
        known = {each.bindings["X"]: (each.lower, each.upper) for each in answers}
        own = {row["id"]: (row[f"{name}_lower"], row[f"{name}_upper"]) for row in found.to_pylist()}
        assert {key: own[key] for key in known} == known
        assert len({bounds for key, bounds in own.items() if key not in known}) < 2


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("predicate T(loan)\nrule O(X, P) & X != P -> T(X)\nquery T(X)", [1.0, 0.0]),
        ("predicate T(loan)\nrule O(X, P) & X = P -> T(X)\nquery T(X)", [0.0, 1.0]),
        ("query exists P: O(X, P) & P = X", [0.0, 1.0]),
        ("query exists P: O(X, P) & P = b", [1.0, 1.0]),
        ("fact Kind(c)\nquery exists P: O(X, P) & P = c", [0.0, 0.0]),
    ],
)
def test_a_row_may_name_itself_or_another_row(text: str, expected: list[float], size: int, tmp_path: Path) -> None:
    rows = pa.table({"id": ["a", "b"], "o": ["b", "b"]})
    pq.write_table(rows, tmp_path / "loans.parquet")
    head = 'predicate O(loan, person) closed\npredicate Kind(person)\nload O from "loans.parquet" (id, o)\n'
    scorer = lnnkit.loads(head + text, tmp_path, streamed="loan").scorer("loan")
    lower = [part[1] for start in range(0, 2, size) for part in [scorer(rows.slice(start, size))]]
    assert [value for column in lower for value in column.to_pylist()] == expected


def test_why_names_statements_beside_references_that_are_inferred_once(tmp_path: Path) -> None:
    """The neuron that two statements share has another number where the first one is worked out."""
    pq.write_table(pa.table({"id": ["a", "b"], "o": ["x", "y"], "late": [1.0, 1.0]}), tmp_path / "loans.parquet")
    text = """predicate O(loan, person) closed
predicate Late(loan)
predicate Good(person)
predicate Rich(person)
load O from "loans.parquet" (id, o)
load Late from "loans.parquet" (id, late)
fact Rich(x)
fact Old(x)
fact Rich(y) = 0
rule wealth: (Rich(P) & Old(P)) | (Rich(P) & Old(P) & Rich(P)) | (Old(P) & (Rich(P) -> Old(P)) & Rich(P)) -> Good(P)
rule first: (Late(X) & Odd(X)) | (exists P: O(X, P) & Good(P)) -> D(X)
axiom second: ~(Late(X) & Odd(X))
predicate Odd(loan)
query D(X)
query Odd(X)
"""
    scorer = lnnkit.loads(text, tmp_path, streamed="loan").scorer("loan", why=True)
    rows = scorer(pq.read_table(tmp_path / "loans.parquet")).to_pydict()
    assert rows["D_lower"] == [1.0, 0.0]
    assert rows["D_lower_by"] == ["first", None]
    assert rows["Odd_upper"] == [0.0, 0.0]
    assert rows["Odd_upper_by"] == ["first", "first"]  # the first that has the neuron
