"""Explanations through modules that are bound to predicates, learned thresholds and arithmetic units."""

from __future__ import annotations

import json

import pytest
import torch

import lnnkit
from lnnkit.explain.proof.explanation import Explanation


class Table(torch.nn.Module):
    """Its rows, as given."""

    def __init__(self, rows: list[list[float]]) -> None:
        super().__init__()
        self.rows = torch.nn.Parameter(torch.tensor(rows))

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        return self.rows[numbers]


TEXT = """
predicate Digit(image, digit)
predicate Bright(image)
number size(image)
number 体重(image)
fact size(first) = 5
fact 体重(first) = 10
rule pick: Digit(X, two) & Bright(X) -> Two(X)
rule groß: npu(体重(X), size(X)){power: [1, -1]} > ?t=1.5 -> Größe(X)
rule soft: (nau(体重(X), size(X)){weight: [1, -1]} >= ?s=0){scale: 2} -> Softly(X)
label Softly(first)
label ~Softly(second)
fact size(second) = 3
fact 体重(second) = 1
query Two(X)
"""


@pytest.fixture
def kb() -> lnnkit.KnowledgeBase:
    kb = lnnkit.loads(TEXT)
    inputs = {"first": torch.tensor(0), "second": torch.tensor(1)}
    kb.bind("Digit", Table([[0.1, 0.9], [0.8, 0.2]]), inputs, ["one", "two"])
    kb.bind("Bright", Table([[0.8], [1.0]]), inputs)
    return kb


def shown(explanation: Explanation) -> list[str]:
    """In each of the four formats; what is not text is well formed."""
    assert explanation.verify() == []
    found = json.dumps(explanation.as_dict(), ensure_ascii=False, allow_nan=False)
    return [explanation.text(), found, explanation.to_html(), explanation.to_dot()]


def test_module_outputs_are_facts_about_their_inputs(kb: lnnkit.KnowledgeBase) -> None:
    explanation = kb.explain("Two(first)")
    assert explanation.lower == pytest.approx(0.7)
    for text in shown(explanation):
        assert "module Digit" in text and "module Bright" in text and ("0.9" in text or "0.8999" in text)
    second = kb.explain("Digit(second, two)")
    assert "Digit(second, two) >= 0.2   fact, <module Digit>:2" in second.text()
    assert second.as_dict()["lower"]["row"] == 2  # type: ignore[index]  # a node


def test_units_and_learned_thresholds_are_arithmetic(kb: lnnkit.KnowledgeBase) -> None:
    for text in shown(kb.explain("Größe(first)")):
        assert "体重" in text and "groß" in text and "1.5" in text
    kb.fit(epochs=40)
    explanation = kb.explain("Softly(first)")
    learned = kb.module().state_dict()["values.s"].item()
    assert f">= {learned:.6g}" in explanation.text().replace(")", "")
    shown(explanation)


def test_why_not_knows_what_modules_say(kb: lnnkit.KnowledgeBase) -> None:
    said = str(kb.why_not("Two(second)"))
    assert "Digit(second, two) >= 1, now 0.2" in said


def test_conflicts_with_modules_are_minimal(kb: lnnkit.KnowledgeBase) -> None:
    clash = lnnkit.loads(TEXT + "fact ~Two(first)\n")
    inputs = {"first": torch.tensor(0), "second": torch.tensor(1)}
    clash.bind("Digit", Table([[0.1, 0.9], [0.8, 0.2]]), inputs, ["one", "two"])
    clash.bind("Bright", Table([[0.8], [1.0]]), inputs)
    (conflict,) = clash.conflicts()
    least = conflict.minimal()
    assert least.is_minimal
    told = sorted(str(member).partition("   ")[0].split(" = ")[0] for member in least.members)
    assert [text for text in told if text.startswith("fact")] == [
        "fact Bright(first)", "fact Digit(first, two)", "fact ~Two(first)"
    ]  # fmt: skip
    assert conflict.explanation.verify() == []
