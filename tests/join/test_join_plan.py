from __future__ import annotations

import time

from lnnkit.analysis.needs import Literal
from lnnkit.join.join_plan import JoinStep, Recorder

P, R, S = (Literal(name, ("X",), "lower") for name in "PRS")


def test_a_join_that_ended_early_is_counted_with_the_one_that_began_alike() -> None:
    recorder = Recorder()
    recorder.joined(0, 0, [JoinStep(P, 5, 2), JoinStep(R, 7, 3), JoinStep(S, 4, 1)])
    recorder.joined(0, 0, [JoinStep(P, 2, 0), JoinStep(S, 4, None), JoinStep(R, 7, None)])
    recorder.joined(0, 0, [JoinStep(S, 9, 0), JoinStep(P, 5, None), JoinStep(R, 7, None)])
    longest, other = recorder.made(0, 0) or []
    assert (longest.times, other.times) == (2, 1)
    assert longest.steps == [JoinStep(P, 7, 2), JoinStep(R, 7, 3), JoinStep(S, 4, 1)]
    assert other.reached == (S,)


def test_the_time_is_since_it_was_made() -> None:
    start = time.process_time()
    recorder = Recorder()
    assert 0 <= recorder.elapsed <= time.process_time() - start
