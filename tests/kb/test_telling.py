"""``kb.tell`` and ``kb.save``: facts that come from Python, and programs that go back to a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import lnnkit

PROGRAM = """\
predicate Contact(person, person) closed
fact Infected(anna)
rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
query Infected(X)
"""


def infected(kb: lnnkit.KnowledgeBase) -> list[str]:
    return [answer.bindings["X"] for answer in kb.ask("Infected(X)")]


def frames() -> list[object]:
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    columns = {"from": ["anna", "cleo"], "to": ["cleo", "dora"]}
    return [
        [("anna", "cleo"), ("cleo", "dora")],
        iter([["anna", "cleo"], ["cleo", "dora"]]),
        [{"from": "anna", "to": "cleo"}, {"from": "cleo", "to": "dora"}],
        columns,
        {name: tuple(values) for name, values in columns.items()},
        pa.table(columns),
        pa.table(columns).to_batches()[0],
        pd.DataFrame(columns),
    ]


@pytest.mark.parametrize("place", range(8))
def test_tables(place: int) -> None:
    kb = lnnkit.loads(PROGRAM)
    kb.tell("Contact", frames()[place])
    assert infected(kb) == ["anna", "cleo", "dora"]


def test_truth_values_and_bounds_meet_what_is_there() -> None:
    kb = lnnkit.loads(PROGRAM)
    kb.tell("Infected", [("emil", 0.3)])
    kb.tell("Infected", {"who": ["fred", "emil"], "low": [0.1, 0.0], "high": [0.7, 0.2]})
    bounds = {answer.bindings["X"]: (answer.lower, answer.upper) for answer in kb.ask("Infected(X)")}
    assert bounds["fred"] == (0.1, 0.7)
    assert bounds["emil"] == (0.3, 0.2)
    assert [each.atom for each in kb.infer().contradictions] == ["Infected(emil)"]


def test_telling_makes_inference_stale() -> None:
    kb = lnnkit.loads(PROGRAM)
    assert infected(kb) == ["anna"]
    kb.tell("Contact", [("anna", "bob")])
    assert infected(kb) == ["anna", "bob"]
    assert [answer.bindings["X"] for answer in kb.answers()[0]] == ["anna", "bob"]
    kb.tell("Contact", [("bob", "cleo")])
    kb.infer()
    assert infected(kb) == ["anna", "bob", "cleo"]


def test_telling_a_proposition_and_nothing() -> None:
    kb = lnnkit.loads("predicate Rain\nrule Rain -> Wet\n")
    kb.tell("Rain", [(0.9,)])
    assert kb.ask("Wet")[0].lower == pytest.approx(0.9)
    kb.tell("Rain", [])
    assert kb.ask("Wet")[0].lower == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("name", "table", "code"),
    [
        ("Contacts", [("a", "b")], "unknown-predicate"),
        ("Contact", [("anna",)], "wrong-columns"),
        ("Contact", [("anna", "bob", 0.1, 0.2, 0.3)], "wrong-columns"),
        ("Contact", [("anna", None)], "bad-row"),
        ("Infected", [("bob", 1.5)], "bad-truth"),
        ("Infected", [("bob", 0.7, 0.2)], "bad-truth"),
        ("Contact", {"a": ["x"], "b": []}, "wrong-table"),
        ("Contact", 7, "wrong-table"),
        ("Contact", "anna", "wrong-table"),
    ],
)
def test_wrong_tables_add_no_facts(name: str, table: object, code: str) -> None:
    kb = lnnkit.loads(PROGRAM)
    with pytest.raises(lnnkit.DataError) as raised:
        kb.tell(name, table)
    assert all(each.severity == "error" for each in raised.value.diagnostics)
    assert code in [each.code for each in raised.value.diagnostics], raised.value
    assert infected(kb) == ["anna"]


def test_every_bad_row_is_named() -> None:
    kb = lnnkit.loads(PROGRAM)
    with pytest.raises(lnnkit.DataError) as raised:
        kb.tell("Infected", [("bob", 0.5), ("cleo", 2.0), ("", 1.0)])
    assert [(each.file, each.line) for each in raised.value.diagnostics] == [
        ("<told Infected>", 2),
        ("<told Infected>", 3),
    ]


def test_unknown_predicates_get_the_nearest_name() -> None:
    with pytest.raises(lnnkit.DataError, match="did you mean `Contact`"):
        lnnkit.loads(PROGRAM).tell("contact", [("a", "b")])


def test_a_variable_like_a_told_entity_is_an_error() -> None:
    kb = lnnkit.loads("predicate Friend(person, person)\nrule Friend(X, Anna) -> Happy(X)\nquery Happy(X)\n")
    with pytest.raises(lnnkit.DataError) as raised:
        kb.tell("Friend", [("bob", "anna")])
    assert [(each.code, each.line, each.column) for each in raised.value.diagnostics] == [
        ("variable-like-entity", 2, 16)
    ]
    assert len(kb.ask("Happy(X)")) == 0
    kb.tell("Friend", [("bob", "cleo")])
    assert len(kb.ask("Happy(X)")) == 1


def test_told_entities_are_known_to_queries() -> None:
    kb = lnnkit.loads(PROGRAM)
    with pytest.raises(lnnkit.ProgramError, match="unknown-entity"):
        kb.ask("Infected(zora)")
    kb.tell("Contact", [("anna", "zora")])
    answers = kb.ask("Infected(zora)")
    assert (answers.warnings, answers[0].lower) == ((), 0.8)


def test_files_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("a,b\nanna,bob\n")
    (tmp_path / "rules.lnn").write_text(PROGRAM)
    kb = lnnkit.loads('import "rules.lnn"\nload Contact from "c.csv"\n', tmp_path)
    (tmp_path / "c.csv").unlink()
    (tmp_path / "rules.lnn").unlink()
    kb.tell("Contact", [("bob", "cleo")])
    assert infected(kb) == ["anna", "bob", "cleo"]


def test_told_tables_equal_loaded_tables(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("a,b\nanna,bob\nbob,cleo\n")
    own = lnnkit.loads(PROGRAM + 'load Contact from "c.csv"\n', tmp_path)
    told = lnnkit.loads(PROGRAM)
    told.tell("Contact", [("anna", "bob"), ("bob", "cleo")])
    for query in ("Infected(X)", "Contact(X, Y)", "forall X: Infected(X)", "exists Y: Contact(X, Y)"):
        assert own.ask(query).as_dict() == told.ask(query).as_dict()


# --- saving ---------------------------------------------------------------------------------------------------------

SAVED = """\
# the head comment
import "lib/rules.lnn"    # as it was
load Contact
    from "data/c.csv"  # from "nowhere.csv"
    (a, "b")
