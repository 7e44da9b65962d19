"""What a third trial as a new user tripped over: each is told, and what the hint says runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.mistakes.trying import answers, findings

PEOPLE = "fact Likes(ann, bob)\nfact Likes(bob, cleo)\nrule Likes(X, Y) & Likes(Y, Z) -> Near(X, Z)\n"


@pytest.mark.parametrize("which", [0, 2])
def test_sorts_that_look_like_variables(which: int, tmp_path: Path) -> None:
    """Of two sorts X and Y nobody is both liked and liking; the hint mends it."""
    wrong = "predicate Likes(X, Y)\n"
    found = [each for each in findings(wrong + PEOPLE, tmp_path) if each.code == "variable-like-sort"]
    assert [(each.severity, each.line, each.column) for each in found] == [("warning", 1, 17)]
    said = re.findall(r"`([^`]*)`", found[0].hint)[which]
    assert said == ("predicate Likes(entity, entity)", "", "sort X")[which]
    text = f"{said}\n" if which == 0 else f"{said}\nsort Y\n{wrong}"
    assert [each.code for each in findings(text + PEOPLE, tmp_path) if each.code == "variable-like-sort"] == []
    if which == 0:
        assert answers(text + PEOPLE + "query Near(X, Z)\n", tmp_path) == [[(("ann", "cleo"), 1.0, 1.0)]]


def test_a_weight_at_the_end_of_a_rule(tmp_path: Path) -> None:
    wrong = "fact P(ann)\nrule P(X) -> Well(X) @ 0.8\nquery Well(X)\n"
    (found,) = findings(wrong, tmp_path)
    assert (found.severity, found.code, found.line, found.column) == ("warning", "weighted-conclusion", 2, 24)
    assert "`in [0.8, 1]`" in found.hint and "`@1`" in found.hint
    truth = wrong.replace("@ 0.8", "in [0.8, 1]")
    assert findings(truth, tmp_path) == []
    assert answers(truth, tmp_path) == [[(("ann",), 0.8, 1.0)]]
    assert findings(wrong.replace("P(X) ->", "P(X)@1 ->"), tmp_path) == []


def test_a_blank_in_a_fact(tmp_path: Path) -> None:
    (found,) = findings("fact Parent(ann, _)\n", tmp_path)
    said = re.search(r"`(axiom [^`]*)`", found.hint)
    assert (found.code, found.column) == ("reserved-underscore", 18) and said is not None
    text = f"fact Parent(bob, ann)\n{said[1]}\nquery exists Y: Parent(ann, Y)\n"
    assert answers(text, tmp_path) == [[((), 1.0, 1.0)]]


@pytest.mark.parametrize("line", ["rule count(T) > 3 -> Many(T)", "rule sum(amount(T)) > 3 -> Many(T)"])
def test_all_aggregates_have_one_message(line: str, tmp_path: Path) -> None:
    (found,) = findings(f"number amount(t)\nfact amount(a) = 3\n{line}\n", tmp_path)
    assert found.code == "aggregate" and found.message.endswith("the variables that it runs over before a colon")
    facts = "number amount(t)\nfact amount(b) = 300\nfact Owns(a, b)\nfact ~Owns(b, a)\nfact ~Owns(b, b)\n"
    _, total = re.findall(r"`(\((?:count|sum) [^`]*)`", found.hint)
    text = f"{facts}predicate Owns(t, t) closed\nrule {total} -> Many(X)\nquery Many(T)\n"
    assert answers(text, tmp_path) == [[(("a",), 1.0, 1.0)]]
