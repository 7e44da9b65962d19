"""The record of changes: it ends where the state does, takes little memory, and can be left out."""

from __future__ import annotations

import numpy as np
import pytest

import lnnkit
from lnnkit.engine.bounds_state import State
from lnnkit.explain.provenance.bound_sources import BoundHistory
from lnnkit.store.relations import RowNumbers
from lnnkit.trail.events import Trail
from tests.blocks import at_length
from tests.programs import MODES, generate, to_text

SPREAD = """
predicate Friend(person, person) closed
rule Smokes(X) & Friend(X, Y) -> Smokes(Y) in [0.9999, 1]
query Smokes(X)
"""


def state_of(kb: lnnkit.KnowledgeBase) -> State:
    return kb._session.program_fixpoint().run.state


def history_of(kb: lnnkit.KnowledgeBase) -> Trail:
    history = state_of(kb).trail
    assert history is not None
    return history


@pytest.mark.parametrize("seed", at_length([seed for seed in range(100, 160) if seed != 135], plain=3))
def test_the_last_event_of_each_bound_is_its_bound(seed: int) -> None:
    kb = lnnkit.loads(to_text(generate(seed, 1 + seed % 4, MODES[seed % 3]).program))
    kb.infer()
    numbers = RowNumbers(kb._session.program_fixpoint().run.grounding.atoms)
    timeline, bounds = BoundHistory(history_of(kb), numbers), numbers.bounds()
    for row in range(numbers.count):
        for side in (0, 1):
            event = timeline.at(row, side)
            if event is not None:
                assert event.value == float(bounds[side][row])


def test_a_fuzzy_event_takes_sixteen_bytes_and_a_crisp_one_less() -> None:
    draw = np.random.default_rng(0)
    edges = np.unique(draw.integers(0, 20_000, (80_000, 2)), axis=0)
    names = [[f"n{entity}" for entity in column] for column in edges.T.tolist()]
    for truths, most in ((0.9 + 0.1 * draw.random(len(edges)), 16.5), (np.ones(len(edges)), 12.5)):
        kb = lnnkit.loads(SPREAD + "fact Smokes(n0)\n")
        kb.tell("Friend", {"a": names[0], "b": names[1], "truth": truths.tolist()})
        kb.infer()
        history = history_of(kb)
        assert len(history) > 15_000
        assert history.nbytes / len(history) < most


def test_it_can_be_left_out() -> None:
    kb = lnnkit.loads("fact A\naxiom A -> B\nquery B\n")
    kb.infer(record=False)
    assert not state_of(kb).trail.has_values
    assert kb.answers()[0][0].lower == 1.0
    kb.infer()
    assert len(history_of(kb)) == 1
