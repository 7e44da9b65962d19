"""The join against nested loops."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import numpy as np
import pytest

from lnnkit.join.natural_join import Guard, Relation, join


def no_limit(_count: int) -> None:
    return


def relation(rng: random.Random, variables: tuple[int, ...], entities: int) -> Relation:
    rows = [[rng.randrange(entities) for _ in variables] for _ in range(rng.randrange(9))]
    columns = tuple(np.array([row[i] for row in rows], dtype=np.int32) for i in range(len(variables)))
    return Relation(variables, columns, len(rows))


def drawn(rng: random.Random, most: int) -> list[Relation]:
    """Up to so many relations over five variables."""
    entities = rng.choice([2, 3, 100_000])
    some = range(rng.randrange(1, most + 1))
    return [relation(rng, tuple(rng.sample(range(5), rng.randrange(4))), entities) for _ in some]


def rows_of(found: Relation, order: list[int]) -> list[tuple[int, ...]]:
    columns = [found.columns[found.variables.index(v)].tolist() for v in order]
    return sorted(zip(*columns, strict=True)) if columns else [()] * found.length


def test_joins_as_nested_loops_would() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        parts = drawn(rng, 4)
        order = sorted({v for part in parts for v in part.variables})
        expected = []
        for chosen in itertools.product(*(range(part.length) for part in parts)):
            binding: dict[int, int] = {}
            agrees = True
            for part, row in zip(parts, chosen, strict=True):
                for variable, column in zip(part.variables, part.columns, strict=True):
                    agrees &= binding.setdefault(variable, int(column[row])) == int(column[row])
            if agrees:
                expected.append(tuple(binding[v] for v in order))
        found = join(parts, no_limit)
        assert set(found.variables) == set(order), f"seed {seed}"
        assert rows_of(found, order) == sorted(expected), f"seed {seed}"


def test_what_is_not_wanted_is_left_out() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        parts = drawn(rng, 5)
        order = sorted({v for part in parts for v in part.variables})
        wanted = [v for v in order if rng.random() < 0.5]
        expected = {tuple(row[order.index(v)] for v in wanted) for row in rows_of(join(parts, no_limit), order)}
        found = join(parts, no_limit, None, wanted)
        assert set(wanted) <= set(found.variables), f"seed {seed}"
        assert {tuple(row) for row in rows_of(found, wanted)} == expected, f"seed {seed}"


def test_what_is_not_wanted_is_not_multiplied() -> None:
    one, many = np.zeros(4000, dtype=np.int32), np.arange(4000, dtype=np.int32)
    friends, things = Relation((0, 1), (one, many), 4000), Relation((0, 2), (one, many), 4000)
    rich = Relation((1,), (many,), 4000)
    assert join([friends, things, rich], at_most(4000, []), None, [0]).length == 1


def test_the_size_is_counted_before_the_join() -> None:
    """A product of 10^12 rows is refused by its number, not by the machine's memory."""
    column = np.zeros(1_000_000, dtype=np.int32)
    asked: list[int] = []
    guard = at_most(10**9, asked)
    with pytest.raises(Refused):
        join([Relation((0,), (column,), 10**6), Relation((1,), (column,), 10**6)], guard)
    with pytest.raises(Refused):
        join([Relation((0, 1), (column, column), 10**6), Relation((0, 2), (column, column), 10**6)], guard)
    assert asked == [10**12, 10**12]


class Refused(Exception):
    pass


def at_most(limit: int, asked: list[int] | None = None) -> Guard:
    def guard(count: int) -> None:
        if asked is not None:
            asked.append(count)
        if count > limit:
            raise Refused

    return guard


def integers(values: Iterable[int]) -> np.ndarray:
    return np.array(list(values), dtype=np.int32)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_hub_is_joined_last(order: tuple[int, ...]) -> None:
    """A(X, Y) & B(X, Z) & C(Y, Z): all of A and all of B share one X, so A with B would have 10^8 rows. Each y of A is
    in two rows of C, and each z in B: A with C first is never larger than 2 * 10^4."""
    count = 10**4
    hub = np.zeros(count, dtype=np.int32)
    others = integers(range(1, count + 1))
    parts = [
        Relation((0, 1), (hub, others), count),
        Relation((0, 2), (hub, others), count),
        Relation((1, 2), (integers(range(2 * count)), integers(range(1, 2 * count + 1))), 2 * count),
    ]
    found = join([parts[i] for i in order], at_most(10**5))
    assert found.length == count - 1  # y = 1 .. n - 1, z = y + 1
    rows = rows_of(found, [0, 1, 2])
    assert rows == [(0, y, y + 1) for y in range(1, count)]


def test_the_smallest_need_not_come_first() -> None:
    """The smallest, A(X, Y), is a hub for B(X, Z) and for C(Y, W); D(Z, W) is not one for either."""
    count = 10**4
    hub = np.zeros(count, dtype=np.int32)
    own = integers(range(count))
    parts = [
        Relation((0, 1), (hub[:100], hub[:100]), 100),
        Relation((0, 2), (hub, own), count),
        Relation((1, 3), (hub, own), count),
        Relation((2, 3), (np.tile(own[:50], 250), own[:50].repeat(250)), 12_500),
    ]
    asked: list[int] = []
    found = join(parts, at_most(10**7, asked))
    assert found.length == 1_250_000  # every row of D, under each of the 100 of A
    assert asked == [12_500, 12_500, 1_250_000]


def test_literals_without_a_shared_variable_come_last() -> None:
    """The one row over W is the smallest, but X and Y are joined first; the product comes at the end."""
    own = integers(range(1000))
    asked: list[int] = []
    parts = [
        Relation((3,), (own[:2],), 2),
        Relation((0, 1), (own, own), 1000),
        Relation((1, 2), (own, own), 1000),
        Relation((0, 2), (own[:10], own[:10]), 10),
    ]
    assert join(parts, at_most(10**4, asked)).length == 20
    assert asked == [10, 10, 20]


def test_repeated_rows_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    bincount = np.bincount

    def counting(key: np.ndarray, *, minlength: int) -> np.ndarray:
        counted.append(len(key))
        return bincount(key, minlength=minlength)

    monkeypatch.setattr(np, "bincount", counting)  # the work done, which no result shows
    own = integers(range(20))
    join([Relation((0, 1), (own, own), 20), Relation((1, 2), (own[:7], own[:7]), 7)], no_limit)
    assert counted == [7]
