"""Facts that change: taken back, replaced, in transactions; beside a fresh inference of the program that is left."""

from __future__ import annotations

import os
import random
from copy import copy
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
import torch
from torch import nn

import lnnkit
from tests.blocks import in_blocks
from tests.oracle.program import Fact, Program
from tests.programs import MODES, generate, to_text

Answered = tuple[object, ...]


def answered(kb: lnnkit.KnowledgeBase) -> Answered:
    """All answers to the bit, their contradictions, and how inference ended."""
    rows = [
        (table.query, *(tuple(answer.bindings.items()), answer.lower, answer.upper, answer.contested))
        for table in kb.answers()
        for answer in table
    ]
    crossed = sorted((met.kind, met.atom, str(met.rule), met.lower, met.upper) for met in kb.contradictions)
    return kb.outcome.status, crossed, rows


class Changing:
    """A knowledge base under random changes, and the program that says the same."""

    def __init__(self, program: Program, chance: random.Random) -> None:
        self.program, self.chance = program, chance
        self.kb = lnnkit.loads(to_text(program))
        self.numeric = {predicate.name for predicate in program.predicates if predicate.numeric}
        self.entities = sorted({text for fact in program.facts for text in fact.arguments}) or ["a"]

    def atom(self) -> tuple[str, tuple[str, ...]]:
        fact = self.chance.choice(self.program.facts or [Fact("", (), 0, 0)])
        return fact.predicate, fact.arguments

    def fact(self) -> Fact:
        name, arguments = self.atom()
        if self.chance.random() < 0.3:
            arguments = tuple(self.chance.choice([*self.entities, "newcomer"]) for _ in arguments)
        lower, upper = sorted(self.chance.choice((0.0, 0.25, 0.5, 1.0)) for _ in range(2))
        return Fact(name, arguments, lower, upper)

    def left(self, gone: Fact) -> list[Fact]:
        return [f for f in self.program.facts if (f.predicate, f.arguments) != (gone.predicate, gone.arguments)]

    def change(self) -> str:
        fact, kind = self.fact(), self.chance.choice(("tell", "retract", "replace"))
        if not fact.predicate:
            return "nothing"
        facts = {
            "tell": [*self.program.facts, fact],
            "retract": self.left(fact),
            "replace": [*self.left(fact), fact],
        }[kind]
        row = [[*fact.arguments, fact.lower, fact.upper]]
        if kind == "retract":
            self.kb.retract(fact.predicate, [fact.arguments])
        else:
            getattr(self.kb, kind)(fact.predicate, row)
        self.program = replace(self.program, facts=facts)
        return f"{kind} {fact}"

    def broken_off(self) -> None:
        """A transaction that changes some facts, and asks in between, before it fails."""
        program = self.program

        def fail() -> None:
            with self.kb.transaction():
                for _ in range(self.chance.randrange(1, 4)):
                    self.change()
                    if self.chance.random() < 0.5:
                        self.kb.answers()
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        self.program = program


def differences(seed: int) -> list[str]:
    chance = random.Random(seed)
    program = generate(seed, chance.randrange(1, 7), chance.choice(MODES)).program
    changing = Changing(program, chance)
    done: list[str] = []
    for _ in range(6):
        if chance.random() < 0.2:
            changing.broken_off()
        with changing.kb.transaction():
            done += [changing.change() for _ in range(chance.randrange(1, 3))]
        text = to_text(changing.program)
        try:
            fresh = lnnkit.loads(text)
        except lnnkit.ProgramError:
            return []  # what a fact alone introduced is unknown without it
        if fresh.predicates.keys() != changing.kb.predicates.keys():
            return []
        if answered(changing.kb) != answered(fresh):
            return [f"seed {seed}", to_text(program), *done, "", text]
    return []


@pytest.mark.parametrize("block", in_blocks(range(2000), 20, plain=2))
def test_changed_facts_give_the_answers_of_a_fresh_inference(block: range) -> None:
    for seed in block:
        assert not (wrong := differences(seed)), "\n".join(wrong)


