"""IBM's Lukasiewicz neurons (``shared/anchors/ibm-lnn.md`` section 2), written from that text, with alpha at 1.

IBM inverts a whole interval at once without the operand's own box; here each end is met with the box, as its engine
does next. Rows on which IBM's ends cross are contradictions there, and empty here.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.logic.brute import Neuron
from tests.logic.neurons import KINDS, arrays, downward, random_neuron, random_rows, upward


def clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def ibm_up(neuron: Neuron, boxes: list[tuple[float, float]]) -> tuple[float, float]:
    _, kind, w, b = neuron
    if kind == "implication":
        (lx, ux), (ly, uy) = boxes
        return clamp(1 - b + w[0] * (1 - ux) + w[1] * ly), clamp(1 - b + w[0] * (1 - lx) + w[1] * uy)
    lower, upper = (
        sum(
            weight * ((1 - box[end]) if kind == "conjunction" else box[end])
            for weight, box in zip(w, boxes, strict=True)
        )
        for end in (0, 1)
    )
    if kind == "conjunction":
        return clamp(b - lower), clamp(b - upper)
    return clamp(1 - b + lower), clamp(1 - b + upper)


def ibm_down(neuron: Neuron, boxes: list[tuple[float, float]], node: tuple[float, float]) -> list[tuple[float, float]]:
    _, kind, w, b = neuron
    low, high = node
    below, above = low > 1e-9, high < 1 - 1e-9
    if kind == "implication":
        (lx, ux), (ly, uy) = boxes
        x = (0.0, 1.0)
        if w[0] > 0:
            x = (
                clamp(1 - (high + b - 1 - w[1] * ly) / w[0]) if above else 0.0,
                clamp(1 - (low + b - 1 - w[1] * uy) / w[0]) if below else 1.0,
            )
        y = (0.0, 1.0)
        if w[1] > 0:
            y = (
                clamp((low + b - 1 - w[0] * (1 - lx)) / w[1]) if below else 0.0,
                clamp((high + b - 1 - w[0] * (1 - ux)) / w[1]) if above else 1.0,
            )
        return [x, y]
    result = []
    for i, weight in enumerate(w):
        if weight == 0:
            result.append((0.0, 1.0))
            continue
        others = [(w[j], *boxes[j]) for j in range(len(w)) if j != i]
        if kind == "conjunction":
            least = 1 + (low - b + sum(v * (1 - u) for v, _, u in others)) / weight
            most = 1 + (high - b + sum(v * (1 - lo) for v, lo, _ in others)) / weight
        else:
            least = (low + b - 1 - sum(v * u for v, _, u in others)) / weight
            most = (high + b - 1 - sum(v * lo for v, lo, _ in others)) / weight
        result.append((clamp(least) if below else 0.0, clamp(most) if above else 1.0))
    return result


@pytest.mark.parametrize("kind", KINDS[:3])
def test_ibm_formulas_hold(kind: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(100):
        neuron = random_neuron(rng, "lukasiewicz", kind)
        rows = random_rows(rng, neuron, 10)
        operands = [arrays(rows.lower[:, i], rows.upper[:, i]) for i in range(len(neuron.weights))]
        image = upward(neuron, operands)
        met = arrays(np.maximum(rows.low, image.lower), np.minimum(rows.high, image.upper))
        found = downward(neuron, met, operands)
        for row in range(10):
            boxes = [(float(box.lower[row]), float(box.upper[row])) for box in operands]
            expected = ibm_up(neuron, boxes)
            assert (float(image.lower[row]), float(image.upper[row])) == pytest.approx(expected, abs=1e-12)
            node = float(met.lower[row]), float(met.upper[row])
            if node[0] > node[1] or bool(found.empty[row]):
                continue
            for (lower, upper), ibm, hull in zip(boxes, ibm_down(neuron, boxes, node), found.operands, strict=True):
                expected = max(lower, min(ibm[0], upper)), min(upper, max(ibm[1], lower))
                assert (float(hull.lower[row]), float(hull.upper[row])) == pytest.approx(expected, abs=1e-12)
