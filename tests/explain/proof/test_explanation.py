"""What an explanation shows: as text, JSON, a page and a graph, and on the command line."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import lnnkit
from lnnkit.cli import main

PROGRAM = """
predicate Contact(person, person) closed
load Contact from "contacts.csv"
fact Infected(anna)
fact Old(cleo) = 0.9
rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
rule risk: Infected(X) & Old(X)@0.5 -> AtRisk(X)
query AtRisk(X)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "contacts.csv").write_text("source,contact\nanna,bob\nbob,cleo\n")
    path = tmp_path / "triage.lnn"
    path.write_text(PROGRAM)
    return path


def test_text(file: Path) -> None:
    kb = lnnkit.load(file)
    text = kb.explain("AtRisk(cleo)").text().replace(str(file.parent) + "/", "")
    assert text == (
        "AtRisk(cleo)  [0.55, 1]  likely true\n"
        "\n"
        "AtRisk(cleo) >= 0.55   rule risk, triage.lnn:7 (X = cleo)\n"
        "├─ Infected(cleo) >= 0.6   rule spread, triage.lnn:6 (X = bob, Y = cleo)\n"
        "│  ├─ Infected(bob) >= 0.8   rule spread, triage.lnn:6 (X = anna, Y = bob)\n"
        "│  │  ├─ Infected(anna) >= 1   fact, triage.lnn:4\n"
        "│  │  └─ Contact(anna, bob) >= 1   fact, contacts.csv:2\n"
        "│  └─ Contact(bob, cleo) >= 1   fact, contacts.csv:3\n"
        "└─ Old(cleo) >= 0.9 @0.5   fact, triage.lnn:5\n"
        "\n"
        "AtRisk(cleo) <= 1   nothing says more\n"
        "\n"
        "by\n"
        "  rule risk: Infected(X) & Old(X)@0.5 -> AtRisk(X)   triage.lnn:7\n"
        "  rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]   triage.lnn:6"
    )


def test_depth(file: Path) -> None:
    kb = lnnkit.load(file)
    text = kb.explain("AtRisk(cleo)").text(depth=1)
    assert "Infected(cleo) >= 0.6" in text
    assert "resting on 2 more" in text
    assert "Infected(bob)" not in text
    shallow = kb.explain("AtRisk(cleo)").as_dict(depth=0)
    assert shallow["lower"]["premises"] == []  # type: ignore[index]
    assert shallow["lower"]["omitted"] == 2  # type: ignore[index]


def test_json_has_the_published_form(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(file), "AtRisk(cleo)", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"atom", "state", "contested", "lower", "upper"}
    lower = found["lower"]
    assert {key: lower[key] for key in ("atom", "side", "rule", "line", "bindings")} == {
        "atom": "AtRisk(cleo)",
        "side": "lower",
        "rule": "risk",
        "line": 7,
        "bindings": {"X": "cleo"},
    }
    assert lower["bound"] == pytest.approx(0.55)
    infected, old = lower["premises"]
    assert (old["fact"], old["file"], old["row"], old["weight"]) == ("fact Old(cleo) = 0.9", str(file), 5, 0.5)
    contact = infected["premises"][1]
    assert (contact["fact"], contact["row"]) == ("fact Contact(bob, cleo)", 3)
    assert contact["file"] == str(file.parent / "contacts.csv")


def test_a_repeated_step_is_shown_once() -> None:
    kb = lnnkit.loads("fact A\naxiom A -> B\naxiom B & C -> D\naxiom B -> C\n")
    explanation = kb.explain("D")
    assert len(explanation.steps) == 5  # A, B, C, D, and that nothing bounds D from above
    assert [step.atom for step in explanation.steps].count("B") == 1
    assert explanation.text().count("A >= 1") == 1
    nested = json.dumps(explanation.as_dict())
    assert nested.count('"ref"') == 1


def test_a_long_chain_nests_no_deeper_than_readers_can_follow() -> None:
    steps = 400
    rules = "\n".join(f"axiom P{n} -> P{n + 1}" for n in range(steps))
    explanation = lnnkit.loads(f"fact P0\n{rules}\n").explain(f"P{steps}")
    assert len(explanation.steps) == steps + 2
    found = json.loads(json.dumps(explanation.as_dict()))
    met = {node["id"] for node in found["more"]}
    assert len(met) == len(found["more"]) > 2
    assert explanation.text().count("\n") > steps
    assert explanation.to_html().count("<li") == steps + 2
    assert explanation.verify() == []


