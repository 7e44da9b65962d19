"""A statement about something else changes no answer (semantics 9), and a quantifier costs what its join costs."""

from __future__ import annotations

import random
import time

import pytest

import lnnkit
from tests.agreement import answers_of

# What the equivalence compares P with is the same for all, and as true as P(a): so P(b) is as true as P(a).
QUANTIFIER = """
predicate P(thing)
predicate Q(thing)
predicate R(thing)
fact P(a)
fact R(b)
axiom P(X) <-> (exists Y: Q(Y))
query P(X)
"""
DISJUNCTION = """
predicate G
predicate H
fact P(a)
fact P(b) in [0, 1]
axiom P(X) <-> (G | H)
query P(X)
"""
FORALL = QUANTIFIER.replace("exists Y", "forall Y").replace("P(a)", "P(a) = 0.3")
KINDS = {
    "Leaf": "(exists Y: E(Y, X)) & ~(exists Y: E(X, Y))",
    "Root": "(exists Y: E(X, Y)) & ~(exists Y: E(Y, X))",
    "Inner": "(exists Y: E(X, Y)) & (exists Y: E(Y, X))",
}
UNRELATED = {
    "a quantifier": (QUANTIFIER, 1.0, "rule (exists Y: Q(Y)) & T(X) -> U(X)\nfact T(c) in [0, 1]\n"),
    "a universal quantifier": (FORALL, 0.3, "rule (forall Y: Q(Y)) & T(X) -> U(X)\nfact T(c) in [0, 1]\n"),
    "a disjunction": (DISJUNCTION, 1.0, "rule (G | H) & A(X) -> U(X)\nfact A(a) in [0, 1]\n"),
}


@pytest.mark.parametrize("logic", ["lukasiewicz", "product", "godel"])
@pytest.mark.parametrize(("text", "truth", "unrelated"), UNRELATED.values(), ids=UNRELATED.keys())
def test_an_unrelated_statement_changes_no_answer(text: str, truth: float, unrelated: str, logic: str) -> None:
    text = f"logic {logic}\n{text}"
    for program in (text, text + unrelated):
        answers = answers_of(program)
        for name in "ab":
            assert answers.get(("P(X)", frozenset({("X", name)}))) == pytest.approx((truth, truth)), program


def test_what_is_stated_of_all_is_read_where_a_rule_has_an_instance_of_it() -> None:
    """`P(U) -> Q(U)` is an instance of the axiom's `P(X) -> Q(Y)`: it is at most 0.6, and so is the least of them."""
    text = "fact P(a) in [0, 1]\naxiom P(X) -> Q(Y) in [0, 0.6]\naxiom S(X) <-> (forall U: P(U) -> Q(U))\nquery S(a)\n"
    assert answers_of(text)["S(a)", frozenset()] == pytest.approx((0.0, 0.6))


def test_rules_with_one_quantifier_over_many_rows() -> None:
    """20,000 edges, each entity beside each other: 400 million pairs, of which none is made."""
    count = 20_000
    edges = {"a": [f"n{i}" for i in range(count)], "b": [f"n{i * 7919 % count}" for i in range(count)]}
    for closed in ("", " closed"):
        text = f"predicate E(node, node){closed}\nrule (exists Y: E(X, Y)) -> C(X)\nrule (exists Y: E(X, Y)) -> D(X)\n"
        kb = lnnkit.loads(text + "query D(X)\n")
        kb.tell("E", edges)
        assert len(kb.ask("D(X)")) == count


@pytest.mark.parametrize("closed", ["", " closed"])
@pytest.mark.parametrize(
    "part",
    [
        "(A(X) | B(Y))",
        "~(A(X) & ~B(Y))",
        "(A(X) <-> B(Y))",
        "(A(X) | B(Y)){bias: 0.5}",
        "(exists U: In(U, G) & (A(U) | B(Y)))",
    ],
)
def test_a_part_of_several_variables_makes_no_pairs_beyond_those_of_its_rule(part: str, closed: str) -> None:
    """2,000 entities in groups of ten: 20,000 pairs, where all pairs are four million."""
    kb = lnnkit.loads(
        f"predicate In(item, group) closed\npredicate A(item){closed}\npredicate B(item){closed}\n"
        f"rule In(X, G) & In(Y, G) & {part} -> Near(X, Y)\nquery Near(i1, X)\n"
    )
    kb.tell("In", [(f"i{n}", f"g{n // 10}") for n in range(2000)])
    for name in ("A", "B"):
        kb.tell(name, [f"i{n}" for n in range(0, 2000, 2)])
    kb.infer(max_groundings=300_000)
    assert {answer.bindings["X"] for answer in kb.ask("Near(i0, X)") if answer.lower == 1} >= {"i0", "i2"}


def test_leaves_roots_and_inner_nodes_of_a_graph() -> None:
    """Beside their sets, worked out by hand."""
    rng = random.Random(7)
    edges = {(f"n{rng.randrange(3000)}", f"n{rng.randrange(3000)}") for _ in range(4000)}
    out, into = ({edge[place] for edge in edges} for place in (0, 1))
    text = "predicate E(node, node) closed\n" + "".join(f"predicate {name}(node) closed\n" for name in KINDS)
    text += "".join(f"rule {body} -> {name}(X)\n" for name, body in KINDS.items())
    kb = lnnkit.loads(text)
    kb.tell("E", sorted(edges))
    for name, nodes in {"Leaf": into - out, "Root": out - into, "Inner": out & into}.items():
        assert {answer.bindings["X"] for answer in kb.ask(f"{name}(X)") if answer.lower == 1} == nodes


def _seconds(rule: str, links: int, closed: str) -> float:
    """CPU seconds of the best of three inferences over a chain."""
    edges = "".join(f'fact Edge("n{n:05}", "n{n + 1:05}")\n' for n in range(links))
    text = f'predicate Edge(node, node) closed\npredicate Reach(node){closed}\n{edges}fact Reach("n00000")\n'
    text += f"predicate Skip(node) closed\n{rule}\nquery Reach(X)\n"
    best = float("inf")
    for _ in range(3):
        kb = lnnkit.loads(text)
        start = time.process_time()
        kb.infer()
        best = min(best, time.process_time() - start)
        assert len(kb.ask("Reach(X)")) == links + 1
    return best


PLAIN = "rule Reach(X) & Edge(X, Y) -> Reach(Y)"
QUANTIFIED = "rule (exists X: Reach(X) & Edge(X, Y)) -> Reach(Y)"
GOOD = (
    " & ~Skip(Y) -> Good(Y)"  # a second rule from the same: the quantifier is then a relation, with rounds of its own
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("quantified", "plain", "closed", "times"),
    [
        (QUANTIFIED, PLAIN, "", 3),
        (QUANTIFIED, PLAIN, " closed", 3),
        ("rule Reach(X) -> (forall Y: Edge(X, Y) -> Reach(Y))", PLAIN, "", 3),
        (
            QUANTIFIED + "\n" + QUANTIFIED.replace(" -> Reach(Y)", GOOD),
            PLAIN + "\n" + PLAIN.replace(" -> Reach(Y)", GOOD),
            "",
            8,
        ),
    ],
)
def test_a_quantified_chain_takes_at_most_some_times_a_plain_one(
    quantified: str, plain: str, closed: str, times: int
) -> None:
    assert _seconds(quantified, 800, closed) <= times * _seconds(plain, 800, closed)