TABLES = """\
predicate Contact(person, person) closed
load Contact from "contacts.csv"
fact Infected(anna)
fact Infected(bob) in [0.2, 0.6]
axiom Infected(cleo) in [0, 0.4]
rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
rule alone: (forall Y: ~Contact(X, Y)) & Infected(X) -> Harmless(X)
query Infected(X)
query exists X: Contact(X, Y)
"""


@pytest.fixture
def tables(tmp_path: Path) -> lnnkit.KnowledgeBase:
    (tmp_path / "contacts.csv").write_text("a,b\nanna,dora\nbob,emil\nanna,dora\nanna,emil\n")
    return lnnkit.loads(TABLES, tmp_path)


def rows(kb: lnnkit.KnowledgeBase, query: str) -> list[list[object]]:
    return [[*answer.bindings.values(), answer.lower, answer.upper] for answer in kb.ask(query)]


def test_rows_of_a_file_are_taken_back(tables: lnnkit.KnowledgeBase) -> None:
    tables.retract("Contact", pa.table({"who": ["anna", "nobody"], "whom": ["dora", "dora"]}))
    assert rows(tables, "Contact(X, Y)") == [["anna", "emil", 1, 1], ["bob", "emil", 1, 1]]
    assert [fact.text for fact in tables.facts("Contact")] == ["fact Contact(bob, emil)", "fact Contact(anna, emil)"]
    tables.tell("Contact", [("anna", "dora")])
    assert len(tables.ask("Contact(X, Y)")) == 3


def test_an_entity_that_nothing_names_leaves_its_sort(tables: lnnkit.KnowledgeBase) -> None:
    tables.replace_queries("Infected(X)")
    assert tables.entities("", 9) == ["anna", "bob", "cleo", "dora", "emil"]
    tables.retract("Contact", [("anna", "dora")])
    assert tables.entities("", 9) == ["anna", "bob", "cleo", "emil"]
    assert ["dora", 0.8, 1] not in rows(tables, "Infected(X)")


def test_axioms_and_what_is_derived_stay(tables: lnnkit.KnowledgeBase) -> None:
    tables.retract("Infected", ["bob", "cleo", "emil"])
    assert rows(tables, "Infected(X)") == [
        ["anna", 1, 1], ["cleo", 0, 0.4], ["dora", 0.8, 1], ["emil", 0.8, 1]
    ]  # fmt: skip


def test_replaced_values_are_not_intersected(tables: lnnkit.KnowledgeBase) -> None:
    tables.replace("Infected", {"who": ["anna", "zoe"], "lower": [0.1, 0], "upper": [0.3, 0]}, trust=0.5)
    assert rows(tables, "Infected(anna)") == [[0.1, 0.3]] and rows(tables, "Infected(zoe)") == [[0, 0]]
    assert [fact.trust for fact in tables.facts("Infected") if "anna" in fact.text] == [0.5]
    tables.replace("Infected", (row for row in [("zoe", 0.5)]))  # read once
    assert rows(tables, "Infected(zoe)") == [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("name", "table", "code"),
    [
        ("Contakt", [("anna", "dora")], "unknown-predicate"),
        ("Contact", [("anna", "dora", 1.0)], "wrong-columns"),
        ("Contact", ["anna"], "bad-row"),
        ("Contact", 3, "wrong-table"),
    ],
)
def test_wrong_keys_take_nothing_back(tables: lnnkit.KnowledgeBase, name: str, table: object, code: str) -> None:
    with pytest.raises(lnnkit.DataError) as raised:
        tables.retract(name, table)
    assert [finding.code for finding in raised.value.diagnostics] == [code]
    assert len(tables.ask("Contact(X, Y)")) == 3


