"""Gradients reach weights, biases and operands through every kernel."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from lnnkit.logic import Bounds, Logic, logic_named
from tests.logic.neurons import KINDS, LOGICS, WRITTEN

# Inside every piece, far from kinks: lower ends, upper ends, weights, bias, and node bounds that tighten something.
ENDS = [(0.62, 0.83), (0.71, 0.94)]
WEIGHTS = (0.9, 1.2)
NODES = {
    "conjunction": (0.55, 0.62),
    "disjunction": (0.55, 0.93),
    "implication": (0.5, 0.93),
    "equivalence": (0.5, 0.8),
}


def ends_of(values: list[Bounds]) -> tuple[Tensor, ...]:
    return tuple(end for bounds in values for end in bounds)


def run(logic: Logic, kind: str, bias: float, leaves: tuple[Tensor, ...], node: Bounds | None) -> tuple[Tensor, ...]:
    """Both ends of the image, or of the operands' hulls, from ends ``[n]``, two weights and a bias as tensors."""
    operands = [Bounds(leaves[0], leaves[1]), Bounds(leaves[2], leaves[3])]
    weights = (leaves[4], leaves[5])
    own_bias = leaves[6] if len(leaves) > 6 else bias
    if node is None:
        return ends_of([logic.up(WRITTEN[kind], operands, weights, own_bias)])
    return ends_of(list(logic.down(WRITTEN[kind], node, operands, weights, own_bias).operands))


@pytest.mark.parametrize("downward", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("logic", LOGICS)
def test_gradients_agree_with_differences(logic: str, kind: str, downward: bool) -> None:
    double = {"dtype": torch.float64, "requires_grad": True}
    leaves = [torch.tensor([value], **double) for value in itertools.chain(*ENDS)]
    leaves += [torch.tensor(weight, **double) for weight in WEIGHTS]
    if kind != "equivalence":
        leaves.append(torch.tensor(1.05, **double))
    node = None
    if downward:
        low, high = NODES[kind]
        node = Bounds(torch.tensor([low], dtype=torch.float64), torch.tensor([high], dtype=torch.float64))
    torch.autograd.gradcheck(lambda *inputs: run(logic_named(logic), kind, 1.0, inputs, node), leaves, eps=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("logic", LOGICS)
def test_gradients_are_finite_at_crisp_values(logic: str, kind: str) -> None:
    """Every corner of boxes and nodes, with weights that are 0, under 1, 1 and over."""
    corners = list(itertools.product([(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)], repeat=3))
    columns = [torch.tensor([c[i][j] for c in corners], dtype=torch.float64) for i in range(3) for j in range(2)]
    for pair in itertools.product([0.0, 0.5, 1.0, 2.0], repeat=2):
        leaves = [column.clone().requires_grad_() for column in columns[:4]]
        leaves += [torch.tensor(weight, dtype=torch.float64, requires_grad=True) for weight in pair]
        if kind != "equivalence":
            leaves.append(torch.tensor(1.0, dtype=torch.float64, requires_grad=True))
        for node in (None, Bounds(columns[4], columns[5])):
            ends = run(logic_named(logic), kind, 1.0, tuple(leaves), node)
            assert all(bool(torch.isfinite(end).all()) for end in ends)
            torch.stack(ends).sum().backward()
        for leaf in leaves:
            assert leaf.grad is not None and bool(torch.isfinite(leaf.grad).all())


def test_a_message_at_the_border_keeps_its_whole_gradient() -> None:
    """Modus ponens on crisp truths: the message is exactly 1, where a clamp or a tie could halve the gradient."""
    one, zero = torch.ones(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    bias = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    found = logic_named("lukasiewicz").down(
        "implies", Bounds(one, one), [Bounds(one, one), Bounds(zero, one)], (1.0, 1.0), bias
    )
    (gradient,) = torch.autograd.grad(found.operands[1].lower.sum(), [bias])
    assert float(gradient) == 1.0
