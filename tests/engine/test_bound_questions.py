"""A question about a closed derived predicate that names an entity completes only what it needs; its answers are those
of the whole fixpoint, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import lnnkit
from tests.blocks import at_length, in_blocks
from tests.engine.bound_questions import drawn

CHAIN = "predicate Edge(n, n) closed\npredicate Path(n, n) closed\nrule Edge(X, Y) -> Path(X, Y)\n"
BODIES = ("Path(X, Y) & Edge(Y, Z)", "Edge(X, Y) & Path(Y, Z)")


def rows(answers: lnnkit.Answers) -> list[object]:
    return [(answer.bindings, answer.lower, answer.upper) for answer in answers]


def disagreements(seed: int) -> list[str]:
    """Questions that have other answers before the whole is inferred than after it."""
    text, questions = drawn(seed)
    try:
        whole = lnnkit.loads(text)
        whole.infer()
    except lnnkit.ProgramError:
        return []
    found = []
    for question in questions:
        try:
            expected = rows(whole.ask(question))
        except lnnkit.ProgramError:
            continue
        asked = lnnkit.loads(f"{text}query {question}\n").answers()[0] if seed % 2 else lnnkit.loads(text).ask(question)
        if rows(asked) != expected:
            found.append(f"{text}query {question}")
    return found


@pytest.mark.parametrize("block", in_blocks(range(1200), 100, plain=2))
def test_answers_are_those_of_the_whole(block: range) -> None:
    for seed in block:
        assert disagreements(seed) == [], f"seed {seed}"


@pytest.mark.parametrize(
    ("body", "question"),
    at_length(
        [(BODIES[0], "Path(5, X)"), (BODIES[1], "Path(X, 2990)"), (BODIES[0], "Path(9, 5)"), (BODIES[1], "Path(5, 9)")],
        plain=2,
        several=True,
    ),
)
def test_only_what_is_needed_is_derived(body: str, question: str) -> None:
    """Of a chain of 3,000 links there are 4.5 million paths, and a question about few of them derives few."""
    kb = lnnkit.loads(f"{CHAIN}rule {body} -> Path(X, Z)\nquery {question}\n")
    kb.tell("Edge", {"from": np.arange(3000), "to": np.arange(1, 3001)})
    atoms = kb.infer().atoms
    assert atoms is not None and atoms < 4 * 3000


def test_a_later_question_is_answered_from_all_that_it_needs() -> None:
    kb = lnnkit.loads(CHAIN + f"rule {BODIES[0]} -> Path(X, Z)\nquery Path(1, X)\n")
    kb.tell("Edge", [(i, i + 1) for i in range(10)])
    assert len(kb.answers()[0]) == 9
    assert len(kb.ask("Path(2, X)")) == 8
    assert len(kb.ask("Path(X, Y)")) == 55
    assert kb.ask("Path(3, 7)").lower.tolist() == [1.0]
    assert "fact" in str(kb.explain("Path(0, 2)"))
    assert kb.explain("Path(0, 2)").lower == 1.0


def test_what_it_joins_is_shown() -> None:
    kb = lnnkit.loads(CHAIN + f"rule {BODIES[0]} -> Path(X, Z)\nquery Path(1, X)\n")
    kb.tell("Edge", [(i, i + 1) for i in range(10)])
    assert "Path(X, _) asked for" in str(kb.plan())


def test_an_explanation_covers_the_whole_predicate() -> None:
    """A near miss that the question itself does not need is there all the same."""
    text = f"{CHAIN}rule {BODIES[1]} -> Path(X, Z)\nfact Edge(b, c)\nfact Edge(c, d)\nfact Edge(a, e)\n"
    asked = lnnkit.loads(text + "query Path(a, d)\n")
    asked.infer()
    whole = lnnkit.loads(text)
    whole.infer()
    assert str(asked.why_not("Path(a, d)")) == str(whole.why_not("Path(a, d)"))
    assert str(asked.explain("Path(a, d)")) == str(whole.explain("Path(a, d)"))
    assert str(asked.explain("Path(b, d)")) == str(whole.explain("Path(b, d)"))
