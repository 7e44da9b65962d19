"""Entities that facts name for the first time, and others that nothing names any more: their sorts change in a
revision, to the bit as in a fresh inference."""

from __future__ import annotations

import random
from itertools import product

import pytest

import lnnkit
from tests.blocks import in_blocks
from tests.kb.drawn_facts import DrawnFacts, Key
from tests.kb.test_revising import counted

RULES = """\
rule E(X, Y) -> R(X, Y)
rule R(X, Y) & E(Y, Z) -> R(X, Z) in [{weight}, 1]
rule (exists Y: E(X, Y) & B(Y)) -> C(X)
rule (forall Y: E(X, Y) -> B(Y)) -> D(X)
rule (forall Y: B(Y)) -> P
rule (exists Y: B(Y)) -> Q
rule ~(forall Y: B(Y)) -> Q
rule ~(exists Y: S(Y)) -> P
rule P -> C(X)
rule P | S(X) -> D(X)
rule ~B(X) -> G(X)
rule ~B(X) & X != Y & S(Y) -> H(X, Y)
rule (forall Y: X = Y | E(X, Y)) -> C(X)
rule (exists Y: X != Y & E(X, Y)) -> C(X)
axiom A(X) <-> (exists Y: E(Y, X) & S(Y))
axiom F(X) -> (exists Y: E(X, Y) & S(Y))
axiom D(X) -> (forall Y: E(X, Y) -> S(Y))
axiom G(X) in [0.3, 1]
axiom (P | G(X)) in [0.6, 1]
rule (forall X, Y: E(X, Y) -> E(Y, X)) -> P
axiom C(X) <-> P | B(X)
rule (exists Y: ~B(Y)) -> P
rule (forall Y: S(Y) -> (exists Z: E(Y, Z) & B(Z))) -> Q
rule S(X) xor B(X) -> F(X)
rule Q -> H(X, Y)
rule E(X, Y) & (P | B(Y)) -> C(X)
rule V(X) > 3 -> B(X)
rule V(X) < V(Y) & E(X, Y) -> H(X, Y)
rule (forall Y: V(Y) > 1) -> P
""".splitlines()
QUERIES = """\
R(X, Y)
S(X)
C(X)
D(X)
A(X)
F(X)
G(X)
H(X, Y)
P
Q
B(X)
exists Z: E(X, Z) & S(Z)
forall Z: E(X, Z) -> B(Z)
forall Z: B(Z)
P | S(X)
~B(X) & ~S(X)
X != Y & E(X, Y)
exists Z: ~B(Z)
forall Z: Z = n1 | B(Z)
""".splitlines()
PREDICATES = {"E": 2, "B": 1, "S": 1, "R": 2, "C": 1, "D": 1, "A": 1, "F": 1, "G": 1, "H": 2, "P": 0, "Q": 0}


