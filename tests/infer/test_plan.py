"""The plan of an inference: what was joined, in which order, with how many rows, and what was left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.plan import Plan, StatementPlan
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


def only(text: str) -> StatementPlan:
    (statement,) = lnnkit.loads(text).plan().statements
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


def test_unconnected_literals() -> None:
    statement = only(
        "predicate P(n) closed\npredicate R(m) closed\npredicate E(n, n) closed\npredicate F(m, m) closed\n"
        "predicate Q(n, m)\nfact P(a)\nfact P(b)\nfact E(a, b)\nfact E(b, b)\nfact R(u)\nfact F(u, v)\nfact F(u, u)\n"
        "rule P(X) & E(X, Y) & R(U) & F(U, V) -> Q(Y, V)\nquery Q(X, Y)\n"
    )
    assert [
        ("R(U) lower above 0", 1, 1),
        ("F(U, V) lower above 0", 2, 2),
        ("E(X, Y) lower above 0", 2, 2),
        ("P(X) lower above 0", 2, 2),
        ("all pairs of the two", 2, 4),
    ] in [sorted_pairs(each) for each in steps(statement)]


def sorted_pairs(found: list[tuple[str, int, int | None]]) -> list[tuple[str, int, int | None]]:
    """The pair of equals in its order here, whichever came first."""
    if len(found) == 5 and found[2][0] == "P(X) lower above 0":
        found[2], found[3] = found[3], found[2]
    return found


def test_what_was_not_reached() -> None:
    statement = only(
        "predicate P(n) closed\npredicate R(n) closed\npredicate E(n, n) closed\npredicate Q(n)\n"
        "fact P(a)\nfact R(b)\nfact E(b, c)\nfact E(c, b)\n"
        "rule P(X) & R(X) & E(X, Y) -> Q(Y)\nquery Q(X)\n"
    )
    (join,) = steps(statement)
    assert [out for _, _, out in join] == [1, 0, None]
    text = str(Plan((statement,), (), lnnkit.Outcome("converged", 0)))
    assert "not reached" in text


def test_completion_and_shared_formulas() -> None:
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
    assert any(step.reads == "the rows around it" for join in statement.joins for step in join.steps)


@pytest.mark.parametrize("seed", range(40))
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
    assert "--plan goes with --format table or json" in err
