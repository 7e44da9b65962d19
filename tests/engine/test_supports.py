"""Programs whose instances once went unjoined. Each expected value is worked out beside it."""

from __future__ import annotations

import random

import numpy as np
import pytest

import lnnkit
from lnnkit.analysis.causes import upward_causes
from lnnkit.formula.passes import neuron_upward
from lnnkit.formula.unfolding import Neuron
from lnnkit.logic import Bounds, logic_named
from tests.agreement import disagreements
from tests.blocks import at_length
from tests.programs import generate


def only(text: str) -> tuple[float, float]:
    ((answer,),) = lnnkit.loads(text).answers()
    return answer.lower, answer.upper


@pytest.mark.parametrize("pairs", [2, 3, 4, 6])
@pytest.mark.parametrize("closed", ["", " closed"])
def test_equivalences_side_by_side(pairs: int, closed: str) -> None:
    """All of A are true, all of B false: every A xor B is true, and so is their conjunction."""
    names = [f"{letter}{i}" for i in range(pairs) for letter in "AB"]
    text = "".join(f"predicate {name}(entity){closed}\n" for name in names)
    text += "".join(f"fact A{i}(ann)\nfact ~B{i}(ann)\n" for i in range(pairs))
    text += "rule " + " & ".join(f"(A{i}(X) xor B{i}(X))" for i in range(pairs)) + " -> T(X)\nquery T(ann)\n"
    assert only(text) == (1.0, 1.0)


@pytest.mark.parametrize("pairs", at_length([2, 4, 6], plain=1))
def test_equivalences_of_values_that_no_corner_has(pairs: int) -> None:
    """.5 <-> .25 | .25 and .5 <-> ~.5 are exactly 1 in Lukasiewicz, where | adds."""
    text = "".join(f"fact A{i}(ann) = 0.5\nfact B{i}(ann) = 0.25\n" for i in range(pairs))
    body = " & ".join(f"(A{i}(X) <-> (B{i}(X) | B{i}(X))) & (A{i}(X) <-> ~A{i}(X))" for i in range(pairs))
    assert only(f"{text}rule {body} -> T(X)\nquery T(ann)\n") == (1.0, 1.0)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("~(exists X: Bad(X))", (1.0, 1.0)),  # nobody is in the sort: none of it is bad,
        ("(forall X: Bad(X))", (1.0, 1.0)),  # and all of it is
        ("(exists X: Bad(X))", (0.0, 1.0)),  # a false antecedent says nothing
    ],
)
def test_quantifiers_over_empty_sorts(body: str, expected: tuple[float, float]) -> None:
    assert only(f"predicate Bad(item)\npredicate Ok\nrule {body} -> Ok\nquery Ok\n") == expected
    opened = f"sort item open\npredicate Bad(item)\npredicate Ok\nrule {body} -> Ok\nquery Ok\n"
    assert only(opened) == (0.0, 1.0)  # there may be somebody, of whom nothing is known


@pytest.mark.parametrize(
    ("statement", "lower"),
    [
        ("rule ((Q & R){bias: 0.85}@5 -> T(X)@2){bias: 1, logic: godel}", 0.625),  # 1 - 2 (1 - t) >= 1 - 5 (1 - 0.85)
        ("rule ((Q & R){bias: 0.8}@2 -> T(X)){bias: 0.5, logic: godel}", 0.1),  # t >= 0.5 - 2 (1 - 0.8)
        ("rule ((Q & R){bias: 0.2} -> T(X)@3){bias: 0.9, logic: godel} in [0.9, 1]", 0.7),  # 1 - 3 (1 - t) >= 0.1
    ],
)
def test_an_operand_that_is_never_quite_true(statement: str, lower: float) -> None:
    (answer,) = lnnkit.loads(f"predicate T(x)\npredicate U(x)\nfact U(a)\nfact Q\nfact R\n{statement}\n").ask("T(a)")
    assert (answer.lower, answer.upper) == (pytest.approx(lower), 1.0)


def test_many_equalities_in_any_order() -> None:
    facts = "predicate P(entity, entity, entity)\nfact P(dd, ee, ff)\nfact P(uu, vv, ww)\nfact P(uu, uu, ww)\n"
    conditions = ["P(X, Y, Z)", "X != Y", "Y != Z", "X != Z", "X = dd", "Y != cc"]
    for turn in range(len(conditions)):
        body = " & ".join(conditions[turn:] + conditions[:turn])
        (answers,) = lnnkit.loads(f"{facts}rule {body} -> C(X)\nquery C(X)\n").answers()
        assert [(a.bindings["X"], a.lower) for a in answers] == [("dd", 1.0)]


@pytest.mark.parametrize("count", [8, 12, 30])
def test_a_wide_disjunction_does_not_enumerate_the_domain(count: int) -> None:
    """Any of the links is enough; 200 entities have 40,000 pairs, of which 200 a link are listed."""
    names = [f"n{i:03}" for i in range(200)]
    text = "".join(f"predicate L{i}(node, node)\n" for i in range(count))
    text += "rule " + " | ".join(f"L{i}(X, Y)" for i in range(count)) + " -> T(X, Y)\nquery T(X, Y)\n"
    kb = lnnkit.loads(text)
    expected = set()
    for i in range(count):
        pairs = [(names[j], names[(7 * j + i) % 200]) for j in range(200)]
        expected |= set(pairs)
        kb.tell(f"L{i}", pairs)
    kb.infer(max_groundings=200 * count)
    assert {tuple(a.bindings.values()) for a in kb.ask("T(X, Y)")} == expected


