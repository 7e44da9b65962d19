"""P3: every neuron is exact, upward and downward, against brute force."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.blocks import at_length
from tests.logic import brute
from tests.logic.brute import Array, Neuron
from tests.logic.neurons import (
    BIASES,
    KINDS,
    LOGICS,
    WEIGHTS,
    Rows,
    arrays,
    check,
    downward,
    random_neuron,
    random_rows,
)

NEURONS = {"conjunction": 60, "disjunction": 60, "implication": 16, "equivalence": 10}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize("share", at_length([10, 1], plain=1))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("logic", LOGICS)
def test_random_neurons_are_exact(logic: str, kind: str, share: int) -> None:
    rng = np.random.default_rng([LOGICS.index(logic), KINDS.index(kind)])
    for _ in range(NEURONS[kind] // share):
        neuron = random_neuron(rng, logic, kind)
        check(neuron, random_rows(rng, neuron, 40), rng)


truths = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 0.3]), st.integers(0, 1000).map(lambda n: n / 1000))
boxes = st.tuples(truths, truths).map(lambda ends: (min(ends), max(ends)))


@st.composite
def single_cases(draw: st.DrawFn) -> tuple[Neuron, Rows]:
    logic, kind = draw(st.sampled_from(LOGICS)), draw(st.sampled_from(KINDS))
    count = 2 if kind in ("implication", "equivalence") else draw(st.integers(1, 4))
    weights = tuple(draw(st.sampled_from(WEIGHTS)) for _ in range(count))
    bias = 1.0 if kind == "equivalence" and logic != "lukasiewicz" else draw(st.sampled_from(BIASES))
    operands, node = [draw(boxes) for _ in range(count)], draw(boxes)
    ends = np.array(operands)
    return Neuron(logic, kind, weights, bias), Rows(
        ends[None, :, 0], ends[None, :, 1], np.array([node[0]]), np.array([node[1]])
    )


@pytest.mark.slow
@given(single_cases())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_drawn_neurons_are_exact(case: tuple[Neuron, Rows]) -> None:
    check(*case, np.random.default_rng(0))


# What went wrong once, and the edges of the definitions: neuron, boxes, node.
REGRESSIONS = [
    # An end that came back from 1 - (1 - x) left its box by an ulp.
    (Neuron("lukasiewicz", "conjunction", (1.0, 1.0, 1.0), 1.3), [(1, 1), (0, 0.3), (0.7, 0.7)], (0.3, 0.3)),
    (Neuron("lukasiewicz", "implication", (0.3, 1.7), 1.0), [(0.2, 0.3), (0, 1)], (0.21, 0.21)),
    # The crest of min(f, g) lies under L: the two bands cross.
    (Neuron("lukasiewicz", "equivalence", (0.3, 0.5), 1.3), [(0, 1), (0, 1)], (0.8, 1)),
    # y at 0: the truth is 0 or 1, nothing between.
    (Neuron("product", "implication", (1.0, 1.0), 1.0), [(0, 1), (0, 0)], (0.3, 0.7)),
    # Only points within 1e-17 of 0 give this truth.
    (Neuron("product", "implication", (1.0, 2.5), 1.74), [(0, 1), (0, 1)], (0.266, 0.266)),
    (Neuron("product", "equivalence", (1.0, 0.3), 1.0), [(0, 1), (0, 1)], (0.1, 0.8)),
    (
        Neuron("product", "disjunction", (1.7, 0.5, 0.0, 0.05), 1.3),
        [(0.2, 0.8), (0.1, 0.5), (0, 1), (0, 1)],
        (0.79, 0.79),
    ),
    # A falls only above 0, so x leaves the part that the clamp holds at 0.
    (Neuron("godel", "implication", (2.5, 1.0), 1.0), [(0, 1), (0, 0.4)], (0, 0.3)),
    (Neuron("godel", "implication", (1.0, 2.5), 2.6), [(0, 1), (0, 1)], (0, 0.5)),
    (Neuron("godel", "equivalence", (2.5, 1.7), 1.0), [(0.1, 0.9), (0, 0.5)], (0.2, 0.6)),
    (Neuron("godel", "conjunction", (0.5, 1.0), 1.0), [(0, 1), (0, 1)], (0, 0.4)),
]


@pytest.mark.parametrize(("neuron", "ends", "node"), REGRESSIONS)
def test_regressions(neuron: Neuron, ends: list[tuple[float, float]], node: tuple[float, float]) -> None:
    lower, upper = (np.array([[box[end] for box in ends]], float) for end in (0, 1))
    check(neuron, Rows(lower, upper, np.array([float(node[0])]), np.array([float(node[1])])), np.random.default_rng(0))


@pytest.mark.parametrize("logic", ["product", "godel"])
def test_the_implication_is_the_residuum(logic: str) -> None:
    """The closed forms are ``sup {z : x & z <= y}`` with the weighted ``&`` (bias ``b``, ``z`` at weight 1).

    With ``y`` short of true: there the clamp of ``&`` to 1 does not count (with ``b > 1``, product's form ignores it).
    """
    rng = np.random.default_rng(11)
    for _ in range(40):
        neuron = random_neuron(rng, logic, "implication")
        if neuron.weights[1] == 0:
            continue
        x, y = rng.random((2, 50))
        goal = brute.conjunction(logic, y[:, None], neuron.weights[1:], 1.0)
        left, right = np.zeros(50), np.ones(50)
        for _ in range(60):
            middle = (left + right) / 2
            pair = np.stack([x, middle], -1)
            below = brute.conjunction(logic, pair, (neuron.weights[0], 1.0), neuron.bias) <= goal + 1e-15
            left, right = np.where(below, middle, left), np.where(below, right, middle)
        assert brute.truth(neuron, np.stack([x, y], -1)) == pytest.approx(right, abs=1e-9)


@pytest.mark.parametrize("weight", [1e-2, 1e-3, 1e-6, 1e-9])
def test_small_weights_exclude_nothing(weight: float) -> None:
    """Against exact fractions: dividing by a small weight magnifies rounding, never past what is feasible."""
    rng = np.random.default_rng(13)
    x, y, z = (np.round(rng.random(300), 3) for _ in range(3))
    neuron = Neuron("lukasiewicz", "conjunction", (weight, 1.0, 1.7), 1.0)
    truth = brute.truth(neuron, np.stack([x, y, z], -1))
    keep = (truth > 1e-6) & (truth < 1 - 1e-6)
    x, y, z, truth = x[keep], y[keep], z[keep], truth[keep]
    unknown = arrays(np.zeros_like(x), np.ones_like(x))
    found = downward(neuron, arrays(truth, truth), [unknown, arrays(y, y), arrays(z, z)])
    lower, upper = (end for end in found.operands[0])
    for i in range(len(x)):
        share = 1 - (1 - Fraction(y[i])) - Fraction(1.7) * (1 - Fraction(z[i])) - Fraction(truth[i])
        feasible = float(1 - share / Fraction(weight))
        assert lower[i] <= feasible + 1e-12 and (upper[i] >= feasible - 1e-12 or feasible > 1)


def test_points_of_the_search_stay_in_their_box() -> None:
    start, end = np.array([[0.0, 1.0]]), np.array([[1.0, 0.3]])
    for t in (0.0, 1e-9, 0.5, 1.0):
        found: Array = brute.point(start, end, np.array([t]))
        assert (found >= np.minimum(start, end)).all() and (found <= np.maximum(start, end)).all()


def test_a_sum_of_many_operands_leaves_what_the_others_do() -> None:
    """Of 80, 79 are in [0.001, 0.005] and their sum in [0.079, 0.395]; the sum of all is in [0.6, 0.7]."""
    few, any_ = arrays(np.array([0.001]), np.array([0.005])), arrays(np.array([0.0]), np.array([1.0]))
    neuron = Neuron("lukasiewicz", "disjunction", (1.0,) * 80, 1.0)
    found = downward(neuron, arrays(np.array([0.6]), np.array([0.7])), [*[few] * 79, any_])
    assert not found.empty.any()
    assert [end.item() for end in found.operands[79]] == pytest.approx([0.6 - 0.395, 0.7 - 0.079])
    assert [end.item() for end in found.operands[0]] == pytest.approx([0.001, 0.005])
