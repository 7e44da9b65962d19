"""Inference that is stopped after any round leaves bounds that hold: none is tighter than where it would have ended."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

import lnnkit
from lnnkit.engine.inference_run import RoundReport
from tests.agreement import TOLERANCE, neutral
from tests.blocks import in_blocks
from tests.oracle import Program, Result, robust, run
from tests.programs import MODES, generate, to_text


@dataclass
class StopAfter:
    """A watch that lets so many rounds be."""

    rounds: int
    seen: int = 0

    def after_round(self, report: RoundReport, /) -> bool:
        self.seen += 1
        return self.seen <= self.rounds


def too_tight(program: Program, result: Result, kb: lnnkit.KnowledgeBase, unfinished: tuple[str, ...]) -> list[str]:
    """The interrupted answers that say more than the oracle's."""
    opened = [replace(p, closed=p.closed and p.name not in unfinished) for p in program.predicates]
    defaults = run(neutral(replace(program, predicates=opened))).answers
    found = []
    for number, answers in enumerate(kb.answers()):
        variables = result.variables[number]
        got = {tuple(a.bindings[v] for v in variables): (a.lower, a.upper) for a in answers}
        for entities, wanted in result.answers[number].items():
            default = defaults[number][entities]
            lower, upper = got.get(entities, (default.lower, default.upper))
            if lower > wanted.lower + TOLERANCE or upper < wanted.upper - TOLERANCE:
                found.append(f"{answers.query} {entities}: {lower, upper}, but the oracle says {wanted}")
    return found


@pytest.mark.parametrize("block", in_blocks(range(120), 30, plain=2))
def test_stopping_at_any_round(block: range) -> None:
    """With contradictions what has been arrested reads as unknown later on, so those programs are left out."""
    stopped = in_completion = 0
    for seed in block:
        program = generate(seed, 3 + seed % 4, MODES[seed % 3]).program
        result = run(program)
        if result.status != "converged" or result.contradictions or not robust(program, result):
            continue
        kb = lnnkit.loads(to_text(program))
        for rounds in range(4):
            outcome = kb.infer(watch=StopAfter(rounds))
            if outcome.status != "interrupted":
                assert outcome.status == "converged"
                break
            stopped += 1
            in_completion += bool(outcome.unfinished)
            found = too_tight(program, result, kb, outcome.unfinished)
            assert not found, f"seed {seed}, round {rounds}:\n{to_text(program)}\n" + "\n".join(found)
    assert stopped >= len(block) // 6
    assert in_completion >= len(block) // 30


CHAIN = """
predicate E(n, n) closed
predicate Reach(n, n) closed
predicate Cut(n, n) closed
predicate Alone(n)
rule E(X, Y) -> Reach(X, Y)
rule Reach(X, Y) & E(Y, Z) -> Reach(X, Z)
rule ~Reach(X, Y) & ~Reach(Y, X) -> Cut(X, Y)
rule Cut(X, Y) -> Alone(X)
fact ~Reach(a0, a6)
query Reach(a0, X)
query ~Reach(a0, X)
query Cut(a0, X)
query Alone(X)
""" + "".join(f"fact E(a{i}, a{i + 1})\n" for i in range(6))


def test_a_completion_midway() -> None:
    kb = lnnkit.loads(CHAIN)
    outcome = kb.infer(watch=StopAfter(2))
    assert (outcome.status, outcome.rounds, outcome.unfinished) == ("interrupted", 0, ("Cut", "Reach"))
    assert outcome.summary.startswith("interrupted while closed `Cut`, `Reach` were completed, with ")
    assert outcome.summary.endswith(
        " atoms reached: the bounds hold, but what is not known to be true of them reads as unknown"
    )
    reach, cut_off, cut, alone = kb.answers()
    assert [(a.bindings["X"], a.lower, a.upper) for a in reach] == [
        ("a1", 1, 1),
        ("a2", 1, 1),
        ("a3", 1, 1),
        ("a6", 0, 0),  # a fact
    ]
    assert [(a.bindings["X"], a.state) for a in cut_off][-1] == ("a6", "true")
    assert len(cut) == len(alone) == 0
    assert kb.ask("Reach(a0, a5)")[0].state == kb.ask("Cut(a0, a5)")[0].state == "unknown"
    (warning,) = kb.ask("Reach(a0, a6)").warnings
    assert (warning.code, warning.severity, warning.message) == ("interrupted", "warning", outcome.summary)
    assert kb.infer().status == "converged"
    assert kb.ask("Reach(a0, a5)")[0].state == "true"
    assert kb.ask("Cut(a0, a5)")[0].state == "false"
    assert kb.ask("Cut(a0, a5)").warnings == ()