def test_a_listed_atom_loosens_a_closed_default() -> None:
    """A(x) | ~C(x) holds of everyone by default, since C is closed; of ann, who is listed as C, only if she is A."""
    kb = lnnkit.loads("predicate C(person) closed\npredicate A(person)\nfact C(ann)\naxiom A(X) | ~C(X)\nquery A(X)\n")
    assert [(a.bindings["X"], a.lower) for a in kb.answers()[0]] == [("ann", 1.0)]


def test_a_gap_bounds_unknown_operands() -> None:
    """Goedel's x <-> y is 1 where they are equal, else the lesser. Between .4 and .8 neither can be 0 (the value would
    be 0, or 1 if both are), and nothing else need be known for that."""
    text = "logic godel\nfact K(ann)\nrule (P(X) <-> Q(X)) in [0.4, 0.8]\nquery P(ann)\n"
    assert only(text) == (0.4, 1.0)


@pytest.mark.parametrize(
    ("seed", "size", "mode"),
    at_length(
        [
            (17, 6, "free"),
            (1166, 3, "free"),
            (1641, 4, "crisp"),
            (10019, 6, "free"),
            (21652, 5, "fuzzy"),
            (22541, 6, "free"),
            (41333, 6, "free"),
            (41615, 6, "free"),
        ],
        plain=3,
        several=True,
    ),
)
def test_what_random_programs_found(seed: int, size: int, mode: str) -> None:
    assert not disagreements(generate(seed, size, mode).program)


def test_bounds_of_the_last_candidate_reach_its_inner_rows() -> None:
    """Not every course has a teacher, and art has one. So it is maths that has none: neither of the two teaches it."""
    kb = lnnkit.loads(
        "predicate Course(course)\npredicate Teaches(person, course)\nfact Course(art)\nfact Course(maths)\n"
        "fact Teaches(bob, art)\nfact ~All\npredicate Person(person)\nfact Person(ann)\n"
        "rule (forall C: exists T: Teaches(T, C)) -> All\nquery Teaches(T, C)\n"
    )
    found = {tuple(answer.bindings.values()): (answer.lower, answer.upper) for answer in kb.answers()[0]}
    assert found == {("bob", "art"): (1.0, 1.0), ("ann", "maths"): (0.0, 0.0), ("bob", "maths"): (0.0, 0.0)}


def test_a_shared_neuron_whose_leaf_is_looser_than_its_default() -> None:
    """`P | ~D` is true by default, D being closed; a listed D(bob) loosens it, and P(bob) raises it again."""
    text = """
predicate D(entity) closed
fact D(bob) in [0.25, 1]
fact A(bob)
rule A(X) -> P(X)
rule (P(X) | ~D(X)) -> Q(X)
rule (P(X) | ~D(X)) -> R(X)
"""
    (answer,) = lnnkit.loads(text).ask("Q(bob)")
    assert (answer.lower, answer.upper) == (1, 1)


def test_an_unnamed_individual_loosens_completed_bounds() -> None:
    """Nobody named is D, but a stranger may be; R is false of bob, so the axiom says that no one is."""
    kb = lnnkit.loads(
        """
        sort person open
        predicate Q(person) closed
        predicate D(person) closed
        predicate R(person)
        fact ~R(bob)
        rule Q(X) -> D(X)
        axiom (exists U: D(U)) -> R(Y)
        query exists U: D(U)
        """
    )
    (answers,) = kb.answers()
    assert [(answer.lower, answer.upper) for answer in answers] == [(0.0, 0.0)]


def test_an_equality_beside_a_head_may_fail() -> None:
    """Of bob the consequent is at most half true, which only ``D(bob)`` at 1 gives it: what an open ``R`` may ask."""
    rule = "rule R -> (D(Y)@0.5 & Y != bob){bias: 1.5}\n"
    text = f"predicate R\npredicate D(entity) closed\nfact E(bob)\nfact E(anna)\n{rule}"
    assert only(f"{text}query D(bob)\n") == (0.0, 1.0)
    assert only(f"{text}query D(anna)\n") == (0.0, 0.0)


@pytest.mark.parametrize("first", at_length(range(0, 600, 60), plain=1))
def test_causes_of_wide_neurons_are_in_all_that_moves_them(first: int) -> None:
    """With some operands at their best, a wide neuron that goes past its base has a cause among them."""
    moved = 0
    for seed in range(first, first + 60):
        draw = random.Random(seed)
        count, end, kind = draw.choice([11, 15, 40]), draw.choice(["lower", "upper"]), draw.choice(["and", "or"])
        pool = draw.choice([[1.0], [1.0, 0.0, 2.0], [0.05, 0.1, 1.0, 20.0], [0.02, 0.03]])
        weights = tuple(draw.choice(pool) for _ in range(count))
        logic = logic_named(draw.choice(["lukasiewicz", "product", "godel"]))
        neuron = Neuron(kind, tuple(range(count)), 0, "", (), weights, draw.choice([0.5, 1.0, 1.0, 2.0]), logic)
        bases = [draw.choice([(0.0, 1.0), (0.0, 0.06), (0.3, 0.7)]) for _ in range(count)]
        bests = [(base[0], base[0]) if end == "upper" else (base[1], base[1]) for base in bases]
        rows = [[draw.random() < share for _ in range(count)] for share in (0.0, 0.2, 0.5, 0.9, 0.97, 1.0)]
        ends = [
            Bounds(*np.array([bests[i] if row[i] else bases[i] for row in rows], np.float64).T) for i in range(count)
        ]
        found = getattr(neuron_upward(neuron, ends), end).tolist()
        causes = upward_causes(neuron, tuple(bases), tuple(bests), end, found[0])
        for row, value in zip(rows, found, strict=True):
            if abs(value - found[0]) > 1e-6:
                moved += 1
                assert any(all(row[place] for place, _ in cause) for cause in causes), (seed, causes, row)
    assert moved > 60
