"""Sums, counts and other aggregates when facts change: to the bit as in a fresh inference."""

from __future__ import annotations

import math

import pytest

import lnnkit
from tests.blocks import in_blocks
from tests.kb.test_revised_strata import Levels, unlike
from tests.kb.test_revising import counted

RULES = """\
rule (sum Y: V(Y) where E(X, Y)) > 2 -> G(X)
rule (sum Y: V(Y) where E(X, Y) & ~B(Y)) >= 1 -> H(X, X)
rule (count Y: E(X, Y)) >= 2 -> F(X)
rule (count Y: E(X, Y) & V(Y) < 1) >= 1 -> A(X)
rule (count Y: B(Y)) > 2 -> Q
rule (count Y: E(X, Y) & C(Y)) >= 1 -> T(X)
rule (count Y: C(Y)) < 3 -> Q
rule (sum Y: V(Y)) > 5 -> Q
rule (max Y: V(Y) where E(X, Y)) > V(X) -> U(X)
rule (min Y: V(Y) where S(Y)) < V(X) & B(X) -> U(X)
rule (mean Y: V(Y) where E(X, Y)) <= 1 -> G(X)
rule (sum Y: V(Y) where S(Y)) > (count Y: B(Y)) -> Q
rule (sum Y, Z: V(Y) where E(X, Y) & E(Y, Z)) > 1 -> A(X)
rule B(X) -> C(X)
rule E(X, Y) & C(Y) -> C(X)
rule S(X) & ~C(X) -> D(X)
rule G(X) & E(X, Y) -> F(Y) in [{weight}, 1]
rule ~G(X) & S(X) -> T(X)
rule (count Y: E(X, Y) & D(Y)) = 0 -> K(X)
rule K(X) & ~B(X) -> M(X)
""".splitlines()
QUERIES = """\
sum Y: V(Y) where E(X, Y)
count Y: E(X, Y)
count Y: B(Y)
max Y: V(Y)
mean Y: V(Y) where B(Y)
count Y: E(X, Y) & ~S(Y)
(count Y: E(X, Y)) > 1
sum Y: V(Y) where E(n0, Y)
G(X)
H(X, X)
F(X)
A(X)
Q
T(X)
U(X)
C(X)
D(X)
K(X)
M(X)
exists Y: E(X, Y) & G(Y)
""".splitlines()


class Totals(Levels):
    rules, queries, drawn, numbers = RULES, QUERIES, "EEEEEEBBBSSVVVVC", ("", " closed")


@pytest.mark.parametrize("block", in_blocks(range(1200), 30, plain=8))
def test_aggregates_are_revised_to_what_a_fresh_inference_finds(block: range) -> None:
    with counted() as counts:
        for seed in block:
            assert not (text := unlike(Totals, seed)), text
    assert counts[True] > counts[False]


WATCH = """\
predicate Transfer(account, transfer) closed
predicate Reversed(transfer) closed
number amount(transfer)
fact Transfer(anna, t1)
fact Transfer(anna, t2)
fact Transfer(bob, t3)
fact amount(t1) = 0.1
fact amount(t2) = 0.2
fact amount(t3) = 9000
fact Reversed(t0)
rule large: (sum T: amount(T) where Transfer(A, T) & ~Reversed(T)) > 10000 -> Watch(A)
rule often: (count T: Transfer(A, T) & amount(T) < 1) >= 3 -> Watch(A)
query Watch(A)
query sum T: amount(T) where Transfer(A, T) & ~Reversed(T)
"""


def totals(kb: lnnkit.KnowledgeBase) -> dict[str, float]:
    return {answer.bindings["A"]: answer.lower for answer in kb.answers()[1]}


def test_a_ledger_is_corrected() -> None:
    kb = lnnkit.loads(WATCH)
    assert totals(kb) == {"anna": math.fsum((0.1, 0.2)), "bob": 9000}
    with counted() as counts:
        with kb.transaction():
            kb.tell("Transfer", [("anna", "t4"), ("cleo", "t5")])
            kb.tell("amount", [("t4", 0.7), ("t5", 20000)])
        assert totals(kb) == {"anna": math.fsum((0.1, 0.2, 0.7)), "bob": 9000, "cleo": 20000}
        assert [answer.bindings["A"] for answer in kb.ask("Watch(A)")] == ["anna", "cleo"]
        assert kb.explain("Watch(anna)").verify() == []
        kb.tell("Reversed", ["t5"])
        assert totals(kb) == {"anna": math.fsum((0.1, 0.2, 0.7)), "bob": 9000}
        assert [answer.bindings["A"] for answer in kb.ask("Watch(A)")] == ["anna"]
        kb.replace("amount", [("t1", 5)])
        assert totals(kb)["anna"] == math.fsum((5, 0.2, 0.7))
        assert len(kb.ask("Watch(A)")) == 0
    assert counts[False] == 0 and counts[True] >= 3
