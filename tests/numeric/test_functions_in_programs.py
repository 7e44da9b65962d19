"""Functions of terms in programs: proofs, aggregates, learned numbers, tables that are scored."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pyarrow.csv as csv
import pytest

import lnnkit
from tests.blocks import in_blocks
from tests.explain.proving import known_atoms, replay
from tests.oracle.program import FUNCTIONS
from tests.planted_numbers import planted
from tests.programs import to_text

FOLDED = """
number a(item)
predicate In(item, group) closed
fact a(p) = 2.5
fact a(q) = -3.2
fact a(r) in [0.5, 3]
fact In(p, g)
fact In(q, g)
fact In(r, h)
"""


@pytest.mark.parametrize("block", in_blocks(range(100), 20, plain=1))
def test_proofs_hold(block: range) -> None:
    for seed in block:
        kb = lnnkit.loads(to_text(planted(seed, mild=True, functions=FUNCTIONS).program))
        _, wrong = replay(kb, list(known_atoms(kb)))
        assert not wrong, (seed, wrong[0])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sum X: floor(a(X)) where In(X, G)", {"g": (-2, -2), "h": (0, 3)}),
        ("max X: max(a(X), 1) where In(X, G)", {"g": (2.5, 2.5), "h": (1, 3)}),
        ("min((min X: a(X) where In(X, G)), -1)", {"g": (-3.2, -3.2), "h": (-1, -1)}),
        ("exp(mean X: round(a(X)) where In(X, G))", {"g": (1, 1), "h": (math.e, math.exp(3))}),
    ],
)
def test_aggregates_and_functions_are_nested_either_way(query: str, expected: dict[str, tuple[float, float]]) -> None:
    answers = lnnkit.loads(FOLDED).ask(query)
    found = {answer.bindings["G"]: (answer.lower, answer.upper) for answer in answers}
    assert found == {group: pytest.approx(ends, rel=1e-9) for group, ends in expected.items()}


@pytest.mark.slow
def test_rates_and_thresholds_within_functions_are_learned() -> None:
    times = [random.Random(place).uniform(0, 6) for place in range(24)]
    lines = ["number t(item)", "number y(item)", "predicate Late(item)"]
    lines += ["rule y(X) = (?a=3) * exp(-(?k=0.3) * t(X))", "rule t(X) > exp(?limit=0.5) <-> Late(X)"]
    for place, time in enumerate(times):
        lines += [f"fact t(i{place}) = {time}", f"label y(i{place}) = {5 * math.exp(-0.7 * time)}"]
        lines += [f"label {'' if time > 3 else '~'}Late(i{place})"]
    kb = lnnkit.loads("\n".join(lines))
    values = kb.fit(epochs=60, validation=0.0).values
    assert values["a"] == pytest.approx(5, rel=1e-3) and values["k"] == pytest.approx(0.7, rel=1e-3)
    below = max(time for time in times if time <= 3)
    assert math.log(below) <= values["limit"] <= math.log(min(time for time in times if time > 3))


def test_a_scorer_decides_as_a_run(tmp_path: Path) -> None:
    rng = random.Random(3)
    rows = [f"i{place},{rng.uniform(-5, 5)},{rng.uniform(0, 3)}" for place in range(50)]
    (tmp_path / "items.csv").write_text("\n".join(["id,a,b", *rows]) + "\n", encoding="utf-8")
    text = """sort item
number a(item)
number b(item)
load a from "items.csv" (id, a)
load b from "items.csv" (id, b)
rule max(sin(a(X)), round(b(X)) - 1) + floor(exp(b(X)) / 4) > 1 + min(1, log(b(X))) -> P(X)
query P(X)
"""
    scorer = lnnkit.loads(text, tmp_path, streamed="item").scorer("item")
    found = scorer(csv.read_csv(tmp_path / "items.csv")).to_pylist()
    answers = lnnkit.loads(text, tmp_path).ask("P(X)")
    true = {answer.bindings["X"] for answer in answers if answer.lower == 1}
    assert 5 < len(true) < 45
    assert {row["id"] for row in found if row["P_lower"] == 1} == true
