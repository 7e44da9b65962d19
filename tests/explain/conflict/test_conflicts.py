"""Contradictions: what meets in them, made minimal, and repaired."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.explain.conflict.conflict import Conflict
from tests.blocks import at_length
from tests.programs import generate, to_text

CUSTOMERS = Path(__file__).parents[3] / "kb_examples" / "customers" / "customers.lnn"


def planted(seed: int, rules: int = 1000) -> tuple[str, set[str]]:
    """A satisfiable program of so many rules with two derivations of one atom that exclude each other: its text, and
    the members of the conflict."""
    draw = random.Random(seed)
    atoms = rules // 2
    lines = [f"predicate P{number}" for number in range(atoms)]
    lines += [f"fact P{draw.randrange(atoms)}" for _ in range(20)]
    for _ in range(rules):
        body = " & ".join(f"P{number}" for number in draw.sample(range(atoms), draw.choice([1, 2, 2, 3])))
        lines.append(f"rule {body} -> P{draw.randrange(atoms)}")
    own: list[str] = []
    for name in ("Yes", "No"):
        length = draw.randint(1, 4)
        own.append(f"fact {name}0")
        own += [f"rule {name}{n} -> {name}{n + 1}" for n in range(length)]
        own.append(f"rule {name}{length} -> {'' if name == 'Yes' else '~'}Clash")
    every = [*lines, *own]
    draw.shuffle(every)
    return "\n".join(every) + "\n", set(own)


def told(conflict: Conflict) -> set[str]:
    return {str(member).partition("   ")[0] for member in conflict.members}


@pytest.mark.parametrize("seed", at_length([*range(3)], plain=0))
def test_planted_contradictions_are_found_and_minimal(seed: int) -> None:
    text, own = planted(seed)
    kb = lnnkit.loads(text)
    conflict = kb.conflicts()[0]
    assert "Clash" in conflict.contradiction.atom
    assert told(conflict) >= own
    assert conflict.explanation.verify() == []
    least = conflict.minimal()
    assert least.is_minimal
    assert told(least) == own
    kinds = [next(iter(str(repair.member).split())) for repair in least.repairs()]
    assert kinds == sorted(kinds)  # facts before rules
    assert len(kinds) == len(own)


@pytest.mark.parametrize("seed", at_length(range(2, 90, 3), plain=2))
def test_random_conflicts_verify_and_are_minimal(seed: int) -> None:
    """In the mode "free" nothing keeps facts and rules from contradicting."""
    kb = lnnkit.loads(to_text(generate(seed, 1 + seed % 3, "free").program))
    found = kb.conflicts(most=3)
    assert bool(found) == bool(kb.contradictions)
    for conflict in found:
        assert conflict.explanation.verify() == []
        least = conflict.minimal()
        if least.is_minimal:
            assert least._inconsistent(least.members)
            for left_out in least.members:
                assert not least._inconsistent([member for member in least.members if member is not left_out])


def test_the_cheapest_repair_comes_first() -> None:
    kb = lnnkit.loads("fact A in [0.7, 1]\nfact C\naxiom A -> B in [0.9, 1]\nrule C -> ~B\nrule C -> D\n")
    (conflict,) = kb.conflicts()
    assert (conflict.contradiction.lower, conflict.contradiction.upper) == (pytest.approx(0.6), 0.0)
    assert len(conflict.members) == 4
    repairs = conflict.repairs()
    assert [(repair.lower, repair.cost) for repair in repairs] == [
        (pytest.approx(0.1), pytest.approx(0.6)),  # A: then B need not be above 0
        (pytest.approx(0.4), pytest.approx(0.6)),  # C: B may be 0.6
        (pytest.approx(0.4), pytest.approx(1.2)),  # the rule, twice as dear
        (pytest.approx(0.3, abs=1e-3), pytest.approx(2.4, abs=1e-2)),  # the axiom
    ]


def test_tables_keep_their_rows() -> None:
    found = lnnkit.load(CUSTOMERS).conflicts()
    assert [conflict.contradiction.kind for conflict in found] == ["atom", "axiom"]
    assert [(Path(fact.file).name, fact.row) for fact in found[0].facts] == [
        ("billing.csv", 4),
        ("crm.csv", 4),
    ]


def test_the_command_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(CUSTOMERS), "--minimal"]) == 0
    out = capsys.readouterr().out
    assert "Active(c3) [1, 0]" in out
    assert "leave it out, at a cost of 1" in out
    assert main(["explain", str(CUSTOMERS), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total"] == len(found["conflicts"]) == 2
    assert main(["explain", str(CUSTOMERS), "--format", "dot"]) == 2


def test_there_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.lnn").write_text("fact A\n")
    assert main(["explain", str(tmp_path / "p.lnn")]) == 0
    assert capsys.readouterr().out == "no contradictions\n"


def test_one_for_every_entity_has_no_instance_to_explain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.lnn"
    path.write_text(
        "predicate P(person)\nnumber age(person)\nfact P(anna)\naxiom age(X) > 5\naxiom age(X) < 3\nquery P(X)\n"
    )
    assert main(["explain", str(path)]) == 0
    assert capsys.readouterr().out == "age(X) at least 5, at most 3\n  for every entity: name one to see why\n"
    assert main(["explain", str(path), "age(anna)"]) == 0
    assert "age(anna)  [5, 3]  contradiction" in capsys.readouterr().out


TRAINED = "rule r: A(X) -> C(X)\nfact A(a)\nfact A(b)\nfact C(a) in [0, 0.5]\nlabel C(b) = 0.7\n"


def test_repairs_weaken_learned_rules() -> None:
    kb = lnnkit.loads(TRAINED)
    kb.module().load({name: 0.7 for name in kb.module().names if "lower" in name})
    found, again = (each.conflicts()[0].repairs() for each in (kb, lnnkit.loads(kb.text)))
    assert [str(repair).partition("   ")[0] for repair in found] == [str(r).partition("   ")[0] for r in again]
    rule = next(repair for repair in found if "rule r" in str(repair.member))
    assert (rule.lower, rule.cost) == (pytest.approx(0.5), pytest.approx(0.4))
    assert "in [0.7, 1]" in str(rule.member)


def test_proofs_of_completed_predicates_read_what_has_been_learned() -> None:
    kb = lnnkit.loads("predicate D(e) closed\nrule r: A(X)@0.5 -> D(X)\nfact A(a) = 0.9\nlabel D(a) = 0.3\n")
    kb.module().load({name: 0.6 for name in kb.module().names if "lower" in name})
    proof = kb.explain("D(a)")
    assert proof.verify() == []
    assert "in [0.6, 1]" in str(proof)


@pytest.mark.parametrize(
    ("text", "member", "bounds", "cost"),  # the cost: how far it moves, of what is known of the number
    at_length(
        [
            ("fact n(a) = 5\nfact n(a) = 7\nfact n(b) in [-3, 17]\n", "n(a) = 5", (5, 7), 0.1),  # 2 of 20
            ("fact n(a) = 5\nfact Small(a)\nrule Small(X) -> n(X) <= 3\n", "n(a) = 5", (3, 5), 0.4),  # 2 of 5
            ("fact n(a) = 5 trust 0.5\nfact n(b) = 30000\naxiom n(a) >= 10000\n", "n(a) = 5", (5, 10000), 1 / 6),
            ("fact n(a) in [-5, -3]\nfact m(a) in [2, 6]\naxiom n(X) = m(X)\n", "m(a) in", (-3, 6), 1),  # 5 of 4
            ("fact n(a) = 5\nfact n(a) = 7\n", "n(a) = 5", (5, 7), 1),  # 2 of 2
            ("fact n(a) in [-5, -3]\nfact m(a) in [2, 6]\naxiom n(X) = m(X)\n", "n(a) in", (-5, 2), 1),  # 5 of 2
            ("fact n(a) = 5\naxiom n(X) >= 10000\n", "n(a) = 5", (5, 10000), 1),
        ],
        plain=3,
        several=True,
    ),
)
def test_repairs_of_numbers_widen_the_nearer_side(
    text: str, member: str, bounds: tuple[float, float], cost: float
) -> None:
    kb = lnnkit.loads("number n(e)\nnumber m(e)\npredicate Small(e)\n" + text)
    (repair,) = [each for each in kb.conflicts()[0].repairs() if member in str(each.member)]
    assert (repair.lower, repair.upper) == pytest.approx(bounds, rel=1e-2)
    assert repair.lower <= bounds[0]
    assert repair.upper >= bounds[1]
    assert repair.cost == pytest.approx(cost, rel=1e-2)
    json.dumps(repair.as_dict(), allow_nan=False)


def test_a_number_that_a_unit_leaves_out() -> None:
    """Of `npu(age(X), gap(X)){power: [1, 0]}` only age is left, but the program still names gap."""
    text = "number gap(person)\nnumber age(person)\nfact age(anna) = 3\nfact gap(anna) = 4\n"
    kb = lnnkit.loads(text + "rule s2: npu(age(X), gap(X)){power: [1, 0]} > 5\n")
    (found,) = kb.conflicts()
    least = found.minimal()
    assert [fact.text for fact in least.facts] == ["fact age(anna) = 3"]
    assert [rule.name for rule in least.rules] == ["s2"]
    assert [repair.upper for repair in found.repairs() if not repair.leaves_out] == [pytest.approx(5.0, abs=0.01)]


@pytest.mark.slow
def test_a_repair_that_only_delays_the_contradiction_is_none() -> None:
    """Whatever E(a, b) is below 1, bounds creep until they cross, the longer the nearer it is to 1."""
    text = "predicate E(s, s)\npredicate T(t)\nfact ~E(a, b)\nfact T(c) in [0, 1]\naxiom E(X, Y) <-> (T(U) -> T(U))\n"
    (found, *_) = lnnkit.loads(text).conflicts()
    assert [repair.leaves_out for repair in found.repairs()] == [True, True]


def test_a_repair_names_every_source_that_states_the_fact() -> None:
    kb = lnnkit.loads("fact P(a)\nfact ~Q(a)\naxiom P(X) -> Q(X)\nquery Q(X)\n")
    kb.tell("P", [["a"], ["b"]], trust=0.5)
    kb.tell("P", [("a", 0.2, 1.0)])
    (conflict,) = kb.conflicts()
    found = next(each for each in conflict.repairs() if "P(a)" in str(each))
    assert [(each.file, each.row) for each in found.others] == [("<told P>", 1), ("<told P 2>", 1)]
    assert str(found) == "leave them out, at a cost of 1: fact P(a)   <string>:1, and <told P>:1, and <told P 2>:1"
    assert found.as_dict()["others"] == ["<told P>:1", "<told P 2>:1"]
