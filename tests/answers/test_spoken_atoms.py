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


UNLISTED = (
    "predicate Guest(p) closed\nfact Holds(anna)\nfact Guest(bob)\nfact Guest(cleo)\naxiom ~(Holds(X) & ~Guest(X))\n"
)


@pytest.mark.parametrize(
    "own", ["", "query Guest(X)\n", "query ~Guest(X)\n", "query exists X: ~Guest(X)\n", "query Guest(anna)\n"]
)
def test_an_atom_that_has_no_row_is_marked_whatever_else_is_asked(own: str) -> None:
    """`Guest(anna)` is false by default; the contradiction names it, and no other default."""
    kb = lnnkit.loads(UNLISTED + "fact Old(dora)\n" + own)
    assert len(kb.contradictions) == 1
    expected = {"Guest(anna)": True, "~Guest(anna)": True, "Guest(anna) | Guest(dora)": True, "Holds(anna)": True}
    expected |= {"Guest(bob)": False, "Guest(dora)": False, "Guest(anna) | Guest(bob)": False}
    assert {query: kb.ask(query)[0].contested for query in expected} == expected
    assert {query: kb.explain(query).contested for query in expected} == expected
    assert {row.bindings["X"] for row in kb.ask("Guest(X)")} == {"bob", "cleo"}


def test_numbers_of_a_comparison_that_contradicts_itself() -> None:
    """A clerk computed 3,300 where the rule gives 0.2 * (30,000 - 14,000); the contradiction is that of a comparison
    that the rules share."""
    text = "number income(p)\nnumber tax(p)\nnumber children(p)\nnumber free(p)\nfact income(ann) = 30000\n"
    text += "fact income(bob) = 80000\nfact children(ann) = 2\nfact children(bob) = 0\nfact tax(ann) = 3300\n"
    text += "rule free(P) = 10000 + 2000 * children(P)\nrule income(P) <= 20000 -> tax(P) = 0\n"
    text += "rule income(P) > 20000 & income(P) <= 50000 -> tax(P) = 0.2 * (income(P) - free(P))\n"
    text += "rule income(P) > 50000 -> tax(P) = 0.4 * (income(P) - free(P))\nquery tax(P)\n"
    kb = lnnkit.loads(text)
    assert [(each.kind, each.atom) for each in kb.contradictions] == [
        ("neuron", "tax(ann) = 0.2 * (income(ann) - free(ann))")
    ]
    for name in ("tax", "income", "free"):
        assert marks(text, f"{name}(X)") == {"ann": True, "bob": False}
    assert kb.explain("tax(ann)").contested and not kb.explain("tax(bob)").contested
