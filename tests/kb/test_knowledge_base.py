"""The Python API: load, tell, infer, ask; what notebooks show; errors that say what is wrong."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import lnnkit

TRIAGE = """\
predicate Contact(person, person) closed
fact Infected(anna)
fact Infected(bob) in [0.2, 0.6]
rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
query Infected(X)
"""


def found(answers: lnnkit.Answers) -> list[tuple[tuple[str, ...], float, float]]:
    return [(tuple(answer.bindings.values()), answer.lower, answer.upper) for answer in answers]


def codes(error: lnnkit.Error) -> list[str]:
    return [diagnostic.code for diagnostic in error.diagnostics]


# --- loading --------------------------------------------------------------------------------------------------------


def test_load_and_loads(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("a,b\nanna,cleo\n")
    (tmp_path / "p.lnn").write_text(TRIAGE + 'load Contact from "c.csv"\n')
    wanted = [(("anna",), 1.0, 1.0), (("bob",), 0.2, 0.6), (("cleo",), 0.8, 1.0)]
    assert found(lnnkit.load(tmp_path / "p.lnn").ask("Infected(X)")) == wanted
    assert found(lnnkit.load(str(tmp_path / "p.lnn")).answers()[0]) == wanted
    assert found(lnnkit.loads(TRIAGE + 'load Contact from "c.csv"\n', tmp_path).ask("Infected(X)")) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("fact P(", lnnkit.ProgramError, "unclosed-group"),
        ("query P(X)", lnnkit.ProgramError, "unknown-predicate"),
        ('load P from "nope.csv"', lnnkit.ProgramError, "missing-file"),
        ('predicate P(thing)\nload P from "bad.csv"', lnnkit.DataError, "bad-row"),
    ],
)
def test_what_cannot_be_loaded(text: str, kind: type[lnnkit.Error], code: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text('a\n\x20\n""\n')
    with pytest.raises(lnnkit.Error) as raised:
        lnnkit.loads(text, tmp_path)
    assert type(raised.value) is kind, raised.value
    assert code in codes(raised.value)
    assert f"error[{code}]" in str(raised.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(lnnkit.ProgramError, match="missing-file"):
        lnnkit.load(tmp_path / "nope.lnn")


def test_warnings_are_kept() -> None:
    kb = lnnkit.loads("fact A(anna)\nquery A(ana)\n")
    assert [warning.code for warning in kb.warnings] == ["unknown-entity"]
    assert [warning.code for warning in kb.ask("A(ana)").warnings] == ["unknown-entity"]


def test_a_question_about_an_unknown_entity_is_an_error() -> None:
    kb = lnnkit.loads("fact A(anna)\n")
    asking = (kb.ask, kb.explain, kb.why_not, kb.draw, lambda atom: kb.replace_queries([atom], complete=True))
    for ask in asking:
        with pytest.raises(lnnkit.ProgramError, match="unknown-entity") as raised:
            ask("A(anan)")
        assert "did you mean `anna`?" in raised.value.diagnostics[0].hint
    kb.replace_queries(["A(anan)"])
    assert [warning.code for warning in kb.warnings] == ["unknown-entity"]  # its facts may be told yet
    assert kb.assume({"A(zed)": 1.0}).ask("A(zed)")[0].lower == 1.0  # what is supposed may be new


def test_learnable_values_begin_at_their_start() -> None:
    """Lukasiewicz: clamp(b - sum of w (1 - x)); a weight, a bias and a truth without a start are 1."""
    text = (
        "fact A(anna) = 0.8\nfact B(anna) = 0.5\nrule (A(X)@?w=0.5 & B(X)@?){bias: ?b=1.1} -> C(X)\n"
        "rule A(X)@?w & B(X) -> D(X) in [?t=0.75, 1]\nrule A(X) -> E(X) in [?, 1]\n"
    )
    kb = lnnkit.loads(text)
    assert kb.warnings == ()
    (c,), (d,), (e,) = (found(kb.ask(f"{name}(X)")) for name in "CDE")
    assert c[1] == pytest.approx(1.1 - 0.5 * 0.2 - 0.5)
    assert d[1] == pytest.approx(1 - 0.5 * 0.2 - 0.5 - 0.25)
    assert e[1] == pytest.approx(0.8)


def test_programs_without_start_values_are_not_run() -> None:
    kb = lnnkit.loads("number n(entity)\nfact P(anna)\nrule P(X) & n(X) > ? -> Q(X)\n")
    assert kb.warnings == ()
    for ask in (kb.infer, kb.answers, lambda: kb.graph, lambda: kb.ask("P(X)"), lambda: kb.ask("n(X)")):
        with pytest.raises(lnnkit.ProgramError, match="untrained"):
            ask()
    kb = lnnkit.loads("number n(entity)\nfact n(anna) = 3\n")
    for query in ("npu(n(X), n(X))", "npu(n(X), n(X)) > 2"):
        with pytest.raises(lnnkit.ProgramError, match="untrained"):
            kb.ask(query)
    kb.replace_queries(["nau(n(X), n(X))"])
    with pytest.raises(lnnkit.ProgramError, match="untrained"):
        kb.answers()


def test_two_knowledge_bases_do_not_touch() -> None:
    one, other = lnnkit.loads(TRIAGE), lnnkit.loads(TRIAGE)
    one.tell("Contact", [("anna", "cleo")])
    one.tell("Infected", [("emil", 0.9)])
    assert found(other.ask("Infected(X)")) == [(("anna",), 1.0, 1.0), (("bob",), 0.2, 0.6)]
    assert len(one.ask("Infected(X)")) == 4
    other.replace_queries(["Infected(bob)"])
    assert (one.queries, other.queries) == (("Infected(X)",), ("Infected(bob)",))


# --- inference and asking -------------------------------------------------------------------------------------------


def test_outcome() -> None:
    outcome = lnnkit.loads("fact A(anna)\nfact ~A(anna)\nrule A(X) -> B(X)\n").infer()
    assert (outcome.status, outcome.rounds) == ("converged", 0)
    assert [str(each) for each in outcome.contradictions] == ["A(anna) [1, 0]"]
    assert repr(outcome) == "converged after 0 rounds\n1 contradiction:\n  A(anna) [1, 0]"


def test_limits() -> None:
    kb = lnnkit.loads(TRIAGE)
    kb.tell("Contact", [("anna", f"p{i}") for i in range(50)])
    with pytest.raises(lnnkit.BudgetError) as raised:
        kb.infer(max_groundings=10)
    assert codes(raised.value) == ["too-many-groundings"]
    assert "rule `spread` over X, Y" in str(raised.value)
    assert len(kb.ask("Infected(X)")) == 52
    chain = lnnkit.loads("fact R(a0)\nrule R(X) & E(X, Y) -> R(Y)\npredicate E(node, node)\nquery R(X)\n")
    chain.tell("E", [(f"a{i}", f"a{i + 1}") for i in range(9)])
    assert chain.infer(max_rounds=3).status == "round_limit"
    assert chain.infer().status == "converged"


def test_too_many_entities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lnnkit.data.table.LIMIT", 1)  # 2 ** 31 entities do not fit a test
    with pytest.raises(lnnkit.BudgetError, match="too-many-entities"):
        lnnkit.loads(TRIAGE).infer()


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("Infected(X)", [(("anna",), 1.0, 1.0), (("bob",), 0.2, 0.6), (("cleo",), 0.8, 1.0)]),
        ("query Infected(anna)", [((), 1.0, 1.0)]),
        ('Infected("anna")', [((), 1.0, 1.0)]),
        ("~Infected(bob)", [((), 0.4, 0.8)]),
        ("Infected(X) & Contact(X, Y)", [(("anna", "cleo"), 1.0, 1.0)]),
        ("exists Y: Contact(X, Y)", [(("anna",), 1.0, 1.0)]),
        ("exists X: Infected(X)", [((), 1.0, 1.0)]),
        ("forall X: Infected(X)", [((), 0.2, 0.6)]),
        ("Contact(bob, X)", []),
        ("true", [((), 1.0, 1.0)]),
    ],
)
def test_kinds_of_queries(query: str, wanted: list) -> None:
    kb = lnnkit.loads(TRIAGE)
    kb.tell("Contact", [("anna", "cleo")])
    answers = kb.ask(query)
    assert [row[0] for row in found(answers)] == [row[0] for row in wanted]
    assert [row[1:] for row in found(answers)] == [pytest.approx(row[1:]) for row in wanted]


@pytest.mark.parametrize("query", ["", "P(", "Nope(X)", "Infected(X, Y)", "fact Infected(anna)", "Infected(X) ->"])
def test_wrong_queries(query: str) -> None:
    with pytest.raises(lnnkit.ProgramError) as raised:
        lnnkit.loads(TRIAGE).ask(query)
    assert all(diagnostic.path == "<query>" for diagnostic in raised.value.diagnostics)


def test_alpha() -> None:
    kb = lnnkit.loads("fact A(anna) in [0.8, 1]\nfact A(bob) in [0, 0.15]\nfact A(cleo) in [0.4, 0.6]\n")
    assert [answer.state for answer in kb.ask("A(X)")] == ["likely_true", "likely_false", "unknown"]
    assert [answer.state for answer in kb.ask("A(X)", alpha=0.8)] == ["true", "false", "unknown"]
    for alpha in (0.5, 1.1, float("nan")):
        with pytest.raises(ValueError, match="alpha"):
            kb.ask("A(X)", alpha=alpha)
        with pytest.raises(ValueError, match="alpha"):
            kb.answers(alpha=alpha)


@pytest.mark.parametrize("limit", [-1, 1.5, "many"])
@pytest.mark.parametrize("name", ["max_groundings", "max_rounds"])
def test_limits_are_counts(name: str, limit: Any) -> None:
    kb = lnnkit.loads(TRIAGE)
    for call in (kb.infer, kb.plan):
        with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 0; got {limit!r}"):
            call(**{name: limit})


loads: Any = lnnkit.loads  # calls that a type checker refuses
parse: Any = lnnkit.parse


@pytest.mark.parametrize(
    "call",
    [
        lambda kb: kb.ask(5),
        lambda kb: kb.explain(None),
        lambda kb: kb.why_not(b"A"),
        lambda kb: kb.replace_queries([5]),
        lambda kb: kb.tell(5, []),
        lambda kb: kb.assume("A"),
        lambda _: loads(5),
        lambda _: parse(5),
    ],
)
def test_input_that_is_not_text_is_a_type_error(call: Any) -> None:
    with pytest.raises(TypeError, match=r"(text|mapping from atoms), not"):
        call(lnnkit.loads(TRIAGE))


def test_replaced_queries_outlive_told_facts() -> None:
    kb = lnnkit.loads(TRIAGE)
    kb.replace_queries(["Infected(cleo)", "Contact(X, Y)"])
    with pytest.raises(lnnkit.ProgramError) as raised:
        kb.replace_queries(["Nope(X)", "Infected("])
    assert len(raised.value.diagnostics) == 2
    kb.tell("Contact", [("anna", "cleo")])
    assert [each.query for each in kb.answers()] == ["Infected(cleo)", "Contact(X, Y)"]
    assert [len(each) for each in kb.answers()] == [1, 1]


# --- answers as data ------------------------------------------------------------------------------------------------


def test_answers_are_a_sequence_of_columns() -> None:
    answers = lnnkit.loads(TRIAGE).ask("Infected(X)")
    assert len(answers) == 2
    assert answers.variables == ("X",)
    assert answers.lower.dtype == answers.upper.dtype == np.float64
    assert answers.lower.tolist() == [1.0, 0.2]
    assert answers[1].bindings == answers[-1].bindings == {"X": "bob"}
    assert [answer.state for answer in answers] == ["true", "likely_false"]
    assert found(answers[1:]) == [(("bob",), 0.2, 0.6)]
    with pytest.raises(IndexError):
        answers[2]


def test_answers_as_tables() -> None:
    pd = pytest.importorskip("pandas")
    answers = lnnkit.loads(TRIAGE).ask("Infected(X)")
    table = answers.to_arrow()
    assert table.column_names == ["X", "lower", "upper", "state", "contested"]
    assert table.to_pylist()[1] == {
        "X": "bob",
        "lower": 0.2,
        "upper": 0.6,
        "state": "likely_false",
        "contested": False,
    }
    frame = answers.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["X"].tolist() == ["anna", "bob"]
    empty = lnnkit.loads(TRIAGE).ask("Contact(X, Y)")
    assert empty.to_arrow().num_rows == 0
    assert empty.to_arrow().column_names[:2] == ["X", "Y"]


def test_unbounded_ends_are_null_in_json() -> None:
    answer = lnnkit.Answer({"X": "anna"}, float("-inf"), float("inf"))
    assert (answer.as_dict()["lower"], answer.as_dict()["upper"]) == (None, None)


# --- the graph ------------------------------------------------------------------------------------------------------


def test_graph() -> None:
    both = "rule (A({0}) & B({0})@0.5){{bias: 0.9}} -> {1}({0})\n"
    text = both.format("X", "C") + both.format("Y", "D") + "fact A(anna)\nfact B(bob)\n"
    graph = lnnkit.loads(text).graph
    assert isinstance(graph, nx.MultiDiGraph)
    assert graph.nodes["A"]["kind"] == "predicate"
    conjunctions = [data for _, data in graph.nodes(data=True) if data["kind"] == "and"]
    assert len(conjunctions) == 1  # equal subformulas are one node
    assert (conjunctions[0]["logic"], conjunctions[0]["bias"]) == ("lukasiewicz", 0.9)
    assert conjunctions[0]["span"].line == 1
    node = next(node for node, data in graph.nodes(data=True) if data["kind"] == "and")
    edges = {operand: edge for _, operand, edge in graph.out_edges(node, data=True)}
    assert [(edges[name]["position"], edges[name]["weight"]) for name in "AB"] == [(0, 1.0), (1, 0.5)]
    assert graph.in_degree(node) == 2
    with pytest.raises(nx.NetworkXError):
        graph.add_node("mine")


# --- what notebooks show --------------------------------------------------------------------------------------------

NASTY = 'fact A("<b>&")\nfact ~A("<b>&")\nrule "<r>"(X) -> "<r>"(X)\nfact "<r>"(anna)\nquery A(X)\n'


def test_html_is_escaped() -> None:
    kb = lnnkit.loads(NASTY, path="<script>.lnn")
    outcome, answers = kb.infer(), kb.answers()[0]
    warned = kb.ask('A("<b>&")')
    for shown in (kb._repr_html_(), outcome._repr_html_(), answers._repr_html_(), warned._repr_html_()):
        assert "<b>" not in shown
        assert "<script>" not in shown
        assert "<r>" not in shown
    assert "&lt;b&gt;&amp;" in answers._repr_html_()
    assert "&lt;b&gt;&amp;" in outcome._repr_html_()
    assert "&lt;script&gt;" in kb._repr_html_()


def test_reprs() -> None:
    kb = lnnkit.loads(TRIAGE)
    assert repr(kb) == "KnowledgeBase(<string>: 2 predicates, 2 facts, 1 rule, 0 axioms, 1 query)"
    assert repr(kb.ask("Infected(X)")) == (
        "Infected(X): 2 answers\n  X = anna  [1, 1]        true\n  X = bob   [0.2, 0.6]    likely false"
    )
    assert repr(kb.ask("Infected(anna)")) == "Infected(anna): 1 answer\n  [1, 1]        true"
    kb = lnnkit.loads(f"{TRIAGE}query Infected(zed)\n")
    assert "warning: no fact or table mentions the entity `zed`" in repr(kb.ask("Infected(zed)"))


def test_long_reprs_are_cut() -> None:
    kb = lnnkit.loads("predicate A(thing)\n")
    kb.tell("A", [f"e{i:04}" for i in range(1234)])
    kb.tell("A", [(f"e{i:04}", 0.0) for i in range(234)])
    answers, outcome = kb.ask("A(X)"), kb.infer()
    assert repr(answers).endswith("… and 1,224 more")
    assert "the first 50 of 1,234 answers" in answers._repr_html_()
    assert answers._repr_html_().count("<td") == 50 * 3 + 1
    assert repr(outcome).endswith("… and 224 more")
    assert "the first 50 of 234 rows" in outcome._repr_html_()


def test_nothing_global_is_kept() -> None:
    kb = lnnkit.loads(TRIAGE)
    kb.infer()
    watched = weakref.ref(kb)
    del kb
    gc.collect()
    assert watched() is None


def test_an_unnamed_parameter_is_fitted_once() -> None:
    kb = lnnkit.loads('number ""(row)\nfact ""(a) = 3\nrule ""(X) >= 0 -> T(X)\nquery T(a)\n')
    (answer,) = kb.ask("T(a)")
    assert answer.lower == 1.0


def test_the_text_of_an_error_shows_the_first_findings_and_counts_the_others() -> None:
    with pytest.raises(lnnkit.ProgramError) as caught:
        lnnkit.loads("".join(f"rule P{number}(X) -> Q(X)\n" for number in range(1234)) + "query Q(X)\n")
    assert len(caught.value.diagnostics) == 1234
    text = str(caught.value)
    assert "`P0`" in text
    assert "`P1233`" not in text
    assert text.endswith("\nand 1,194 more, in `diagnostics`")


@pytest.mark.parametrize("count", [2, 12])
def test_entities_of_a_question_are_found_in_any_told_table(count: int) -> None:
    """Few are looked up one by one, many together."""
    kb = lnnkit.loads("predicate P(thing)")
    for place in range(count):
        kb.tell("P", [(f"e{place}" if place % 2 else str(place),)])
    named = [f"P(e{place})" if place % 2 else f"P({place})" for place in range(count)]
    assert [each.lower for each in kb.ask(" & ".join(named))] == [1.0]
    with pytest.raises(lnnkit.ProgramError) as raised:
        kb.ask(" & ".join([*named, "P(e99)"]))
    assert codes(raised.value) == ["unknown-entity"]
