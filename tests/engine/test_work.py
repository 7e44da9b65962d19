"""How much work inference does: nothing is looked up, evaluated or recorded twice. Counts by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import lnnkit
from lnnkit.engine.inference_run import RoundReport
from lnnkit.engine.merge import Merge
from lnnkit.engine.response.response_table import ResponseTable
from lnnkit.store.relations import Relations

LENGTH = 100  # more nodes than there are classes of bounds


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Counts the rows of relations that are looked up or merged with others, and the responses that are evaluated."""
    counts: Counter[str] = Counter()
    settle, materialise, evaluate = Merge.settle, Relations.materialise, ResponseTable.evaluate

    def settling(merge: Merge, table: Any, side: int, proposals: Any, **options: Any) -> Any:
        counts[f"settled {table.name}"] += sum(len(sent.rows) for sent in proposals)
        return settle(merge, table, side, proposals, **options)

    def looking(atoms: Relations, table: Any, columns: Any, length: int) -> Any:
        counts[f"looked up {table.name}"] += length
        return materialise(atoms, table, columns, length)

    def evaluating(table: ResponseTable, read: Any) -> Any:
        response = evaluate(table, read)
        counts["evaluated"] += len(response.root.lower)
        return response

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Merge, "settle", settling)
        patch.setattr(Relations, "materialise", looking)
        patch.setattr(ResponseTable, "evaluate", evaluating)
        yield counts


class Reports:
    def __init__(self) -> None:
        self.all: list[RoundReport] = []

    def after_round(self, report: RoundReport, /) -> bool:
        self.all.append(report)
        return True


@pytest.mark.parametrize("kind", ["", " closed"])
@pytest.mark.parametrize("begin", ["axiom edge(X, Y) -> path(X, Y)", "rule edge(X, Y) -> path(X, Y) in [0.9, 1]"])
@pytest.mark.parametrize("given", ["", "fact path(m0, m1)\n"])
def test_a_chain_is_inserted(kind: str, begin: str, given: str) -> None:
    """Each path is found once, from the one that is a node shorter, made without a look-up, and merged with no other;
    in the last round nothing is found. A path that is given, as true or truer, changes nothing."""
    if kind and given:
        pytest.skip("what facts give is not completed")
    kb = lnnkit.loads(
        f"predicate edge(node, node) closed\npredicate path(node, node){kind}\n{given}{begin}\n"
        "axiom path(X, Y) & edge(Y, Z) -> path(X, Z)\nquery path(X, Y)\n"
        + "".join(f"fact edge(n{i}, n{i + 1})\n" for i in range(LENGTH))
    )
    watch = Reports()
    with counted() as counts:
        kb.infer(watch=watch)
    paths, given_atoms = LENGTH * (LENGTH + 1) // 2, LENGTH + bool(given)
    run = kb._session.program_fixpoint().fixpoint
    assert run.progress.instances == paths
    assert len(run.state.trail) == paths * (2 if kind else 1)  # both ends of what is completed
    assert counts["settled path"] == counts["looked up path"] == 0
    assert counts["evaluated"] <= 6
    if kind:
        assert all(report.stage == "completion" for report in watch.all)
    found = [sum(LENGTH - longer for longer in range(turn)) for turn in range(1, LENGTH + 1)]
    assert [report.rounds for report in watch.all] == [*range(1, LENGTH + 1)]
    assert [report.atoms for report in watch.all] == [given_atoms + count for count in found]
    assert [report.instances for report in watch.all] == found


def test_a_plan_is_made_once_for_facts_that_bound_the_same() -> None:
    """Other facts of the same predicates, and more entities, need no other plan."""
    kb = lnnkit.loads("predicate A(x)\npredicate B(x)\nrule A(X) -> B(X)\nquery B(X)\nfact A(a)\nfact A(b)\n")
    kb.infer()
    plan = kb._session.program_fixpoint().fixpoint.plan
    kb.tell("A", [("c",)])
    kb.infer()
    assert kb._session.program_fixpoint().fixpoint.plan is plan