load "from" from "data/f \\"x\\".csv"
label Infected from "data/c.csv" (a)
load Contact from "{absolute}"

query   Infected(X)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "lib").mkdir(parents=True)
    (home / "data").mkdir()
    (home / "lib" / "rules.lnn").write_text(PROGRAM.replace("query Infected(X)\n", ""))
    (home / "data" / "c.csv").write_text("a,b\nanna,bob\n")
    (home / "data" / 'f "x".csv').write_text("a\nbob\n")
    (tmp_path / "abs.csv").write_text("a,b\nbob,cleo\n")
    (home / "p.lnn").write_text(SAVED.format(absolute=tmp_path / "abs.csv"))
    return home


def test_save_rewrites_paths_and_nothing_else(home: Path, tmp_path: Path) -> None:
    kb = lnnkit.load(home / "p.lnn")
    (tmp_path / "out").mkdir()
    kb.save(tmp_path / "out" / "q.lnn")
    text = (tmp_path / "out" / "q.lnn").read_text()
    before = SAVED.format(absolute=tmp_path / "abs.csv")
    assert text == before.replace('"lib/', '"../home/lib/').replace('"data/', '"../home/data/')
    again = lnnkit.load(tmp_path / "out" / "q.lnn")
    assert infected(again) == infected(kb) == ["anna", "bob", "cleo"]


