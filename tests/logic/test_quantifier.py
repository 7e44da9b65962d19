"""The quantifiers against an obvious loop over rows."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from lnnkit.logic import Bounds, complement, exists, exists_inverse, forall, forall_inverse
from lnnkit.logic.bounds import ordered

TOL = 1e-9
truths = st.one_of(st.sampled_from([0.0, 0.2, 0.5, 0.5, 0.7, 1.0]), st.floats(0, 1))
boxes = st.tuples(truths, truths).map(lambda ends: (min(ends), max(ends)))


def bounds(pairs: list[tuple[float, float]]) -> Bounds:
    both = torch.tensor(pairs, dtype=torch.float64).reshape(-1, 2)
    return Bounds(both[:, 0].clone(), both[:, 1].clone())


def loop_forall(rows: list[tuple[float, float]]) -> tuple[float, float]:
    return min([lower for lower, _ in rows], default=1.0), min([upper for _, upper in rows], default=1.0)


def loop_inverse(node: tuple[float, float], rows: list[tuple[float, float]]) -> list[tuple[float, float]] | None:
    """The rows after a forall with these bounds; None where it cannot have them."""
    low, high = node
    least, most = loop_forall(rows)
    if (low > TOL and low > most + TOL) or (high < 1 - TOL and high < least - TOL):
        return None
    result = []
    for i, (lower, upper) in enumerate(rows):
        others = rows[:i] + rows[i + 1 :]
        new_lower = max(lower, min(low, upper)) if low > TOL else lower
        new_upper = upper
        if high < 1 - TOL and all(other > high + TOL for other, _ in others):
            new_upper = min(upper, max(high, lower))
        result.append((min(new_lower, new_upper), max(new_lower, new_upper)))
    return result


@given(
    st.lists(st.tuples(boxes, st.integers(0, 3)), max_size=12),
    st.lists(boxes, min_size=4, max_size=4),
)
def test_quantifiers_agree_with_a_loop(tagged: list[tuple[tuple[float, float], int]], nodes: list) -> None:
    rows, group = [box for box, _ in tagged], torch.tensor([tag for _, tag in tagged], dtype=torch.long)
    image = forall(bounds(rows), group, 4)
    found = forall_inverse(bounds(nodes), bounds(rows), group, 4)
    for tag in range(4):
        members = [i for i, (_, own) in enumerate(tagged) if own == tag]
        assert (float(image.lower[tag]), float(image.upper[tag])) == loop_forall([rows[i] for i in members])
        expected = loop_inverse(nodes[tag], [rows[i] for i in members])
        assert bool(found.empty[tag]) == (expected is None)
        if expected is None:
            expected = [rows[i] for i in members]
        (hull,) = found.operands
        assert [(float(hull.lower[i]), float(hull.upper[i])) for i in members] == expected


@given(
    st.lists(st.tuples(boxes, st.integers(0, 3)), max_size=12),
    st.lists(boxes, min_size=4, max_size=4),
)
def test_exists_is_the_dual_of_forall(tagged: list[tuple[tuple[float, float], int]], nodes: list) -> None:
    eighths = [(round(8 * lower) / 8, round(8 * upper) / 8) for (lower, upper), _ in tagged]  # 1 - x is exact
    rows, group = bounds(eighths), torch.tensor([tag for _, tag in tagged], dtype=torch.long)
    node = bounds([(round(8 * lower) / 8, round(8 * upper) / 8) for lower, upper in nodes])
    same(exists(rows, group, 4), complement(forall(complement(rows), group, 4)))
    found = exists_inverse(node, rows, group, 4)
    mirror = forall_inverse(complement(node), complement(rows), group, 4)
    same(found.operands[0], complement(mirror.operands[0]))
    assert torch.equal(found.empty, mirror.empty)


def same(one: Bounds, other: Bounds) -> None:
    assert torch.equal(one.lower, other.lower) and torch.equal(one.upper, other.upper)


def test_exists_rounds_nothing_and_has_no_negative_zero() -> None:
    image = exists(bounds([(0.3, 0.3), (0.1, 0.1), (0.0, 0.0)]), torch.tensor([0, 0, 1]), 3)
    assert image.lower.tolist() == [0.3, 0.0, 0.0]
    assert not torch.signbit(image.lower).any() and not torch.signbit(image.upper).any()


def test_last_candidate_needs_a_gap_over_the_tolerance() -> None:
    group = torch.tensor([0, 0])
    node = bounds([(0.0, 0.4)])
    tight = forall_inverse(node, bounds([(0.0, 1.0), (0.4 + 2e-9, 1.0)]), group, 1)
    assert tight.operands[0].upper.tolist() == [0.4, 1.0]
    open_ = forall_inverse(node, bounds([(0.0, 1.0), (0.4 + 5e-10, 1.0)]), group, 1)
    assert open_.operands[0].upper.tolist() == [1.0, 1.0]


def test_int32_groups_and_many_rows() -> None:
    count = 200_000
    generator = torch.Generator().manual_seed(5)
    lower, upper = torch.rand(2, count, dtype=torch.float64, generator=generator)
    rows = ordered(lower, upper)
    group = torch.randint(0, 1000, (count,), generator=generator, dtype=torch.int32)
    image = forall(rows, group, 1000)
    assert not bool(forall_inverse(image, rows, group, 1000).empty.any())


def test_gradients_reach_the_winning_row() -> None:
    lower: Tensor = torch.tensor([0.3, 0.6, 0.8], dtype=torch.float64, requires_grad=True)
    image = forall(Bounds(lower, torch.ones(3, dtype=torch.float64)), torch.tensor([0, 0, 1]), 2)
    image.lower.sum().backward()
    assert lower.grad is not None and lower.grad.tolist() == [1.0, 0.0, 1.0]