def test_changes_say_what_they_rest_on(tables: lnnkit.KnowledgeBase, tmp_path: Path) -> None:
    assert list(tables.infer().changes) == []
    tables.retract("Contact", [("anna", "dora")])
    tables.replace("Infected", [("bob", 0.9)])
    outcome = tables.infer()
    bob, dora, other = outcome.changes
    assert (bob.answer, bob.before, bob.after) == ("Infected(bob)", (0.2, 0.6), (0.9, 0.9))
    places = [fact.partition(str(tmp_path))[::2] for fact in dora.because]
    assert places == [("taken back: fact Contact(anna, dora) (", f"{os.sep}contacts.csv:{row})") for row in (2, 4)]
    assert other.answer == "exists X: Contact(X, dora)" and other.after == (0, 0)
    before = str(outcome.changes)
    tables.tell("Infected", ["emil"])
    assert str(outcome.changes) == before  # an earlier outcome keeps what it says


def test_what_changes_rest_on_is_that_of_their_time() -> None:
    """Facts that change after changes were listed do not reach them, nor the explanations of that time."""
    kb = lnnkit.loads(
        "predicate A(s)\npredicate B(s)\nrule A(X) -> B(X)\nfact A(ann)\n"
        "fact B(ann) in [0, 1]\nfact B(bob) in [0, 1]\nquery B(X)\n"
    )
    kb.infer()
    kb.tell("A", [("bob",)])
    (change,) = kb.infer().changes
    explained = kb.explain("B(bob)")
    kb.retract("A", [("bob",), ("ann",)])
    again = kb.infer()
    assert rows(kb, "B(X)") == []
    assert change.because == ("fact A(bob) (<told A>:1)",)
    assert "<told A>:1" in str(explained)
    assert {(each.answer, *each.because) for each in again.changes} == {
        ("B(ann)", "taken back: fact A(ann) (<string>:4)"),
        ("B(bob)", "taken back: fact A(bob) (<told A>:1)"),
    }


def test_copies_save_what_was_told_to_the_same_knowledge_base(tmp_path: Path) -> None:
    kb = lnnkit.loads("predicate A(s)\nfact A(ann)\n")
    twin = copy(kb)
    twin.tell("A", [("bob",)])
    twin.retract("A", [("nobody",)])
    kb.save(tmp_path / "kb.lnn")
    assert (tmp_path / "kb.lnn").read_text() == "predicate A(s)\nfact A(ann)\nfact A(bob)\n"


def test_a_transaction_that_fails_leaves_answers_and_learned_values(tables: lnnkit.KnowledgeBase) -> None:
    kb = lnnkit.loads("number n(x)\nfact n(a) = 3\nrule n(X) > ?limit=2 -> Big(X)\nquery Big(X)\n")
    outcome = kb.infer()

    def fail() -> None:
        with kb.transaction():
            kb.replace("n", [("a", 1)])
            kb.tell("n", [("b", 9)])
            kb.module().load({"limit": 5.0})
            kb.label("Big", ["a"])
            kb.replace_queries("n(X)")
            assert rows(kb, "n(X)") == [["a", 1, 1], ["b", 9, 9]]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert rows(kb, "Big(X)") == [["a", 1, 1]] and kb.queries == ("Big(X)",)
    assert kb.module().values["limit"].item() == 2 and kb.outcome == outcome


def test_saved_programs_say_what_is_left(tables: lnnkit.KnowledgeBase, tmp_path: Path) -> None:
    tables.retract("Contact", [("anna", "dora")])
    tables.retract("Infected", ["anna", "bob"])
    tables.tell("Contact", [("cleo", 'O"Neil')], trust=0.25)
    (tmp_path / "sub").mkdir()
    tables.save(tmp_path / "sub" / "saved.lnn")
    again = lnnkit.load(tmp_path / "sub" / "saved.lnn")
    assert answered(again) == answered(tables) and again.warnings == ()
    assert "load" not in again.text and again.text.count("axiom Infected(cleo)") == 1
    what_if = tables.assume({"Contact(bob, emil)": None})
    what_if.save(tmp_path / "what_if.lnn")
    assert answered(lnnkit.load(tmp_path / "what_if.lnn")) == answered(what_if)


