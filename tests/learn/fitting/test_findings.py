"""What is said of a fit: that nothing could be learned, and why; that labels do not tell what was found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import nn

import lnnkit
from lnnkit.cli import main
from tests.blocks import at_length

SMALL = """
fact A(a) = 0.3
fact A(b) = 0.2
fact B(a) = 0.4
fact B(b) = 0.1
rule A(X) & B(X) -> P(X)
label P(a)
label P(b)
"""

UNREACHED = """
predicate B(x)
predicate P(x)
fact A(a)
fact A(b)
rule A(X) & B(X) -> P(X)
label P(a)
label P(b)
"""

FACTS = """
number a(x)
number b(x)
fact a(p) = 1
fact b(p) = 2
fact a(q) = 3
fact b(q) = 1
"""


def fitted(text: str, **settings: object) -> lnnkit.Fit:
    return lnnkit.loads(text).fit(**{"epochs": 15, "validation": 0.0, **settings})  # pyright: ignore[reportArgumentType]  # any of them


def codes(found: lnnkit.Fit) -> list[str]:
    return [each.code for each in found.warnings]


def test_conjunctions_of_small_truths_are_named() -> None:
    found = fitted(SMALL)
    (warning,) = found.warnings
    assert found.loss == found.history[0].loss
    assert (warning.code, warning.severity) == ("no-gradient", "warning")
    assert "`P(a)`, `P(b)` is 0" in warning.message
    assert "`soft=True`" in warning.hint
    assert "`logic product`" in warning.hint


@pytest.mark.parametrize(("text", "soft"), [(SMALL, True), ("logic product" + SMALL, False)])
def test_the_next_step_that_is_named_helps(text: str, soft: bool) -> None:
    found = fitted(text, soft=soft)
    assert found.loss < found.history[0].loss - 0.01
    assert [each.code for each in found.warnings] == ["alike-labels"]  # both are true


def test_atoms_that_no_rule_reaches_are_named() -> None:
    (warning,) = fitted(UNREACHED).warnings
    assert warning.code == "no-gradient"
    assert "no rule reaches `P(a)`, `P(b)`" in warning.message


def test_a_bound_network_without_gradient() -> None:
    text = "predicate Bit(image, digit)\naxiom Bit(X, 0) & Bit(Y, 0) -> Sum(X, Y)\n"
    kb = lnnkit.loads(text)
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1))
    with torch.no_grad():
        for weight in module.parameters():
            weight.zero_()
    kb.bind("Bit", module, {"a": torch.ones(2), "b": torch.zeros(2)})
    kb.label("Sum", [("a", "b")])
    (warning,) = kb.fit(epochs=3, validation=0.0, module_rate=0.1).warnings
    assert "`Sum(a, b)` is 0" in warning.message
    found = kb.fit(epochs=30, validation=0.0, module_rate=0.1, soft=True)
    assert found.loss < found.history[0].loss - 0.01


def chained(comparison: str) -> lnnkit.Fit:
    """Two rules between a number that a module supplies, too small at first, and the labels."""
    kb = lnnkit.loads(f"logic product\nnumber size(x)\naxiom {comparison} -> A(X)\naxiom A(X) -> B(X)\n")
    module = nn.Linear(1, 1)
    with torch.no_grad():
        module.weight.fill_(0.1)
        module.bias.fill_(0.0)
    kb.bind("size", module, {"a": torch.ones(1), "b": -torch.ones(1)})
    kb.label("B", [("a", 1.0), ("b", 0.0)])
    return kb.fit(epochs=30, validation=0.0, module_rate=0.1)


def test_comparisons_that_do_not_hold_are_named() -> None:
    (warning,) = chained("size(X) > 3").warnings
    assert "no rule whose comparisons hold reaches `B(a)`" in warning.message
    soft = chained("(size(X) > 3){scale: 1}")  # as the hint says
    assert soft.loss < soft.history[0].loss - 0.01
    assert not soft.warnings


@pytest.mark.parametrize(
    "text",
    [
        "fact A(a)\nfact A(b) = 0\nrule A(X) -> P(X)\nlabel P(a)\nlabel ~P(b)\n",  # met; nothing can tell the other end
        "fact A(a) = 0.8\nfact A(b) = 0.3\nrule A(X) -> P(X) in [0.5, 1]\nlabel P(a)\nlabel ~P(b)\n",
    ],
)
def test_no_warnings_without_cause(text: str) -> None:
    assert codes(fitted(text)) == []


@pytest.mark.parametrize("rule", at_length(["a(X) > ?", "a(X) <?> b(X)", "nau(a(X), b(X)) > ?"], plain=1))
def test_labels_that_are_all_alike(rule: str) -> None:
    rules = f"{FACTS}rule {rule} -> P(X)\n"
    (warning,) = fitted(rules + "label P(p)\nlabel P(q)\n").warnings
    assert warning.code == "alike-labels"
    assert warning.span is not None
    assert "are all true" in warning.message
    assert codes(fitted(rules + "label ~P(p)\nlabel P(q)\n")) == []


def test_labels_of_numbers_may_be_alike() -> None:
    text = FACTS + "number c(x)\nrule c(X) = ?k * nmu(a(X), b(X))\nlabel c(p) = 6\nlabel c(q) = 9\n"
    assert codes(fitted(text)) == []


def test_the_command_line_shows_the_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "small.lnn"
    path.write_text(SMALL)
    assert main(["train", str(path), "-o", str(tmp_path / "out.lnn"), "--epochs", "3", "--format", "json"]) == 0
    shown = capsys.readouterr()
    assert "warning[no-gradient]" in shown.err
    assert [each["code"] for each in json.loads(shown.out)["warnings"]] == ["no-gradient"]


def test_equal_labels_do_not_determine_weights() -> None:
    facts = "".join(f"fact A(x{i}) = {0.5 + i / 20}\nfact C(x{i}) = {1 - i / 40}\nlabel B(x{i})\n" for i in range(8))
    (warning,) = fitted(facts + "rule r: A(X) & C(X) -> B(X)\n").warnings
    assert warning.code == "alike-labels"
    assert "`B` (" in warning.message
    assert codes(fitted(facts.replace("label B(x0)", "label ~B(x0)") + "rule r: A(X) & C(X) -> B(X)\n")) == []


def test_labels_of_other_rules_do_not_identify_a_rule() -> None:
    text = FACTS + "rule a(X) > ? -> P(X)\nrule b(X) > ? -> Q(X)\nlabel P(p)\nlabel P(q)\nlabel Q(p)\nlabel ~Q(q)\n"
    (warning,) = fitted(text).warnings
    assert warning.code == "alike-labels"
    assert "`P` (2) are all true" in warning.message
    assert "`Q`" not in warning.message


@pytest.mark.parametrize("restarts", [1, 3])
def test_rules_that_no_label_reaches_stay_as_written(restarts: int) -> None:
    kb = lnnkit.loads(
        "fact Retired(anna)\nfact Retired(bob) = 0.6\nfact Vip(cora) = 0.9\n"
        "rule poor: Retired(X)@0.5 -> Poor(X)\n"
        "rule other: (Vip(X)@0.6 & Retired(X)@0.35){bias: 0.95} -> Priority(X) in [0.7, 1]\n"
        "rule marked: Retired(X)@?0.6 & Vip(X) -> Kind(X)\n"
        "label Poor(anna) in [0.7, 1]\nlabel Poor(bob) in [0.2, 1]\n"
    )
    found = kb.fit(epochs=30, restarts=restarts)
    written = {"other/weight1": 0.6, "other/weight2": 0.35, "other/bias1": 0.95, "other/lower1": 0.7}
    written |= {"marked/weight1": 0.6}
    assert {name: found.values[name] for name in written} == written
    (warning,) = found.warnings
    assert warning.code == "untold-rule"
    assert warning.message == "no label depends on `other`, `marked`: they stay as written"
