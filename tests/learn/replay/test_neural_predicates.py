"""Neural predicates and numbers: a module supplies truths or numbers, and learns from labels of what follows."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import lnnkit
from lnnkit.budget import Budget
from lnnkit.learn.fitting.fitting_problem import Fitting, Settings
from lnnkit.learn.replay.neural_predicates import Binding
from tests.blocks import at_length
from tests.learn.replaying import learning

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


def points(count: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return {f"i{place}": 4 * torch.rand(2, generator=generator) for place in range(count)}


def linear(weights: tuple[float, float], bias: float) -> nn.Linear:
    module = nn.Linear(2, 1).double()
    with torch.no_grad():
        module.weight.copy_(torch.tensor([weights]))
        module.bias.fill_(bias)
    return module


def planted(inputs: dict[str, torch.Tensor]) -> dict[str, float]:
    return {name: float(x[0] + 2 * x[1] - 1) for name, x in inputs.items()}


def test_numbers_follow_the_module() -> None:
    kb = lnnkit.loads(
        "number size(image)\nnumber area(image)\naxiom area(X) = size(X) * 2 + 1\n"
        "axiom Big(X) <-> size(X) > 3\naxiom area(X) > 6 -> Wide(X)\n"
    )
    module = linear((1.0, 0.0), 0.0)
    kb.bind("size", module, {"a": torch.tensor([3.5, 0.0]).double(), "b": torch.tensor([-2.0, 0.0]).double()})
    assert [answer.lower for answer in kb.ask("size(X)")] == [3.5, -2.0]  # not clamped
    assert [answer.lower for answer in kb.ask("area(X)")] == [8.0, -3.0]
    assert (kb.ask("Big(a)").lower[0], kb.ask("Big(b)").upper[0], kb.ask("Wide(a)").lower[0]) == (1.0, 0.0, 1.0)
    with torch.no_grad():
        module.bias.fill_(5.5)
    assert kb.ask("Big(b)").lower[0] == 1.0
    assert kb.assume({"size(b)": 1.0}).ask("Big(b)").upper[0] == 0.0


def test_numbers_by_class() -> None:
    kb = lnnkit.loads("number score(image, digit)\naxiom score(X, 1) > score(X, 0) -> One(X)\n")
    kb.bind("score", nn.Identity(), {"a": torch.tensor([0.0, 7.0]), "b": torch.tensor([-1.0, -2.0])})
    assert [answer.bindings["X"] for answer in kb.ask("One(X)")] == ["a"]


NUMBERS = """
number size(image)
number area(image)
number other(image)
fact other(i0) = 2.5
fact other(i1) in [1, 4]
fact other(i2) = 3
fact other(i3) = 5
"""

LABELS = "label P(i0) in [0.25, 0.5]\nlabel ~P(i1)\nlabel P(i2)\n"

DIFFERENTIABLE = {
    "a number itself": "label size(i0) = 2\nlabel size(i1) = 7\nlabel size(i2) in [1, 3]\n",
    "a comparison": "axiom (size(X) > 2){scale: 2} -> P(X)\n" + LABELS,
    "an equivalence": "axiom P(X) <-> (size(X) < other(X)){scale: 2}\n" + LABELS,
    "equal to a degree": "axiom (size(X) = other(X)){scale: 3} -> P(X)\n" + LABELS,
    "a learned threshold": "rule (size(X) > ?2){scale: 2} -> P(X)\n" + LABELS,
    "a unit": "rule (nau(size(X), other(X)){weight: [?0.5, ?-0.25]} > 1){scale: 2} -> P(X)\n" + LABELS,
    "an equation": "axiom area(X) = size(X)^2 - other(X)\nlabel area(i0) = 3\nlabel area(i1) = 1\nlabel area(i3) = 9\n",
    "two steps": "axiom area(X) = size(X) * 2 + 1\naxiom (area(X) > other(X)){scale: 4} -> P(X)\n" + LABELS,
    "an order that tells a number": "axiom area(X) > size(X) * 2\nlabel area(i0) in [3, 9]\nlabel area(i1) in [2, 8]\n",
}


def fitting(text: str, module: nn.Module) -> Fitting:
    inputs = points(4)
    program = learning(NUMBERS.strip() + "\n" + text)
    stacked = torch.stack(list(inputs.values())).double()
    binding = Binding("size", module, stacked, tuple(inputs), (), numeric=True)
    settings = Settings(validation=0.0)
    return Fitting(program.checked, program.parameters, settings, Budget(instances=100_000), [], [binding])


def gradient(own: Fitting, module: nn.Module, softness: float = 0.0) -> tuple[torch.Tensor, list[float]]:
    """The loss by its replay, and the gradients of the module's weights."""
    values = torch.tensor([float(each.start or 0.0) for each in own.parameters], dtype=torch.float64)
    (batch,) = own.batches(own.infer(values, softness), torch.Generator())
    loss = sum(own.terms(batch, values).values(), torch.zeros(()))
    found = torch.autograd.grad(loss, list(module.parameters()))
    return loss.detach(), torch.cat([each.reshape(-1) for each in found]).tolist()