def test_what_an_imported_file_states_cannot_be_saved_as_taken_back(tmp_path: Path) -> None:
    (tmp_path / "facts.lnn").write_text("fact P(a)\nfact P(b)\n")
    kb = lnnkit.loads('import "facts.lnn"\nquery P(X)\n', tmp_path)
    kb.retract("P", ["a"])
    with pytest.raises(lnnkit.Error, match=r"facts.lnn:1, which is imported"):
        kb.save(tmp_path / "saved.lnn")
    kb = lnnkit.loads('import "facts.lnn"\nquery P(X)\n', tmp_path)
    kb.tell("P", ["c"])
    kb.save(tmp_path / "saved.lnn")
    assert len(lnnkit.load(tmp_path / "saved.lnn").ask("P(X)")) == 3


def test_saved_facts_have_all_digits_and_their_own_text(tmp_path: Path) -> None:
    kb = lnnkit.loads('number n(x)\nfact P("a  b")\nfact P(bob) # known\n = 0.5\nquery P(X)\nquery n(X)\n', tmp_path)
    kb.tell("n", [("bob", 0.1 + 0.2), ("cleo", 1 / 3)], trust=1 / 3)
    kb.retract("P", ["nobody"])
    kb.save(tmp_path / "saved.lnn")
    again = lnnkit.load(tmp_path / "saved.lnn")
    assert answered(again) == answered(kb)
    assert [fact.trust for fact in again.facts("n")] == [1 / 3, 1 / 3]


def test_an_axiom_that_is_assumed_otherwise_is_not_saved(tmp_path: Path) -> None:
    kb = lnnkit.loads("axiom P(ann) in [0, 0.4]\nquery P(X)\n", tmp_path)
    with pytest.raises(lnnkit.Error, match="told-facts"):
        kb.assume({"P(ann)": 0.9}).save(tmp_path / "saved.lnn")


def test_many_changes_are_those_of_two_inferences() -> None:
    kb = lnnkit.loads("predicate S(x)\nrule S(X) -> T(X)\nquery T(X)\nfact S(e0)\n")
    kb.infer()
    kb.tell("S", [f"e{number}" for number in range(500)])
    changes = kb.infer().changes
    assert len(changes) == 499 and changes[0].before == (0, 1) and changes[0].because == ("fact S(e1) (<told S>:2)",)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("fact P(ann)\nquery P(X)", "fact P(ann)\nquery P(X)\nfact R(ann)\nquery R(X)", ["R(ann)"]),
        ("fact P(ann)\nquery P(X)", "fact P(ann, bob)\nquery P(X, Y)", ["P(ann, bob)"]),
        ("logic product\nfact P(ann) = 0.8\nquery P(X) & P(X)", "fact P(ann) = 0.8\nquery P(X) & P(X)", None),
    ],
)
def test_programs_of_other_predicates_and_logics_are_compared(
    before: str, after: str, changed: list[str] | None
) -> None:
    changes = lnnkit.loads(after).changes_since(lnnkit.loads(before))
    assert [change.answer for change in changes] == (["P(ann) & P(ann)"] if changed is None else changed)


def test_what_if_copies_of_bound_modules_take_facts_back() -> None:
    class Half(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 0 + 0.5

    kb = lnnkit.loads("predicate P(x)\nquery P(X)\n")
    kb.bind("P", Half(), {"ann": torch.zeros(1)})
    what_if = kb.assume({"P(ann)": 0.9})
    assert rows(what_if, "P(ann)") == [[0.9, 0.9]]
    what_if.retract("P", ["ann"])
    assert rows(what_if, "P(ann)") == [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("query", "instance"),
    [
        ("X != Y & E(X, Y)", '"b" != "a" & E("b", "a")'),
        ("X = Y | E(X, Y)", '"b" = "a" | E("b", "a")'),
        ("exists Z: X != Z & E(X, Z)", 'exists Z: "b" != Z & E("b", Z)'),
    ],
)
def test_changes_of_queries_that_compare_entities(query: str, instance: str) -> None:
    kb = lnnkit.loads(f"predicate E(s, s)\nfact E(a, b)\nfact E(a, a)\nquery {query}\n")
    kb.infer()
    kb.tell("E", [("b", "a")])
    assert [(change.answer, change.before, change.after) for change in kb.infer().changes] == [
        (instance, (0, 1), (1, 1))
    ]
