"""Learned literals that are always or never true of the data, and fits that are no better than the majority class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lnnkit
from tests.blocks import at_length

ROWS = 40
AGES = [20 + row for row in range(ROWS)]
HEAD = "number income(person)\nnumber age(person)\npredicate Good(person) closed\n"
ALL_KNOWN = range(ROWS)


def program(rule: str, *, incomes: range = ALL_KNOWN, good: object = None) -> lnnkit.KnowledgeBase:
    """A program about forty people of 20 to 59 with incomes from 0 on; those from 40 on are good, or ``good``."""
    labels = [age >= 40 for age in AGES] if good is None else list(good)  # pyright: ignore[reportArgumentType]
    lines = [f"fact age(p{row}) = {age}" for row, age in enumerate(AGES)]
    lines += [f"fact income(p{row}) = {100 * row}" for row in incomes]
    lines += [f"label {'' if true else '~'}Good(p{row})" for row, true in enumerate(labels)]
    return lnnkit.loads(HEAD + rule + "\n" + "\n".join(lines) + "\n")


def rule_of(kb: lnnkit.KnowledgeBase) -> str:
    (line,) = [line for line in kb.text.splitlines() if line.startswith("rule")]
    return line


def codes(found: lnnkit.Fit) -> list[str]:
    return [each.code for each in found.warnings]


@pytest.mark.parametrize(
    ("body", "left"),
    at_length(
        [
            ("income(X) > ?low=-1000 & age(X) >= ?cut=40", "age(X) >= ?cut=40"),
            ("age(X) >= ?cut=40 & ~(income(X) < ?low=-1000)", "age(X) >= ?cut=40"),
            ("income(X) > ?-1000 & age(X) >= ?40", "age(X) >= ?40"),
            ("income(X) > ?high=90000 | age(X) >= ?cut=40", "age(X) >= ?cut=40"),
            ("(income(X) > ?low=-1000 | age(X) > ?old=50) & age(X) >= ?cut=40", "age(X) >= ?cut=40"),
            ("-5000 < income(X) < ?high=90000 & age(X) >= ?cut=40", "age(X) >= ?cut=40"),
        ],
        plain=2,
        several=True,
    ),
)
def test_a_constant_literal_is_reported_and_dropped(body: str, left: str, tmp_path: Path) -> None:
    kb = program(f"rule r: {body} -> Good(X)")
    before = kb.ask("Good(X)")
    found = kb.fit(epochs=3, validation=0.0)
    assert "constant-literal" in codes(found)
    assert rule_of(kb) == f"rule r: {left} -> Good(X)"
    assert found.evidence.rules[0][2] == rule_of(kb)
    after = kb.ask("Good(X)")
    assert np.array_equal(before.lower, after.lower) and np.array_equal(before.upper, after.upper)
    for name in ("out.lnn", "out.safetensors"):
        kb.save(tmp_path / name)
        again = lnnkit.load(tmp_path / name).ask("Good(X)")
        assert np.array_equal(after.lower, again.lower) and after.columns == again.columns


def test_the_finding_names_literal_and_rule_and_is_in_the_report() -> None:
    found = program("rule r: income(X) > ?low=-1000 & age(X) >= ?cut=40 -> Good(X)").fit(epochs=3, validation=0.0)
    (warning,) = found.warnings
    assert "`income(X) > -1000` of `r` is always true (40 rows)" in warning.message
    assert warning.span is not None and warning.span.text == "income(X) > ?low=-1000"
    assert "income(X) &gt; -1000" in found.to_html().split("<h2>Scores</h2>")[0]


@pytest.mark.parametrize(
    ("body", "incomes"),
    [
        ("income(X) > ?low=-1000 & age(X) >= ?cut=40", range(5, 35)),  # the rule says nothing of the others
        ("income(X) < ?low=-1000 & age(X) >= ?cut=40", ALL_KNOWN),  # it is never true, and so is the rule's body
        ("income(X) > ?low=-1000", ALL_KNOWN),  # all that the rule has
    ],
)
def test_a_literal_that_answers_need_stays(body: str, incomes: range) -> None:
    kb = program(f"rule r: {body} -> Good(X)", incomes=incomes)
    before = kb.ask("Good(X)")
    found = kb.fit(epochs=1, rate=1e-9, validation=0.0)
    assert "constant-literal" in codes(found)
    assert "income(X)" in rule_of(kb)
    assert np.array_equal(before.lower, kb.ask("Good(X)").lower)


def test_a_literal_comes_back_with_other_values_and_with_another_fit() -> None:
    kb = program("rule r: income(X) > ?low=-1000 & age(X) >= ?cut=40 -> Good(X)")
    module = kb.module()
    kb.fit(epochs=3, validation=0.0)
    assert len(kb.ask("Good(X)")) == 20
    module.load({"low": 3500.0})  # people 36 to 39 alone have more
    assert "income(X)" in rule_of(kb)
    assert len(kb.ask("Good(X)")) == 4
    kb.fit(epochs=3, validation=0.0)
    assert kb.module() is module


def test_informative_literals_are_not_reported() -> None:
    found = program("rule r: income(X) >= ?low=1000 & age(X) >= ?cut=40 -> Good(X)").fit(epochs=1, rate=1e-9)
    assert codes(found) == []  # the former is false of p0 to p9


def test_a_fit_no_better_than_the_majority_class_warns() -> None:
    rare = [row % 8 == 0 for row in range(ROWS)]
    found = program("rule r: age(X) >= ?cut=30 -> Good(X)", good=rare).fit(epochs=5, validation=0.0)
    (warning,) = [each for each in found.warnings if each.code == "majority-class"]
    right = sum((age >= found.values["cut"]) == true for age, true in zip(AGES, rare, strict=True)) / ROWS
    assert f"right in {right:.1%} of the 40 labels, and `false` for all would be right in 87.5%" in warning.message
    assert "balanced" in warning.hint


def test_a_fit_that_is_better_does_not() -> None:
    good = [age >= 38 for age in AGES]
    found = program("rule r: age(X) >= ?cut=40 -> Good(X)", good=good).fit(epochs=1, rate=1e-9, validation=0.0)
    assert "majority-class" not in codes(found)


FEW = """
number late(x)
predicate Poor(x)
fact late(a) = 1
fact late(b) = 2
fact late(c) = 3
fact late(d) = 4
label Poor(a)
label ~Poor(b)
label ~Poor(c)
label Poor(d)
"""


def test_what_the_data_placed_is_not_nothing() -> None:
    placed = lnnkit.loads(FEW + "rule late(X) > ?cut -> Poor(X)\n").fit(epochs=3, validation=0.0)
    (warning,) = [each for each in placed.warnings if each.code == "no-gradient"]
    assert "nothing was learned" not in warning.message
    assert f"the data gave `cut = {placed.values['cut']:g}`, and training changed nothing more" in warning.message


def test_nothing_is_nothing() -> None:
    text = "fact A(a) = 0.3\nfact A(b) = 0.2\nfact B(a) = 0.4\nfact B(b) = 0.1\nrule A(X) & B(X) -> P(X)\n"
    found = lnnkit.loads(text + "label P(a)\nlabel P(b)\n").fit(epochs=3, validation=0.0)
    (warning,) = found.warnings
    assert warning.message.startswith("nothing was learned: the loss does not depend on anything")
    assert set(found.values.values()) == {1.0}  # as the rule begins


def test_an_untrained_rule_does_not_prevent_fitting_others() -> None:
    text = program("rule r: income(X) > ?low=-1000 & age(X) >= ?cut=40 -> Good(X)").text
    kb = lnnkit.loads(text + "rule s: age(X) > ?other -> Old(X)\n")
    found = kb.fit(only="r", epochs=2, validation=0.0)
    assert found.values["cut"] > 39
    assert "?other" in kb.text
