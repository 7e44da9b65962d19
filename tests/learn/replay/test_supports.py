"""Labels that are told by all their supports."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnnkit.learn.fitting.loss import SoftEnds, supports
from lnnkit.learn.replay.neural_predicates import bound_replay
from tests.learn.replaying import learning

TEXT = """
fact A(x) = 0.9
fact C(x, u) = 0.8
fact C(x, v) = 0.7
fact D(u) = 0.9
fact D(v)
rule one: A(X) -> B(X) in [0.8, 1]
rule two: C(X, Y) & D(Y) -> B(X) in [0.9, 1]
query B(X)
"""


def test_all_supports_of_an_atom_are_found() -> None:
    program = learning(TEXT)
    found = program.infer(program.starts)
    numbers = found.numbers
    rows = torch.from_numpy(numbers.of(numbers.atoms.tables["B"], np.arange(1)))
    events, owner = supports(found, rows).of(rows)
    replay = bound_replay(found.replay(events, torch.full_like(events, -1)), [])
    theta = program.vector(program.starts).requires_grad_()
    values = replay.bounds(theta)
    assert owner.tolist() == [0, 0, 0]
    # A: 0.9 + 0.8 - 1; C(x, u) & D(u): 0.8 + 0.9 - 1 + 0.9 - 1; C(x, v) & D(v): 0.7 + 0.9 - 1
    assert sorted(values.tolist()) == pytest.approx([0.6, 0.6, 0.7])
    ends = SoftEnds(replay, torch.tensor([0]), owner).soften(torch.zeros(2, dtype=torch.float64), values)
    assert ends.tolist() == pytest.approx([1 - 0.4 * 0.4 * 0.3, 0.0])
    ends.sum().backward()
    assert theta.grad is not None
    learned = {each.name for each, part in zip(program.parameters, theta.grad.tolist(), strict=True) if part}
    assert {"one/lower1", "two/lower1", "two/weight1"} <= learned


@pytest.mark.parametrize(
    ("logic", "wanted"),
    [("lukasiewicz", [0.5, 0.05, 0.2, 0.3]), ("product", [0.5, 0.27, 0.36, 0.42]), ("godel", [0.5, 0.45, 0.6, 0.6])],
)
def test_each_support_has_its_own_value(logic: str, wanted: list[float]) -> None:
    """Not what the winner, or a fact, has made of the atom."""
    program = learning(f"""
logic {logic}
fact A(x, u) = 0.6
fact A(x, v) = 0.7
fact A(x, w) = 0.45
fact B(x) = 0.6
fact E(x) = 0.5
fact C(x) = 0.1
rule one: E(X) -> C(X)
rule two: A(X, Y) & B(X) -> C(X)
query C(X)
""")
    found = program.infer(program.starts)
    numbers = found.numbers
    rows = torch.from_numpy(numbers.of(numbers.atoms.tables["C"], np.arange(1)))
    events, _ = supports(found, rows).of(rows)
    values = found.replay(events, torch.full_like(events, -1)).bounds(program.vector(program.starts))
    assert sorted(value for value in values.tolist() if value) == pytest.approx(sorted(wanted))
