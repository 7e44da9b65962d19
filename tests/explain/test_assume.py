"""What if: the copy answers as a program with those facts does."""

from __future__ import annotations

import random
from dataclasses import replace
from unittest import mock

import pytest
import torch

import lnnkit
from lnnkit.infer import inference
from tests.oracle import Fact
from tests.programs import MODES, generate, to_text

SPREAD = """
fact Infected(anna)
fact Contact(anna, bob)
fact Contact(bob, cleo)
fact Fever(dora) in [0.2, 0.7]
rule Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
rule Fever(X) -> Infected(X) in [0.9, 1]
query Infected(X)
"""


def answers_of(kb: lnnkit.KnowledgeBase) -> dict[tuple[str, frozenset[tuple[str, str]]], tuple[float, float, bool]]:
    return {
        (answers.query, frozenset(answer.bindings.items())): (answer.lower, answer.upper, answer.contested)
        for answers in kb.answers()
        for answer in answers
    }


def lower(kb: lnnkit.KnowledgeBase, atom: str) -> float:
    (answer,) = kb.ask(atom)
    return answer.lower


def test_better_knowledge_goes_on_from_what_is_there() -> None:
    kb = lnnkit.loads(SPREAD)
    kb.infer()
    with mock.patch.object(inference, "prepare", side_effect=AssertionError("inferred anew")):
        supposed = kb.assume({"Infected(bob)": 1.0, "Fever(dora)": (0.5, 0.6)})
        assert lower(supposed, "Infected(cleo)") == pytest.approx(0.8)
        assert lower(supposed, "Infected(dora)") == pytest.approx(0.4)
    assert lower(kb, "Infected(cleo)") == pytest.approx(0.6)
    assert lower(kb, "Infected(dora)") == pytest.approx(0.1)


def test_other_knowledge_replaces_facts() -> None:
    kb = lnnkit.loads(SPREAD)
    supposed = kb.assume({"Infected(anna)": (0.0, 1.0), "Contact(cleo, erik)": 1.0})
    assert lower(supposed, "Infected(cleo)") == 0.0
    assert lower(kb.assume({"Fever(dora)": 1.0}), "Infected(dora)") == pytest.approx(0.9)
    assert lower(kb, "Infected(cleo)") == pytest.approx(0.6)


def test_tables_lose_their_rows_in_the_copy_only() -> None:
    kb = lnnkit.loads("predicate P(entity)\nrule P(X) -> Q(X)\nquery Q(X)\n")
    kb.tell("P", [["a"], ["b"], ["c"]])
    supposed = kb.assume({"P(b)": 0.0})
    assert [answer.bindings["X"] for answer in supposed.ask("Q(X)")] == ["a", "c"]
    assert len(kb.ask("Q(X)")) == 3


def test_closed_worlds_are_completed_anew() -> None:
    kb = lnnkit.loads(
        "predicate E(n, n) closed\npredicate R(n) closed\nfact E(a, b)\nfact E(c, c)\n"
        "rule E(a, X) -> R(X)\nrule R(X) & E(X, Y) -> R(Y)\nquery R(X)\n"
    )
    supposed = kb.assume({"E(b, c)": 1.0})
    assert {answer.bindings["X"] for answer in supposed.ask("R(X)")} == {"b", "c"}
    assert "fact E(b, c)" in supposed.explain("R(c)").text() or "<assumed>:1" in supposed.explain("R(c)").text()
    assert supposed.explain("R(c)").verify() == []


@pytest.mark.parametrize("seed", range(60, 90))
def test_random_programs(seed: int) -> None:
    """A fact in place of another, or a new one: as the program that says so."""
    program = generate(seed, 1 + seed % 4, MODES[seed % 3]).program
    draw = random.Random(seed)
    if not program.facts:
        return
    old = draw.choice(program.facts)
    low = draw.choice([0.0, 0.25, old.lower, 1.0])
    new = Fact(old.predicate, old.arguments, low, draw.choice([end for end in (low, old.upper, 1.0) if end >= low]))
    others = [fact for fact in program.facts if (fact.predicate, fact.arguments) != (old.predicate, old.arguments)]
    atom = f"{old.predicate}({', '.join(old.arguments)})" if old.arguments else old.predicate
    kb = lnnkit.loads(to_text(program))
    kb.infer()
    expected = answers_of(lnnkit.loads(to_text(replace(program, facts=[*others, new]))))
    got = answers_of(kb.assume({atom: (new.lower, new.upper)}))
    assert got.keys() == expected.keys()
    for key, (one, other, contested) in expected.items():
        assert got[key] == (pytest.approx(one, abs=1e-9), pytest.approx(other, abs=1e-9), contested)


@pytest.mark.parametrize("bad", [1.5, (0.6, 0.4), (-0.1, 1.0), float("nan")])
def test_bounds_are_checked(bad: float | tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="truth bounds"):
        lnnkit.loads(SPREAD).assume({"Infected(bob)": bad})


@pytest.mark.parametrize("key", ["Infected(X)", "~Infected(bob)", "Infected(bob) & Infected(anna)"])
def test_keys_are_atoms(key: str) -> None:
    with pytest.raises(lnnkit.ProgramError, match="no atom"):
        lnnkit.loads(SPREAD).assume({key: 1.0})


def test_a_copy_is_not_saved_as_the_program() -> None:
    with pytest.raises(lnnkit.Error, match="would lose"):
        lnnkit.loads(SPREAD).assume({"Infected(bob)": 1.0}).save("nowhere.lnn")


SCORED = """
number age(person)
fact age(anna) = 10
fact age(bob) = 31
fact Known(anna)
label ~Old(anna)
label Old(bob)
rule age(X) >= ?limit=5 -> Old(X)
query Old(X)
query Known(X)
"""


def test_a_copy_that_learns_goes_on_from_nothing_that_it_knew_before() -> None:
    kb = lnnkit.loads(SCORED)
    assert lower(kb, "Old(anna)") == 1
    copy = kb.assume({"Known(bob)": 1.0})
    copy.fit(epochs=100)
    assert (lower(copy, "Old(anna)"), lower(copy, "Old(bob)"), lower(copy, "Known(bob)")) == (0, 1, 1)


def test_what_is_bound_to_a_copy_is_bound_to_it_alone() -> None:
    kb = lnnkit.loads("predicate P(e)\npredicate Q(e)\nfact Q(a)\nfact Q(b) in [0, 1]\nquery P(X)\nquery Q(X)\n")
    copy = kb.assume({"Q(b)": 1.0})
    copy.bind("P", torch.nn.Sequential(torch.nn.Flatten(0), torch.nn.Sigmoid()), {"a": torch.ones(1)})
    assert lower(copy, "P(a)") == pytest.approx(0.7310585786)
    assert lower(copy, "Q(b)") == 1
    assert lower(kb, "P(a)") == 0
