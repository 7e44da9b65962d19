"""Numbers from files, tables and the program's text, through to answers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lnnkit

INF = math.inf
AGES = "number age(person)\nnumber limit\npredicate Adult(person)\n"


def found(answers: lnnkit.Answers) -> list[tuple[str, float, float]]:
    return [(answer.bindings.get("X", ""), answer.lower, answer.upper) for answer in answers]


def test_every_way_to_state_a_number(tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("name,age\nanna,34\nbob,\n")
    (tmp_path / "ranges.csv").write_text("who,least,most\ncleo,30,\ndora,,40\nemil,18,65\n")
    table = pa.table({"n": ["fay"], "a": pa.array([41], pa.int64()), "b": pa.array([42.5])})
    pq.write_table(table, tmp_path / "ages.parquet")
    text = AGES + (
        'load age from "ages.csv"\nload age from "ranges.csv" (who, least, most)\n'
        'load age from "ages.parquet" (n, a, b)\nfact age(gus) in [30, inf]\nfact age(hal) = -0.5\nfact limit = 3\n'
    )
    kb = lnnkit.loads(text, base=tmp_path)
    kb.tell("age", [("ida", 7)])
    kb.tell("age", {"who": ["jon"], "least": [None], "most": np.array([9.5])})
    assert found(kb.ask("age(X)")) == [
        ("anna", 34, 34), ("cleo", 30, INF), ("dora", -INF, 40), ("emil", 18, 65), ("fay", 41, 42.5),
        ("gus", 30, INF), ("hal", -0.5, -0.5), ("ida", 7, 7), ("jon", -INF, 9.5),
    ]  # fmt: skip
    assert found(kb.ask("age(bob)")) == [("", -INF, INF)]
    assert found(kb.ask("limit * 2")) == [("", 6, 6)]


def test_facts_told_later_narrow_bounds() -> None:
    kb = lnnkit.loads(AGES + "rule Adult(X) <-> age(X) >= 18\nfact age(anna) in [10, 30]\n")
    assert found(kb.ask("Adult(X)")) == []
    kb.tell("Adult", ["anna"])
    assert found(kb.ask("age(X)")) == [("anna", 18, 30)]
    kb.tell("age", [("anna", 5, 20)])
    assert found(kb.ask("age(X)")) == [("anna", 18, 20)]
    kb.tell("age", [("anna", 17)])
    assert found(kb.ask("age(X)")) == [("anna", 17, 17)]
    (contradiction,) = kb.infer().contradictions
    assert str(contradiction) == "Adult(anna) <-> age(anna) >= 18 [1, 0] (rule, line 4)"


def test_bad_cells_have_their_place(tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("name,age\nanna,nan\nbob,old\ncleo,inf\n,3\n")
    with pytest.raises(lnnkit.DataError) as caught:
        lnnkit.loads(AGES + 'load age from "ages.csv"\n', base=tmp_path)
    found = [(each.code, Path(each.file or "").name, each.row) for each in caught.value.diagnostics]
    assert found == [*(("bad-number", "ages.csv", row) for row in (2, 3, 4)), ("bad-row", "ages.csv", 5)]
    assert all('"age"' in each.message for each in caught.value.diagnostics[:3])
    kb = lnnkit.loads(AGES + "fact age(anna) = 3\n")
    with pytest.raises(lnnkit.DataError, match="bad-number"):
        kb.tell("age", [("bob", "many")])
    with pytest.raises(lnnkit.DataError, match="bad-number"):
        kb.tell("age", [("bob", INF)])
    assert len(kb.ask("age(X)")) == 1


def test_whole_numbers_are_exact() -> None:
    """2^53 - 1 and its neighbours are told apart; fractions are not beyond one billionth."""
    top = 2**53 - 1
    kb = lnnkit.loads(
        AGES + f"fact age(anna) = {top}\nfact age(bob) = {top - 1}\nfact age(cleo) = 0.30000000000000004\n"
    )
    for query, who in (
        (f"age(X) = {top}", ["anna"]),
        (f"age(X) < {top}", ["bob", "cleo"]),
        (f"age(X) + 1 = {top}", ["bob"]),
        ("age(X) = 0.3", ["cleo"]),
        ("age(X) <= 0.3", ["cleo"]),
        ("age(X) > 0.3", ["anna", "bob"]),
    ):
        assert [answer.bindings["X"] for answer in kb.ask(query) if answer.state == "true"] == who, query


def test_a_million_told_numbers_take_no_step_each() -> None:
    """Seconds, not minutes: the columns go through as arrays."""
    count = 200_000
    kb = lnnkit.loads(AGES + "rule age(X) >= 18 -> Adult(X)\nquery Adult(X)\n")
    kb.tell("age", {"who": pa.array([f"p{place}" for place in range(count)]), "age": np.arange(count) % 40.0})
    (answers,) = kb.answers()
    assert len(answers) == count // 40 * 22
    assert answers.lower.min() == 1


def test_numbers_without_arguments_and_between_entities() -> None:
    kb = lnnkit.loads(
        AGES + "number gap(person, person)\nfact limit in [10, 12]\nfact age(anna) = 30\nfact age(bob) = 25\n"
        "axiom gap(X, Y) = age(X) - age(Y)\nrule gap(X, Y) > limit -> Far(X, Y)\nfact ~Far(cleo, anna)\n"
    )
    rows = {(a.bindings["X"], a.bindings["Y"]): (a.lower, a.upper) for a in kb.ask("gap(X, Y)")}
    assert rows["anna", "bob"] == (5, 5) and rows["bob", "anna"] == (-5, -5)
    assert rows["cleo", "anna"] == (-INF, 12)
    assert found(kb.ask("age(cleo)")) == [("", -INF, 42)]


def test_an_arrested_comparison_proposes_nothing() -> None:
    """No numbers give this register a truth of 1, so it is arrested; that its root has a value is then not known."""
    kb = lnnkit.loads(
        AGES + "fact age(anna) in [-1, 9]\nfact limit in [0, 5]\nfact Adult(anna)\nrule Adult(X) -> age(X) <= 6\n"
        "rule forall X: (sqrt(age(X)) <?> limit){weight: [2, 1, 1]}\nrule Adult(X) & age(X) <= 6 -> limit <= 4\n"
    )
    assert found(kb.ask("age(anna)")) == [("", -1, 6)]
    assert {each.kind for each in kb.infer().contradictions} == {"neuron"}


def test_shared_constants_and_learned_ones() -> None:
    kb = lnnkit.loads(
        AGES + "fact age(anna) = 40\nrule age(X) >= ?cut=39.5 -> Adult(X)\nrule age(X) < 2 * ?cut -> Young(X)\n"
    )
    assert found(kb.ask("Adult(X) & Young(X)")) == [("anna", 1, 1)]
    assert found(kb.ask("age(X) > ?cut")) == [("anna", 1, 1)]


@pytest.mark.parametrize(
    ("query", "bounds"),
    [
        ("nau(age(anna), limit){weight: [1, -0.5]}", (28, 28)),
        ("nmu(age(anna), limit){weight: [1, 1]}", (120, 120)),
        ("npu(age(anna), limit){power: [1, -1]}", (7.5, 7.5)),
        ("realnpu(age(anna), limit){power: [0.5, 1]}", (4 * math.sqrt(30), 4 * math.sqrt(30))),
        ("abs(limit - age(anna)) ^ 2", (676, 676)),
        ("(age(anna) > 20){scale: 5}", (1 / (1 + math.exp(-2)),) * 2),
        ("(age(anna) = 25){scale: 5}", (1 - math.tanh(1) ** 2,) * 2),
        ("(age(anna) <?> 20){weight: [2, -1, -1]}", (1 / (1 + math.exp(-2)),) * 2),
    ],
)
def test_terms_by_hand(query: str, bounds: tuple[float, float]) -> None:
    kb = lnnkit.loads(AGES + "fact age(anna) = 30\nfact limit = 4\n")
    (answer,) = kb.ask(query)
    assert (answer.lower, answer.upper) == pytest.approx(bounds)
