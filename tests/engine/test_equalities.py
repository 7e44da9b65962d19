"""Equalities of entities are joined: what needs two to be one looks at no other pairs."""

from __future__ import annotations

import pytest

import lnnkit

COUNT = 300
NAMES = [f"n{i:03}" for i in range(COUNT)]


def hub(text: str) -> lnnkit.KnowledgeBase:
    """Everybody is linked to one, and that one to everybody: the pairs over it are all there are."""
    kb = lnnkit.loads("predicate To(node, node) closed\npredicate From(node, node) closed\n" + text)
    kb.tell("To", [(name, "hub") for name in NAMES])
    kb.tell("From", [("hub", name) for name in NAMES])
    return kb


@pytest.mark.parametrize("head", ["predicate Back(node)", "predicate Back(node) closed"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("To(X, Y) & From(Y, Z) & X = Z", NAMES),
        ("X = Z & From(Y, Z) & To(X, Y)", NAMES),
        ("To(X, Y) & From(Y, Z) & Z = n007", NAMES),
        ("To(X, Y) & From(Y, Z) & Z = n007 & X = Z", ["n007"]),
        ("To(X, Y) & From(Y, Z) & Z = n007 & X = Z & X != n007", []),
        ("To(X, Y) & From(Y, Z) & ~(X != Z) & X != n007", [name for name in NAMES if name != "n007"]),
        ("To(X, Y) & (exists Z: From(Y, Z) & X = Z)", NAMES),
        ("To(X, Y) & ~(forall Z: From(Y, Z) -> X != Z)", NAMES),
        ("To(X, Y) & From(Y, Z) & To(W, Y) & (X = Z & Z = W)", NAMES),
    ],
)
def test_rules_look_at_few_pairs(head: str, body: str, expected: list[str]) -> None:
    kb = hub(f"{head}\nrule {body} -> Back(X)\n")
    kb.infer(max_groundings=4 * COUNT)
    assert [answer.bindings["X"] for answer in kb.ask("Back(X)") if answer.lower == 1] == expected


@pytest.mark.parametrize(
    ("query", "variables", "expected"),
    [
        ("To(X, Y) & From(Y, Z) & X = Z", "XYZ", [(name, "hub", name) for name in NAMES]),
        ("To(X, Y) & From(Y, Z) & Z = n007 & X = Z", "XYZ", [("n007", "hub", "n007")]),
        ("exists Y, Z: To(X, Y) & From(Y, Z) & X = Z", "X", [(name,) for name in NAMES]),
    ],
)
def test_queries_look_at_few_pairs(query: str, variables: str, expected: list[tuple[str, ...]]) -> None:
    kb = hub("")
    kb.infer(max_groundings=8 * COUNT)
    answers = [answer for answer in kb.ask(query) if answer.lower == 1]
    assert [tuple(answer.bindings[v] for v in variables) for answer in answers] == expected


def test_learning_about_one_entity_does_not_affect_others() -> None:
    """Downward too: of those that are one, not of the rest."""
    text = """
predicate P(entity)
predicate Q(entity, entity)
fact Q(anna, anna)
fact Q(anna, bob)
rule Q(X, Y) & X = Y -> ~P(Y)
rule ~P(X) & X = bob -> Q(X, bob)
query P(X)
query Q(X, Y)
"""
    known = {
        tuple(a.bindings.values()): (a.lower, a.upper) for answers in lnnkit.loads(text).answers() for a in answers
    }
    assert known == {("anna",): (0, 0), ("anna", "anna"): (1, 1), ("anna", "bob"): (1, 1)}


PAIRS = "predicate S(entity, entity)\nfact ~S(anna, anna)\nfact K(bob)\n"
THREE = "predicate S(entity)\npredicate P(entity)\nfact P(bob)\nfact ~S(cleo)\nfact R(anna)\n"


