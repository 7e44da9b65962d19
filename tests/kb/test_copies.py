"""Copies of a knowledge base, and why it is not pickled."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
import torch
from torch import nn

import lnnkit

TEXT = """
number late(person)
fact late(anna) = 1
fact late(bob) = 5
rule slow: late(X) > ?limit=3 -> Slow(X)
label Slow(bob)
label ~Slow(anna)
"""


def slow(kb: lnnkit.KnowledgeBase) -> list[str]:
    return list(kb.ask("Slow(X)").columns[0])


def test_a_deep_copy_goes_its_own_way() -> None:
    kb = lnnkit.loads(TEXT)
    assert slow(kb) == ["bob"]
    other = copy.deepcopy(kb)
    assert slow(other) == ["bob"]
    other.tell("late", [("cora", 9)])
    other.module().load({"limit": 0.0})
    assert slow(other) == ["anna", "bob", "cora"]
    assert slow(kb) == ["bob"]
    assert "?limit=3" in kb.text and "?limit=0" in other.text
    kb.tell("late", [("dora", 7)])
    assert slow(kb) == ["bob", "dora"] and slow(other) == ["anna", "bob", "cora"]


def test_a_deep_copy_keeps_what_was_told_and_learned() -> None:
    kb = lnnkit.loads(TEXT)
    kb.tell("late", [("cora", 9)])
    kb.module().load({"limit": 6.0})
    assert slow(copy.deepcopy(kb)) == ["cora"]


def test_modules_of_a_deep_copy_are_its_own() -> None:
    kb = lnnkit.loads("predicate P(x)\nrule P(X) -> Q(X)\n")
    module = nn.Linear(1, 1)
    with torch.no_grad():
        module.weight.fill_(0.0)
        module.bias.fill_(0.25)
    kb.bind("P", module, {"a": torch.zeros(1)})
    other = copy.deepcopy(kb)
    with torch.no_grad():
        module.bias.fill_(0.75)
    assert kb.ask("P(a)").lower.tolist() == [0.75]
    assert other.ask("P(a)").lower.tolist() == [0.25]


def test_a_knowledge_base_is_not_pickled_and_the_step_that_is_named_works(tmp_path: Path) -> None:
    kb = lnnkit.loads(TEXT)
    with pytest.raises(TypeError, match=r"cannot be pickled: write it with kb.save\('kb.lnn'\)"):
        pickle.dumps(kb)
    kb.save(tmp_path / "kb.lnn")
    assert slow(lnnkit.load(tmp_path / "kb.lnn")) == slow(kb)
