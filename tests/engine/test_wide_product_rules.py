"""Rules over wide tables in product logic, whose kernels compute rows again where a root is steep."""

from __future__ import annotations

import numpy as np
import pytest

import lnnkit

BODIES = ("A(X)@0.5 | B(X)", "A(X)@0.5 & B(X)", "A(X)@2 & ~B(X)@0.3", "(A(X) | B(X)@0.2) & C(X)")


@pytest.mark.parametrize("body", BODIES)
def test_a_table_is_answered_as_its_rows_are(body: str) -> None:
    """Three hundred rows at once and each by itself, some of them so small that a root shows their rounding."""
    rng = np.random.default_rng(0)
    count = 300
    program = f"logic product\npredicate A(p)\npredicate B(p)\npredicate C(p)\nrule {body} -> D(X)\nquery D(X)\n"
    tables = {}
    for name in "ABC":
        lower = rng.uniform(0, 1, count) ** rng.choice([1, 60], count)
        tables[name] = lower, np.minimum(lower + rng.uniform(0, 0.3, count), 1)
    whole = lnnkit.loads(program)
    for name, (lower, upper) in tables.items():
        whole.tell(name, {"p": np.arange(count), "lower": lower, "upper": upper})
    found = {answer.bindings["X"]: (answer.lower, answer.upper) for answer in whole.answers()[0]}
    assert found
    for row in range(0, count, 60):
        alone = lnnkit.loads(program)
        for name, (lower, upper) in tables.items():
            alone.tell(name, {"p": [row], "lower": lower[row : row + 1], "upper": upper[row : row + 1]})
        for answer in alone.answers()[0]:
            assert found[str(row)] == pytest.approx((answer.lower, answer.upper), abs=1e-12)
