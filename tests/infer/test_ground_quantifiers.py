"""Quantifiers without free variables: their rows are kept once, not for each instance around them."""

from __future__ import annotations

import pytest

import lnnkit

MANY = 30_000
WORLDS = ("", " closed")


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("exists Y: Check(Y)", True),
        ("forall Y: Check(Y) -> Passed(Y)", True),
        ("forall Y: Check(Y) -> Item(Y)", False),
        ("~(exists Y: Check(Y) & ~Passed(Y))", True),
        ("exists Y: Check(Y) & Item(Y)", False),
    ],
)
def test_many_rows_within_and_around(world: str, condition: str, holds: bool) -> None:
    """30,000 instances with 30,000 rows each are 900 million."""
    kb = lnnkit.loads(
        "predicate Check(entity) closed\npredicate Passed(entity) closed\npredicate Item(entity) closed\n"
        f"predicate Release(entity){world}\nrule ({condition}) & Item(X) -> Release(X)\nquery Release(X)\n"
    )
    kb.tell("Check", [(f"c{i}",) for i in range(MANY)])
    kb.tell("Passed", [(f"c{i}",) for i in range(MANY)])
    kb.tell("Item", [(f"i{i}",) for i in range(MANY)])
    kb.infer(max_groundings=10 * MANY)
    assert len(kb.answers()[0]) == (MANY if holds else 0)


def test_completion_reads_what_is_complete() -> None:
    """Of an earlier stratum, of its own, and of one that negates an earlier one."""
    kb = lnnkit.loads(
        """
predicate Base(entity) closed
predicate Good(entity) closed
predicate Reached(entity) closed
predicate Released(entity) closed
predicate Blocked(entity) closed
fact Base(a) = 0.8
fact Base(b) in [0.3, 0.6]
rule Base(X) -> Good(X)
rule (exists Y: Good(Y)) & Base(X) -> Reached(X)
rule (exists Y: Reached(Y)) & Base(X) -> Reached(X) in [0.9, 1]
rule (forall Y: Base(Y) -> Good(Y)) & Base(X) -> Released(X)
rule ~(exists Y: Released(Y)) & Base(X) -> Blocked(X)
query Good(X)
query Reached(X)
query Released(X)
query Blocked(X)
"""
    )
    found = [{a.bindings["X"]: pytest.approx((a.lower, a.upper)) for a in answers} for answers in kb.answers()]
    # Base -> Good is exact: Good is Base. Lukasiewicz: 0.8 + 0.8 - 1; for b 0.8 + 0.3 - 1 to 0.8 + 0.6 - 1.
    assert found[0] == {"a": (0.8, 0.8), "b": (0.3, 0.6)}
    assert found[1] == {"a": (0.6, 0.6), "b": (0.1, 0.4)}
    # forall: min(1 - 0.8 + 0.8, 1 - [0.3, 0.6] + [0.3, 0.6]) = [0.7, 1]
    assert found[2] == {"a": (0.5, 0.8), "b": (0.0, 0.6)}
    # ~[0.5, 0.8] = [0.2, 0.5]: with 0.8 it is [0, 0.3], with [0.3, 0.6] [0, 0.1]
    assert found[3] == {"a": (0.0, 0.3), "b": (0.0, 0.1)}


def test_a_later_tightening_reaches_the_completion() -> None:
    kb = lnnkit.loads(
        """
predicate Item(entity) closed
predicate Done(entity) closed
fact Item(a)
axiom Bad(X) -> false
rule (exists Y: Bad(Y)) & Item(X) -> Done(X)
query Done(X)
"""
    )
    assert [(a.lower, a.upper) for a in kb.ask("Done(a)")] == [(0.0, 0.0)]


def test_proofs_name_the_quantifier() -> None:
    kb = lnnkit.loads(
        "predicate Item(entity) closed\npredicate Hold(entity) closed\nfact Item(a)\nfact Alarm(b) = 0.7\n"
        "rule (exists Y: Alarm(Y)) & Item(X) -> Hold(X)\n"
    )
    explanation = kb.explain("Hold(a)")
    assert (explanation.lower, explanation.upper) == pytest.approx((0.7, 1.0))
    assert explanation.verify() == []
    assert "exists Y: Alarm(Y) >= 0.7" in str(explanation)


def test_quantified_variables_keep_their_names() -> None:
    """Of two ways to write one formula the same is shown in either order; a name that stands around it is none."""
    facts = "predicate E(n, n) closed\nfact E(a, b)\nfact B(a)\nfact B(b)\nfact ~S(a)\nfact ~T(a)\n"
    rules = (
        "rule (exists Z: E(X, Z)) & B(X) -> P(X)\n",
        "rule (exists V: E(U, V)) & B(U) -> Q(U)\n",
        "rule (exists V: B(V) & (exists W: E(V, W))) & B(X) -> S(X)\n",
        "rule (exists Z: B(Z) & (exists U: E(Z, U))) -> T(a)\n",
    )
    for some in (rules, rules[::-1]):
        kb = lnnkit.loads(facts + "".join(some))
        told = sorted(each.atom for each in kb.infer().contradictions)
        assert told == [
            '(exists V: B(V) & exists U: E(V, U)) & B("a") -> S("a")',
            '(exists V: B(V) & exists U: E(V, U)) -> T("a")',
        ]
        assert 'exists U: E("a", U) >= 1' in str(kb.explain("P(a)"))
    kb = lnnkit.loads(
        "predicate E(n, n) closed\nfact E(a, b)\nfact B(a)\nfact ~R(a)\n"
        "rule (exists Y: E(X, Y)) -> P(X)\nrule (exists Y: B(Y) & (exists Z: E(Y, Z))) & B(X) -> R(X)\n"
    )
    (found,) = kb.infer().contradictions
    assert found.atom == '(exists Y: B(Y) & exists X2: E(Y, X2)) & B("a") -> R("a")'
