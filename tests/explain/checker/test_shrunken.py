"""Programs whose explanations once did not verify, shrunken from random ones, by cause."""

from __future__ import annotations

from dataclasses import replace

import pytest

import lnnkit
from tests.explain.proving import known_atoms, replay

PROGRAMS = {
    "two numbers are one where their variables are": """
        sort person
        predicate Qualm(person)
        number pay(person)
        number gap(person, person)
        fact pay(anna) = 7
        fact gap(anna, anna) = 3
        rule (pay(X) >= gap(X, anna) + gap(X, X)) xor Qualm(X)
        """,
    "two numbers of a unit": """
        sort person
        predicate Peer(person)
        number age(person)
        axiom nmu(age(X), age(anna)){weight: [1, 1]} <= 54 in [0.2, 0.6]
        axiom Peer(Y) | (nmu(age(X), age(anna)){weight: [1, 1]} <= 54)
        """,
    "a comparison of use only later": """
        sort person
        predicate Storm
        predicate Near(person, person)
        number age(person)
        fact Near(bob, anna) = 0.5
        axiom Storm
        axiom (Near(X, X) & Storm) -> (age(X) <= 0)
        rule age(X) >= 11
        """,
    "an equality with an entity says nothing of that entity's own row": """
        logic product
        predicate Derived(entity) closed
        fact Qred(cleo, bob) = 0.2
        rule Qred(Y, X) -> Derived(Y)
        axiom Derived(Y) | Prop
        rule ~(Derived(Y) & Y = anna) in [0.27, 1]
        rule (exists U: Derived(U) & U = anna) in [0.7, 1]
        query Derived(Y)
        """,
    "a quantifier over nobody": """
        predicate Pred(entity)
        predicate Qrop closed
        rule (exists U1: Pred(U1)) -> Qrop
        """,
    "a fact that says what the closed predicate says anyway": """
        predicate Qred(entity) closed
        predicate Rred(entity)
        fact ~Qred(anna)
        rule Rred(bob) <-> (exists U1: Qred(U1))
        """,
    "such a fact of a completed predicate": """
        sort person
        predicate Srop
        predicate Derived0(person) closed
        fact ~Derived0(anna)
        axiom (exists U: Derived0(U)) | Srop
        rule Derived0(Y) -> Derived0(cleo)
        """,
    "operands that contradict what a statement says of them": """
        fact Pred(bob) in [0.44, 0.5]
        axiom (Pred(X)@0.5 & Qred(X)) in [0.8, 1.0]
        rule ((Pred(X)@0.5 & Qred(X)) -> (Rred(X) & Pred(X))){bias: 0.5}
        """,
    "a rule whose consequent contradicts its antecedent": """
        predicate Pred(entity)
        predicate Rrop closed
        fact ~Pred(anna)
        rule ~Pred(Y) -> (Pred(Y) & Rrop)
        """,
    "a head that is read where it is in the antecedent": """
        logic godel
        predicate Srop closed
        fact Qred(cleo) in [0, 1]
        fact Qred(bob) = 0.5
        rule ((forall U1: Qred(U1)) | Srop) -> Srop in [0.2, 0.6]
        rule ~Srop
        """,
    "a part that contradicts the truth of the whole": """
        logic product
        predicate Pred(entity)
        predicate Qred(entity)
        rule Pred(U) | ((Qred(cleo) & false) -> Pred(X)){logic: lukasiewicz} in [0.0, 0.3]
        axiom ((Qred(cleo) & false) -> Pred(X)){logic: lukasiewicz} in [0.0, 0.3]
        """,
    "two ends of a truth that contradict each other": """
        logic godel
        fact Sred(bob, anna) = 0.25
        axiom forall X1, Y1: ((Pred(X1, Y1)@0.5 & Rrop) -> false) in [0.2, 0.6]
        """,
    "an equality beside a head": """
        predicate Pred(entity, entity)
        predicate Sred(entity)
        predicate Derived0(entity, entity) closed
        fact Sred(anna) = 0.803
        fact Derived0(bob, anna) in [0.63, 1.0]
        rule (Sred(X1) & Pred(Y1, X1)) -> (X1 = Y1 & Derived0(X1, X1))
        """,
    "a limit that keeps itself up": """
        logic product
        fact Pred in [0.04, 0.25]
        rule (Pred | Srop) -> Srop
        """,
    "a limit of a quantifier's row": """
        predicate Qred(entity)
        fact Qred(anna)
        fact Pred(bob) = 0.75
        fact Pred(cleo) = 0.976
        rule (forall U1: Qred(U1))@0.7 | ~Qred(bob)@0.5 in [0.52, 1.0]
        rule (forall U1: Qred(U1)) & ~Pred(Y1) & (exists U1: ~Rred(U1)) in [0.0, 0.5]
        """,
    "rounds that gain as much again and again": """
        predicate Tred(entity, entity)
        fact Tred(anna, bob) = 0.745
        axiom ~Pred(Y1, Y1) | (~Pred(anna, Y1) xor Tred(Y1, X1)) in [0.75, 1.0]
        """,
    "a shared formula has as many quantified variables as the first statement": """
        predicate B(entity)
        fact A(a)
        fact C(a, b)
        rule (exists U: A(U)) & (exists U: B(U)) -> Z
        rule C(X, Y) -> D(X, Y)
        rule (exists V, W: D(V, W)) & A(X) -> R(X)
        rule (exists V, W: D(V, W)) & A(X) -> S(X)
        """,
}


