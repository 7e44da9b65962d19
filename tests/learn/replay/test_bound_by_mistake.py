"""What is no module, or no input of one, is refused with the next step."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import lnnkit

ONE = {"a": torch.zeros(2), "b": torch.ones(2)}


@pytest.mark.parametrize(
    ("module", "inputs", "classes", "said", "hint"),
    [
        (torch.ones(2), ONE, (), "a tensor cannot be bound to `P`", "kb.tell"),
        ([0.1, 0.2], ONE, (), "a value of type `list` cannot be bound to `P`", "kb.tell"),
        (lambda rows: rows.mean(dim=1), ONE, (), "a function that is not a torch module", "`forward`"),
        (nn.Linear, ONE, (), "the class `Linear`", "`Linear(...)`"),
        (nn.Linear(2, 1), torch.zeros(3, 2), (), "inputs in a tensor, which name no entities,", "map each entity"),
        (nn.Linear(2, 1), [("a", torch.zeros(2))], (), "inputs in a list", "map each entity"),
        (nn.Linear(2, 1), {1: torch.zeros(2)}, (), "the input of 1, which is not a text,", "'1'"),
        (nn.Linear(2, 1), {"a": "picture.png"}, (), "the input of `a`, which is not a tensor", "give a tensor"),
        (nn.Linear(2, 1), {**ONE, "c": torch.ones(3)}, (), "of `c` of shape [3]", "one shape and type"),
        (
            nn.Linear(5, 1),
            ONE,
            (),
            "a module that fails for a stack of shape [2, 2] (float32) (RuntimeError",
            "a batch of inputs",
        ),
        (nn.LSTM(2, 1), ONE, (), "a module that gives a tuple", "one tensor"),
        (nn.Flatten(0), ONE, (), "a tensor of shape [4] (float32) for 2 inputs", "a row for each"),
        (nn.Linear(2, 1), ONE, "ab", "classes 'ab'", "in a list"),
    ],
)
def test_it_is_refused(module: Any, inputs: Any, classes: Any, said: str, hint: str) -> None:
    kb = lnnkit.loads("predicate P(x)\nrule P(X) -> Q(X)\n")
    with pytest.raises(lnnkit.Error) as caught:
        kb.bind("P", module, inputs, classes)
    (found,) = caught.value.diagnostics
    assert found.code == "unbound"
    assert said in found.message and hint in found.hint


def test_the_hint_for_binding_a_function_works() -> None:
    class Mean(nn.Module):
        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return rows.mean(dim=1)

    kb = lnnkit.loads("predicate P(x)\nrule P(X) -> Q(X)\n")
    kb.bind("P", Mean(), ONE)
    assert kb.ask("P(X)").lower.tolist() == [0.0, 1.0]
    assert kb.ask("Q(b)").lower.tolist() == [1.0]
