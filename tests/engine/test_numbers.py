"""Numbers in whole programs, worked out by hand: both directions, contradictions, drift, what is compared at all."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

import lnnkit

INF = math.inf


def bounds(kb: lnnkit.KnowledgeBase, query: str) -> dict[tuple[str, ...], tuple[float, float]]:
    return {tuple(each.bindings.values()): (each.lower, each.upper) for each in kb.ask(query)}


def test_truth_and_numbers_follow_from_one_another() -> None:
    kb = lnnkit.loads(
        """
        number age(person)
        fact age(anna) = 34
        fact age(bob) in [10, 30]
        fact Adult(cleo)
        fact ~Adult(dora)
        rule age(X) >= 18 <-> Adult(X)
        """
    )
    assert bounds(kb, "Adult(X)") == {("anna",): (1, 1), ("cleo",): (1, 1), ("dora",): (0, 0)}
    expected = {("anna",): (34, 34), ("bob",): (10, 30), ("cleo",): (18, INF), ("dora",): (-INF, 18)}
    assert bounds(kb, "age(X)") == expected
    assert bounds(kb, "age(X) > 20") == {("anna",): (1, 1), ("dora",): (0, 0)}
    assert bounds(kb, "age(X)^2 + 1") == {("anna",): (1157, 1157), ("bob",): (101, 901), ("cleo",): (325, INF)}
    assert [answer.state for answer in kb.ask("age(anna)")] == ["number"]
    assert bounds(kb, "exists X: age(X) > 33") == {(): (1, 1)}


def test_numbers_pass_through_rules_and_back() -> None:
    kb = lnnkit.loads(
        """
        number income(person)
        number debt(person)
        fact income(anna) = 1000
        fact income(bob) in [500, 800]
        fact ~Risky(anna)
        fact Risky(bob)
        rule debt(X) / income(X) > 0.4 <-> Risky(X)
        """
    )
    assert bounds(kb, "debt(X)") == {("anna",): (-INF, 400), ("bob",): (200, INF)}


def test_a_chain_of_sums_goes_as_far_as_it_leads() -> None:
    names = [f"e{number}" for number in range(30)]
    facts = "\n".join(f"fact Next({a}, {b})" for a, b in pairwise(names))
    kb = lnnkit.loads(
        f"number height(step)\nfact height(e0) = 0\n{facts}\nrule Next(X, Y) -> height(Y) = height(X) + 2\n"
    )
    assert kb.infer(max_groundings=200).status == "converged"  # of 900 pairs of steps, the 29 that follow one another
    assert bounds(kb, "height(e29)") == {(): (58, 58)}


def test_only_pairs_that_matter_are_compared() -> None:
    people = 40
    lines = ["number age(person)", "rule Contact(X, Y) & age(X) > age(Y) -> Elder(X, Y)"]
    lines += [f"fact age(p{i}) = {i}" for i in range(people)]
    lines += [f"fact Contact(p{i}, p{(7 * i) % people})" for i in range(people)]
    kb = lnnkit.loads("\n".join(lines))
    kb.infer(max_groundings=2 * people)
    assert {pair: value for pair, value in bounds(kb, "Elder(X, Y)").items() if value == (1, 1)} == {
        (f"p{i}", f"p{(7 * i) % people}"): (1, 1) for i in range(people) if i > (7 * i) % people
    }
    with pytest.raises(lnnkit.BudgetError):
        kb.ask("age(X) > age(Y)")


CONTACTS = 40


def contacts(declared: str, more: str = "") -> lnnkit.KnowledgeBase:
    """Everybody has an age, and is in contact with somebody."""
    lines = ["number age(person)", "predicate Contact(person, person) closed", declared, more]
    lines += [f"fact age(p{i}) = {i}" for i in range(CONTACTS)]
    lines += [f"fact Contact(p{i}, p{(7 * i) % CONTACTS})" for i in range(CONTACTS)]
    return lnnkit.loads("\n".join(lines) + "\nrule Contact(X, Y) & age(X) > age(Y) -> Elder(X, Y)\n")


ELDER = {(f"p{i}", f"p{(7 * i) % CONTACTS}"): (1, 1) for i in range(CONTACTS) if i > (7 * i) % CONTACTS}


def test_only_pairs_that_a_completion_reads_are_compared() -> None:
    kb = contacts("predicate Elder(person, person) closed")
    kb.infer(max_groundings=2 * CONTACTS)
    assert bounds(kb, "Elder(X, Y)") == ELDER


@pytest.mark.parametrize("query", ["Contact(X, Y) & age(X) > age(Y)", "Contact(X, Y) & age(X) > age(Y) + 0.5"])
def test_only_pairs_that_a_query_reads_are_compared(query: str) -> None:
    kb = contacts("predicate Elder(person, person)", f"query {query}")
    kb.infer(max_groundings=2 * CONTACTS)
    answers = kb.answers()[0]
    assert {tuple(each.bindings.values()): (each.lower, each.upper) for each in answers} == ELDER
    kb = contacts(
        "predicate Elder(person, person)", "query Contact(p3, p1) & age(p3) > age(p1)\nquery age(p3) > age(p1)"
    )
    kb.infer(max_groundings=2 * CONTACTS)
    assert [(answers[0].lower, answers[0].upper) for answers in kb.answers()] == [(0, 0), (1, 1)]


def test_pairs_that_a_completion_derives_are_compared_as_they_come() -> None:
    text = """
