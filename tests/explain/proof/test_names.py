"""Quantified variables are shown by the names that they are written with."""

from __future__ import annotations

import lnnkit

FACTS = "predicate E(n, n) closed\nfact E(a, b)\nfact B(a)\nfact B(b)\nfact ~S(a)\nfact ~T(a)\n"
RULES = (
    "rule (exists Z: E(X, Z)) & B(X) -> P(X)\n",
    "rule (exists V: E(U, V)) & B(U) -> Q(U)\n",
    "rule (exists V: B(V) & (exists W: E(V, W))) & B(X) -> S(X)\n",
    "rule (exists Z: B(Z) & (exists U: E(Z, U))) -> T(a)\n",
)


def test_of_two_ways_to_write_one_the_same_is_shown_in_either_order() -> None:
    for some in (RULES, RULES[::-1]):
        kb = lnnkit.loads(FACTS + "".join(some))
        assert sorted(each.atom for each in kb.infer().contradictions) == [
            '(exists V: B(V) & exists U: E(V, U)) & B("a") -> S("a")',
            '(exists V: B(V) & exists U: E(V, U)) -> T("a")',
        ]
        assert 'exists U: E("a", U) >= 1' in str(kb.explain("P(a)"))


def test_a_name_bound_around_it_is_not_reused() -> None:
    kb = lnnkit.loads(
        "predicate E(n, n) closed\nfact E(a, b)\nfact B(a)\nfact ~R(a)\n"
        "rule (exists Y: E(X, Y)) -> P(X)\nrule (exists Y: B(Y) & (exists Z: E(Y, Z))) & B(X) -> R(X)\n"
    )
    (found,) = kb.infer().contradictions
    assert found.atom == '(exists Y: B(Y) & exists X2: E(Y, X2)) & B("a") -> R("a")'