def test_saving_in_the_same_folder_keeps_the_text(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    kb = lnnkit.load("p.lnn")
    monkeypatch.chdir("/")
    kb.save(home / "q.lnn")
    assert (home / "q.lnn").read_text() == (home / "p.lnn").read_text()


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_save_behind_a_link(home: Path, tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "er")
    lnnkit.load(home / "p.lnn").save(tmp_path / "link" / "q.lnn")
    assert infected(lnnkit.load(tmp_path / "link" / "q.lnn")) == ["anna", "bob", "cleo"]


def test_told_facts_are_saved_as_statements(tmp_path: Path) -> None:
    kb = lnnkit.loads(PROGRAM, tmp_path)
    kb.tell("Contact", [("anna", "bob"), ("bob", "cleo")], trust=0.5)
    kb.save(tmp_path / "q.lnn")
    assert (
        (tmp_path / "q.lnn")
        .read_text()
        .endswith("fact Contact(anna, bob) trust 0.5\nfact Contact(bob, cleo) trust 0.5\n")
    )


def test_too_many_told_facts_are_refused(tmp_path: Path) -> None:
    kb = lnnkit.loads(PROGRAM, tmp_path)
    kb.tell("Infected", {"who": range(100_001)})
    with pytest.raises(lnnkit.Error, match="told-facts"):
        kb.save(tmp_path / "q.lnn")
    assert not (tmp_path / "q.lnn").exists()


def test_save_where_nothing_can_be_written(tmp_path: Path) -> None:
    kb = lnnkit.loads(PROGRAM, tmp_path)
    for path in (tmp_path / "no" / "q.lnn", tmp_path, tmp_path / "nul\0.lnn"):
        with pytest.raises(lnnkit.Error, match="unwritable-file"):
            kb.save(path)


def test_masked_cells_are_unknown() -> None:
    np = pytest.importorskip("numpy")
    kb = lnnkit.loads("number age(person)\npredicate Old(person)\nrule age(X) > 1 -> Old(X)\n")
    kb.tell("age", {"person": ["a", "b"], "age": np.ma.array([1.0, 2.0], mask=[False, True])})
    assert [(answer.bindings["X"], answer.lower) for answer in kb.ask("age(X)") if answer.lower > -1e9] == [("a", 1.0)]


@pytest.mark.parametrize("way", ["statement", "table", "told"])
def test_labelled_entities_belong_to_the_domain(tmp_path: Path, way: str) -> None:
    """Semantics 15: entities of labels join the domain, however they are labelled."""
    (tmp_path / "labels.csv").write_text("name\nzoe\n")
    text = "sort person\npredicate P(person)\npredicate Q(person)\nfact P(x)\naxiom forall X: Q(X)\n"
    text += {"statement": "label P(zoe)\n", "table": 'label P from "labels.csv"\n', "told": ""}[way]
    kb = lnnkit.loads(text, tmp_path)
    if way == "told":
        assert kb.ask("forall X: P(X)")[0].lower == 1.0
        kb.label("P", [("zoe",)])
    assert kb.ask("forall X: P(X)")[0].lower == 0.0
    assert [dict(answer.bindings) for answer in kb.ask("Q(X)")] == [{"X": "x"}, {"X": "zoe"}]


def test_tables_told_in_sequence_are_numbered() -> None:
    kb = lnnkit.loads("number n(t)\nquery n(X)\n")
    kb.tell("n", [("x", 5)])
    kb.tell("n", [("x", 6)])
    text = str(kb.explain("n(x)"))
    assert "<told n>:1" in text and "<told n 2>:1" in text
    with pytest.raises(lnnkit.DataError, match="<told n 3>:1"):
        kb.tell("n", [("x", "old")])
