"""Answers about the atoms that a reported contradiction speaks of are marked. Expected marks by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lnnkit
from lnnkit.cli import main

WINGS = (
    "fact Bird(tom)\nfact Bird(eva)\nfact ~Flies(tom)\nrule wings: Bird(X) -> Flies(X)\nrule Bird(X) -> Egg(X)\n"
    "query Bird(X)\n"
)


def marks(text: str, query: str) -> dict[str, bool]:
    kb = lnnkit.loads(text)
    assert len(kb.contradictions)
    return {",".join(row.bindings.values()): row.contested for row in kb.ask(query)}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Bird(X)", {"eva": False, "tom": True}),
        ("Flies(X)", {"eva": False, "tom": True}),
        ("~Flies(tom)", {"": True}),
        ("Bird(X) & Egg(X)", {"eva": False, "tom": True}),
        ("Egg(X)", {"eva": False, "tom": False}),  # neither named by it, nor resting on what is arrested
        ("exists X: Bird(X)", {"": False}),  # eva is enough
        ("Flies(eva)", {"": False}),
    ],
)
def test_atoms_of_an_arrested_rule(query: str, expected: dict[str, bool]) -> None:
    assert marks(WINGS, query) == expected


def test_numbers_that_a_comparison_names() -> None:
    text = "number age(p)\nfact age(jo) = 12\nfact age(kim) = 30\nfact Adult(jo)\nfact Adult(kim)\n"
    text += "axiom (Adult(X) -> age(X) >= 18)\n"
    assert marks(text, "age(X)") == {"jo": True, "kim": False}
    assert marks(text, "Adult(X)") == {"jo": True, "kim": False}
    assert marks(text, "age(X) > 10") == {"jo": True, "kim": False}


def test_atoms_beneath_a_quantifier() -> None:
    text = "predicate R(p, q)\nfact Q(a)\nfact ~R(a, b)\nfact ~R(a, c)\nfact R(d, b)\nfact Q(d)\n"
    text += "axiom Q(X) -> exists Y: R(X, Y)\n"
    assert marks(text, "R(X, Y)") == {"a,b": True, "a,c": True, "d,b": False}
    assert marks(text, "Q(X)") == {"a": True, "d": False}


def test_atoms_of_a_shared_formula() -> None:
    text = "fact A(x)\nfact B(x)\nfact A(y)\nfact ~C(x)\nrule r: A(X) & B(X) -> C(X)\nrule A(X) & B(X) -> D(X)\n"
    assert marks(text, "A(X)") == {"x": True, "y": False}
    assert marks(text, "B(X)") == {"x": True}


def test_one_that_no_fact_lists_marks_no_other() -> None:
    """`Known(zed)` is at the default of a closed predicate: no other atom at the default is marked for it."""
    text = "predicate Known(p) closed\nfact Known(ann)\nfact Guest(zed)\nfact Guest(ann)\n"
    text += "predicate Other(p)\nfact Other(bob)\naxiom ~(Guest(X) & ~Known(X))\n"
    kb = lnnkit.loads(text)
    assert marks(text, "Guest(X)") == {"ann": False, "bob": False, "zed": True}
    assert [row.contested for row in kb.ask("Known(bob)")] == [False]


REGISTERED = """predicate Registered(p) closed
predicate Other(p)
fact Owner(ann)
fact Owner(bob)
fact Registered(bob)
fact Other(ann)
fact Other(cleo)
axiom reg: Owner(X) & ~Registered(X) -> false
"""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Registered(ann)", {"": True}),  # false by default, and named
        ("~Registered(ann)", {"": True}),
        ("Registered(cleo)", {"": False}),
        ("Registered(bob)", {"": False}),
        ("Other(X) & ~Registered(X)", {"ann": True, "bob": False, "cleo": False}),
        ("Other(ann) & ~Registered(ann)", {"": True}),
        ("exists X: Other(X) & ~Registered(X)", {"": False}),  # cleo is enough
        ("forall X: Other(X) -> Registered(X)", {"": False}),
        ("Registered(ann) | Other(ann)", {"": False}),
    ],
)
@pytest.mark.parametrize("asked", [True, False])
def test_an_atom_that_no_fact_lists(query: str, expected: dict[str, bool], asked: bool) -> None:
    text = REGISTERED if asked else f"{REGISTERED}query {query}\n"
    assert marks(text, query) == expected
    if "" in expected:
        assert lnnkit.loads(text).explain(query).contested == expected[""]


def test_atoms_of_an_arrested_shared_formula() -> None:
    """`Owner(ann) & ~Registered(ann)` is stated and read by a rule too: the formula itself is the contradiction."""
    text = REGISTERED.replace("axiom reg: Owner(X) & ~Registered(X) -> false", "axiom ~(Owner(X) & ~Registered(X))")
    text += "rule Owner(X) & ~Registered(X) -> Bad(X)\n"
    assert marks(text, "Owner(X)") == {"ann": True, "bob": False, "cleo": False}
    assert marks(text, "Registered(ann)") == {"": True}
    assert marks(text, "Registered(cleo)") == {"": False}


def test_an_unknown_atom_that_a_contradiction_names() -> None:
    text = "predicate Q(p)\npredicate R(p)\nfact P(a)\nfact P(b)\nfact ~S(a)\naxiom P(X) -> S(X) & (Q(X) | R(X))\n"
    assert marks(text, "Q(a)") == {"": True}
    assert marks(text, "Q(b)") == {"": False}


def test_beneath_a_quantifier_what_the_entities_name() -> None:
    text = "predicate D(o, t) closed\nfact O(o1)\nfact O(o2)\nfact D(o2, t1)\nfact T(t1)\nfact T(t2)\n"
    text += "axiom O(X) -> exists Y: D(X, Y) & T(Y)\n"
    assert marks(text, "O(X)") == {"o1": True, "o2": False}
    assert marks(text, "D(o1, t1)") == {"": True}  # o1 has none
    assert marks(text, "D(o2, t2)") == {"": False}
    assert marks(text, "T(X)") == {"t1": False, "t2": False}  # no entity of the contradiction


def test_numbers_that_nothing_can_satisfy() -> None:
    text = "number age(p)\nnumber pay(p)\nfact pay(jo) = 3\nfact age(jo) in [0, 9]\n"
    text += "axiom age(X) > 5\naxiom age(X) < 3\n"
    assert marks(text, "age(jo)") == {"": True}
    assert marks(text, "pay(jo)") == {"": False}


def test_the_mark_reaches_every_surface(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.lnn"
    path.write_text(WINGS)
    assert main(["run", str(path)]) == 0
    out = capsys.readouterr().out
    assert "tom  [1, 1]  true (contested)\n" in out
    assert "eva  [1, 1]  true\n" in out
    assert main(["run", str(path), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["queries"][0]["answers"]
    assert [row["contested"] for row in rows] == [False, True]
    kb = lnnkit.load(path)
    assert kb.ask("Bird(X)").to_arrow()["contested"].to_pylist() == [False, True]
    assert "(contested)" in str(kb.explain("Bird(tom)"))
    assert "(contested)" not in str(kb.explain("Bird(eva)"))
