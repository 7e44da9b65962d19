"""Neural predicates: a module supplies truths, and learns from labels of what the rules make of them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import lnnkit

RULES = """
logic product
predicate Bit(image, digit)
predicate Sum(image, image, digit)
axiom Bit(X, 0) & Bit(Y, 0) -> Sum(X, Y, 0)
axiom Bit(X, 1) & Bit(Y, 1) -> Sum(X, Y, 2)
"""


def images(count: int) -> tuple[dict[str, torch.Tensor], list[int]]:
    """Noisy images of bits, and the bits."""
    generator = torch.Generator().manual_seed(0)
    bits = [place % 2 for place in range(count)]
    return {
        f"i{place}": torch.tensor([float(bit), 1.0 - bit]) + 0.2 * torch.randn(2, generator=generator)
        for place, bit in enumerate(bits)
    }, bits


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 2), nn.Softmax(dim=1))


def test_answers_follow_the_module() -> None:
    kb = lnnkit.loads("predicate P(x)\nfact Q(a)\nrule P(X) & Q(X) -> R(X)\n")
    module = nn.Linear(1, 1)
    with torch.no_grad():
        module.weight.fill_(0.5)
        module.bias.fill_(0.25)
    kb.bind("P", module, {"a": torch.ones(1), "b": torch.zeros(1)})
    assert [round(answer.lower, 6) for answer in kb.ask("P(X)")] == [0.75, 0.25]
    assert kb.ask("R(a)").lower[0] == pytest.approx(0.75)
    with torch.no_grad():
        module.bias.fill_(0.0)
    assert kb.ask("R(a)").lower[0] == pytest.approx(0.5)


def test_a_module_learns_from_labels_of_what_follows() -> None:
    inputs, bits = images(24)
    kb = lnnkit.loads(RULES)
    module = network()
    kb.bind("Bit", module, inputs)
    pairs = [(a, b) for a in range(24) for b in range(a + 1, 24) if bits[a] == bits[b]]
    kb.label("Sum", [(f"i{a}", f"i{b}", str(2 * bits[a])) for a, b in pairs])
    kb.fit(epochs=60, module_rate=0.05, validation=0.0)
    with torch.no_grad():
        found = module(torch.stack(list(inputs.values()))).argmax(1).tolist()
    assert found == bits


@pytest.mark.parametrize("name", ["Nothing", "Sum"])
def test_what_cannot_be_bound(name: str) -> None:
    with pytest.raises(lnnkit.Error, match="unbound"):
        lnnkit.loads(RULES).bind(name, network(), {"a": torch.ones(2)})