LONG = ("a limit that keeps itself up", "a limit of a quantifier's row")  # thousands of rounds


@pytest.mark.parametrize(
    "text",
    [pytest.param(text, id=name, marks=pytest.mark.slow if name in LONG else ()) for name, text in PROGRAMS.items()],
)
def test_every_atom(text: str) -> None:
    kb = lnnkit.loads(text)
    atoms = list(known_atoms(kb))
    assert atoms
    _, wrong = replay(kb, atoms)
    assert not wrong, "\n".join(wrong)


def test_conclusions_about_all_others_are_checked_for_each() -> None:
    text = "predicate D(entity) closed\nfact E(anna)\nfact E(bob)\naxiom (exists U: D(U)) | S\nrule F(Y) -> D(cleo)\n"
    text += "predicate F(entity) closed\n"
    one, other = lnnkit.loads(text).explain("S"), lnnkit.loads(text + "rule E(Y) -> D(Y)\n").explain("S")
    assert (one.lower, other.lower) == (1.0, 0.0)
    assert not one.verify()
    assert replace(one, _world=other._world).verify()


def test_a_rule_that_leaves_an_atom_less_than_true_is_no_lack_of_rules() -> None:
    text = "predicate D(entity) closed\npredicate P(entity)\nfact A(a)\nrule P(X) -> D(X) in [0.7, 1]\n"
    assert "<= 0.7   no rule makes it truer" in str(lnnkit.loads(text).explain("D(a)"))
    text = text.replace("[0.7, 1]", "[0, 1]")
    assert "<= 0   no rule concludes it" in str(lnnkit.loads(text).explain("D(a)"))


@pytest.mark.parametrize(
    ("query", "bounds"),
    [
        ("exists X, Y: X = Y", (1.0, 1.0)),
        ("forall X, Y: X = Y", (0.0, 0.0)),
        ("forall X: (exists Y: X = Y & ~R(Y))", (1.0, 1.0)),
        ("forall X: (exists Y: X = Y | R(X))", (1.0, 1.0)),
        ("exists X, Y, Z: P(X) & ~(X = Y | Y = Z | X = Z)", (1.0, 1.0)),
        ("exists X, Y: X = Y & R(X)", (0.0, 0.0)),
        ("forall X, Y: X = Y <-> R(X)", (0.0, 0.0)),
        ("forall X: (exists Y: ~(X = Y))", (1.0, 1.0)),
        ("forall X, Y: X = Y <-> (X = Y & X = Y)", (1.0, 1.0)),
        ("forall X: (exists Y, Z: ~(X = Y | Y = Z | X = Z))", (1.0, 1.0)),
        ("exists X: (forall Y, Z: X = Y | Y = Z | X = Z)", (0.0, 0.0)),
    ],
)
def test_equalities_of_quantified_entities(query: str, bounds: tuple[float, float]) -> None:
    """Three entities, of which the proof may name none."""
    text = "predicate P(a)\npredicate R(a) closed\nfact P(x)\nfact P(y)\nfact P(z)\n"
    explanation = lnnkit.loads(text).explain(query)
    assert (explanation.lower, explanation.upper) == bounds
    assert explanation.verify() == []