def test_contradiction() -> None:
    kb = lnnkit.loads("fact A\nfact C\naxiom A -> B\naxiom C -> ~B\n")
    explanation = kb.explain("B")
    assert (explanation.lower, explanation.upper, explanation.state) == (1.0, 0.0, "contradiction")
    reasons = {explanation.steps[n].reason for n in (explanation.proof.lower, explanation.proof.upper)}
    assert reasons == {"statement"}
    assert {step.atom for step in explanation.steps} == {"A", "B", "C"}
    assert explanation.verify() == []


def test_json_has_the_state_and_whether_it_is_contested() -> None:
    kb = lnnkit.loads("fact Bird(tom)\nfact Bird(eva)\nfact ~Flies(tom)\naxiom Bird(X) -> Flies(X)\n")
    found = kb.explain("Flies(tom)").as_dict()
    assert (found["state"], found["contested"]) == ("false", True)
    found = kb.explain("Flies(eva)").as_dict()
    assert (found["state"], found["contested"]) == ("true", False)


def test_formulas_are_explained_by_their_atoms_or_by_what_states_them() -> None:
    kb = lnnkit.loads("fact A = 0.7\nfact B = 0.4\naxiom C | D\n")
    conjunction = kb.explain("A & B")
    assert conjunction.lower == pytest.approx(0.1)
    assert {step.atom for step in conjunction.steps} == {"A & B", "A", "B"}
    stated = kb.explain("C | D")
    assert stated.lower == 1.0
    assert stated.verify() == conjunction.verify() == []


def test_dot_names_every_step(file: Path) -> None:
    explanation = lnnkit.load(file).explain("AtRisk(cleo)")
    dot = explanation.to_dot()
    assert dot.startswith("digraph")
    assert len(re.findall(r"^  n\d+ \[", dot, re.MULTILINE)) == len(explanation.steps)
    assert "->" in dot


class _Balanced(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(name in ("src", "href") and value and not value.startswith("#") for name, value in attrs)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_is_self_contained_and_escapes() -> None:
    kb = lnnkit.loads('fact P("<b>&x")\naxiom P(X) -> Q(X)\n')
    page = kb.explain('Q("<b>&x")').to_html()
    parser = _Balanced()
    parser.feed(page)
    assert parser.open == []
    assert any('Q("<b>&x")' in text for text in parser.texts)


def test_a_query_with_variables_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(file), "AtRisk(X)"]) == 1
    assert "error[free-variable]" in capsys.readouterr().err


def test_nothing_is_recorded_if_that_is_asked(file: Path) -> None:
    kb = lnnkit.load(file)
    kb.infer(record=False)
    with pytest.raises(lnnkit.Error, match="without recording"):
        kb.explain("AtRisk(cleo)")
    kb.infer()
    assert kb.explain("AtRisk(cleo)").lower == pytest.approx(0.55)


def test_an_absent_atom(file: Path) -> None:
    kb = lnnkit.load(file)
    assert "nothing says more" in kb.explain("Old(bob)").text()
    assert "no fact, and the predicate is closed" in kb.explain("Contact(cleo, anna)").text()


def test_the_command_prints_the_tree(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(file), "AtRisk(cleo)"]) == 0
    assert capsys.readouterr().out.strip() == lnnkit.load(file).explain("AtRisk(cleo)").text()


def test_numbers_are_traced_to_their_rows() -> None:
    kb = lnnkit.load(Path(__file__).parents[3] / "kb_examples" / "loans" / "loans.lnn")
    text = kb.explain("Granted(cleo)").text()
    assert "income(cleo) >= 1400   fact" in text
    assert "payslips.csv:2" in text
    assert "(age(cleo) >= 18) >= 1   by its operands" in text
    income = kb.explain("income(cleo)")
    assert (income.lower, income.upper, income.state) == (1400.0, 1600.0, "number")


@pytest.mark.parametrize("query", ["a(x) > b(x)", "~(a(x) > b(x))", "P(x)", "~P(x)", "P(x) & a(x) > b(x)"])
def test_both_sides_of_a_contradiction_are_proved(query: str) -> None:
    text = "number a(t)\nnumber b(t)\nfact a(x) = 3\nfact b(x) = 4\naxiom a(X) > b(X)\nfact P(x)\nfact ~P(x)\n"
    kb = lnnkit.loads(text)
    answer, explanation = kb.ask(query)[0], kb.explain(query)
    assert (explanation.lower, explanation.upper) == (answer.lower, answer.upper)
    assert explanation.contested == answer.contested
    assert explanation.verify() == []
    if "&" not in query:
        assert (answer.lower, answer.upper, answer.contested) == (1.0, 0.0, True)
