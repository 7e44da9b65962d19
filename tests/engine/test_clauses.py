"""Clauses in few passes against the general response, to the bit."""

from __future__ import annotations

import random
from typing import Literal

import numpy as np
import pytest

import lnnkit
from lnnkit.engine.response.respond import respond
from lnnkit.engine.response.rule_response import clause
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds, enter_lower, enter_upper
from tests.engine.test_work import counted

ENDS = (0.0, 1.0, 0.5, 1e-10, 1 - 1e-10, 1e-16, 1 - 2**-53, 0.3)
PAIRS = ((0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 1e-16), (1e-16, 1.0), (0.0, 5e-324), (1 - 2**-53, 1.0))


def shapes(rng: random.Random) -> list[tuple[RuleShape, bool]]:
    """The shapes of random implications, and whether each is a clause: a leaf of weight 0 is not read."""
    lines, clauses = [f"predicate P{i}(row)\nfact P{i}(a) = 0.5" for i in range(5)], dict[str, bool]()
    for place in range(6):
        names, weights = rng.sample(range(5), 4), [rng.choice([1, 1, 1, 0.5, 1.7, 0]) for _ in range(4)]
        atoms = [f"{rng.choice(['', '~'])}P{i}(X)@{weight}" for i, weight in zip(names, weights, strict=True)]
        inner = f"({atoms[2]} {rng.choice(['|', '&', '->'])} {atoms[3]}){{bias: {rng.choice([1, 1, 0.8])}}}"
        body = f"({atoms[0]} {rng.choice(['&', '|'])} {atoms[1]} & {inner})"
        head = f"{rng.choice(['', '~'])}D{place}(X)"
        text = (
            f"({body}@{rng.choice([1, 1, 0.7])} -> {head}@{rng.choice([1, 1, 2])}){{bias: {rng.choice([1, 1, 0.9])}}}"
        )
        lines.append(f"rule {text}{rng.choice(['', ' in [0.8, 1]'])}\nquery D{place}(X)")
        clauses[f"D{place}"] = 0 not in weights
    kb = lnnkit.loads("\n".join(lines) + "\n")
    found = kb._session.program_fixpoint().run.grounding.shapes
    sources = [[shape.formula.neurons[leaf].source for leaf in shape.formula.leaves] for shape in found]
    return [
        (shape, all(clauses[name] for name in names if name in clauses))
        for shape, names in zip(found, sources, strict=True)
    ]


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 40), marks=pytest.mark.slow)])
def test_clauses_say_the_same(seeds: range) -> None:
    met = 0
    for seed in seeds:
        rng = random.Random(seed)
        for shape, expected in shapes(rng):
            rule = clause(shape)
            assert (rule is not None) == expected
            if rule is None:
                continue
            target, side = rule.target
            boxes = {target: Bounds(np.zeros(301), np.ones(301))}
            ends: dict[int, np.ndarray] = {}
            for leaf, own in rule.sides.items():
                pairs = [sorted(rng.choice([rng.random(), *ENDS]) for _ in range(2)) for _ in range(101)]
                pairs += [[*rng.choice(PAIRS)] for _ in range(200)]
                boxes[leaf] = Bounds(*np.ascontiguousarray(np.array(pairs, np.float64).T))
                ends[leaf] = (enter_lower, enter_upper)[own](boxes[leaf][own])
            told = respond(shape, lambda leaf: boxes[leaf], (None,))  # noqa: B023
            news, values = rule.proposed(ends)
            assert not told.bad.any()
            assert np.array_equal(news, told.proposed[target, side][0])
            assert np.array_equal(values[news], told.proposed[target, side][1][news])
            met += 1
    assert met >= len(seeds)


@pytest.mark.parametrize(
    ("rule", "is_clause"),
    [
        ("P(X) & Q(X) -> D(X)", True),
        ("P(X) & Q(X) -> ~D(X)", True),
        ("P(X) & ~(Q(X) | R(X)) -> D(X)", True),
        ("P(X) -> D(X)", True),
        ("(P(X) -> D(X)) in [0.7, 1]", True),
        ("(P(X) -> D(X)@0.5) in [0.7, 1]", False),  # it could bound P
        ("(P(X) -> D(X)@0.5) in [0.4, 1]", True),
        ("(P(X) -> D(X)) in [0.7, 0.9]", False),
        ("(P(X) -> D(X)) in [0, 1]", False),
        ("(P(X) -> D(X)@0.01) in [0.01, 1]", False),  # the weight is too small to divide by
        ("(P(X) -> D(X)@0.02) in [0.01, 1]", True),
        ("P(X) -> P(X) | D(X)", False),  # not an atom
        ("P(X) & D(X) -> D(X)", False),
        ("P(X) <-> D(X)", False),
        ("P(X) & (exists Y: E(X, Y)) -> D(X)", False),
        ("(P(X) & Q(X)){logic: godel} -> D(X)", False),
        ("((P(X) & Q(X)) -> D(X)){logic: product}", False),
    ],
)
def test_which_rules_are_clauses(rule: str, is_clause: bool) -> None:
    head = "predicate P(x)\npredicate Q(x)\npredicate R(x)\npredicate E(x, x)\nfact E(a, a)\n"
    facts = "".join(f"fact {name}(a) in [0.2, 0.8]\n" for name in "PQR")
    kb = lnnkit.loads(f"{head}{facts}axiom {rule}\nquery D(X)\n")
    found = [clause(shape) for shape in kb._session.program_fixpoint().run.grounding.shapes]
    assert any(each is not None and each.formula.neurons[each.target[0]].source == "D" for each in found) == is_clause


@pytest.mark.parametrize("precision", ["double", "single"])
def test_only_instances_whose_consequent_is_known_are_evaluated(precision: Literal["double", "single"]) -> None:
    """In double precision: clauses have no noise of single precision."""
    lines = [f"fact P(a{i}) = {i / 100}\nfact Q(a{i}) = {1 - i / 200}" for i in range(100)]
    lines += [f"fact D(a{i}) in [0.{i + 1}, 1]" for i in range(7)]
    text = "predicate P(x)\npredicate Q(x)\n" + "\n".join(lines) + "\nrule P(X) & Q(X) -> D(X)\nquery D(X)\n"
    kb = lnnkit.loads(text)
    with counted() as counts:
        kb.infer(precision=precision)
    assert counts["evaluated"] == (6 if precision == "double" else 99)  # P(a0) is false
    for answer in kb.ask("D(X)"):
        at = int(answer.bindings["X"][1:])
        least = max(0.0, at / 100 - at / 200)
        assert answer.lower == pytest.approx(max(least, (at + 1) / 10 if at < 7 else 0), abs=1e-6)
