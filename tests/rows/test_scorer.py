"""The scorer: batches in, batches out; in other processes; what is wrong with a batch or a program."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pv
import pytest

import lnnkit
from lnnkit.rows.scorer import RowScorer

TEXT = """sort loan
predicate Risky(loan)
number income(loan)
load Risky from "loans.csv" (id, risk)
load income from "loans.csv" (id, income)
rule poor: Risky(X) & income(X) < 1000 -> ~Grant(X)
rule vip: Vip(X) -> Grant(X) in [0.5, 1]
fact Vip(l2)
query Grant(X)
"""
ROWS = {"id": ["l1", "l2", "l2"], "risk": [1.0, 0.5, 1.0], "income": [500.0, 2000.0, None], "more": [1, 2, 3]}


def scorer(text: str = TEXT, *, why: bool = False) -> RowScorer:
    return lnnkit.loads(text, streamed="loan").scorer("loan", why=why)


def test_a_row_is_an_entity_of_its_own_though_another_has_its_name() -> None:
    found = scorer()(pa.record_batch(ROWS)).to_pydict()
    assert found == {
        "id": ["l1", "l2", "l2"],
        "Grant_lower": [0.0, 0.5, 0.5],
        "Grant_upper": [0.0, 1.0, 1.0],
        "Grant_state": ["false", "likely_true", "likely_true"],
    }


def test_names_twice_in_what_the_engine_decides() -> None:
    text = TEXT.replace("query", "rule LivesIn(X, R) & Far(R) -> Grant(X)\nquery")
    text = text.replace("sort loan\n", "sort loan\npredicate LivesIn(loan, town)\npredicate Far(town)\n")
    text += 'load LivesIn from "loans.csv" (id, town) where town is not null\nfact Far(oslo) in [0.7, 1]\n'
    own = scorer(text)
    found = own(pa.record_batch({**ROWS, "town": ["rome", "oslo", None]})).to_pydict()
    assert found["Grant_lower"] == [0.0, 0.7, 0.5]


def test_frames_of_other_libraries_and_what_is_none() -> None:
    own = scorer()
    frame = pytest.importorskip("polars").DataFrame(ROWS)
    assert own(frame).to_pylist() == own(pa.table(ROWS)).to_pylist()
    with pytest.raises(lnnkit.DataError, match="a dict cannot be read as a table"):
        own({"id": ["l1"]})  # pyright: ignore[reportArgumentType]


def test_whole_numbers_name_rows_and_stay_numbers() -> None:
    found = scorer()(pa.record_batch({**ROWS, "id": pa.array([3, 1, 2])}))
    assert found["id"].to_pylist() == [3, 1, 2]
    assert found.schema.field("id").type == pa.int64()


def test_an_empty_batch() -> None:
    found = scorer()(pa.record_batch(ROWS).slice(0, 0))
    assert found.num_rows == 0
    assert found.schema.names == ["id", "Grant_lower", "Grant_upper", "Grant_state"]


def test_why_names_the_statement_that_set_each_end() -> None:
    found = scorer(why=True)(pa.record_batch(ROWS)).to_pydict()
    assert found["Grant_lower_by"] == [None, "vip", "vip"]
    assert found["Grant_upper_by"] == ["poor", None, None]


def test_why_marks_the_rows_that_contradict_themselves() -> None:
    """Where `run` of the same rows reports `Grant(l3)`, a vip who is poor; of the two called l2 neither is."""
    own = scorer(TEXT.replace("fact Vip(l2)", 'load Vip from "loans.csv" (id, vip)'), why=True)
    rows = {"id": ["l1", "l2", "l2", "l3"], "risk": [1.0, 0.5, 1.0, 1.0], "income": [500.0, 2000.0, None, 10.0]}
    found = own(pa.record_batch({**rows, "vip": [0.0, 1.0, 1.0, 1.0]})).to_pydict()
    assert found["contradicted"] == [False, False, False, True]
    assert own(pa.record_batch({**rows, "vip": [0.0] * 4}).slice(0, 0))["contradicted"].to_pylist() == []


def test_a_pickled_scorer_answers_alike_and_one_of_another_format_is_refused() -> None:
    own = scorer()
    batch = pa.record_batch(ROWS)
    again = pickle.loads(pickle.dumps(own))
    assert again(batch).equals(own(batch))
    state = own.__getstate__() | {"format": 99, "lnnkit": "9.9"}
    with pytest.raises(lnnkit.Error, match=r"lnnkit 9\.9 in format 99; lnnkit \S+ reads format 1"):
        RowScorer.__new__(RowScorer).__setstate__(state)


def test_a_trained_model_file(tmp_path: Path) -> None:
    pv.write_csv(pa.table(ROWS).slice(0, 2), tmp_path / "loans.csv")
    text = TEXT.replace("income(X) < 1000", "income(X) < ?limit=1000")
    kb = lnnkit.loads(text, tmp_path)
    kb.module().load({"limit": 2500.125})
    kb.save(tmp_path / "trained.safetensors")
    kb.save(tmp_path / "trained.lnn")
    batch = pa.record_batch(ROWS)
    expected = kb.scorer("loan")(batch)
    assert expected["Grant_upper"].to_pylist()[1] == 0.5
    for name in ("trained.safetensors", "trained.lnn"):
        assert lnnkit.load(tmp_path / name, streamed="loan").scorer("loan")(batch).equals(expected)


def test_another_table_about_the_rows_is_looked_up(tmp_path: Path) -> None:
    (tmp_path / "black.csv").write_text("id\nl1\nl9\n", encoding="utf-8")
    text = TEXT + 'predicate Black(loan)\nload Black from "black.csv"\nrule Black(X) -> ~Grant(X)\nquery Black(X)\n'
    kb = lnnkit.loads(text, tmp_path, streamed="loan")
    with pytest.raises(lnnkit.ProgramError, match="from 2 tables"):
        kb.scorer("loan")
    found = kb.scorer("loan", stream="loans.csv")(pa.record_batch(ROWS)).to_pydict()
    assert found["Black_lower"] == [1.0, 0.0, 0.0]
    assert found["Black_state"] == ["true", "likely_false", "likely_false"]  # for Grant is at least 0.5


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"risk": [1.0, 1.5, 0.0]}, "bad-truth"),
        ({"income": ["1", "x", "2"]}, "bad-number"),
        ({"id": ["l1", None, "l3"]}, "bad-row"),
        ({"id": ["l1", "", "l3"]}, "bad-row"),
        ({"id": [1.0, 2.5, 3.0]}, "bad-column"),
        ({"risk": [1.0, float("nan"), 0.0]}, "bad-truth"),
    ],
)
def test_a_bad_row_is_named(change: dict[str, list[object]], code: str) -> None:
    with pytest.raises(lnnkit.DataError) as problem:
        scorer()(pa.record_batch({**ROWS, **change}))
    first = problem.value.diagnostics[0]
    assert first.code == code
    assert first.row == (None if code == "bad-column" else 2)


def test_a_program_without_rows_or_queries() -> None:
    with pytest.raises(lnnkit.ProgramError, match="nothing to score"):
        scorer(TEXT.replace("query Grant(X)\n", ""))
    with pytest.raises(lnnkit.ProgramError, match="loads no table about the sort `loan`"):
        scorer("predicate Risky(loan)\nfact Risky(a)\nquery Risky(X)\n")


def test_rows_named_by_two_columns_are_linked() -> None:
    text = TEXT + 'predicate Guarded(loan)\nload Guarded from "loans.csv" (guarantor)\nrule Guarded(X) -> Grant(X)\n'
    with pytest.raises(lnnkit.ProgramError, match="rows are named by"):
        scorer(text)(pa.record_batch({**ROWS, "guarantor": ["l2", "l3", "l1"]}))


def test_rows_that_do_not_converge_go_to_the_engine(tmp_path: Path) -> None:
    text = """sort loan
predicate A(loan)
number x(loan)
load A from "loans.csv" (id, a)
load x from "loans.csv" (id, x)
rule (A(X)@0.99 & B(X)@0.99){bias: 1.002} -> A(X)
rule A(X)@0.999 -> B(X)
query A(X)
query B(X)
"""
    rows = {"id": ["l1", "l2"], "a": [0.5, 0.9], "x": [1.0, 2.0]}
    pv.write_csv(pa.table(rows), tmp_path / "loans.csv")
    kb = lnnkit.loads(text, tmp_path)
    found = kb.scorer("loan")(pa.record_batch(rows)).to_pydict()
    whole = {each.bindings["X"]: (each.lower, each.upper) for each in kb.ask("A(X)")}
    assert list(zip(found["A_lower"], found["A_upper"], strict=True)) == [whole["l1"], whole["l2"]]
