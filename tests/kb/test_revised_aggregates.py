"""Sums, counts and other aggregates when facts change: to the bit as in a fresh inference."""

from __future__ import annotations

import pytest

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