def test_equalities_are_not_believed() -> None:
    """Of three entities, no four differ, and some two do."""
    text = "predicate P(a)\nfact P(x)\nfact P(y)\nfact P(z)\n"
    apart = "X = Y | X = Z | X = V | Y = Z | Y = V | Z = V"
    for query in (f"exists X, Y, Z, V: ~({apart}) & P(X)", "forall X, Y: X = Y & P(X)"):
        explanation = lnnkit.loads(text).explain(query)
        assert (explanation.lower, explanation.upper) == (0.0, 0.0)
        steps = list(explanation.proof.steps)
        steps[explanation.proof.lower] = replace(steps[explanation.proof.upper], side="lower", bound=1.0)
        assert len(replace(explanation, proof=replace(explanation.proof, steps=steps)).verify()) == 1


def test_a_listed_head_is_among_the_premises() -> None:
    """Facts list the head, so that its rule says something of the body: not more than 0.6 of Q -> 0.117, nor less."""
    text = "logic product\npredicate P(a) closed\npredicate Q\nfact P(ann) = 0.117\nrule Q -> P(X) in [0.2, 0.6]\n"
    explanation = lnnkit.loads(text).explain("Q")
    assert (explanation.lower, explanation.upper) == pytest.approx((0.117 / 0.6, 0.117 / 0.2))
    assert explanation.verify() == []
    assert [each.atom for each in explanation.proof.steps].count("P(ann)") == 2


@pytest.mark.parametrize(
    ("rules", "query"),
    [
        ("rule S(X, Y) -> D(Y)", "D(bo)"),
        ("rule S(X, Y) -> D(Y)\nrule D(Y) & T(X, Y) -> E(X)", "E(ann)"),
        ("rule S(X, Y) -> E(X)", "exists X: E(X)"),
        ("rule S(X, Y) -> E(X)\nrule E(X) -> F(X)\nrule F(X) -> E(X)", "exists X: F(X)"),
        ("rule S(X, Y) -> E(X)\nrule E(X) & T(X, Y) -> D(Y)", "D(bo)"),
    ],
)
def test_a_proof_about_all_that_are_named_says_nothing_of_the_unnamed(rules: str, query: str) -> None:
    text = "sort a     \nsort b     \npredicate S(a, b)\npredicate T(a, b)\nfact ~S(ann, bo)\nfact T(ann, bo)\n"
    text += f"predicate D(b) closed\npredicate E(a) closed\npredicate F(a) closed\n{rules}\n"
    closed, opened = lnnkit.loads(text), lnnkit.loads(text.replace("     \n", " open\n"))
    proved, other = closed.explain(query), opened.explain(query)
    assert (proved.upper, other.upper) == (0.0, 1.0)
    assert proved.verify() == other.verify() == []
    assert replace(other, proof=proved.proof).verify() != []


@pytest.mark.parametrize("logic", ["lukasiewicz", "product", "godel"])
@pytest.mark.parametrize("facts", ["fact S(c)\nfact B(c)\n", "fact S(c)\nfact B(c) in [0.95, 1]\n"])
def test_what_is_stated_of_a_whole_instance_holds_beside_premises_that_contradict_it(logic: str, facts: str) -> None:
    kb = lnnkit.loads(f"logic {logic}\naxiom (S(X) | B(X)) in [0.2, 0.9]\n{facts}")
    explanation = kb.explain("S(c) | B(c)")
    assert "<= 0.9   axiom" in str(explanation) and explanation.verify() == []
