"""Numbers of two entities are compared only where a reader links them, and the answers are those of all pairs."""

from __future__ import annotations

import pytest

import lnnkit
from tests.agreement import disagreements_about_numbers
from tests.blocks import at_length, in_blocks
from tests.linked_comparisons import generate
from tests.numeric_programs import numbers_stand_once
from tests.programs import to_text

ALL, BLOCK, PLAIN = 3000, 60, 3
DECLARED = "predicate In(person, team) closed\nnumber age(person)\n"


@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_oracle(block: range) -> None:
    compared = 0
    for seed in block:
        program = generate(seed)
        found = disagreements_about_numbers(program, numbers_stand_once(program))
        if found is not None:
            compared += 1
            assert not found, f"seed {seed}:\n{to_text(program)}\n" + "\n".join(found)
    assert compared >= len(block) // 3


@pytest.mark.parametrize(
    ("rule", "answers"),
    at_length([
        ("rule In(X, T) & In(Y, T) & age(X) > age(Y) -> Found(X, Y)\nquery Found(X, Y)", 10_000),
        ("rule In(X, T) & In(Y, T) & X != Y & age(Y) - age(X) <= 0 -> Found(X, Y)\nquery Found(X, Y)", 10_000),
        ("rule (exists Y, T: In(X, T) & In(Y, T) & age(Y) > age(X)) -> Found(X)\nquery Found(X)", 10_000),
        ("rule (forall Y, T: In(X, T) & In(Y, T) -> age(Y) <= age(X)) -> Found(X)\nquery Found(X)", 10_000),
        ("predicate Plays(person, team)\nrule In(X, T) -> Plays(X, T)\n"
         "rule Plays(X, T) & Plays(Y, T) & age(X) > age(Y) -> Found(X, Y)\nquery Found(X, Y)", 10_000),
    ], plain=2, several=True),
)  # fmt: skip
def test_pairs_that_nothing_links_are_not_compared(rule: str, answers: int) -> None:
    """Of 20,000 people in teams of two there are 400 million pairs, more than the budget allows."""
    people = [f"p{number}" for number in range(20_000)]
    kb = lnnkit.loads(f"{DECLARED}{rule}\n")
    kb.tell("In", {"person": people, "team": [f"t{number // 2}" for number in range(20_000)]})
    kb.tell("age", {"person": people, "age": [float(number % 100) for number in range(20_000)]})
    assert len(kb.answers()[0]) == answers


def test_the_last_candidate_reads_a_comparison_that_no_other_row_needs() -> None:
    """Nobody else is near, so dora is; and as she is no older, she is picked."""
    kb = lnnkit.loads(
        "predicate Near(person, person)\npredicate Picked(person)\nnumber age(person)\n"
        "fact Near(anna, dora) in [0, 1]\nfact ~Near(anna, anna)\nfact ~Near(anna, bob)\n"
        "fact age(anna) = 5\nfact age(bob) = 3\nfact age(dora) = 3\n"
        "axiom exists Y: Near(X, Y) & (Picked(Y) | age(Y) > age(X))\nquery Picked(dora)\n"
    )
    ((answer,),) = kb.answers()
    assert (answer.lower, answer.upper) == (1, 1)


def test_a_comparison_limits_nothing_before_its_other_number_is_known() -> None:
    """Both numbers are of what is joined to Z, in either order."""
    facts = [f"fact R(z)\nfact S(k{i}, z)\nfact a(k{i}) = {i}\nfact b(k{i}) = {2 * i}\n" for i in range(1, 5)]
    head = "number a(x)\nnumber b(x)\npredicate S(x, z) closed\npredicate R(z) closed\n"
    for order in ("S(X, Z) & S(Y, Z) & a(X) > b(Y)", "S(X, Z) & S(Y, Z) & b(Y) < a(X)"):
        kb = lnnkit.loads(f"{head}{''.join(facts)}rule R(Z) & {order} -> T(X, Y)\nquery T(X, Y)\n")
        found = {tuple(answer.bindings.values()) for answer in kb.ask("T(X, Y)") if answer.lower == 1}
        assert found == {("k3", "k1"), ("k4", "k1")}
