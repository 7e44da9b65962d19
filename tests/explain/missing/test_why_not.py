"""Why not: what is said to be missing is enough, and is needed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.explain.proof.proof import BoundSide
from tests.blocks import at_length

EXAMPLES = Path(__file__).parents[3] / "kb_examples"
PEOPLE = ("ann", "bob", "cid", "dan")


def drawn(seed: int) -> str:
    """Open predicates, rules with weights in all logics, facts of which many are vague."""
    draw = random.Random(seed)
    lines = [f"logic {draw.choice(['lukasiewicz', 'product', 'godel'])}"]
    for name in ("A", "B", "C"):
        for person in PEOPLE:
            low = draw.choice([0.0, 0.0, 0.3, 0.6, 1.0])
            lines.append(f"fact {name}({person}) in [{low}, 1]")
    lines += [f"fact R({draw.choice(PEOPLE)}, {draw.choice(PEOPLE)})" for _ in range(4)]
    bodies = ["A(X) & R(X, Y)", "(A(X)@0.7 & B(Y)) & R(X, Y)", "(A(Y) | B(Y)) & C(Y)", "B(Y)@0.5 & C(Y)", "~~C(Y)"]
    for body in draw.sample(bodies, 3):
        lines.append(f"rule {body} -> Goal(Y) in [{draw.choice([0.8, 0.9, 1])}, 1]")
    return "\n".join(lines) + "\nquery Goal(X)\n"


def lower(kb: lnnkit.KnowledgeBase, atom: str) -> float:
    (answer,) = kb.ask(atom)
    return answer.lower


@pytest.mark.parametrize("seed", at_length(range(40), plain=2))
def test_missing_premises_suffice_and_are_minimal(seed: int) -> None:
    kb = lnnkit.loads(drawn(seed))
    atom = f"Goal({random.Random(seed).choice(PEOPLE)})"
    found = kb.why_not(atom)
    assert found.bound == lower(kb, atom)
    assert found.ways or found.bound >= 0.8
    for way in found.ways[:3]:
        if any(each.against is not None for each in way.missing) or any(
            re.search(r"\b[XY]\b", each.atom) for each in way.missing
        ):
            continue
        enough = kb.assume({each.atom: (each.needed, 1.0) for each in way.missing})
        assert lower(enough, atom) >= way.gives - 1e-4
        for short in way.missing:
            less = {e.atom: ((e.needed + e.now) / 2 if e is short else e.needed, 1.0) for e in way.missing}
            assert lower(kb.assume(less), atom) < way.gives or any(
                other is not way and other.gives >= way.gives - 1e-9 for other in found.ways
            )


def test_the_premise_that_holds_a_rule_back() -> None:
    kb = lnnkit.load(EXAMPLES / "contact_tracing" / "contact_tracing.lnn")
    way = kb.why_not("Infected(cleo)").ways[0]
    assert (way.statement.name, dict(way.bindings)) == ("spread", {"X": "bob", "Y": "cleo"})
    (missing,) = way.missing
    assert (missing.atom, missing.side, missing.needed) == ("Infected(bob)", "lower", 1.0)
    assert missing.now == pytest.approx(0.7)
    assert missing.lack == pytest.approx(0.3)


def test_a_goal_that_is_nearer_asks_for_less() -> None:
    kb = lnnkit.loads("fact A in [0.2, 1]\nrule A -> B in [0.9, 1]\n")
    (missing,) = kb.why_not("B", goal=0.5).ways[0].missing
    assert missing.needed == pytest.approx(0.6)


def test_why_not_false() -> None:
    kb = lnnkit.loads("predicate B\npredicate C\nrule A -> B\nfact A in [0, 1]\n")
    (way,) = kb.why_not("A", side="upper").ways
    (missing,) = way.missing
    assert (missing.atom, missing.side, missing.needed) == ("B", "upper", 0.0)
    assert kb.why_not("C").ways == []
    assert "only a fact" in str(kb.why_not("C"))


def test_excluded_premises_are_marked() -> None:
    kb = lnnkit.loads("predicate Vip(p) closed\nfact Vip(ann)\nfact Paid(bob)\nrule Paid(X) & Vip(X) -> Free(X)\n")
    (way,) = kb.why_not("Free(bob)").ways
    (missing,) = way.missing
    assert (missing.atom, missing.against) == ("Vip(bob)", 0.0)


def test_contradictory_premises_are_marked() -> None:
    kb = lnnkit.loads("predicate C\nfact A\nfact ~A\nfact B in [0.5, 1]\nrule A & B -> C\n")
    (way,) = kb.why_not("C").ways
    assert [(each.atom, each.contradictory) for each in way.missing] == [("A", True), ("B", False)]
    assert "A >= 1, now 0, lacks 1; it contradicts itself" in str(kb.why_not("C"))


@pytest.mark.parametrize(("given", "told"), [({"side": "above"}, "'above'"), ({"goal": 5}, "5"), ({"goal": -1}, "-1")])
def test_what_makes_no_question_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        lnnkit.loads("fact A\n").why_not("A", **given)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(EXAMPLES / "eligibility" / "eligibility.lnn")
    assert main(["explain", file, "Eligible(ben)", "--why-not"]) == 0
    assert "LowIncome(ben) >= 1, now 0, lacks 1" in capsys.readouterr().out
    assert main(["explain", file, "Eligible(ben)", "--why-not", "false", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["side"], found["goal"]) == ("upper", 0.0)
    assert main(["explain", file, "--why-not"]) == 2
    assert main(["explain", file, "Eligible(X)", "--why-not"]) == 1


def test_what_is_reached_lacks_nothing() -> None:
    kb = lnnkit.loads("fact A(ann) = 0.7\nrule A(X) & B(X) -> C(X)\nfact B(bob)\n")
    assert str(kb.why_not("A(ann)", goal=0.5)) == "A(ann) is >= 0.7: nothing is missing"


def assumed(text: str, atom: str, side: BoundSide, goal: float) -> Iterator[tuple[float, float]]:
    """For each way what it is said to give, and what comes of assuming all that it misses."""
    kb = lnnkit.loads(text)
    for way in kb.why_not(atom, side=side, goal=goal).ways:
        told = {each.atom: (each.needed, 1.0) if each.side == "lower" else (0.0, each.needed) for each in way.missing}
        (answer,) = kb.assume(told).ask(atom)
        yield way.gives, answer.lower if side == "lower" else answer.upper


OR = "fact C(ann) = 0.5\npredicate D(entity)\nrule r1: C(X) | D(X) -> A(X)\n"
UNLESS = "predicate C(e)\npredicate D(e)\npredicate E(e)\nfact E(ann)\nrule D(X) | ~C(X) -> A(X) in [0.8, 1]\n"
UPPER = "logic product\npredicate D(e)\npredicate E(e)\nfact B(ann)\nrule B(X) & E(X) -> ~D(X) in [0.3, 0.9]\n"
BIASED = (
    "predicate C(e)\npredicate B(e)\npredicate Z(e)\nfact Z(ann)\nrule (~C(X) & ~B(X)){bias: 1.2} -> A(X) in [0.8, 1]\n"
)
BOTH = "predicate A(e)\npredicate B(e)\npredicate Z(e)\nfact Z(ann)\nrule A(X) & B(X) -> C(X)\n"


@pytest.mark.parametrize(
    ("text", "atom", "side", "goal"),
    [
        (OR, "D(ann)", "upper", 0.0),
        (UNLESS, "C(ann)", "lower", 1.0),
        (UPPER, "E(ann)", "lower", 1.0),
        (BIASED, "A(ann)", "lower", 1.0),
        (BOTH, "C(ann)", "lower", 0.5),
    ],
)
def test_missing_premises_together_give_the_promised_bound(text: str, atom: str, side: BoundSide, goal: float) -> None:
    found = list(assumed(text, atom, side, goal))
    assert found
    for said, got in found:
        assert got >= said - 1e-9 if side == "lower" else got <= said + 1e-9


@pytest.mark.parametrize("seed", at_length(range(40), plain=4))
def test_random_weighted_rules_lack_what_they_say(seed: int) -> None:
    draw = random.Random(seed)
    literals = [draw.choice(["", "~"]) + f"P{i}(X)@{draw.choice([0.5, 1, 1, 2])}" for i in range(draw.choice([2, 3]))]
    symbol = draw.choice([" & ", " | "])
    text = f"logic {draw.choice(['lukasiewicz', 'godel', 'product'])}\n"
    text += "".join(f"predicate P{i}(e)\n" for i in range(3)) + "fact Z(ann)\n"
    text += "".join(f"fact P{i}(ann) in [{draw.choice([0, 0.2])}, {draw.choice([0.7, 1])}]\n" for i in range(2))
    truth = draw.choice(["", " in [0.8, 1]", " in [0.6, 1]"])
    text += f"rule ({symbol.join(literals)}){{bias: {draw.choice([0.8, 1, 1.2])}}} -> A(X){truth}\n"
    for said, got in assumed(text, "A(ann)", "lower", draw.choice([0.4, 1.0])):
        assert got >= said - 1e-6, text


QUANTIFIED = [
    (
        "predicate Q(e) closed\npredicate E(e) closed\nfact Q(a1)\nfact E(a2)\n"
        "rule any: (exists X: Q(X) & E(X)) -> Some\n",
        "Some",
        {"Q(a2)", "E(a1)"},
    ),
    ("predicate Q(e)\nfact ~Q(a4)\nfact Q(a1)\nrule all: (forall X: Q(X)) -> Happy\n", "Happy", {"Q(a4)"}),
    (
        "predicate R(e, e) closed\npredicate Bad(e) closed\nfact R(a2, a3)\nfact Bad(a3)\n"
        "rule (forall Y: R(X, Y) -> ~Bad(Y)) & (exists Z: R(X, Z)) -> Good(X)\n",
        "Good(a2)",
        {"Bad(a3)"},
    ),
]


@pytest.mark.parametrize(("text", "atom", "named"), QUANTIFIED)
def test_entities_of_quantifiers_are_named(text: str, atom: str, named: set[str]) -> None:
    way = lnnkit.loads(text).why_not(atom).ways[0]
    assert len(way.missing) == 1
    assert way.missing[0].atom in named
    said, got = next(assumed(text, atom, "lower", 1.0))
    assert said == got == 1


def test_the_command_asks_for_its_threshold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.lnn"
    path.write_text("fact A in [0.2, 1]\nrule A -> B in [0.9, 1]\n")
    assert main(["explain", str(path), "B", "--why-not", "--alpha", "0.8", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["ways"][0]["missing"][0]["needed"] == pytest.approx(0.9)


def test_numbers_are_neither_true_nor_false() -> None:
    kb = lnnkit.loads("number age(p)\nfact age(ann) = 3\n")
    with pytest.raises(lnnkit.ProgramError, match="neither true nor false"):
        kb.why_not("age(ann)")


def test_unneeded_comparisons_are_evaluated_on_demand() -> None:
    kb = lnnkit.loads(
        "number age(p)\npredicate Old(p)\npredicate R(p)\nfact age(anna) = 70\nfact age(bob) = 20\n"
        "rule age(X) >= 60 & R(X) -> Old(X)\n"
    )
    (way,) = kb.why_not("Old(anna)").ways
    assert [each.atom for each in way.missing] == ["R(anna)"]
    (way,) = kb.why_not("Old(bob)").ways
    assert [(each.atom, each.against) for each in way.missing] == [("(age(bob) >= 60)", 0.0), ("R(bob)", None)]


@pytest.mark.parametrize(
    ("program", "atom"),
    [
        ("predicate D(s)\nfact A(x)\nfact C(x) in [0.1, 0.4]\nrule A(X) | ~C(X) -> D(X) & C(X) in [0.8, 1]", "D(x)"),
        ("predicate G(s) closed\npredicate D(s)\nfact A(x)\nrule A(X) & ~G(X) -> ~D(X)", "G(x)"),
        ("predicate S(t) closed\nfact S(zoo)\nfact Town(alm)\nrule Town(X) & ~S(X) -> Remote(X)", "S(alm)"),
        ("fact ~P(a)\nfact A(a)\nfact ~N(a)\nrule A(X) & ~P(X) -> N(X)", "P(a)"),
        ("fact P(a) in [0.1, 0.4]\nfact A(a)\nrule A(X) & Q(X) -> P(X)\npredicate Q(e)", "P(a)"),
    ],
)
def test_nothing_is_promised_that_what_is_known_rules_out(program: str, atom: str) -> None:
    kb = lnnkit.loads(program + "\n")
    for way in kb.why_not(atom).ways:
        assert lower(kb.assume({each.atom: (each.needed, 1.0) for each in way.missing}), atom) >= way.gives - 1e-4


def test_a_bound_that_rules_the_goal_out_is_shown() -> None:
    kb = lnnkit.loads("fact P(a) in [0.1, 0.4]\nfact A(a)\nrule A(X) & Q(X) -> P(X)\npredicate Q(e)\n")
    found = kb.why_not("P(a)")
    assert (found.against, [way.gives for way in found.ways]) == (0.4, [0.4])
    assert "it is <= 0.4" in str(found)


def test_what_is_there_is_not_missing_where_several_literals_are() -> None:
    kb = lnnkit.loads(
        "predicate Visit(patient, ward) closed\nfact Visit(p1, w1)\nfact Visit(p2, w2)\nfact Fever(p2)\nfact Bed(w1)\n"
        "fact Referred(p2)\nrule Visit(P, W) & Fever(P) & Bed(W) & Referred(P) -> Admit(P)\n"
    )
    (way,) = kb.why_not("Admit(p1)").ways
    assert (way.bindings, [each.atom for each in way.missing]) == (
        {"P": "p1", "W": "w1"},
        ["Fever(p1)", "Referred(p1)"],
    )


def test_the_nearest_among_a_thousand_is_found() -> None:
    kb = lnnkit.loads(
        "predicate Partner(p, p) closed\npredicate Poor(p)\npredicate Old(p)\nfact Old(a999) = 0.9\nfact Poor(a999)\n"
        "rule Partner(X, Y) & Poor(X) & Old(X) & Retired(Y) -> Elig(Y)\npredicate Retired(p)\n"
    )
    kb.tell("Partner", [(f"a{i}", "hub") for i in range(1000)])
    way = kb.why_not("Elig(hub)").ways[0]
    assert way.bindings == {"X": "a999", "Y": "hub"}
    assert [(each.atom, round(each.now, 9)) for each in way.missing] == [("Old(a999)", 0.9), ("Retired(hub)", 0.0)]


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.lnn"
    path.write_text("predicate B(e)\nfact A(xy)\nrule A(X) & B(X) -> C(X)\n")
    assert main(["explain", str(path), "C(xy)", "--why-not", "--format", "html"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("<!doctype html>") and "<b>C(xy)</b> is ≥ 0; why not 1?" in page
    assert main(["explain", str(path), "C(xy)", "--why-not", "--format", "dot"]) == 2
    assert "--format dot needs an atom, and no --why-not" in capsys.readouterr().err
    assert main(["explain", str(path), "--format", "html"]) == 2
    assert "--format html needs an atom\n" in capsys.readouterr().err


def test_an_aggregate_that_compares_entities_is_tried_too() -> None:
    kb = lnnkit.loads("""\
predicate E(p, p) closed
number u(p)
rule (sum X, Y: u(X) where E(Y, X) & Y = a) >= 1 -> Enough
fact E(a, b)
fact u(b) = 0
query Enough
""")
    (way,) = kb.why_not("Enough").ways
    assert [premise.atom for premise in way.missing] == ['((sum X, Y: u(X) where E(Y, X) & Y = "a") >= 1)']
    assert way.gives == 1