def test_between_strata() -> None:
    """What has been completed stays so."""
    kb = lnnkit.loads(CHAIN)
    reports: list[RoundReport] = []

    class Second:
        def after_round(self, report: RoundReport, /) -> bool:
            reports.append(report)
            return len(reports) < 2 or report.rounds > 1  # the first round of the second stratum

    outcome = kb.infer(watch=Second())
    assert outcome.unfinished == ("Cut",)
    assert len(kb.ask("Reach(a0, X)")) == 5
    assert kb.ask("~Reach(a6, a0)")[0].state == "true"
    assert kb.ask("Cut(a0, a1)")[0].state == "unknown"


LATER = """
predicate E(n, n) closed
predicate Reach(n, n) closed
predicate Open(n)
fact Open(a) in [0.5, 1]
fact E(a, b)
fact E(b, c)
fact Sure(a)
rule Sure(X) -> Open(X)
rule Open(X) & E(X, Y) -> Reach(X, Y)
rule Reach(X, Y) & E(Y, Z) -> Reach(X, Z)
rule Reach(X, Y) -> Known(Y)
query Reach(X, Y)
query Known(X)
"""


def test_a_later_completion() -> None:
    """Rounds raise ``Open(a)``, so ``Reach`` is completed anew; stopped there, it is as it was before."""
    kb = lnnkit.loads(LATER)
    reports: list[RoundReport] = []

    class Again:
        def after_round(self, report: RoundReport, /) -> bool:
            again = bool(reports) and reports[-1].stage == "inference" and report.stage == "completion"
            reports.append(report)
            return not again

    outcome = kb.infer(watch=Again())
    assert (outcome.status, outcome.unfinished) == ("interrupted", ())
    assert outcome.rounds == 1
    bounds = {tuple(a.bindings.values()): (a.lower, a.upper) for a in kb.answers()[0]}
    assert bounds == {("a", "b"): (0.5, 1), ("a", "c"): (0.5, 1), ("b", "c"): (0, 1)}
    kb.infer()
    assert next(iter(kb.answers()[0])).lower == 1


def test_reports() -> None:
    kb = lnnkit.loads(CHAIN)
    watch = StopAfter(1000)
    reports: list[RoundReport] = []
    watch.after_round = lambda report: reports.append(report) or True  # type: ignore[method-assign]
    assert kb.infer(watch=watch).status == "converged"
    assert [(r.stage, r.rounds) for r in reports][:3] == [("completion", 1), ("completion", 2), ("completion", 3)]
    assert [r.atoms for r in reports] == sorted(r.atoms for r in reports)
    assert reports[-1].instances >= reports[0].instances > 0


# --- Ctrl-C from Python ---------------------------------------------------------------------------------------------


class PressIn:
    """Ctrl-C during the first round reports, so often."""

    def __init__(self, times: int) -> None:
        self.times = times

    def after_round(self, report: RoundReport, /) -> bool:
        for _ in range(self.times):
            signal.raise_signal(signal.SIGINT)
        return True


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as Python handles it, also where a shell started the tests in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_the_round() -> None:
    kb = lnnkit.loads(CHAIN)
    assert kb.infer(watch=PressIn(1)).status == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert kb.infer().status == "converged"


@pytest.mark.usefixtures("ctrl_c")
def test_a_second_ctrl_c_raises() -> None:
    kb = lnnkit.loads(CHAIN)
    with pytest.raises(KeyboardInterrupt):
        kb.infer(watch=PressIn(2))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert kb.ask("Reach(a0, a5)")[0].state == "true"  # nothing is kept of it


def test_other_handlers_are_left_alone() -> None:
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: pressed.append(number))
    try:
        kb = lnnkit.loads(CHAIN)
        assert kb.infer(watch=PressIn(1)).status == "converged"
    finally:
        signal.signal(signal.SIGINT, before)
    assert set(pressed) == {signal.SIGINT}

    """Signals reach the main thread alone: there Ctrl-C is what it always was."""
    found: list[str] = []
    kb = lnnkit.loads(CHAIN)
    thread = threading.Thread(target=lambda: found.append(kb.infer(watch=StopAfter(1)).status))
    thread.start()
    thread.join()
    assert found == ["interrupted"]