@pytest.mark.parametrize(
    ("text", "query", "truth"),
    [
        (f"{PAIRS}axiom exists X, Y: S(X, Y) & X = Y\n", "S(bob, bob)", (1, 1)),
        (f"{PAIRS}axiom exists X: exists Y: S(X, Y) & X = Y\n", "S(bob, bob)", (1, 1)),
        (f"{PAIRS}axiom ~(forall X, Y: X = Y -> ~S(X, Y))\n", "S(bob, bob)", (1, 1)),
        (f"{PAIRS}axiom exists X, Y: S(X, Y) & X != Y & Y = bob\n", "S(anna, bob)", (1, 1)),
        (f"{THREE}axiom exists Y, X: S(Y) & Y = X & ~P(X)\n", "S(anna)", (1, 1)),
        (f"{THREE}axiom exists Y, X: S(Y) & Y = X & ~P(X)\n", "P(anna)", (0, 0)),
        (
            "fact S(anna)\nfact S(bob)\nfact P(bob)\naxiom (forall Y, X: (S(Y) & Y = X) -> P(X)) in [0, 0.3]\n",
            "P(anna)",
            (0, 0.3),
        ),
    ],
)
def test_the_last_equal_pair_receives_the_bound(text: str, query: str, truth: tuple[float, float]) -> None:
    """Of the pairs beneath a quantifier that nobody has looked at, none is one."""
    (answer,) = lnnkit.loads(text).ask(query)
    assert (answer.lower, answer.upper) == truth


@pytest.mark.parametrize("sign", ["", "~"])
def test_equal_pairs_determine_all_pairs(sign: str) -> None:
    text = f"predicate S(entity, entity)\nfact {sign}S(anna, anna)\nfact {sign}S(bob, bob)\n"
    known = {"": "forall X, Y: X = Y -> S(X, Y)", "~": "~(exists X, Y: S(X, Y) & X = Y)"}[sign]
    kb = lnnkit.loads(f"{text}predicate Told\nrule ({known}) -> Told\n")
    for query in (known, "Told"):
        (answer,) = kb.ask(query)
        assert (answer.lower, answer.upper) == (1.0, 1.0)


@pytest.mark.parametrize("head", ["predicate B", "predicate B closed"])
@pytest.mark.parametrize("turn", [1, -1])
def test_reflexive_equality_implies_nothing_about_others(head: str, turn: int) -> None:
    """Statements and queries of one shape, of which one compares an entity with itself."""
    rules = ["rule anna != anna & ~P(anna, anna) -> A\n", "rule anna != dora & ~P(dora, anna) -> B\n"][::turn]
    queries = ["query Y != Y & ~P(Y, Y)\n", "query X != Y & ~P(X, Y)\n"][::turn]
    text = f"predicate P(e, e)\npredicate A closed\n{head}\nfact ~P(dora, anna)\n{''.join(rules + queries)}"
    kb = lnnkit.loads(text)
    assert [(answer.lower, answer.upper) for answer in (kb.ask("A")[0], kb.ask("B")[0])] == [(0, 0), (1, 1)]
    (one,) = kb.answers()[1 if turn == 1 else 0]
    assert (dict(one.bindings), one.lower) == ({"X": "dora", "Y": "anna"}, 1.0)


def test_where_no_pair_is_left_it_is_a_contradiction() -> None:
    kb = lnnkit.loads(f"{PAIRS}fact ~S(bob, bob)\naxiom exists X, Y: S(X, Y) & X = Y\n")
    assert len(kb.contradictions) == 1
    opened = f"sort entity open\n{PAIRS}".replace("entity", "thing") + "fact ~S(bob, bob)\n"
    kb = lnnkit.loads(opened + "axiom exists X, Y: S(X, Y) & X = Y\nquery S(X, Y)\n")
    assert len(kb.contradictions) == 0  # there may be somebody else


def test_weights_under_which_an_unequal_pair_proposes_a_bound() -> None:
    """With half a weight it takes only half the truth away."""
    kb = hub("predicate Back(node)\nrule To(X, Y) & From(Y, Z) & (X = Z)@0.5 -> Back(X)\n")
    assert {(answer.lower, answer.upper) for answer in kb.ask("Back(X)")} == {(1.0, 1.0)}
    kb = hub("predicate Back(node)\nrule To(X, Y) & From(Y, Z) & (X = n001)@0.5 -> Back(X)\n")
    bounds = {answer.bindings["X"]: (answer.lower, answer.upper) for answer in kb.ask("Back(X)")}
    assert bounds == {name: (1.0, 1.0) if name == "n001" else (0.5, 1.0) for name in NAMES}


def test_the_plan_names_them() -> None:
    plan = hub("rule To(X, Y) & From(Y, Z) & X = Z -> Back(X)\n").plan()
    (statement,) = (each for each in plan.statements if each.kind == "rule")
    assert ["X = Z" in [step.reads for step in join.steps] for join in statement.joins].count(True) > 0
    assert statement.instances == COUNT


def test_proofs_of_them_hold() -> None:
    kb = hub("predicate Back(node) closed\nrule To(X, Y) & From(Y, Z) & X = Z -> Back(X)\n")
    assert kb.explain("Back(n007)").verify() == []
