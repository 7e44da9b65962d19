"""Answers have no truth value of their own; `holds` decides a formula."""

from __future__ import annotations

import re

import pytest

import lnnkit

TEXT = """
number age(person)
fact Fraud(bob)
fact ~Fraud(anna)
fact Likely(anna) in [0.8, 1]
fact Both(anna)
fact ~Both(anna)
fact age(anna) = 34
rule Fraud(X) -> Checked(X)
"""


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("Fraud(anna)", "write kb.holds('Fraud(anna)'), or compare each answer's .state"),
        ("~Fraud(bob)", "write kb.holds('~Fraud(bob)'), or"),
        ("Fraud(X)", "write len(answers) > 0, or compare"),
        ("Fraud(X) & ~Fraud(X)", "write len(answers) > 0"),  # no answer at all
        ("age(anna)", "write len(answers) > 0, or read .lower and .upper"),
    ],
)
def test_a_table_of_answers_has_no_truth_value(query: str, written: str) -> None:
    answers = lnnkit.loads(TEXT).ask(query)
    with pytest.raises(ValueError, match=re.escape(written)):
        bool(answers)
    with pytest.raises(ValueError, match="ambiguous"):
        _ = not answers[:1]  # pyright: ignore[reportGeneralTypeIssues] -- that it raises is what is tested
    assert len(list(answers)) == len(answers)


def test_an_answer_and_a_proof_have_none_either() -> None:
    kb = lnnkit.loads(TEXT)
    with pytest.raises(ValueError, match=re.escape("answer.state == 'true'")):
        bool(kb.ask("Fraud(anna)")[0])
    pytest.importorskip("z3")
    with pytest.raises(ValueError, match=re.escape("proved.verdict == 'entailed'")):
        bool(kb.prove("Fraud(anna)", reading="exact"))


@pytest.mark.parametrize(
    ("formula", "alpha", "holds"),
    [
        ("Fraud(bob)", 1.0, True),
        ("Fraud(anna)", 1.0, False),
        ("~Fraud(anna)", 1.0, True),
        ("Checked(bob)", 1.0, True),
        ("Checked(anna)", 1.0, None),
        ("Likely(anna)", 1.0, None),
        ("Likely(anna)", 0.8, True),
        ("~Likely(anna)", 0.8, False),
        ("Both(anna)", 1.0, None),  # its bounds cross
        ("age(anna) > 30", 1.0, True),
        ("age(anna) > 34", 1.0, False),
        ("exists X: Checked(X)", 1.0, True),
    ],
)
def test_holds_is_true_false_or_none(formula: str, alpha: float, holds: bool | None) -> None:
    assert lnnkit.loads(TEXT).holds(formula, alpha=alpha) is holds


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        ("Fraud(X)", "free-variable"),
        ("age(anna)", "no-formula"),
        ("Fraud(ana)", "unknown-entity"),
        ("Fraud(", "unclosed-group"),
    ],
)
def test_holds_refuses_what_is_not_one_truth(formula: str, code: str) -> None:
    with pytest.raises(lnnkit.ProgramError) as raised:
        lnnkit.loads(TEXT).holds(formula)
    assert [each.code for each in raised.value.diagnostics] == [code]