number a(t)
predicate C(t, t) closed
predicate P(t, t) closed
rule C(X, Y) -> P(X, Y)
rule P(X, Y) & C(Y, Z) & a(X) < a(Z) -> P(X, Z)
rule P(X, Y) & a(Y) > 2 & a(X) < a(Y) -> Q(X, Y)
"""
    facts = "".join(f"fact C(x{i}, x{i + 1})\n" for i in range(5))
    facts += "".join(f"fact a(x{i}) = {value}\n" for i, value in enumerate((1, 2, 3, 4, 0, 5)))
    kb = lnnkit.loads(text + facts)
    kb.infer(max_groundings=40)
    values = dict(enumerate((1, 2, 3, 4, 0, 5)))
    wanted = {(i, i + 1) for i in range(5)}
    for _ in range(5):
        wanted |= {(i, k + 1) for i, k in wanted if k < 5 and values[i] < values[k + 1]}
    named = {(f"x{i}", f"x{k}"): (1, 1) for i, k in wanted}
    assert bounds(kb, "P(X, Y)") == named
    true = {pair for pair, value in bounds(kb, "Q(X, Y)").items() if value == (1, 1)}
    assert true == {(f"x{i}", f"x{k}") for i, k in wanted if values[k] > 2 and values[i] < values[k]}


@pytest.mark.parametrize(
    "comparison",
    ["1 / a(X) != 0", "0 / a(X) = 0", "1 / a(X)^2 > 0", "abs(1 / a(X)) >= 0", "~(1 / a(X) = 0)", "a(X)^-2 > 0"],
)
@pytest.mark.parametrize("closed", ["", " closed"])
def test_a_comparison_true_of_any_value_is_unknown_where_undefined(comparison: str, closed: str) -> None:
    text = f"number a(t)\npredicate P(t){closed}\nfact a(x) = 0\nfact a(y) = 2\nrule {comparison} -> P(X)\n"
    kb = lnnkit.loads(text)
    assert bounds(kb, "P(y)") == {(): (1, 1)}
    assert bounds(kb, "P(x)") == {(): (0, 1)}
    assert kb.explain("P(x)").verify() == []


@pytest.mark.parametrize(
    ("signs", "true"),
    [((">=", "<="), "="), ((">=", "!="), ">"), (("<=", "!="), "<")],
)
def test_two_comparisons_leave_one_way(signs: tuple[str, str], true: str) -> None:
    text = "number a\nnumber b\n" + "".join(f"axiom a {sign} b\n" for sign in signs)
    kb = lnnkit.loads(text)
    outcomes = {"=": {"=", ">=", "<="}, ">": {">", ">=", "!="}, "<": {"<", "<=", "!="}}[true]
    for operator in ("=", "!=", "<", "<=", ">", ">="):
        said = float(operator in outcomes)
        assert bounds(kb, f"a {operator} b") == {(): (said, said)}
        explanation = kb.explain(f"a {operator} b")
        assert (explanation.lower, explanation.upper) == (said, said)
        assert explanation.verify() == []


@pytest.mark.parametrize("fact", ["in [1, 3]", "= 2"])
def test_a_number_is_itself(fact: str) -> None:
    kb = lnnkit.loads(f"number c\nfact c {fact}\n")
    for query, said in (("c < c", 0), ("c >= c", 1), ("c = c", 1), ("c * 2 > c * 2", 0), ("c - c = 0", 1)):
        assert bounds(kb, query) == {(): (said, said)}
    for text in ("axiom c < c\n", "axiom ~(c >= c)\n"):
        wrong = lnnkit.loads(f"number c\nfact c {fact}\n{text}")
        assert len(wrong.infer().contradictions) == 1
        for query in ("c < c", "c >= c"):
            assert wrong.explain(query).verify() == []


def test_equal_numbers_without_arguments_are_explained_as_numbers() -> None:
    kb = lnnkit.loads("number a\nnumber b\nnumber c\nfact a = 3\nfact c = 4\naxiom a = b\n")
    for query in ("b", "a = b", "a = c", "~(b = c)"):
        assert kb.explain(query).verify() == []


def test_a_query_knows_of_comparisons_that_no_rule_wants() -> None:
    kb = lnnkit.loads(
        """
        number age(person)
        fact age(anna) = 3
        fact age(bob) = 2
        fact Kind(anna)
        rule Contact(X, Y) & age(X) > age(Y) -> Elder(X, Y)
        fact Contact(bob, anna)
        """
    )
    kb.infer()
    false = dict.fromkeys([("anna", "anna"), ("bob", "anna"), ("bob", "bob")], (0, 0))
    assert bounds(kb, "Kind(X) & age(X) > age(Y)") == {("anna", "bob"): (1, 1), **false}


def test_contradictions_stay_with_their_number_or_comparison() -> None:
    kb = lnnkit.loads(
        """
        number age(person)
        number height(person)
        fact age(anna) = 1
        fact age(anna) = 2
        fact age(bob) = 3
        fact height(bob) in [0, 1]
        fact height(cleo) in [0, 9]
        axiom age(X) > 4
        axiom height(X)^2 >= 4
        rule age(X) < 2 -> Young(X)
        """
    )
    found = [str(each) for each in kb.infer().contradictions]
    assert found == ["age(anna) at least 2, at most 1", "age(bob) > 4 [1, 0]", "height(bob)^2 >= 4 [1, 0]"]
    assert bounds(kb, "height(X)") == {("bob",): (0, 1), ("cleo",): (2, 9)}
    assert bounds(kb, "Young(anna)") == {(): (0, 1)}


def test_no_numbers_left_is_a_contradiction_of_the_comparison() -> None:
    kb = lnnkit.loads(
        """
        number age(person)
        fact age(anna) in [1, 5]
        fact age(bob) in [1, 5]
        axiom age(anna) + age(bob) = 9
        axiom age(anna) - age(bob) = 3
        """
    )
    assert kb.infer().contradictions
    assert kb.infer().status == "converged"


@pytest.mark.slow
def test_drift_is_a_status_of_its_own() -> None:
    kb = lnnkit.loads("number x\nnumber y\nfact x in [0, inf]\naxiom x = y + 1\naxiom x = y\nfact A\nrule A -> B\n")
    outcome = kb.infer()
    assert outcome.status == "drifting"
    assert [cause.text for cause in outcome.creeping] == ["x = y + 1", "x = y"]
    assert "narrow without end" in outcome.summary
    assert bounds(kb, "x")[()][0] >= 100
    assert bounds(kb, "B") == {(): (1, 1)}


def test_a_number_that_settles_does_not_drift() -> None:
    kb = lnnkit.loads("number x\nnumber y\nfact x in [0, 1000]\naxiom x = y / 2 + 1\naxiom x = y\n")
    assert kb.infer().status == "converged"
    assert bounds(kb, "x")[()] == pytest.approx((2, 2), rel=1e-8)


def test_single_precision_is_for_truth_alone() -> None:
    kb = lnnkit.loads("number x\nfact x = 16777217\nrule x > 16777216 -> More\n")
    kb.infer(precision="single")
    assert bounds(kb, "x") == {(): (16777217, 16777217)}
    assert bounds(kb, "More") == {(): (1, 1)}


def test_a_known_comparison_bounds_an_undefined_term() -> None:
    kb = lnnkit.loads(
        "number x(p)\npredicate P(p)\nfact x(anna) in [-4, 9]\nfact P(bob)\naxiom sqrt(x(X)) >= 0\nquery x(X)\n"
    )
    assert bounds(kb, "x(X)") == {("anna",): (0, 9), ("bob",): (0, INF)}


def test_plan_shows_comparisons() -> None:
    kb = lnnkit.loads("number age(p)\nfact age(anna) = 20\nrule age(X) >= 18 -> Adult(X)\nquery Adult(X)\n")
    assert "age(X0) >= 18" in str(kb.plan())


def test_a_proof_leads_back_through_numbers() -> None:
    kb = lnnkit.loads(
        """
        number income(person)
        number debt(person)
        fact income(anna) = 100
        fact Ok(anna)
        rule Ok(X) -> debt(X) / income(X) <= 0.4
        rule debt(X) < 50 -> Low(X)
        """
    )
    shown = str(kb.explain("Low(anna)"))
    assert "debt(anna) <= 40" in shown
    assert "income(anna) >= 100" in shown
    assert "Ok(anna)" in shown


def test_a_comparison_of_undefined_terms_is_unknown_even_if_decided_for_unknown_numbers() -> None:
    """Of an unknown age the only defined value of the term is 0; 0.5 has none."""
    kb = lnnkit.loads(
        "number age(p)\nfact age(bob) = 0.5\nfact age(anna) = 0\nrule sqrt(age(X) ^ 2 * -0.5) <= 3 -> F(X)\n"
    )
    assert [answer.bindings for answer in kb.ask("F(X)")] == [{"X": "anna"}]


STATED = "predicate P(person)\nnumber age(person)\nnumber gap(person, person)\nnumber pay(person)\nfact P(anna)\n"


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        ("axiom age(X) > 5\naxiom age(X) < 3\n", "age(X) at least 5, at most 3"),
        ("axiom abs(age(X)) < 0\n", "abs(age(X)) < 0 [1, 0]"),
        ("axiom ~(age(X) ^ 2 >= 0)\naxiom age(X) <= 3\n", "age(X)^2 >= 0 [1, 0]"),
        (
            "axiom gap(X, Y) = age(X) - age(Y)\naxiom age(X) >= 0\naxiom age(X) <= 9\naxiom gap(X, Y) > 20\n",
            "gap(X, Y) = age(X) - age(Y) [1, 0]",
        ),
        ("axiom age(X) > pay(X)\naxiom pay(X) >= age(X)\n", "~age(X) > pay(X) | ~pay(X) >= age(X) [1, 0]"),
    ],
)
def test_an_unsatisfiable_comparison_is_reported_without_a_query(statements: str, told: str) -> None:
    kb = lnnkit.loads(STATED + statements + "query P(X)\n")
    assert [str(each).split(" (")[0] for each in kb.infer().contradictions] == [told]
    assert bounds(kb, "P(X)") == {("anna",): (1, 1)}


def test_an_unsatisfiable_comparison_is_reported_once() -> None:
    """Where each entity has its own contradiction, or there is none, nothing is said of all."""
    kb = lnnkit.loads(STATED + "axiom age(X) > 5\naxiom age(X) < 3\nquery age(X)\n")
    assert [str(each) for each in kb.infer().contradictions] == ["age(anna) at least 5, at most 3"]
    nobody = lnnkit.loads("number age(person)\naxiom age(X) > 5\naxiom age(X) < 3\n")
    assert not nobody.infer().contradictions
    fine = lnnkit.loads(STATED + "axiom age(X) > 5\naxiom age(anna) < 9\naxiom gap(X, X) < 0\naxiom gap(X, Y) > -1\n")
    assert not fine.infer().contradictions
    some = lnnkit.loads(STATED + "axiom gap(X, X) < 0\naxiom gap(X, Y) > 1\nquery gap(X, X)\n")
    assert [str(each) for each in some.infer().contradictions] == ["gap(anna, anna) at least 1, at most 0"]


@pytest.mark.parametrize(
    "text",
    [
        "number a(t)\nfact a(x) = 1\naxiom forall X: sqrt(a(X) - 110) < 0\n",
        "number b(t)\nnumber c(t)\nfact b(x) in [-1, -0.5]\nfact c(x) in [-2, 4]\n"
        "axiom forall X: c(X) <= -0.5\naxiom forall X: sqrt(c(X)) + sqrt(b(X)) > 0\n",
        "number a\nfact a = 3\naxiom sqrt(a - 110) < 0\n",
    ],
)
def test_contradictions_of_unknown_numbers_are_not_reported_when_all_are_known(text: str) -> None:
    assert not lnnkit.loads(text).infer().contradictions


def test_contradictions_of_unknown_numbers_are_reported_while_some_are_unknown() -> None:
    text = "number a(t)\npredicate P(t)\nfact P(y)\nfact a(x) = 1\naxiom sqrt(a(X) - 110) < 0\n"
    assert [str(each) for each in lnnkit.loads(text).infer().contradictions] == ["sqrt(a(X) - 110) < 0 [1, 0]"]


@pytest.mark.slow
def test_a_long_chain_is_no_drift() -> None:
    """Each number of the chain is raised as often as there are numbers before it."""
    links = 320
    kb = lnnkit.loads("number s(e)\npredicate next(e, e) closed\naxiom next(X, Y) -> s(Y) >= s(X) + 1\n")
    kb.tell("next", [(f"p{i}", f"p{i + 1}") for i in range(links)])
    kb.tell("s", [(f"p{i}", 0.0, math.inf) for i in range(links + 1)])
    assert kb.infer().status == "converged"
    assert kb.ask(f"s(p{links})")[0].lower == links


@pytest.mark.slow
def test_a_unit_of_many_operands() -> None:
    """Written as a sum, they are nested hundreds deep."""
    names = [f"n{i}" for i in range(400)]
    facts = "".join(f"number {name}\nfact {name} in [0, 9]\n" for name in names)
    unit = f"nau({', '.join(names)}){{weight: [{', '.join('1' * 400)}]}}"
    kb = lnnkit.loads(f"{facts}rule {unit} >= 0 -> P\nquery P\n")
    assert kb.ask("P")[0].lower == 1.0


def test_a_shared_neuron_asks_for_comparisons_from_the_start() -> None:
    """What it is before the first round moves it, and so do the comparisons that it stands beside."""
    kb = lnnkit.loads(
        "number age(entity)\nfact A(b)\nfact B(c)\nfact age(b) = 66\nfact age(c) = 62\n"
        "rule (A(X) | B(X)) & age(X) > 65 -> C(X)\nrule (A(X) | B(X)) & age(X) > 60 -> D(X)\n"
        "query C(X)\nquery D(X)\n"
    )
    assert [[(a.bindings["X"], a.lower) for a in answers] for answers in kb.answers()] == [
        [("b", 1.0)],
        [("b", 1.0), ("c", 1.0)],
    ]
