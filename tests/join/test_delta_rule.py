"""Joining again from what has moved: against full grounding, however the work is cut up."""

from __future__ import annotations

import random

import numpy as np
import pytest

import lnnkit
from lnnkit.engine.response import rule_instances as visit
from lnnkit.engine.response import rule_response as visits
from lnnkit.join import literal_join as joining
from lnnkit.store.tuple_set import KeyIndex
from tests.agreement import disagreements
from tests.blocks import at_length
from tests.programs import MODES, generate

CRISP = """
predicate A(entity)
predicate B(entity)
fact A(anna)
fact A(bob)
fact B(anna)
fact B(bob) in [0, 1]
fact ~C(cleo)
rule A(X) -> B(X)
rule B(X) -> C(X)
query B(X)
query C(X)
"""


def test_a_tuple_of_another_need_may_be_at_its_default() -> None:
    """Both rules speak of the same tuples, all looked at at once; B(bob) is listed, and unknown."""
    for answers in lnnkit.loads(CRISP).answers():
        assert [(a.bindings["X"], a.lower, a.upper) for a in answers] == [
            ("anna", 1, 1),
            ("bob", 1, 1),
            ("cleo", 0, 0),
        ]


DEGREES = """
predicate A(entity) closed
predicate C(entity) closed
predicate P(entity) closed
fact A(anna) = 0.4
fact A(bob) = 0
fact C(anna) = 0
fact C(bob) = 0.5
rule A(X) | C(X) -> P(X)
query P(X)
"""


def test_atoms_that_other_needs_find_may_be_at_their_default() -> None:
    """Each is found by one of them; all rows that differ from the default differ alike."""
    (answers,) = lnnkit.loads(DEGREES).answers()
    assert [(a.bindings["X"], a.lower, a.upper) for a in answers] == [("anna", 0.4, 0.4), ("bob", 0.5, 0.5)]


@pytest.mark.parametrize("size", at_length([1, 3], plain=1))
def test_the_work_may_be_cut_anywhere(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "CHUNK", size)  # so that small programs are cut into parts; likewise below
    monkeypatch.setattr(visit, "STRIP", size)
    monkeypatch.setattr(visits, "STRIP", size)
    for seed in range(9000, 9006) if size == 1 else range(9000, 9024):
        assert not disagreements(generate(seed, 1 + seed % 6, MODES[seed % 3]).program)


@pytest.mark.parametrize("radix", [5, 3000, 2**31])
def test_many_keys_at_once(radix: int) -> None:
    """Batches with many repetitions, into a table and by hashing, against a dictionary."""
    rng = random.Random(radix)
    index, known = KeyIndex(2, radix), {}
    for _ in range(30):
        ids = [rng.randrange(radix) for _ in range(rng.choice([2, 60]))]
        rows = [(rng.choice(ids), rng.choice(ids)) for _ in range(rng.choice([1, 7, 900]))]
        columns = [np.array([row[place] for row in rows], np.int32) for place in (0, 1)]
        assert index.find(columns, len(rows)).tolist() == [known.get(row, -1) for row in rows]
        numbers, fresh = index.add(columns, len(rows))
        expected = []
        for position, row in enumerate(rows):
            if row not in known:
                known[row] = len(known)
                expected.append(position)
        assert fresh.tolist() == expected
        assert numbers.tolist() == [known[row] for row in rows]
