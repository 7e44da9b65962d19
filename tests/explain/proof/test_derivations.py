"""Other derivations of an atom: counted by hand and by enumeration, checked one by one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import lnnkit
from lnnkit.cli import main
from tests.blocks import at_length, in_blocks
from tests.explain.proving import known_atoms
from tests.programs import MODES, generate, to_text

GRAPH = """
predicate Edge(node, node) closed
fact Edge(a, b)
fact Edge(a, c)
fact Edge(b, d)
fact Edge(c, d)
fact Edge(d, b)
predicate Reach(node) closed
fact Reach(a)
rule step: Reach(X) & Edge(X, Y) -> Reach(Y)
rule good: Reach(X) -> Good(X) in [0.8, 1]
query Reach(X)
query Good(X)
"""


def facts_of(kb: lnnkit.KnowledgeBase, atom: str, most: int = 100) -> list[set[str]]:
    return [{fact.text.removeprefix("fact ") for fact in one.facts()} for one in kb.explain(atom).derivations(most)]


def test_two_ways_to_a_node() -> None:
    kb = lnnkit.loads(GRAPH)
    ways = [{"Reach(a)", "Edge(a, b)", "Edge(b, d)"}, {"Reach(a)", "Edge(a, c)", "Edge(c, d)"}]
    assert facts_of(kb, "Reach(d)") == ways
    assert facts_of(kb, "Reach(d)", most=1) == ways[:1]
    assert facts_of(kb, "Good(d)") == ways[:1]  # one instance of the rule, with the proof of its premise


def test_none_rests_on_itself() -> None:
    """b is reached from d as well, but d's proof goes through b."""
    assert facts_of(lnnkit.loads(GRAPH), "Reach(b)") == [{"Reach(a)", "Edge(a, b)"}]


def test_a_fact_and_a_rule() -> None:
    kb = lnnkit.loads(GRAPH + "fact Reach(c)\n")
    assert facts_of(kb, "Reach(c)") == [{"Reach(c)"}, {"Reach(a)", "Edge(a, c)"}]


def test_what_gives_less_is_no_derivation() -> None:
    text = "fact A(x) = 0.6\nfact B(x) = 0.9\nrule A(X) -> C(X)\nrule B(X) -> C(X)\nrule low: C(X) & B(X) -> D(X)\n"
    assert facts_of(lnnkit.loads(text), "C(x)") == [{"B(x) = 0.9"}]


def test_both_ends() -> None:
    kb = lnnkit.loads(
        "fact A(x)\nfact B(x)\naxiom A(X) -> C(X)\naxiom B(X) -> C(X)\naxiom A(X) -> ~D(X)\naxiom B(X) -> ~D(X)"
    )
    assert facts_of(kb, "C(x)") == facts_of(kb, "D(x)") == [{"A(x)"}, {"B(x)"}]


def test_rules_whose_instances_read_alike() -> None:
    kb = lnnkit.loads("fact N(b)\nrule one: N(X) -> I(X)\nrule two: N(X) -> I(b)\n")
    rules = [one.steps[one.proof.lower].statement for one in kb.explain("I(b)").derivations()]
    assert [rule.name for rule in rules if rule is not None] == ["one", "two"]


def test_after_a_profile() -> None:
    kb = lnnkit.loads("fact A(x)\nfact C(x)\nrule A(X) -> B(X)\nrule C(X) -> B(X)")
    kb.profile()
    assert facts_of(kb, "B(x)", most=10**30) == [{"A(x)"}, {"C(x)"}]
    other = kb.explain("B(x)").derivations()[1]
    assert other.derivations() == [other]
    for most in (0, -1, 2.5):
        with pytest.raises(ValueError, match="most must be a positive whole number"):
            other.derivations(most)  # type: ignore[arg-type]


def test_in_single_precision_each_verifies() -> None:
    """The proof reads 0.742 as its fact has it, inference rounded it down."""
    text = "logic godel\npredicate S(e)\nfact S(a) in [0.74, 0.94]\nfact S(b) = 0.742\nrule (forall X: S(X)) -> T\n"
    kb = lnnkit.loads(text + "rule T -> (forall X: S(X))")
    kb.infer(precision="single")
    assert [one.verify() for one in kb.explain("S(a)").derivations(9)] == [[]]


@pytest.mark.parametrize("seed", at_length([*range(6)], plain=3))
def test_as_many_as_instances_whose_premises_hold(seed: int) -> None:
    draw = random.Random(seed)
    edges = {(draw.randrange(7), draw.randrange(7)) for _ in range(20)}
    colours = {(draw.randrange(7), draw.choice("rg")) for _ in range(9)}
    text = "predicate Edge(node, node) closed\npredicate Two(node, node) closed\npredicate Has(node, colour)\n"
    text += "".join(f"fact Edge(n{x}, n{y})\n" for x, y in sorted(edges))
    text += "".join(f"fact Has(n{x}, {c})\n" for x, c in sorted(colours))
    text += "rule Edge(X, Y) & Edge(Y, Z) -> Two(X, Z)\nrule Two(X, Z) & Has(Z, C) -> Near(X, C)\n"
    kb = lnnkit.loads(text + "query Two(X, Y)\nquery Near(X, C)\n")
    two = [(x, z) for x, y in edges for other, z in edges if y == other]
    near = [(x, c) for x, z in {*two} for other, c in colours if z == other]
    for x, z in {*two}:
        assert len(kb.explain(f"Two(n{x}, n{z})").derivations(100)) == two.count((x, z))
    for x, c in {*near}:
        assert len(kb.explain(f"Near(n{x}, {c})").derivations(100)) == near.count((x, c))


@pytest.mark.parametrize("block", in_blocks(range(120), 10, 1))
def test_each_gives_the_same_bounds_and_verifies(block: range) -> None:
    for seed in block:
        text = to_text(generate(seed, 1 + seed % 6, MODES[seed % 3], ground=0.1).program)
        kb = lnnkit.loads(text)
        for atom, _, _ in known_atoms(kb, 12):
            first, *others = kb.explain(atom).derivations(5)
            shown = {str(first)}
            for other in others:
                assert (other.lower, other.upper) == (first.lower, first.upper), f"seed {seed}, {atom}\n{text}"
                assert other.verify() == [], f"seed {seed}, {atom}\n{text}"
                assert str(other) not in shown, f"seed {seed}, {atom}\n{text}"
                shown.add(str(other))


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.lnn"
    path.write_text(GRAPH)
    assert main(["explain", str(path), "Reach(d)", "--all", "5"]) == 0
    out = capsys.readouterr().out
    assert out.count('Reach("d") >= 1   rule step') == 2
    assert main(["explain", str(path), "Reach(d)", "--all", "5", "--facts"]) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert first.splitlines()[1:] == [f"fact Edge(a, b)   {path}:3", f"fact Edge(b, d)   {path}:5"]
    assert second.splitlines()[1:] == [f"fact Edge(a, c)   {path}:4", f"fact Edge(c, d)   {path}:6"]
    assert main(["explain", str(path), "Reach(d)", "--facts", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["derivations"]
    assert main(["explain", str(path), "Reach(d)", "--all", "1", "--format", "json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["derivations"]
    assert [(fact["fact"], fact["row"]) for fact in found["facts"]] == [
        ("fact Reach(a)", 9),
        ("fact Edge(a, b)", 3),
        ("fact Edge(b, d)", 5),
    ]
    assert main(["explain", str(path), "Reach(d)", "--facts", "--format", "html"]) == 2
    assert "--facts needs an atom, --format text or json, and no --why-not" in capsys.readouterr().err