class Town(DrawnFacts):
    """A knowledge base about few entities, of which many come and go, and its facts."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        self.crisp = draw.random() < 0.6
        declared = draw.choice(("", "sort n\n", "sort n open\n"))
        lines = [f"logic {draw.choice(('lukasiewicz', 'product', 'godel'))}\n{declared}"]
        for name, width in PREDICATES.items():
            sort = "n" if declared and draw.random() < 0.8 else "entity"
            closed = " closed" if name in "EBS" and draw.random() < 0.4 else ""
            lines.append(f"predicate {name}" + (f"({', '.join([sort] * width)})" if width else "") + closed)
        lines.append(f"number V({'n' if declared else 'entity'}){draw.choice(('', ' closed'))}")
        lines += draw.sample(RULES, draw.randrange(2, 8))
        lines += [f"query {query}" for query in draw.sample(QUERIES, draw.randrange(2, 8))]
        self.program = "\n".join(lines).replace("{weight}", draw.choice(("1", "0.9"))) + "\n"
        self.names = [*(f"n{number}" for number in range(draw.choice((1, 2, 3, 5)))), "a", "zz", "5", "m"]
        self.facts = {key: self.bounds(key) for key in (self.key() for _ in range(draw.randrange(12)))}
        self.kb = lnnkit.loads(self.text())
        self.kb.infer()

    def key(self) -> Key:
        name = self.draw.choice("EEEEBBBSSV")
        return name, tuple(self.draw.choice(self.names) for _ in range(1 + (name == "E")))

    def bounds(self, key: Key) -> tuple[float, ...]:
        if key[0] == "V":
            return (self.draw.choice((0, 1, 2, 5)),)
        degrees = ((0.5, 1.0), (0.25, 0.75), (0.0, 1.0), (0.0, 0.0))
        return (1.0, 1.0) if self.crisp or self.draw.random() < 0.5 else self.draw.choice(degrees)


@pytest.mark.parametrize("block", in_blocks(range(1200), 30, plain=2))
def test_entities_that_come_and_go_give_the_answers_of_a_fresh_inference(block: range) -> None:
    with counted() as counts:
        for seed in block:
            assert not (text := Town(seed).unlike()), text
    assert counts[True] > counts[False] / 2


FRIENDS = """\
predicate Friend(person, person) closed
rule Smokes(X) & Friend(X, Y) -> Smokes(Y) in [0.9, 1]
rule (forall Y: Friend(X, Y) -> Smokes(Y)) -> Among(X)
query Smokes(X)
query Among(X)
fact Friend(anna, bob)
fact Friend(bob, anna)
fact Smokes(anna)
"""


def answers(kb: lnnkit.KnowledgeBase, query: str) -> dict[str, float]:
    return {answer.bindings["X"]: answer.lower for answer in kb.ask(query)}


def test_a_newcomer_is_revised_in_its_place_among_the_answers() -> None:
    kb = lnnkit.loads(FRIENDS)
    kb.infer()
    with counted() as counts:
        kb.tell("Friend", [("anna", "alma"), ("12", "anna")])
        assert list(answers(kb, "Smokes(X)")) == ["alma", "anna", "bob"]
        assert answers(kb, "Among(X)") == {"12": 1.0, "alma": 1.0, "anna": 0.9, "bob": 1.0}
        assert kb.explain("Smokes(alma)").verify() == []
        assert kb.holds("Friend(alma, 12)") is False
    assert counts == {True: 1}


def test_one_who_is_named_no_more_leaves_and_comes_back() -> None:
    kb = lnnkit.loads(FRIENDS)
    kb.infer()
    with counted() as counts:
        for _ in range(3):
            kb.tell("Friend", [("carl", "carl")])
            assert answers(kb, "Among(X)") == {"anna": 0.9, "bob": 1.0}
            kb.retract("Friend", [("carl", "carl")])
            assert answers(kb, "Among(X)") == {"anna": 0.9, "bob": 1.0}
            kb.tell("Friend", [("carl", "bob")])
            assert answers(kb, "Among(X)") == {"anna": 0.9, "bob": 1.0, "carl": 0.9}
            kb.retract("Friend", [("carl", "bob")])
    assert counts[False] == 0
    assert counts[True] >= 9


def test_more_newcomers_than_there_is_room_for() -> None:
    kb = lnnkit.loads(FRIENDS)
    for start in range(0, 60, 4):
        newcomers = [f"n{number}" for number in range(start, start + 4)]
        kb.tell("Friend", [("anna", name) for name in newcomers])
        assert len(answers(kb, "Smokes(X)")) == start + 6
    kb.retract("Friend", [("anna", f"n{number}") for number in range(60)])
    assert list(answers(kb, "Smokes(X)")) == ["anna", "bob"]


def test_an_entity_that_labels_name_stays() -> None:
    kb = lnnkit.loads(FRIENDS + "label Smokes(carl) = 0\nquery Free(X)\nrule ~(exists Y: Friend(X, Y)) -> Free(X)\n")
    assert answers(kb, "Free(X)") == {"carl": 1.0}
    kb.tell("Friend", [("carl", "bob")])
    assert answers(kb, "Free(X)") == {}
    kb.retract("Friend", [("carl", "bob")])
    assert answers(kb, "Free(X)") == {"carl": 1.0}


def test_a_newcomer_of_whom_a_shared_neuron_is_true_at_once() -> None:
    """The first bound of ``exists Y: ...`` about it joins with all entities."""
    program = "sort s\npredicate P(s, s)\npredicate N(s)\npredicate H(s, s)\nquery H(X, W)\nfact P(a, b)\nfact N(c)\n"
    kb = lnnkit.loads(program + "rule (exists Y: P(Y, b) | P(X, X)) -> H(X, W)\n")
    kb.infer()
    with counted() as counts:
        kb.tell("N", [("d",)])
        assert {tuple(answer.bindings.values()) for answer in kb.answers()[0]} == {*product("abcd", repeat=2)}
    assert counts == {True: 1}


def test_an_equality_of_other_variables_does_not_bound_the_rows_of_a_quantifier() -> None:
    """One less among all that P names: then it names each, also of an X that nothing else changes."""
    program = (
        "sort s\npredicate P(s, s) closed\npredicate N(s)\npredicate H(s, s)\nquery H(X, W)\nfact N(a0)\nfact N(b)\n"
    )
    kb = lnnkit.loads(program + "rule (forall Y: P(X, Y) & X = W) -> H(X, W)\n")
    kb.tell("P", [("a1", f"a{place}") for place in range(9)])
    assert answers(kb, "H(X, a1)") == {}
    with counted():
        kb.retract("N", [("b",)])
        assert answers(kb, "H(X, a1)") == {"a1": 1.0}
