"""Proofs of quantified comparisons that name an entity which the variable may be too."""

from __future__ import annotations

import pytest

import lnnkit


@pytest.mark.parametrize("sign", [">", "!=", ">=", "<", "="])
@pytest.mark.parametrize("other", ["debt(bob)", "debt(bob) + lim", "lim * debt(bob)"])
def test_the_variable_may_be_the_entity_that_is_named(sign: str, other: str) -> None:
    kb = lnnkit.loads(
        "number debt(p)\nnumber lim\nfact lim in [1, 2]\nfact debt(anna) in [0, 5]\nfact debt(bob) in [0, 6]\n"
        f"axiom debt(Z) {sign} {other.replace('bob', 'X')}\n"
    )
    found = kb.explain(f"forall Z: debt(Z) {sign} {other}")
    assert found.lower == 1.0 or found.contested  # nothing is above itself and more
    assert not found.verify()
