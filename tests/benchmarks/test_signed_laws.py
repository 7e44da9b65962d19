"""The form of a formula is compared, not its text."""

from __future__ import annotations

import pytest

from benchmarks.signed_laws import same_form


@pytest.mark.parametrize(
    ("found", "wanted", "tolerance", "same"),
    [
        ("a * b / (a + b)", "1/(1/a + 1/b)", 1e-9, True),
        ("abs(c) / sqrt(c^2 - v^2)", "1/sqrt(1 - v**2/c**2)", 1e-9, True),
        ("0.51 * a^2 / pi", "a**2/(2*pi)", 0.05, True),
        ("0.51 * a^2 / pi", "a**2/(2*pi)", 1e-6, False),
        ("a + 1e-6 * b", "a", 0.05, False),
    ],
)
def test_same_form(found: str, wanted: str, tolerance: float, same: bool) -> None:
    assert same_form(found, wanted, ["a", "b", "c", "v"], tolerance) is same