def inferred_loss(own: Fitting) -> float:
    """The loss of the whole fixpoint."""
    values = torch.tensor([float(each.start or 0.0) for each in own.parameters], dtype=torch.float64)
    return own.infer(values).losses.total


def differences(own: Fitting, module: nn.Linear, step: float = 1e-5) -> list[float]:
    """Central differences of the loss of the whole fixpoint by the module's weights."""
    found: list[float] = []
    for weight in module.parameters():
        for place in range(weight.numel()):
            ends = []
            for sign in (1, -1):
                with torch.no_grad():
                    weight.view(-1)[place] += sign * step
                ends.append(inferred_loss(own))
                with torch.no_grad():
                    weight.view(-1)[place] -= sign * step
            found.append((ends[0] - ends[1]) / (2 * step))
    return found


@pytest.mark.parametrize("case", at_length([*DIFFERENTIABLE], plain=4))
def test_gradients_of_bound_numbers_are_those_of_the_fixpoint(case: str) -> None:
    module = linear((0.7, 0.4), 0.3)
    own = fitting(DIFFERENTIABLE[case], module)
    loss, found = gradient(own, module)
    assert float(loss) == pytest.approx(inferred_loss(own), abs=1e-9)
    assert max(map(abs, found)) > 1e-4
    assert found == pytest.approx(differences(own, module), rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("sign", ["<", ">=", "=", "!="])
def test_a_crisp_comparison_is_trained_as_a_soft_one(sign: str) -> None:
    """Of the scale that softening chose: the loss of the replay, and its gradients, are those of the soft program."""
    module = linear((0.7, 0.4), 0.3)
    text = "axiom (size(X) " + sign + " other(X)){} -> P(X)\nlabel P(i0)\nlabel ~P(i2)\nlabel P(i3)\n"
    crisp = fitting(text.replace("{}", ""), module)
    loss, found = gradient(crisp, module, softness=1.0)
    with torch.no_grad():
        sizes = [float(module(x.double())) for x in points(4).values()]
    gaps = [(sizes[place] - other) ** 2 for place, other in ((0, 2.5), (2, 3.0), (3, 5.0))]
    scale = 0.5 * (sum(gaps) / 3) ** 0.5
    soft = fitting(text.replace("{}", f"{{scale: {scale!r}}}"), module)
    assert float(loss) == pytest.approx(inferred_loss(soft), abs=1e-9)
    assert found == pytest.approx(differences(soft, module), rel=1e-4, abs=1e-7)
    assert max(map(abs, found)) > 1e-4


@pytest.mark.parametrize(
    "rules",
    at_length(
        [
            "axiom size(X) > 3 -> Big(X)",  # where nothing is big at first, no rule tells anything
            "rule size(X) > ?t -> Big(X)",
            "axiom Big(X) <-> size(X) > 3",
            "rule size(X) > 3 & size(X) < 12 -> Big(X)",
            "number area(image)\naxiom area(X) = size(X) * 2 + 1\naxiom area(X) > 7 -> Big(X)",
        ],
        plain=1,
    ),
)
def test_a_number_is_learned_from_labels_of_what_follows(rules: str) -> None:
    inputs = points(20)
    kb = lnnkit.loads(f"number size(image)\n{rules}\n")
    torch.manual_seed(1)
    kb.bind("size", nn.Linear(2, 1), inputs)
    kb.label("Big", [(name, float(size > 3)) for name, size in planted(inputs).items()])
    found = kb.fit(epochs=100, module_rate=0.1, validation=0.0)
    assert found.train.predicates["Big"].accuracy == 1.0


@pytest.mark.slow
def test_numbers_of_two_entities_are_compared() -> None:
    inputs = points(8)
    sizes = planted(inputs)
    kb = lnnkit.loads("number size(image)\naxiom size(X) > size(Y) -> Bigger(X, Y)\n")
    torch.manual_seed(1)
    kb.bind("size", nn.Linear(2, 1), inputs)
    kb.label("Bigger", [(a, b, float(sizes[a] > sizes[b])) for a in inputs for b in inputs if a != b])
    found = kb.fit(epochs=150, module_rate=0.1, validation=0.0)
    assert found.train.predicates["Bigger"].accuracy == 1.0


@pytest.mark.slow
def test_a_number_is_learned_by_regression() -> None:
    inputs = points(20)
    kb = lnnkit.loads("number size(image)\n")
    torch.manual_seed(1)
    module = nn.Linear(2, 1)
    kb.bind("size", module, inputs)
    kb.label("size", list(planted(inputs).items()))
    kb.fit(epochs=300, module_rate=0.05, validation=0.0)
    assert module.weight.tolist()[0] == pytest.approx([1.0, 2.0], abs=0.02)
    assert module.bias.tolist() == pytest.approx([-1.0], abs=0.05)


def test_what_is_no_finite_number_is_refused() -> None:
    kb = lnnkit.loads("number size(image)\naxiom size(X) > 3 -> Big(X)\n")
    kb.bind("size", linear((float("nan"), 0.0), 0.0), {"a": torch.ones(2).double()})
    with pytest.raises(lnnkit.Error, match="not-finite"):
        kb.ask("Big(X)")
