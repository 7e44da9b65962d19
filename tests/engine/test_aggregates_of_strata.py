"""Aggregates of what is completed begin when it is, those of one stratum before the next; values by hand."""

from __future__ import annotations

import pytest

import lnnkit

FACTS = "".join(f"fact Likes(p{i}, p{j})\n" for i in range(5) for j in range(i))  # p_i likes i others
DECLARED = (
    "predicate Likes(x, x) closed\npredicate Warm(x) closed\npredicate Loved(x) closed\npredicate Rare(x) closed\n"
)
WARM = "rule (count Y: Likes(X, Y)) >= 2 -> Warm(X)\n"  # p2, p3, p4
LOVED = "rule (count X: Warm(X) & Likes(X, Y)) >= 2 -> Loved(Y)\n"  # p0, p1, p2, by three, three and two
RARE = "rule Likes(X, Y) & (count Z: Loved(Z) & Likes(X, Z)) <= 1 -> Rare(X)\n"  # p1, who likes p0


def named(kb: lnnkit.KnowledgeBase, query: str) -> dict[str, tuple[float, float]]:
    return {answer.bindings["X"]: (answer.lower, answer.upper) for answer in kb.ask(query)}


def true(*numbers: int) -> dict[str, tuple[float, float]]:
    return {f"p{number}": (1, 1) for number in numbers}


@pytest.mark.parametrize("order", [(WARM, LOVED, RARE), (RARE, LOVED, WARM)])
def test_strata(order: tuple[str, ...]) -> None:
    kb = lnnkit.loads(DECLARED + "".join(order) + FACTS + "query Warm(X)\nquery Loved(X)\nquery Rare(X)\n")
    assert kb.infer().status == "converged"
    assert named(kb, "Warm(X)") == true(2, 3, 4)
    assert named(kb, "Loved(X)") == true(0, 1, 2)
    assert named(kb, "Rare(X)") == true(1)
    run = kb._session.program_fixpoint().run
    assert run.waiting == set()
    counts = [table for name, table in run.grounding.atoms.tables.items() if name.startswith("count")]
    assert len(counts) == 3
    assert all((table.end(0) == table.end(1)).all() for table in counts)


@pytest.mark.parametrize("unsure", [0, 1])
def test_counts_of_what_is_not_sure(unsure: int) -> None:
    """Whether p2 likes p0 is not known: it likes one or two."""
    facts = FACTS.replace("fact Likes(p2, p0)\n", "fact Likes(p2, p0) in [0, 1]\n") if unsure else FACTS
    kb = lnnkit.loads(DECLARED + WARM + LOVED + facts + "query Warm(X)\nquery Loved(X)\nquery count Y: Likes(p2, Y)\n")
    assert kb.infer().status == "converged"
    (count,) = kb.ask("count Y: Likes(p2, Y)")
    assert (count.lower, count.upper) == (2 - unsure, 2)
    assert named(kb, "Warm(X)") == {**true(3, 4), "p2": (1 - unsure, 1)}
    assert named(kb, "Loved(X)") == {**true(0, 1), "p2": (1, 1)}
