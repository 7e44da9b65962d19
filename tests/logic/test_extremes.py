"""The kernels near 0, 1 and ties, with weights of 20 and twenty operands, against exact truths: nothing that can be is
excluded, upward or downward."""

from __future__ import annotations

import numpy as np
import pytest

from lnnkit.logic import Lukasiewicz
from tests import planted
from tests.blocks import at_length
from tests.logic import neurons
from tests.logic.brute import Neuron
from tests.logic.neurons import KINDS, LOGICS, arrays, downward, upward
from tests.planted import above, below, connective, exact

NAMES: dict[str, str] = dict(zip(KINDS, ("and", "or", "implies", "iff"), strict=True))
VALUES = (*planted.EXTREMES, *planted.MIDDLING, 0.5 + 1e-10, 1e-12, 1 - 1e-12)
ROWS = 12
TOLERANCE = 1e-9


def neuron_of(rng: np.random.Generator, logic: str, kind: str) -> Neuron:
    count = 2 if kind in ("implication", "equivalence") else int(rng.choice([1, 2, 3, 6, 20]))
    weights = tuple(float(rng.choice(planted.WEIGHTS)) if rng.random() < 0.3 else 1.0 for _ in range(count))
    free = logic == "lukasiewicz" or kind != "equivalence"
    return Neuron(logic, kind, weights, float(rng.choice(planted.BIASES)) if free and rng.random() < 0.3 else 1.0)


def around(rng: np.random.Generator, value: float) -> tuple[float, float]:
    """An interval that holds the value, mostly with extreme ends."""
    low, high = (value if rng.random() < 0.5 else float(rng.choice(VALUES)) for _ in range(2))
    return min(low, value), max(high, value)


@pytest.mark.parametrize(("logic", "strict"), [*((logic, False) for logic in LOGICS), ("lukasiewicz", True)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", at_length([10, 40], plain=1))
def test_nothing_that_can_be_is_excluded(
    logic: str, kind: str, strict: bool, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if strict:
        # The strict kernels, which no program names
        monkeypatch.setattr(neurons, "logic_named", lambda _: Lukasiewicz(strict=True))
    rng = np.random.default_rng([17, LOGICS.index(logic), KINDS.index(kind)])
    for _ in range(count):
        neuron = neuron_of(rng, logic, kind)
        points = rng.choice(rng.choice(VALUES, 4), (ROWS, len(neuron.weights)))  # few values, so that truths tie
        truths = [
            connective(NAMES[kind], logic, neuron.weights, neuron.bias, [exact(float(x)) for x in row])
            for row in points
        ]
        boxes = np.array([[around(rng, float(x)) for x in row] for row in points])
        node = np.array([around(rng, (below if rng.random() < 0.5 else above)(truth)) for truth in truths])
        node[:, 0] = np.minimum(node[:, 0], [below(truth) for truth in truths])
        node[:, 1] = np.maximum(node[:, 1], [above(truth) for truth in truths])
        operands = [arrays(boxes[:, i, 0], boxes[:, i, 1]) for i in range(points.shape[1])]
        image, found = upward(neuron, operands), downward(neuron, arrays(node[:, 0], node[:, 1]), operands)
        values = np.array([float(truth.value) for truth in truths])
        held = (image.lower <= values + TOLERANCE) & (values <= image.upper + TOLERANCE)
        assert held.all(), (neuron, boxes[~held][0], image)
        assert not found.empty.any(), (neuron, boxes[found.empty][0], node[found.empty][0])
        for i, hull in enumerate(found.operands):
            kept = (hull.lower <= points[:, i] + TOLERANCE) & (points[:, i] <= hull.upper + TOLERANCE)
            assert kept.all(), (neuron, i, points[~kept][0], boxes[~kept][0], node[~kept][0])
        if logic == "lukasiewicz" and not strict:
            continue
        crisp = [(1.0 if truth.complement == 0 else planted.BELOW_ONE, truth.value > 0) for truth in truths]
        assert (image.lower <= [most for most, _ in crisp]).all(), neuron
        assert (image.upper > 0)[[some for _, some in crisp]].all(), neuron
