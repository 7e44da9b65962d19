"""The guard's table and the comparison with an earlier commit, on results made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.agree_with_commit import differences
from benchmarks.guard.__main__ import row_of
from benchmarks.guard.figures import FIGURES, Figure
from benchmarks.guard.measured import Measured, Seconds
from benchmarks.guard.programs import PROGRAMS
from benchmarks.guard.race import Ended, Refused
from benchmarks.guard.trees import tree

CHAIN = Figure("chain", "a chain of {size}", "chain", "infer", 100, 10, ratio=1.1)
QUOTIENT = Figure("quotient", "exists / plain", "exists", "infer", 100, 10, most=3.0, over=("plain", "infer"))


def took(seconds: float, peak: float = 100.0, **checks: float) -> Measured:
    return Measured({"infer": Seconds(seconds, 5.0)}, checks, peak=peak)


def row(figure: Figure, before: dict[str, Ended], now: dict[str, Ended]) -> dict[str, object]:
    return row_of(figure, 100, {"old": before, "new": now}, "old", "new")


@pytest.mark.parametrize(("seconds", "peak", "ok"), [(1.0, 100.0, True), (1.2, 100.0, False), (1.0, 120.0, False)])
def test_a_ratio_and_memory_are_reached_or_not(seconds: float, peak: float, ok: bool) -> None:
    found = row(CHAIN, {"chain": took(1.0)}, {"chain": took(seconds, peak)})
    assert (found["title"], found["ratio"], found["ok"]) == ("a chain of 100", pytest.approx(seconds), ok)


def test_a_quotient_is_of_one_tree() -> None:
    found = row(QUOTIENT, {"exists": took(8.0), "plain": took(0.2)}, {"exists": took(0.5), "plain": took(0.25)})
    assert (found["before"], found["now"], found["ok"]) == (40.0, 2.0, True)


def test_what_is_refused_before_can_be_reached_now_and_not_the_other_way_round() -> None:
    most = Figure("nodes", "nodes", "nodes", "infer", 1, 1, most=0.5)
    refused = Refused("too-many-groundings")
    assert row(most, {"nodes": refused}, {"nodes": took(0.4)})["ok"] is True
    found = row(most, {"nodes": took(0.4)}, {"nodes": refused})
    assert (found["now"], found["ok"]) == (None, False)
    assert found["problems"] == [("new", "refused: too-many-groundings")]


def test_other_answers_are_not_ok() -> None:
    found = row(CHAIN, {"chain": took(1.0, lower=2.0)}, {"chain": took(1.0, lower=2.1)})
    assert found["ok"] is False
    assert row(CHAIN, {"chain": took(1.0, lower=2.0)}, {"chain": took(1.0, lower=2.0 + 1e-12)})["ok"] is True


def test_every_figure_has_its_programs() -> None:
    assert {name for figure in FIGURES for name in figure.programs()} <= {*PROGRAMS}
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)
    assert all((figure.ratio is None) != (figure.most is None) for figure in FIGURES)


@pytest.mark.parametrize(
    "name",
    [
        "propositions",
        "first-inference",
        "chain-exists",
        "nodes",
        "one-exists-twice",
        pytest.param("explanations", marks=pytest.mark.slow),
    ],
)
def test_small_programs_of_the_guard_run(name: str, tmp_path: Path) -> None:
    assert PROGRAMS[name].run(20, tmp_path).seconds


def test_an_unknown_commit_is_named() -> None:
    with pytest.raises(ValueError, match="no commit"):
        tree("0" * 40)


# --- agree_with_commit ------------------------------------------------------------------------------------------------

SAID = {"answers": {"0 P(X) a": [0.2, 1.0]}, "contradictions": [], "status": "converged", "rounds": 3}
CROSSED = [["atom", "P(a)", None, 1.0, 0.0]]


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({}, set()),
        ({"answers": {"0 P(X) a": [0.2 + 1e-12, 1.0]}}, set()),
        ({"answers": {"0 P(X) a": [0.3, 1.0]}}, {"answers"}),
        ({"answers": {}}, {"answers"}),
        ({"contradictions": CROSSED}, {"contradictions"}),
        ({"status": "creeping", "rounds": 4}, {"status", "rounds"}),
    ],
)
def test_what_differs_is_named(change: dict[str, object], kinds: set[str]) -> None:
    assert differences(SAID, SAID | change, rounds=True, tighter=False).keys() == kinds


def test_rounds_can_be_left_out_and_refusals_are_compared() -> None:
    assert differences(SAID, SAID | {"rounds": 4}, rounds=False, tighter=False) == {}
    assert differences({"refused": "a"}, {"refused": "a"}, rounds=True, tighter=False) == {}
    assert differences({"refused": "a"}, SAID, rounds=True, tighter=False).keys() == {"refusals"}


def test_tighter_answers_can_be_let_pass_where_nothing_contradicts_itself() -> None:
    tighter, looser = (
        SAID | {"answers": {"0 P(X) a": box, "0 P(X) b": [1.0, 1.0]}} for box in ([0.3, 1.0], [0.1, 1.0])
    )
    assert differences(SAID, tighter, rounds=True, tighter=True) == {}
    assert differences(SAID, looser, rounds=True, tighter=True).keys() == {"answers"}
    crossed = {"contradictions": CROSSED}
    assert differences(SAID | crossed, tighter | crossed, rounds=True, tighter=True).keys() == {"answers"}
