"""Tables of many rows are decided strip by strip: as all rows together.

With a limit on rounds all rows are inferred together, so a knowledge base with one says what is right.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lnnkit
from lnnkit.kb import fixpoint
from lnnkit.rows import strip_engine
from tests.rows.row_programs import generate, write

ROWS = 4_000  # of at least three tables: more facts than the engine takes by itself
LIMIT = 99_999


@pytest.fixture(autouse=True)
def _short_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "_FEW", 2**12)
    monkeypatch.setattr(strip_engine, "LENGTH", 1500)


def both(seed: int, folder: Path, size: int = 5) -> tuple[lnnkit.KnowledgeBase, lnnkit.KnowledgeBase, bool]:
    program = generate(seed, size=size, rows=ROWS, reference=False)
    write(program, folder)
    return lnnkit.loads(program.text, folder), lnnkit.loads(program.text, folder), program.rounded


def differences(kb: lnnkit.KnowledgeBase, other: lnnkit.KnowledgeBase, rounded: bool) -> list[str]:
    outcome, expected = kb.infer(), other.infer(max_rounds=LIMIT)
    if expected.status != "converged":
        return []
    found = [] if outcome.status == "converged" else [str(outcome)]
    if abs(outcome.rounds - expected.rounds) > rounded:  # a gain near what counts as none may take a round more
        found.append(f"{outcome}, {expected}")
    if outcome.contradictions != expected.contradictions:
        found.append(f"{len(outcome.contradictions)} contradictions, {len(expected.contradictions)}")
    for query, mine, theirs in zip(kb.queries, kb.answers(), other.answers(), strict=True):
        keys = [each.bindings["X"] for each in mine], [each.bindings["X"] for each in theirs]
        if keys[0] != keys[1] or not np.array_equal(mine.contested, theirs.contested):
            found.append(f"{query}: {len(keys[0])} answers, {len(keys[1])}")
            continue
        for own, ends in zip((mine.lower, mine.upper), (theirs.lower, theirs.upper), strict=True):
            apart = np.flatnonzero(own != ends)
            found += [f"{query}, {keys[0][row]}: {own[row]}, {ends[row]}" for row in apart[:3]]
    return found


@pytest.mark.parametrize(("seed", "size"), [(248, 1), (282, 1), (101, 2)])  # two have a fact about a single row
def test_strips_answer_as_the_whole(seed: int, size: int, tmp_path: Path) -> None:
    assert differences(*both(seed, tmp_path, size)) == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(5))
def test_many_programs(block: int, tmp_path: Path) -> None:
    for seed in range(100 * block, 100 * block + 8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        assert differences(*both(seed, folder, size=1 + seed % 2)) == [], seed


LOANS = """
number income(loan)
number debt(loan)
predicate Late(loan)
rule safe: income(X) > 2 * debt(X) & ~Late(X) -> Grant(X) in [0.9, 1]
query Grant(X)
query ~Grant(X)
query debt(X)
"""


def loans(rows: int) -> lnnkit.KnowledgeBase:
    rng = np.random.default_rng(7)
    kb = lnnkit.loads(LOANS)
    ids = np.arange(rows)
    kb.tell("income", {"loan": ids, "value": rng.integers(0, 90, rows).astype(float)})
    kb.tell("debt", {"loan": ids, "value": rng.integers(0, 60, rows).astype(float)})
    kb.tell("Late", {"loan": ids[::3], "truth": rng.random(len(ids[::3]))})
    return kb


def test_what_else_is_asked_comes_from_the_whole() -> None:
    kb, other = loans(ROWS), loans(ROWS)
    kb.infer()
    other.infer(max_rounds=LIMIT)
    grant = next(each for each in kb.answers()[0] if each.lower > 0.3)
    atom = f"Grant({grant.bindings['X']})"
    proof = kb.explain(atom)
    assert (proof.lower, proof.upper) == (grant.lower, grant.upper)
    assert "safe" in str(proof)
    for query in (atom, "Grant(X) & Late(X)", "income(X) - debt(X)", "Late(X)"):
        assert list(kb.ask(query)) == list(other.ask(query))
    assert list(kb.answers()[1]) == list(other.answers()[1])


def test_more_facts_are_counted() -> None:
    kb = loans(ROWS)
    before = len(kb.answers()[0])
    kb.tell("Late", {"loan": np.arange(ROWS), "truth": np.ones(ROWS)})
    assert before
    assert not len(kb.answers()[0]) or all(each.lower == 0 for each in kb.answers()[0])


class _Once:
    """Stops inference after the first report."""

    def after_round(self, report: object, /) -> bool:
        return False


def test_a_watch_stops_between_strips_with_bounds_that_hold() -> None:
    kb, whole = loans(5_000), loans(5_000)
    assert kb.infer(watch=_Once()).status == "interrupted"
    some, every = kb.answers()[0], whole.answers()[0]
    assert 0 < len(some) < len(every)
    assert {str(each) for each in some} <= {str(each) for each in every}
    assert [each.code for each in some.warnings] == ["interrupted"]


@pytest.mark.parametrize("more", ["", "rule D(X) -> ~C(X) in [0.6, 1]\n"])
def test_contradictions_of_what_is_not_asked_for_are_reported(more: str) -> None:
    """An instance that cannot be satisfied, and an atom of which two rules say what it cannot be."""
    ids = np.arange(5000)
    kb = lnnkit.loads(f"predicate A(e)\npredicate C(e)\npredicate D(e)\nrule A(X) -> C(X)\n{more}query D(X)")
    kb.tell("A", {"e": ids, "truth": np.full(5000, 0.6)})
    kb.tell("D", {"e": ids})
    kb.tell("C", {"e": ids, "lower": np.zeros(5000), "upper": np.full(5000, 0.9 if more else 0.5)})
    found = kb.infer().contradictions
    assert {each.kind for each in found} == {"atom" if more else "rule"}
    assert len(found) == 5000


def test_what_a_watch_keeps_from_completion_is_unknown_and_not_false() -> None:
    rows = 5_000
    kb = lnnkit.loads("predicate A(e)\npredicate C(e) closed\nrule A(X) -> C(X)\nquery C(X)\nquery ~C(X)")
    kb.tell("A", {"e": np.arange(rows)})
    outcome = kb.infer(watch=_Once())
    assert (outcome.status, outcome.unfinished) == ("interrupted", ("C",))
    last = kb.ask(f"~C({rows - 1})")
    assert (last.lower[0], last.upper[0]) != (1.0, 1.0)
    assert all(answer.upper == 1.0 for answer in kb.answers()[0])


def test_a_limit_on_instances_holds() -> None:
    with pytest.raises(lnnkit.BudgetError):
        loans(ROWS).infer(max_groundings=100)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rule P(X) -> R(X)\nquery R(X) & (exists Y: Q(Y))", ROWS),
        ("rule (exists Y: Q(Y)) -> A\nrule A & P(X) -> R(X)\nquery R(X)", ROWS),
        ("rule P(X) & (exists Y: Q(Y)) -> R(X)\nquery R(X)", ROWS),
    ],
)
def test_a_quantifier_is_about_the_entities_of_all_strips(text: str, expected: int) -> None:
    kb = lnnkit.loads(f"predicate P(e)\npredicate Q(e) closed\npredicate A\n{text}\n")
    kb.tell("P", {"e": np.arange(ROWS)})
    kb.tell("Q", {"e": np.arange(1)})
    kb.tell("Q", {"e": np.arange(1, 300), "truth": np.zeros(299)})
    answers = kb.answers()[0]
    assert (answers.lower == 1).sum() == expected
