"""Timeouts: what is told where time runs out anywhere, and how long it takes."""

from __future__ import annotations

import random
import time

import pytest

import lnnkit
from lnnkit import time_limit
from lnnkit.garbage import collection_paused
from lnnkit.time_limit import TimedOut, limited_to
from tests.blocks import at_length
from tests.programs import formula_text, to_text
from tests.prove.exact_comparison import drawn

pytest.importorskip("z3", reason="z3-solver is not installed")


class After:
    """A limit that has passed when it is read for the ``count``-th time, and then no more."""

    def __init__(self, count: int) -> None:
        self.left = count

    @property
    def passed(self) -> bool:
        self.left -= 1
        return self.left == 0


@pytest.mark.parametrize("logic", at_length(["lukasiewicz", "godel", "product"], plain=1))
def test_inference_that_is_stopped_anywhere_is_no_tighter(logic: str) -> None:
    stopped = 0
    for seed in range(4):
        case = drawn(seed, logic)
        if case is None:
            continue
        text, questions = to_text(case.program), [formula_text(each) for each in dict.fromkeys(case.program.queries)]
        whole, counting = lnnkit.loads(text), After(-1)
        with limited_to(counting):
            whole.infer()
        for count in random.Random(seed).sample(range(1, -counting.left), min(10, -counting.left - 1)):
            kb = lnnkit.loads(text)
            try:
                with limited_to(After(count)):
                    outcome = kb.infer()
            except TimedOut:
                continue
            if outcome.status != "interrupted":
                continue
            stopped += 1
            for question in questions:
                (cut,), (told,) = kb.ask(question), whole.ask(question)
                assert cut.lower <= told.lower + 1e-9, f"{text}\n{question}, {count}"
                assert cut.upper >= told.upper - 1e-9, f"{text}\n{question}, {count}"
    assert stopped > 1


@pytest.mark.slow
def test_a_timeout_is_kept_while_a_core_is_made_minimal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its 1,400 members take three seconds; in half a second, what has been dropped until then is left out."""
    texts = [f"fact E(n{n}, n{n + 1})" for n in range(700)]
    texts += ["rule E(X, Y) -> R(X, Y)", "rule R(n0, X) & E(X, Y) -> R(n0, Y)"]
    texts += ["axiom R(n0, n700) -> A | B", "axiom A -> C", "axiom B -> C", "fact D"]
    kb = lnnkit.loads("\n".join(texts))
    kb.prove("D")
    monkeypatch.setattr(time_limit.time, "monotonic", time.process_time)
    with collection_paused():
        start = time.process_time()
        proved = kb.prove("C", timeout=0.5)
        assert time.process_time() - start < 0.8
    assert proved.verdict == "entailed"
    assert not proved.minimal


@pytest.mark.parametrize(
    ("reading", "size"), at_length([("classical", 1500), ("classical", 4000), ("exact", 4000)], plain=0, several=True)
)
def test_a_timeout_is_kept_while_inference_is_prepared(
    reading: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 4,000 predicates it takes two seconds. Time is that of this process, so that others do not matter, and the
    collector is paused, for which earlier tests have left work."""
    draw = random.Random(2)
    texts = [f"predicate P{place}(entity)" for place in range(size)]
    for _ in range(size):
        one, other, head = draw.sample(range(size), 3)
        texts.append(f"axiom P{one}(X) & P{other}(X) -> P{head}(X) | P{one - 1 if one else 1}(X)")
    kb = lnnkit.loads("\n".join([*texts, "fact P0(a)"]))
    lnnkit.loads("axiom A").prove("A")  # imports
    monkeypatch.setattr(time_limit.time, "monotonic", time.process_time)
    for seconds in (0.1, 0.3) if size < 4000 else (0.1, 0.5, 1.0):
        with collection_paused():
            start = time.process_time()
            proved = kb.prove("P5(a)", timeout=seconds, reading=reading)  # type: ignore[arg-type]
            assert time.process_time() - start < 1.1 * seconds + 0.2
        assert proved.verdict == "timeout"
        assert seconds > 0.1 or proved.notes == ("preparing inference took all the time",)
        assert (proved.lower, proved.upper) == ((None, None) if reading == "classical" else (0.0, 1.0))
    monkeypatch.undo()
    assert kb.prove("P0(a)", reading=reading).verdict == "entailed"  # type: ignore[arg-type]
