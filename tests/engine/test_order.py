"""What comparisons of the same two terms say of one another: by hand, and by Z3."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import z3

import lnnkit
from lnnkit.check import check
from lnnkit.check.program import Assertion
from lnnkit.graph.laws import laws
from tests.blocks import at_length

OPERATORS = (">", ">=", "<", "<=", "=", "!=")
DECLARED = "number age(person)\nnumber pay(person)\nnumber gap(person, person)\n"


def told(kb: lnnkit.KnowledgeBase, query: str) -> tuple[float, float]:
    (answer,) = kb.ask(query)
    return answer.lower, answer.upper


def holds(operator: str, sign: int) -> bool:
    return {">": sign > 0, ">=": sign >= 0, "<": sign < 0, "<=": sign <= 0, "=": sign == 0, "!=": sign != 0}[operator]


@pytest.mark.parametrize("text", ["age(X) {} 65", "pay(X) {} age(X)", "age(X) {} 2 * pay(X) - 3"])
@pytest.mark.parametrize("way", ["rule Told(X) -> {}", "axiom {}", "rule {} <-> Told(X)"])
@pytest.mark.parametrize("operator", at_length(OPERATORS, plain=1))
def test_consequences_of_one_fact(text: str, way: str, operator: str) -> None:
    """A query is as true as the signs of the difference that are left make it, whatever the numbers are."""
    kb = lnnkit.loads(f"{DECLARED}predicate Told(person)\nfact Told(anna)\n{way.format(text.format(operator))}\n")
    left = [sign for sign in (-1, 0, 1) if holds(operator, sign)]
    for other in OPERATORS:
        truths = [holds(other, sign) for sign in left]
        expected = float(all(truths)), float(any(truths))
        assert told(kb, text.format(other).replace("X", "anna")) == expected, other
    assert not kb.infer().contradictions


@pytest.mark.parametrize(("one", "two"), at_length([*itertools.permutations(OPERATORS, 2)], plain=12, several=True))
def test_rules_read_the_new_bound(one: str, two: str) -> None:
    kb = lnnkit.loads(
        f"{DECLARED}fact Told(anna)\nrule pay(X) {one} age(X) <-> Told(X)\nrule age(X) {two} pay(X) <-> Found(X)\n"
    )
    truths = [holds(two, -sign) for sign in (-1, 0, 1) if holds(one, sign)]
    assert told(kb, "Found(anna)") == (float(all(truths)), float(any(truths)))


@pytest.mark.parametrize("operators", at_length([*itertools.combinations(OPERATORS, 3)], plain=8))
def test_two_comparisons_imply_a_third(operators: tuple[str, str, str]) -> None:
    one, two, third = operators
    signs = [sign for sign in (-1, 0, 1) if holds(one, sign) and holds(two, sign)]
    kb = lnnkit.loads(
        f"{DECLARED}fact Told(anna)\nrule Told(X) -> pay(X) {one} age(X)\nrule Told(X) -> pay(X) {two} age(X)\n"
        f"rule pay(X) {third} age(X) <-> Found(X)\n"
    )
    if not signs:
        assert kb.infer().contradictions
        return
    truths = [holds(third, sign) for sign in signs]
    assert told(kb, "Found(anna)") == (float(all(truths)), float(any(truths)))
    assert not kb.infer().contradictions


def test_equal_terms_are_recognised_in_any_form() -> None:
    kb = lnnkit.loads(f"{DECLARED}fact Told(anna, bob)\nrule Told(X, Y) -> age(X) > age(Y)\n")
    for query, truth in {
        "age(bob) < age(anna)": 1,
        "age(anna) - age(bob) > 0": 1,
        "0 <= age(bob) - age(anna)": 0,
        "age(bob) >= age(anna)": 0,
        "age(bob) = age(anna)": 0,
        "~(age(anna) <= age(bob))": 1,
    }.items():
        assert told(kb, query) == (truth, truth), query
    assert told(kb, "age(anna) > pay(bob)") == (0, 1)


def test_pairs_that_are_compared_both_ways() -> None:
    """``a(X) > a(Y)`` and ``a(X) >= a(Y)`` are about the same pair in either order."""
    kb = lnnkit.loads(
        f"{DECLARED}fact Told(anna, bob)\nrule Told(X, Y) -> age(X) > age(Y)\nrule age(X) >= age(Y) -> Least(X, Y)\n"
        "rule Least(X, Y) -> age(X) >= age(Y)\n"
    )
    assert told(kb, "Least(anna, bob)") == (1, 1)
    assert told(kb, "Least(bob, anna)") == (0, 0)


def test_a_degree_is_enough() -> None:
    """A crisp comparison that is not false is true."""
    kb = lnnkit.loads(
        f"{DECLARED}fact Told(anna) = 0.3\nrule Told(X) -> pay(X) > age(X)\nrule pay(X) <= age(X) -> B(X)\n"
    )
    assert told(kb, "pay(anna) < age(anna)") == (0, 0)
    assert told(kb, "pay(anna) <= age(anna)") == (0, 0)


def test_what_holds_of_all_pairs_is_not_written_down_for_each() -> None:
    people = 300
    facts = "\n".join(f"fact Told(p{place})" for place in range(people))
    kb = lnnkit.loads(
        f"{DECLARED}{facts}\npredicate Known(person)\nfact Known(p1)\nfact Known(p2)\n"
        "axiom gap(X, Y) >= 0\nrule gap(X, Y) < 0 -> Bad(X, Y)\nrule gap(X, Y) > 0 -> Far(X, Y)\n"
    )
    kb.infer(max_groundings=5 * people)
    assert told(kb, "gap(p1, p2) < 0") == (0, 0)
    assert told(kb, "gap(p1, p2) > 0") == (0, 1)
    assert told(kb, "gap(p1, p2) != 0") == (0, 1)


def test_statements_that_contradict_each_other_outright_have_no_laws() -> None:
    kb = lnnkit.loads(f"{DECLARED}fact age(anna) in [0, 9]\naxiom age(X) > 5\naxiom age(X) <= 5\n")
    assert kb.infer().contradictions
    assert not laws(checked("axiom age(X) > 5", "axiom age(X) <= 5"))


def checked(*statements: str) -> tuple[Assertion, ...]:
    program, _ = check(lnnkit.parse(DECLARED + "\n".join(statements) + "\n"), Path())
    assert program is not None
    return program.assertions


def test_what_is_learned_or_softened_has_no_laws() -> None:
    assert not laws(checked("rule age(X) > ?5 -> P(X)", "rule age(X) <= ?5 -> Q(X)"))
    assert not laws(checked("rule (age(X) > 5){scale: 2} -> P(X)", "rule age(X) <= 5 -> Q(X)"))
    assert not laws(checked("rule age(X) > 5 -> P(X)", "rule age(Y) > 5 -> Q(Y)", "rule age(X) > 6 -> R(X)"))
    (one, two) = laws(checked("rule age(X) > 5 -> P(X)", "rule age(Z) <= 5.0 -> Q(Z)"))
    assert {one.span.text, two.span.text} == {"age(X) <= 5 | age(X) > 5", "~age(X) <= 5 | ~age(X) > 5"}


def test_every_law_is_one() -> None:
    """Z3 finds no real numbers that break a law, and none is left out that two comparisons obey."""
    age, pay = z3.Reals("age pay")
    truth = {">": age > pay, ">=": age >= pay, "<": age < pay, "<=": age <= pay, "=": age == pay, "!=": age != pay}
    for one, two in itertools.combinations(OPERATORS, 2):
        found = laws(checked(f"rule age(X) {one} pay(X) -> P(X)", f"rule age(X) {two} pay(X) -> Q(X)"))
        given = set()
        for signs in itertools.product((True, False), repeat=2):
            solver = z3.Solver()
            solver.add(*(z3.Not(truth[o]) if s else truth[o] for o, s in zip((one, two), signs, strict=True)))
            if solver.check() == z3.unsat:
                given.add(signs)
        assert len(found) == len(given), (one, two)


def test_proofs_name_the_law() -> None:
    kb = lnnkit.loads(
        f"{DECLARED}fact Told(anna)\nrule age(X) > 65 <-> Told(X)\nrule age(X) <= 65 <-> Young(X)\n"
        "axiom pay(X) > age(X)\nrule pay(X) <= age(X) -> Poor(X)\nrule Poor(X) -> pay(X) <= age(X)\n"
    )
    for atom in ("Young(anna)", "age(anna) = 65", "age(anna) <= 65", "pay(anna) = age(anna)", "Poor(anna)"):
        found = kb.explain(atom)
        assert (found.lower, found.upper) == (0, 0)
        assert found.verify() == []
        assert "law of order" in str(found)


def test_a_contradiction_by_a_law_names_the_statements() -> None:
    kb = lnnkit.loads(f"{DECLARED}fact Told(anna)\nrule Told(X) -> age(X) > pay(X)\nrule Told(X) -> pay(X) >= age(X)\n")
    (conflict,) = kb.conflicts()
    assert [rule.span.line for rule in conflict.rules] == [5, 6]
    assert conflict.explanation.verify() == []
    assert {type(repair.member).__name__ for repair in conflict.repairs()} == {"GivenFact", "Assertion"}
    stated = lnnkit.loads(f"{DECLARED}fact Told(anna)\naxiom age(X) > pay(X)\nrule Told(X) -> pay(X) >= age(X)\n")
    (conflict,) = stated.conflicts()
    assert [rule.span.line for rule in conflict.rules] == [5, 6]
    assert conflict.minimal().is_minimal


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_comparison_knows_itself_with_its_terms_exchanged(operator: str) -> None:
    """What is told of ``age(x) R age(y)`` alone decides ``age(y) R age(x)`` where the order does."""
    text = (
        DECLARED + f"fact T(x, y)\nrule T(X, Y) -> age(X) {operator} age(Y)\nrule age(X) {operator} age(Y) -> Q(X, Y)\n"
    )
    kb = lnnkit.loads(text + f"rule ~(age(X) {operator} age(Y)) -> N(X, Y)\n")
    signs = {-sign for sign in (-1, 0, 1) if holds(operator, sign)}  # those that age(y) - age(x) may have
    told_true, told_false = (all(holds(operator, s) is truth for s in signs) for truth in (True, False))
    assert told(kb, "Q(x, y)")[0] == 1
    assert told(kb, "Q(y, x)")[0] == float(told_true)
    assert told(kb, "N(y, x)")[0] == float(told_false)


def test_stated_comparisons_with_exchanged_terms_contradict_each_other() -> None:
    text = DECLARED + "fact T(x, y)\nfact T(y, x)\nrule T(X, Y) -> age(X) > age(Y)\nrule age(X) > age(Y) -> Q(X, Y)\n"
    assert lnnkit.loads(text).infer().contradictions
    assert (
        len(
            lnnkit.loads(DECLARED + "predicate T(person, person)\nfact T(x, y)\naxiom age(X) > age(Y)\n")
            .infer()
            .contradictions
        )
        == 1
    )


@pytest.mark.parametrize(
    "other", ["axiom gain(X) > 5\nfact gain(x) = 3\n", "axiom gain(X) > loss(X)\naxiom gain(X) = loss(X)\n"]
)
def test_universal_contradictions_are_reported_beside_unrelated_ones(other: str) -> None:
    text = DECLARED + "number gain(person)\nnumber loss(person)\nfact E(x)\n"
    text += "predicate E(person)\naxiom age(X) > pay(X)\naxiom age(X) < pay(X)\n"
    (alone,) = lnnkit.loads(text).infer().contradictions
    beside = lnnkit.loads(text + other).infer().contradictions
    assert str(alone) in map(str, beside)
    assert len(beside) == 2


@pytest.mark.parametrize("said", ["axiom a(X) > 5 in [0.4, 1]", "rule P(X) -> a(X) > 5 in [0.4, 1]"])
def test_a_comparison_stated_to_a_degree_is_true(said: str) -> None:
    """It is false or true; whether it is asked for one entity or for all is the same, and so is its proof."""
    kb = lnnkit.loads(f"number a(t)\npredicate P(t)\nfact P(x)\n{said}\n")
    for query in ("a(X) > 5", "a(x) > 5"):
        assert [(answer.lower, answer.upper) for answer in kb.ask(query)] == [(1.0, 1.0)]
    explanation = kb.explain("a(x) > 5")
    assert (explanation.lower, explanation.upper) == (1.0, 1.0)
    assert explanation.verify() == []


def test_parts_of_a_query_are_read_as_the_program_holds_them() -> None:
    """`a(x) > 5` is an instance of a comparison whose truth is stated: its interval alone, from 5 on, does not tell."""
    kb = lnnkit.loads("number a(t)\npredicate P(t)\nfact P(x)\naxiom a(X) > 5\naxiom P(X) | Q(X)\n")
    for query in ("a(x) > 5 & P(x)", "(a(X) > 5) & P(X)", "(exists X: a(X) > 5) & P(x)"):
        assert [(answer.lower, answer.upper) for answer in kb.ask(query)] == [(1.0, 1.0)], query
    explanation = kb.explain("a(x) > 5 & P(x)")
    assert explanation.lower == 1.0
    assert explanation.verify() == []
