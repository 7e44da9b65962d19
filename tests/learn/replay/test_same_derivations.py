"""Two inferences that came to their bounds the same way are replayed by one replay; others are told apart."""

from __future__ import annotations

import random

import pytest
import torch

import lnnkit
from lnnkit.learn.replay.recorded_inference import same_derivations
from tests.learn.replaying import bounds, learning, replayed

FACTS = "predicate Q(row) closed\n" + "".join(
    f"fact A(r{n}) = {0.9 + n / 100}\nfact B(r{n}) = {0.95 - n / 100}\n" for n in range(5)
)


def test_replays_with_moved_numbers_agree() -> None:
    program = learning(FACTS + "rule r: A(X)@? & B(X)@? -> Q(X)\nask Q(X)\n")
    first, other = program.starts, {**program.starts, "r/weight1": 0.6}
    one, two = program.infer(first), program.infer(other)
    assert same_derivations(one, two)
    wanted = sorted(bounds(two))
    assert replayed(one, wanted, program.vector(other)).tolist() == pytest.approx([bounds(two)[key] for key in wanted])


def test_another_winner_is_another_derivation() -> None:
    program = learning(FACTS + "rule r: A(X)@? -> Q(X)\nrule s: B(X)@? -> Q(X)\nask Q(X)\n")
    first, other = program.starts, {**program.starts, "s/weight1": 0.2}
    one, two, three = (program.infer(values) for values in (first, other, first))
    assert same_derivations(one, three) and not same_derivations(one, two)


def test_more_rows_told_are_another_derivation() -> None:
    program = learning(
        FACTS + "rule r: {A(X)@? & B(X)@?}{bias: 0.2} -> Q(X)\nask Q(X)\n".replace("{A", "(A").replace("?}{", "?){")
    )
    low, high = {**program.starts, "r/weight1": 9.0}, program.starts
    assert not same_derivations(program.infer(low), program.infer(high))


@pytest.mark.slow
def test_random_programs_are_the_same_only_where_one_replay_does_for_both() -> None:
    rng, same = random.Random(0), 0
    for _ in range(30):
        rules = [
            f"rule r{n}: {rng.choice('ABQ')}(X)@? {rng.choice('&|')} {rng.choice('AB')}(X)@? -> {rng.choice('QC')}(X)"
            for n in range(3)
        ]
        closed = FACTS + "predicate C(row)\n"
        program = learning(closed + "\n".join(rules) + "\nask Q(X)\nask C(X)\n")
        first = {name: rng.choice((0.3, 0.7, 1.0)) for name in program.starts}
        other = {name: value * rng.choice((1.0, 1.0, 0.9)) for name, value in first.items()}
        one, two = program.infer(first), program.infer(other)
        if same_derivations(one, two):
            same += 1
            wanted = sorted(bounds(two))
            found = replayed(one, wanted, program.vector(other))
            assert found.tolist() == pytest.approx([bounds(two)[key] for key in wanted], abs=1e-9)
    assert same > 5


def test_reusing_replays_gives_the_same_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        FACTS
        + "rule r: A(X)@? & B(X)@? -> Q(X)\n"
        + "".join(f"label Q(r{n}) = {1 - 0.5 * (0.1 - n / 100) - 0.2 * (0.05 + n / 100)}\n" for n in range(5))
    )
    settings = {"epochs": 40, "validation": 0.0, "patience": None}
    often = lnnkit.loads(text).fit(**settings)  # pyright: ignore[reportArgumentType]
    # Without reuse, which no setting turns off
    monkeypatch.setattr("lnnkit.learn.fitting.gradient_descent.same_derivations", lambda *_: False)
    seldom = lnnkit.loads(text).fit(**settings)  # pyright: ignore[reportArgumentType]
    assert [each.epoch for each in often.history] == [0, 1, 17, 40]
    assert [each.epoch for each in seldom.history] == [0, 1, 5, 21, 40]
    assert often.history[-1].values == pytest.approx(seldom.history[-1].values, abs=1e-12)
    assert torch.tensor(list(often.values.values())).tolist() == pytest.approx(list(seldom.values.values()), abs=1e-2)
