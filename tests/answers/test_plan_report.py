"""The plan of an inference: what was joined, in which order, with how many rows, and what was left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.join import literal_join as joining
from lnnkit.plan import Plan, StatementPlan
from tests.blocks import at_length
from tests.programs import MODES, generate, to_text

SMOKERS = """\
predicate Friends(person, person) closed
fact Friends(anna, bob)
fact Friends(bob, cleo)
fact Friends(cleo, dora)
fact Friends(emil, anna)
fact Smokes(anna)
rule peers: Smokes(X) & Friends(X, Y) -> Smokes(Y) in [0.9, 1]
query Smokes(X)
"""


def steps(statement: StatementPlan) -> list[list[tuple[str, int, int | None]]]:
    return [[(step.reads, step.rows, step.out) for step in join.steps] for join in statement.joins]


def only(text: str, name: str | None = None) -> StatementPlan:
    (statement,) = (s for s in lnnkit.loads(text).plan().statements if name is None or s.name == name)
    return statement


def test_as_text() -> None:
    expected = """\
rule peers, smokers.lnn:7: 3 instances for inference
  Smokes(X) & Friends(X, Y) -> Smokes(Y) in [0.9, 1]
  join 1, 4 times
    Smokes(X) lower above 0       4
    Friends(X, Y) lower above 0  16  -> 3

sides, and the atoms on which they differ from the default
           lower        upper
  Friends  facts (4)    facts (4)
  Smokes   derived (4)  default

