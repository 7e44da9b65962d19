"""A gain of 1e-12 is rounding, a greater one is a gain; and statements that leave a neuron no value."""

from __future__ import annotations

import pytest

import lnnkit

NOISE = 1e-12
RULES = ["A(X) -> B(X)", "(exists Y: E(X, Y) & A(Y)) -> B(X)", "A(X) & C(X) -> B(X)"]


def bounds(text: str) -> tuple[float, float]:
    """Those of B(a), in the logic that does not round."""
    declared = (
        "".join(f"predicate {name}(x)\n" for name in "ABC") + "predicate E(x, x) closed\nfact E(a, a)\nfact C(a)\n"
    )
    ((answer,),) = lnnkit.loads(f"logic godel\n{declared}{text}query B(a)\n").answers()
    return answer.lower, answer.upper


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("more", ["", "fact A(b) = 0.25\n"])
@pytest.mark.parametrize("gain", [NOISE, 2 * NOISE])
def test_the_least_gain_of_a_lower_end(rule: str, more: str, gain: float) -> None:
    told = 0.5 + gain
    found = bounds(f"fact A(a) in [{told!r}, 1]\nfact B(a) in [0.5, 1]\n{more}rule {rule}\n")
    assert found == (0.5 if gain == NOISE else told, 1)


@pytest.mark.parametrize("rule", ["B(X) -> A(X)", "B(X) -> (exists Y: E(X, Y) & A(Y))"])
@pytest.mark.parametrize("gain", [NOISE, 2 * NOISE])
def test_the_least_gain_of_an_upper_end(rule: str, gain: float) -> None:
    """No more is true of B than of A."""
    told = 0.5 - gain
    found = bounds(f"fact A(a) in [0, {told!r}]\nfact B(a) in [0, 0.5]\nrule {rule}\n")
    assert found == (0, 0.5 if gain == NOISE else told)


def test_bounds_that_cross_by_the_tolerance_are_no_contradiction() -> None:
    for beyond, status in ((0.9e-9, 0), (1.1e-9, 1)):
        kb = lnnkit.loads(f"fact A in [{0.5 + beyond!r}, 1]\nfact B in [0, 0.5]\nrule A -> B\nquery B\n")
        assert len(kb.infer().contradictions) == status


@pytest.mark.parametrize("given", ["", "fact A(a)\nfact B(a)\n", "fact A(b)\n"])
def test_a_neuron_whose_statements_leave_no_value(given: str) -> None:
    """It is a contradiction for every entity, however little is known of it, and nothing follows from it."""
    kb = lnnkit.loads(
        "predicate A(x)\npredicate B(x)\npredicate C(x)\nfact C(a)\nfact C(b)\n"
        f"{given}axiom A(X) & B(X)\naxiom ~(A(X) & B(X))\nrule A(X) & B(X) -> D(X)\nquery D(X)\nquery D(b)\n"
    )
    outcome = kb.infer()
    assert len(outcome.contradictions) > 0
    (answer,) = kb.ask("D(b)")
    assert (answer.lower, answer.upper) == (0, 1)
