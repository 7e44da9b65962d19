"""`~P(X)` in a body where nothing ever makes `P` false: warned of, and only then."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lnnkit
from lnnkit.check import check_query
from tests.check.checking import checked
from tests.mistakes.trying import answers, findings

BIRDS = "fact Bird(tweety)\nfact Bird(pingu)\nfact Penguin(pingu)\n"
FLIES = "rule Bird(X) & ~Penguin(X) -> Flies(X)\n"


@pytest.mark.parametrize(
    "more",
    [
        "",
        "predicate Penguin(animal)\n",
        "rule Penguin(X) -> Bird(X)\n",  # would make it false of what is no bird, and nothing is known to be none
        "rule Penguin(X) -> ~Flies(X)\n",  # ... of what flies, and nothing does
        "axiom Penguin(X) & Flies(X) -> false\n",
        "label ~Penguin(tweety)\n",
        "query ~Penguin(tweety)\n",
    ],
)
def test_a_negation_that_nothing_makes_true_is_warned_of(more: str, tmp_path: Path) -> None:
    text = BIRDS + more + FLIES
    (found,) = [each for each in findings(text, tmp_path) if each.code == "never-false"]
    assert found.severity == "warning" and found.span is not None
    assert found.span.text == "Penguin" and found.line == 1 + (BIRDS + more).count("\n")
    sort = "animal" if "animal" in more else "entity"
    declaration = f"predicate Penguin({sort}) closed"
    assert f"`{declaration}`" in found.hint
    mended = declaration + "\n" + text.replace("predicate Penguin(animal)\n", "") + "query Flies(tweety)\n"
    assert [each for each in findings(mended, tmp_path) if each.code == "never-false"] == []
    assert answers(mended, tmp_path)[-1] == [((), 1.0, 1.0)]


def test_a_predicate_is_warned_of_once(tmp_path: Path) -> None:
    """At the statement that comes first; one rule more or a thousand are counted."""
    lands = "axiom Bird(X) & ~Penguin(X) & ~Bat(X) -> Lands(X)\n"
    for more, ending in (
        ("", "so the axiom derives nothing"),
        (FLIES, "so the axiom derives nothing; one more statement negates it"),
        (FLIES * 1_001, "so the axiom derives nothing; 1,001 more statements negate it"),
    ):
        found = findings(BIRDS + "fact ~Bat(pingu)\n" + lands + more, tmp_path)
        (own,) = [each for each in found if each.code == "never-false"]
        assert own.line == 5 and own.message.endswith(ending)


@pytest.mark.parametrize("more", ["rule Penguin(X) <-> Swims(X)\n", "fact Penguin(tweety) in [0, 1]\n"])
def test_redundant_statements_make_nothing_false(more: str, tmp_path: Path) -> None:
    assert "never-false" in [each.code for each in findings(BIRDS + more + FLIES, tmp_path)]


@pytest.mark.parametrize(
    "more",
    [
        "predicate Penguin(entity) closed\n",
        "fact ~Penguin(tweety)\n",
        "fact Penguin(tweety) = 0.3\n",
        "fact Penguin(tweety) in [0, 0.3]\n",
        "axiom ~Penguin(tweety)\n",
        "axiom forall X: Penguin(X) in [0, 0.5]\n",
        "rule Small(X) -> ~Penguin(X)\nfact Small(tweety)\n",
        "rule Penguin(X) -> Swims(X)\nfact ~Swims(tweety)\n",
        "rule Penguin(X) -> Swims(X)\nrule Sings(X) -> ~Swims(X)\nfact Sings(tweety)\n",
        "axiom Penguin(X) & Sings(X) -> false\nfact Sings(tweety)\n",
        "axiom Penguin(X) xor Sings(X)\nfact Sings(tweety)\n",
        "axiom Penguin(X) <-> Swims(X)\nfact ~Swims(tweety)\n",
        "axiom Penguin(X) <-> Swims(X)\npredicate Swims(entity) closed\n",
        "rule Penguin(X) -> ~Flies(X)\nfact Flies(tweety)\n",
        "number age(entity)\nfact age(tweety) = 3\nrule age(X) > 2 -> ~Penguin(X)\n",
        "rule Penguin(X) -> Swims(X) & ~Flies(X)\nfact ~Swims(tweety)\n",
    ],
)
def test_what_something_can_make_false_is_not(more: str, tmp_path: Path) -> None:
    assert [each.code for each in findings(BIRDS + more + FLIES, tmp_path) if each.code == "never-false"] == []


def test_tables_with_truths_count(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("who,truth\npingu,1\ntweety,0.1\n")
    (tmp_path / "q.csv").write_text("who,truth\npingu,1\ntweety,1\n")
    for name, warned in (("p.csv", False), ("q.csv", True)):
        text = f'predicate Penguin(x)\nfact Bird(tweety)\nload Penguin from "{name}"\n{FLIES}'
        assert [each.code for each in findings(text, tmp_path)] == ["never-false"] * warned


def test_a_body_that_has_another_way_is_not(tmp_path: Path) -> None:
    text = BIRDS + "fact Winged(tweety)\nrule Bird(X) & (~Penguin(X) | Winged(X)) -> Flies(X)\n"
    assert findings(text, tmp_path) == []


def test_no_findings_for_a_partly_read_program(tmp_path: Path) -> None:
    text = BIRDS + 'load Penguin from "absent.csv"\n' + FLIES + "rule Penguin( -> Bird(X)\n"
    assert "never-false" not in [each.code for each in findings(text, tmp_path)]


def test_queries_too() -> None:
    program = checked(BIRDS)
    (found,) = check_query("Bird(X) & ~Penguin(X)", program)[1]
    assert (found.code, found.column) == ("never-false", 12)
    assert check_query("~Penguin(X)", program)[1] == []
    assert check_query("Bird(X) & ~Penguin(X)", checked(BIRDS + "fact ~Penguin(tweety)\n"))[1] == []
    program = checked(BIRDS + "rule Bird(X) & ~Swims(X) -> ~Penguin(X)\nfact ~Swims(tweety)\n")
    assert check_query("Bird(X) & ~Penguin(X)", program)[1] == []


def test_run_and_the_library_say_it() -> None:
    kb = lnnkit.loads(BIRDS + FLIES + "query Flies(X)\n")
    assert [each.code for each in kb.warnings] == ["never-false"]
    assert list(kb.ask("Flies(X)")) == []


def test_facts_told_false_remove_the_warning() -> None:
    kb = lnnkit.loads("predicate Penguin(x)\nfact Bird(tweety)\n" + FLIES)
    kb.tell("Penguin", [("pingu",)])
    assert [each.code for each in kb.warnings] == ["never-false"]
    kb.tell("Penguin", [("tweety", 0.0)])
    assert kb.warnings == ()
    assert [answer.bindings["X"] for answer in kb.ask("Flies(X)")] == ["tweety"]


def test_a_predicate_that_nothing_supplies_is_reported_once(tmp_path: Path) -> None:
    rules = "".join(f"rule Bird(X) & ~Penguin(X) -> Flies{number}(X)\n" for number in range(3))
    found = findings("fact Bird(tweety)\n" + rules, tmp_path)
    assert [each.code for each in found] == ["unknown-predicate"]


def test_the_declaration_has_the_sorts_that_variables_share(tmp_path: Path) -> None:
    """The hint's line, followed: a guest is asked about dishes alone, not about ingredients."""
    text = (
        "predicate Contains(dish, ingredient) closed\npredicate Allergic(guest, ingredient) closed\n"
        "fact Contains(pasta, gluten)\nfact Contains(salad, lettuce)\nfact Allergic(lou, gluten)\n"
        "rule Allergic(G, I) & Contains(D, I) -> Unsafe(G, D)\nrule ~Unsafe(G, D) -> Safe(G, D)\nquery Safe(lou, D)\n"
    )
    (found,) = findings(text, tmp_path)
    said = re.search(r"`(predicate [^`]*)`", found.hint)
    assert found.code == "never-false" and said is not None
    assert said[1] == "predicate Unsafe(guest, dish) closed"
    assert answers(f"{said[1]}\n{text}", tmp_path) == [[(("salad",), 1.0, 1.0)]]