converged after 3 rounds"""
    assert str(lnnkit.loads(SMOKERS, path="smokers.lnn").plan()) == expected


def test_a_join_that_is_made_in_parts() -> None:
    """Each round joins what is new with all that is there; the rows of all rounds add up."""
    statement = only(SMOKERS)
    assert (statement.kind, statement.name, statement.line, statement.instances) == ("rule", "peers", 7, 3)
    made = [join for join in statement.joins if join.times]
    (join,) = [join for join in made if any(step.reads == "Friends(X, Y) lower above 0" for step in join.steps)]
    assert join.times == 4  # one for each new smoker
    assert [(s.reads, s.rows, s.out) for s in join.steps] == [
        ("Smokes(X) lower above 0", 4, 4),
        ("Friends(X, Y) lower above 0", 16, 3),
    ]


def test_smallest_first() -> None:
    facts = "".join(f"fact Big(a{i}, a{i})\n" for i in range(9)) + "fact Small(a1)\nfact Small(a2)\n"
    statement = only(
        "predicate Big(n, n) closed\npredicate Small(n) closed\npredicate Q(n)\n"
        f"{facts}rule Big(X, Y) & Small(Y) -> Q(X)\nquery Q(X)\n"
    )
    assert [("Small(Y) lower above 0", 2, 2), ("Big(X, Y) lower above 0", 9, 2)] in steps(statement)


def test_domains() -> None:
    statement = only(
        "predicate P(n) closed\npredicate Q(n, n)\nfact P(a)\nfact P(b)\nfact P(c)\n"
        "rule P(X) -> Q(X, Y)\nquery Q(X, Y)\n"
    )
    assert [("P(X) lower above 0", 3, 3), ("Y: all of n", 3, 9)] in steps(statement)
    assert statement.instances == 9


UNCONNECTED = (
    "predicate P(n) closed\npredicate R(m) closed\npredicate E(n, n) closed\npredicate F(m, m) closed\n"
    "predicate Q(n, m)\nfact P(a)\nfact P(b)\nfact E(a, b)\nfact E(b, b)\nfact E(b, a)\n"
    "fact R(u)\nfact F(u, v)\nfact F(u, u)\n"
)


def test_unconnected_literals() -> None:
    """One side after the other: the shortest, what is linked to it, then the shortest of what is left."""
    statement = only(f"{UNCONNECTED}rule P(X) & E(X, Y) & R(U) & F(U, V) -> Q(Y, V)\nquery Q(X, Y)\n")
    assert steps(statement) == [
        [
            ("R(U) lower above 0", 1, 1),
            ("F(U, V) lower above 0", 2, 2),
            ("P(X) lower above 0", 2, 4),  # with no variable in common all pairs are made
            ("E(X, Y) lower above 0", 3, 6),  # a has one successor, b two
        ]
    ]
    assert statement.instances == 6


def test_parts_of_a_join(monkeypatch: pytest.MonkeyPatch) -> None:
    """A join that gives much is made part by part: what it reads counts once."""
    facts = "".join(f"fact A(a{i})\n" for i in range(3)) + "".join(f"fact B(b{j})\n" for j in range(5))
    facts += "".join(f"fact E(a{i}, b{j})\n" for i in range(3) for j in range(4))
    expected = [[("A(X) lower above 0", 3, 3), ("E(X, Y) lower above 0", 12, 12), ("B(Y) lower above 0", 5, 12)]]
    for chunk in (joining.CHUNK, 2):
        monkeypatch.setattr(joining, "CHUNK", chunk)  # so that a small join has several parts
        statement = only(
            "predicate A(n) closed\npredicate E(n, n) closed\npredicate B(n) closed\npredicate Q(n, n)\n"
            f"{facts}rule A(X) & E(X, Y) & B(Y) -> Q(X, Y)\nquery Q(X, Y)\n"
        )
        assert steps(statement) == expected
        assert [join.times for join in statement.joins] == [1]
        assert statement.instances == 12


def test_tuples_of_the_same_predicates() -> None:
    """Where the tables have the same tuples, a row is kept while the literals list it."""
    statement = only(
        "predicate A(n) closed\npredicate B(n) closed\npredicate C(n) closed\npredicate Q(n)\n"
        "fact A(a)\nfact B(a)\nfact C(a) = 0\nfact A(b)\nfact B(b) = 0\nfact C(b) = 0\n"
        "fact A(c)\nfact B(c) = 0.8\nfact C(c)\nrule A(X) & B(X) & C(X) -> Q(X)\nquery Q(X)\n"
    )
    assert steps(statement) == [
        [("A(X) lower above 0", 3, 3), ("B(X) lower above 0", 2, 2), ("C(X) lower above 0", 1, 1)]
    ]
    assert statement.instances == 1


def test_rows_are_those_that_fit() -> None:
    statement = only(
        "predicate Is(n, n) closed\npredicate E(n, n) closed\npredicate Q(n)\n"
        "fact Is(a, good)\nfact Is(b, good)\nfact Is(a, bad)\nfact E(a, a)\nfact E(a, b)\nfact E(b, a)\nfact E(b, b)\n"
        "rule Is(X, good) & E(X, Y) & Is(Y, bad) -> Q(Y)\nquery Q(X)\n"
    )
    assert steps(statement) == [
        [("Is(Y, bad) lower above 0", 1, 1), ("E(X, Y) lower above 0", 4, 2), ("Is(X, good) lower above 0", 2, 2)]
    ]


def test_what_ends_early_counts_with_what_goes_on() -> None:
    """P(a) leads on to S; P(b) and P(c), found in the first round, have no successor, so S is read but once."""
    statement = only(
        "predicate E(n, n) closed\npredicate S(n) closed\npredicate More(n, n) closed\npredicate P(n)\npredicate Q(n)\n"
        "fact P(a)\nfact E(a, d)\nfact E(d, d)\nfact S(d)\nfact S(e)\nfact More(a, b)\nfact More(a, c)\n"
        "rule More(X, Y) & P(X) -> P(Y)\nrule last: P(X) & E(X, Y) & S(Y) -> Q(Y)\nquery Q(X)\n",
        "last",
    )
    (join,) = statement.joins
    assert join.times == 2
    assert steps(statement) == [
        [("P(X) lower above 0", 3, 3), ("E(X, Y) lower above 0", 4, 1), ("S(Y) lower above 0", 2, 1)]
    ]


def test_what_was_not_reached() -> None:
    statement = only(
        "predicate P(n) closed\npredicate R(n) closed\npredicate E(n, n) closed\npredicate Q(n)\n"
        "fact P(a)\nfact R(b)\nfact E(b, c)\nfact E(c, b)\n"
        "rule P(X) & R(X) & E(X, Y) -> Q(Y)\nquery Q(X)\n"
    )
    (join,) = steps(statement)
    assert [(rows, out) for _, rows, out in join] == [(1, 1), (1, 0), (2, None)]
    text = str(Plan((statement,), (), lnnkit.Outcome("converged", 0)))
    assert "not reached" in text


def test_completion_and_shared_formulas() -> None:
    """The rounds change nothing that the stratum reads, so it is completed once. ``step`` has the one instance
    Reach(a, b) & E(b, c), found when Reach(a, b) comes to be."""
    plan = lnnkit.loads(
        "predicate E(n, n) closed\npredicate Reach(n, n) closed\nfact E(a, b)\nfact E(b, c)\n"
        "rule base: E(X, Y) -> Reach(X, Y)\nrule step: Reach(X, Y) & E(Y, Z) -> Reach(X, Z)\n"
        "rule one: (A(X) | B(X)) -> C(X)\nrule two: (A(X) | B(X)) & D(X) -> F(X)\n"
        "fact A(a) = 0.4\nfact B(b)\nfact D(b)\nquery Reach(X, Y)\nquery C(X)\nquery F(X)\n"
    ).plan()
    assert [(s.kind, s.name, s.purpose, s.instances) for s in plan.statements if s.name in ("base", "step")] == [
        ("rule", "base", "completion", 2),
        ("rule", "base", "inference", 0),
        ("rule", "step", "completion", 1),
        ("rule", "step", "inference", 0),
    ]
    assert plan.statements[-1].kind == "neuron"
    assert plan.statements[-1].text == "A(X0) | B(X0)"
    tables = {table.name: table for table in plan.tables}
    assert (tables["Reach"].lower.status, tables["Reach"].lower.atoms) == ("completed", 3)
    assert tables["E"].lower.status == "facts"
    assert "[A(X0) | B(X0)]" in tables
    (one,) = [statement for statement in plan.statements if statement.name == "one"]
    assert any(step.reads.startswith("[A(X0) | B(X0)](X) ") for join in one.joins for step in join.steps)


def test_rules_that_differ_in_their_variables_names_are_one_formula_with_their_names() -> None:
    rules = "rule one: P(X) -> Q(X)\nrule two: P(Y) -> Q(Y)\nrule three: P(X) -> R(X)\n"
    plan = lnnkit.loads(f"fact P(b)\n{rules}query Q(X)\nquery R(X)\n").plan()
    assert [(each.kind, each.name) for each in plan.statements] == [("rule", "three"), ("neuron", "one, two")]


def test_without_variables_nothing_is_joined() -> None:
    statement = only("fact A\nrule A -> B\nquery B\n")
    assert list(statement.lines())[2:] == ["  1 join not needed"]
    assert statement.instances == 1


def test_sides() -> None:
    """Open friendships that nobody asks for are not inferred, so the contrapositive is not joined."""
    text = SMOKERS.replace(" closed", "") + "fact ~Smokes(dora)\n"
    unasked = {table.name: table for table in lnnkit.loads(text).plan().tables}
    assert unasked["Friends"].upper.status == "derived-where-listed"
    asked = {table.name: table for table in lnnkit.loads(text + "query Friends(X, Y)\n").plan().tables}
    assert asked["Friends"].upper.status == "derived"
    assert (asked["Smokes"].lower.status, asked["Smokes"].lower.atoms) == ("derived", 2)


def test_quantifiers() -> None:
    statement = only(
        "predicate Part(n, n) closed\nfact Part(a, b)\nfact Part(a, c)\nfact Ok(b)\n"
        "rule (forall Y: Part(X, Y) -> Ok(Y)) -> Fine(X)\nquery Fine(X)\n"
    )
    assert [step.reads for join in statement.joins for step in join.steps] == [
        "X: all of n"
    ]  # without parts all are fine


@pytest.mark.parametrize("seed", at_length(range(40), plain=4))
def test_recording_changes_nothing(seed: int) -> None:
    text = to_text(generate(seed, 1 + seed % 6, MODES[seed % 3]).program)
    plain, planned = lnnkit.loads(text), lnnkit.loads(text)
    outcome, plan = plain.infer(), planned.plan()
    assert plan.outcome == outcome
    for one, other in zip(plain.answers(), planned.answers(), strict=True):
        assert one.columns == other.columns
        assert one.lower.tolist() == other.lower.tolist()
        assert one.upper.tolist() == other.upper.tolist()
    assert json.loads(json.dumps(plan.as_dict())) == plan.as_dict()
    assert str(plan).endswith(outcome.summary)
    for statement in plan.statements:
        for join in statement.joins:
            outs = [step.out for step in join.steps]
            reached = [out for out in outs if out is not None]
            assert outs[: len(reached)] == reached  # what is not reached comes last


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "smokers.lnn"
    path.write_text(SMOKERS)
    assert main(["run", "--plan", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert f"rule peers, {path}:7: 3 instances for inference\n" in out
    assert "Friends(X, Y) lower above 0  16  -> 3\n" in out
    assert out.endswith("converged after 3 rounds\n")
    assert main(["run", "--plan", str(path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["statements", "sides", "status", "rounds"]
    assert found["sides"][0] == {
        "name": "Friends",
        "lower": {"status": "facts", "atoms": 4},
        "upper": {"status": "facts", "atoms": 4},
    }
    assert main(["run", "--plan", str(path), "--format", "csv"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--plan does not support csv; use --format table or json" in err


@pytest.mark.parametrize("head", ["rule foo", "rule foo ", 'rule "a b"', "axiom foo"])
def test_names_stand_once(head: str) -> None:
    (statement,) = lnnkit.loads(f"fact A(x)\n{head}: A(X) -> C(X)\n").plan().statements
    assert statement.text == "A(X) -> C(X)"


def test_profile() -> None:
    """The dearest comes first; what each rule finds is counted by hand."""
    text = (
        "predicate In(person, group)\nrule pairs: In(X, G) & In(Y, G) -> Know(X, Y)\nrule ones: In(X, G) -> Member(X)\n"
    )
    kb = lnnkit.loads(text + "query Know(X, Y)\nquery Member(X)\n")
    kb.tell("In", [(f"p{n:03}", f"g{n % 20}") for n in range(200)])
    profile = kb.profile(max_rounds=50)
    costs = profile.statements
    assert sorted((cost.name, cost.instances, cost.proposals, cost.joined) for cost in costs) == [
        ("ones", 200, 200, 200),
        ("pairs", 2000, 2000, 200 + 2000),
    ]
    assert costs[0].seconds >= costs[1].seconds > 0 and sum(cost.seconds for cost in costs) < profile.seconds
    first, *lines = str(profile).splitlines()
    assert first.split() == ["seconds", "joined", "instances", "proposals", "statement"]
    pairs = "  2,200      2,000      2,000  rule pairs, <string>:2: In(X, G) & In(Y, G) -> Know(X, Y)"
    assert lines[costs[0].name != "pairs"].endswith(pairs)
    assert "rule pairs" in profile._repr_html_()


def test_profile_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "smokers.lnn"
    path.write_text(SMOKERS)
    assert main(["run", "--profile", str(path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["statements", "seconds", "status", "rounds"]
    seconds = [cost["seconds"] for cost in found["statements"]]
    assert seconds == sorted(seconds, reverse=True)
    assert found["statements"][0]["file"] == str(path)
    assert main(["run", "--profile", str(path)]) == 0
    assert capsys.readouterr().out.endswith("converged after 3 rounds\n")
    assert main(["run", "--profile", str(path), "--format", "csv"]) == 2
    assert "--profile does not support csv" in capsys.readouterr().err


def test_a_stratum_is_completed_again_where_rounds_move_what_it_reads() -> None:
    statement = next(
        statement
        for statement in lnnkit.loads(
            "predicate E(n, n) closed\npredicate Reach(n, n) closed\nfact E(a, b)\nfact E(b, c)\nfact D(b)\n"
            "rule base: E(X, Y) -> Reach(X, Y)\nrule D(X) -> O(X)\nrule O(X) & E(X, Y) -> Reach(Y, X)\n"
            "query Reach(X, Y)\n"
        )
        .plan()
        .statements
        if (statement.name, statement.purpose) == ("base", "completion")
    )
    assert statement.instances == 4  # E(a, b) and E(b, c), each in both completions
