"""Polars frames go in as facts and come out of answers, by Arrow's interfaces."""

from __future__ import annotations

import pytest

import lnnkit

pl = pytest.importorskip("polars", reason="polars is not installed")

PROGRAM = """\
predicate Contact(person, person)
number age(person)
fact Infected(anna)
rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
query Infected(X)
query age(X)
"""


def test_frames_can_be_told() -> None:
    kb = lnnkit.loads(PROGRAM)
    kb.tell("Contact", pl.DataFrame({"from": ["anna", "bob"], "to": ["bob", "cleo"]}))
    kb.tell("age", pl.DataFrame({"person": ["anna", "bob"], "years": [34, None]}))
    kb.tell("Infected", pl.Series(["dora"]))
    infected, ages = (pl.DataFrame(answers) for answers in kb.answers())
    assert infected["X"].cast(pl.String).to_list() == ["anna", "bob", "cleo", "dora"]
    assert infected["lower"].to_list() == pytest.approx([1, 0.8, 0.6, 1])
    assert infected["state"].cast(pl.String).to_list() == ["true", "likely_true", "likely_true", "true"]
    assert ages.rows() == [("anna", 34.0, 34.0, "number", False)]


def test_categories_are_texts() -> None:
    kb = lnnkit.loads(PROGRAM)
    kinds = {"from": pl.Categorical, "to": pl.Enum(["bob", "cleo"])}
    kb.tell("Contact", pl.DataFrame({"from": ["anna", "bob"], "to": ["bob", "cleo"]}, schema=kinds))
    assert [answer.bindings["X"] for answer in kb.ask("Infected(X)")] == ["anna", "bob", "cleo"]


def test_a_lazy_frame_is_to_be_collected() -> None:
    with pytest.raises(lnnkit.DataError, match="collect") as found:
        lnnkit.loads(PROGRAM).tell("Infected", pl.LazyFrame({"person": ["anna"]}))
    assert found.value.diagnostics[0].code == "wrong-table"
