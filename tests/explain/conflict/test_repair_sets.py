"""One smallest set of facts and rules for all contradictions of a kind, and a symmetric contradiction is one."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.explain.conflict.conflict import smallest
from lnnkit.explain.conflict.program_variants import cost
from lnnkit.explain.proof.proof import GivenFact
from tests.blocks import at_length

ONCE = "predicate Born(p, y)\naxiom once: Born(X, Y) & Born(X, Z) -> Y = Z\n"


def proposed(text: str) -> list[tuple[str, int, float, list[str]]]:
    return [
        (each.about.split(",")[0], each.count, round(each.cost, 9), [member.text for member in each.members])
        for each in lnnkit.loads(text).repairs()
    ]


def test_a_functional_conflict_is_one() -> None:
    kb = lnnkit.loads(ONCE + "fact Born(ann, 1990)\nfact Born(ann, 1991)\nfact Born(bob, 1980)\n")
    assert [each.atom for each in kb.contradictions] == ['Born(ann, 1990) & Born(ann, 1991) -> "1990" = "1991"']
    assert len(kb.conflicts()) == 1
    three = lnnkit.loads(ONCE + "".join(f"fact Born(ann, {year})\n" for year in (1990, 1991, 1992)))
    assert len(three.contradictions) == len(three.conflicts()) == 3


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("axiom ~(Likes(X, Y) & Likes(Y, X) & X != Y)\nfact Likes(a, b)\nfact Likes(b, a)\n", 1),
        ("axiom Likes(X, Y) -> ~Likes(Y, X)\nfact Likes(a, b)\nfact Likes(b, a)\n", 2),  # an implication has a side
        ("axiom ~(P(X) & P(Y) & P(Z) & X != Y & Y != Z & X != Z)\nfact P(a)\nfact P(b)\nfact P(c)\n", 1),
        ("axiom ~(P(X) & Q(Y))\nfact P(a)\nfact Q(a)\nfact P(b)\nfact Q(b)\n", 4),
        ("logic godel\naxiom (P(X) & P(Y) -> X = Y) in [1, 1]\nfact P(a)\nfact P(b) = 0.6\n", 1),
        ("axiom ~(P(X)@0.9 & P(Y)@0.8 & R(X, Y))\nfact P(a)\nfact P(b)\nfact R(a, b)\nfact R(b, a)\n", 2),
    ],
)
def test_instances_are_one_only_if_they_say_the_same(text: str, count: int) -> None:
    kb = lnnkit.loads(text)
    assert len(kb.contradictions) == len(kb.conflicts(100)) == count


def test_one_fact_for_ten_contradictions() -> None:
    text = "predicate Admin(p)\n" + "".join(f"fact Works(p{n}, acme)\nfact Guest(p{n})\n" for n in range(10))
    text += "fact Trusted(acme)\nrule Works(X, C) & Trusted(C) -> Admin(X)\naxiom Admin(X) -> ~Guest(X)\n"
    assert proposed(text) == [("Admin", 10, 1.0, ["fact Trusted(acme)"])]


def test_the_less_trusted_facts_until_the_axiom_is_cheaper() -> None:
    """Four pairs cost 0.5 each and 2 together; nine cost 4.5, and the axiom 4."""

    def pairs(count: int) -> str:
        return ONCE + "".join(f"fact Born(q{n}, 1900)\nfact Born(q{n}, 1901) trust 0.5\n" for n in range(count))

    assert proposed(pairs(4)) == [("axiom once", 4, 2.0, [f"fact Born(q{n}, 1901) trust 0.5" for n in range(4)])]
    assert proposed(pairs(9))[0][2:] == (4.0, ["axiom once: Born(X, Y) & Born(X, Z) -> Y = Z"])


def test_facts_come_before_rules_at_equal_cost() -> None:
    """Two facts or one rule: both cost 2."""
    text = "fact A(x)\nfact A(y)\nfact ~B(x)\nfact ~B(y)\nrule r: A(X) -> B(X)\n"
    assert proposed(text) == [("rule r", 2, 2.0, ["fact A(x)", "fact A(y)"])]


def test_each_kind_has_a_set() -> None:
    text = "fact A(x)\nfact ~A(x)\nfact C(x)\nfact D(x)\naxiom one: ~(C(X) & D(X))\nnumber n(e)\nfact n(x) = 1\n"
    found = proposed(text + "fact n(x) = 2 trust 0.1\n")
    assert [(about, members) for about, _, _, members in found] == [
        ("A", ["fact A(x)"]),
        ("n", ["fact n(x) = 2 trust 0.1"]),
        ("axiom one", ["fact C(x)"]),
    ]


def test_every_source_of_a_fact_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,when\nann,1990\nbob,1980\n")
    text = ONCE + 'load Born from "t.csv" trust 0.2\nfact Born(ann, 1990) trust 0.3\nfact Born(ann, 1991)\n'
    (found,) = lnnkit.loads(text, base=tmp_path).repairs()
    assert round(found.cost, 9) == 0.5
    assert {Path(each.place).name for each in found.members} == {"<string>:4", "t.csv:2"}
    assert lnnkit.loads("fact A(x)\n").repairs() == []


@pytest.mark.parametrize("seed", at_length(range(60), plain=10))
def test_no_smaller_set_meets_all(seed: int) -> None:
    """By trying all subsets of eight members."""
    rng = random.Random(seed)
    members = [GivenFact("P", (f"e{n}",), 1.0, 1.0, "f", n, f"P(e{n})", rng.choice([0.2, 0.5, 1.0])) for n in range(8)]
    sets = [rng.sample(members, rng.choice([1, 2, 2, 3])) for _ in range(rng.choice([3, 5, 8]))]
    best = min(
        sum(map(cost, some))
        for size in range(9)
        for some in itertools.combinations(members, size)
        if all(any(each in one for each in some) for one in sets)
    )
    found = smallest(sets)
    assert all(any(each in found for each in one) for one in sets)
    assert sum(map(cost, found)) == pytest.approx(best)


def test_proofs_show_trust(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.lnn"
    path.write_text(ONCE + "fact Born(ann, 1990) trust 0.4\nfact Born(ann, 1991)\nfact Born(ann, 1992)\n")
    assert main(["explain", str(path), "Born(ann, 1990)"]) == 0
    assert f"fact, {path}:3, trust 0.4" in capsys.readouterr().out
    assert main(["explain", str(path), "Born(ann, 1991)", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["lower"]["trust"] == 1.0
    assert main(["explain", str(path), "--minimal"]) == 0
    said = capsys.readouterr().out
    assert "to repair all of a kind\n  3 contradictions of axiom once, " in said
    assert main(["explain", str(path), "--minimal", "--format", "json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["repairs"]
    assert (shown["count"], shown["cost"], shown["left"]) == (3, 1.4, 0)
