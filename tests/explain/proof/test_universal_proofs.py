"""Proofs about all entities of a quantifier, of which each has some of its atoms at their defaults."""

from __future__ import annotations

import random

import pytest

import lnnkit
from tests.blocks import in_blocks

GUARDED = """
predicate R(e, e) closed
predicate Bad(e) closed
fact R(a1, a2)
fact Bad(a3)
rule g: {formula} -> Good(X)
"""


@pytest.mark.parametrize(
    "formula",
    [
        "(forall Y: R(X, Y) -> ~Bad(Y))",
        "~(exists Y: R(X, Y) & Bad(Y))",
        "(forall Y: ~R(X, Y) | ~Bad(Y))",
        "(forall Y: Bad(Y) -> ~R(X, Y))",
    ],
)
def test_no_entity_need_have_all_defaults(formula: str) -> None:
    proof = lnnkit.loads(GUARDED.format(formula=formula)).explain("Good(a1)")
    assert proof.verify() == []
    assert "R(a1, Y) <= 0" in str(proof)
    assert "Bad(Y) <= 0" in str(proof)


def test_a_default_without_exceptions_is_enough() -> None:
    proof = lnnkit.loads(GUARDED.format(formula="(forall Y: R(X, Y) -> ~Bad(Y))")).explain("Good(a2)")
    assert proof.verify() == []
    assert "R(a2, Y) <= 0" in str(proof)
    assert "Bad" not in str(proof).split("Good(a2) <= 1")[0]


def drawn(draw: random.Random) -> str:
    """Two rules with a quantifier each, over open and closed predicates."""
    names = ["a1", "a2", "a3"]
    lines = [f"predicate {p}(e, e){draw.choice(['', ' closed'])}" for p in "RS"]
    lines += [f"predicate {p}(e){draw.choice(['', ' closed'])}" for p in "PQGH"]
    lines += ["predicate E(e) closed", *(f"fact E({name})" for name in names)]
    for p in "RS":
        lines += [
            f"fact {draw.choice(['', '', '~'])}{p}({one}, {two})"
            for one in names
            for two in names
            if draw.random() < 0.3
        ]
    for p in "PQ":
        lines += [f"fact {draw.choice(['', '', '~'])}{p}({name})" for name in names if draw.random() < 0.4]

    def literal() -> str:
        return draw.choice(["", "~"]) + draw.choice(["R(X, Y)", "S(Y, X)", "P(Y)", "Q(Y)", "S(X, Y)"])

    def quantified() -> str:
        shape = draw.choice(["{} -> {}", "{} & {}", "{} | {}", "{} & {} -> {}", "{}"])
        inner = shape.format(*(literal() for _ in range(3)))
        return f"{draw.choice(['', '~'])}({draw.choice(['forall', 'exists'])} Y: {inner})"

    lines.append(f"rule g: E(X) & {quantified()} -> G(X)")
    lines.append(f"rule h: E(X) & {draw.choice(['G(X) & ', '~G(X) & ', ''])}{quantified()} -> H(X)")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("block", in_blocks(range(480), 30, plain=5))
def test_random_quantified_rules(block: range) -> None:
    for seed in block:
        text = drawn(random.Random(seed))
        try:
            kb = lnnkit.loads(text)
        except lnnkit.ProgramError:  # negation through recursion
            continue
        for atom in (f"{p}({name})" for p in "GH" for name in ("a1", "a2", "a3")):
            assert kb.explain(atom).verify() == [], f"seed {seed}: {atom}\n{text}"


def test_both_ends_of_what_is_said_of_all_are_read() -> None:
    """The sums are empty whoever is meant: their lower and their upper ends have premises of their own."""
    kb = lnnkit.loads("""\
predicate A(p, q) closed
predicate Unlike closed
number u(q)
number v(p)
fact F(a, b)
rule (sum X: u(Q) where A(X, Q)) != (sum Y: v(P) where A(P, Y)) -> Unlike
query Unlike
""")
    proof = kb.explain("Unlike")
    assert proof.upper == 0
    assert proof.verify() == []
