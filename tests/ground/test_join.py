"""The join against nested loops."""

from __future__ import annotations

import itertools
import random

import pytest
import torch

from lnnkit.ground.join import Relation, join


def no_limit(_count: int) -> None:
    return


def relation(rng: random.Random, variables: tuple[int, ...], entities: int) -> Relation:
    rows = [[rng.randrange(entities) for _ in variables] for _ in range(rng.randrange(12))]
    columns = tuple(torch.tensor([row[i] for row in rows], dtype=torch.int32) for i in range(len(variables)))
    return Relation(variables, columns, len(rows))


def rows_of(found: Relation, order: list[int]) -> list[tuple[int, ...]]:
    columns = [found.columns[found.variables.index(v)].tolist() for v in order]
    return sorted(zip(*columns, strict=True)) if columns else [()] * found.length


@pytest.mark.parametrize("seed", range(200))
def test_joins_as_nested_loops_would(seed: int) -> None:
    rng = random.Random(seed)
    entities = rng.choice([2, 3, 100_000])
    parts = [relation(rng, tuple(rng.sample(range(4), rng.randrange(4))), entities) for _ in range(rng.randrange(1, 4))]
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
    assert set(found.variables) == set(order)
    assert rows_of(found, order) == sorted(expected)


def test_counts_before_it_makes() -> None:
    """A product of 10^12 rows is refused by its number, not by the machine's memory."""
    column = torch.zeros(1_000_000, dtype=torch.int32)
    asked: list[int] = []

    class Refused(Exception):
        pass

    def guard(count: int) -> None:
        asked.append(count)
        if count > 10**9:
            raise Refused

    with pytest.raises(Refused):
        join([Relation((0,), (column,), 10**6), Relation((1,), (column,), 10**6)], guard)
    with pytest.raises(Refused):
        join([Relation((0, 1), (column, column), 10**6), Relation((0, 2), (column, column), 10**6)], guard)
    assert asked == [10**12, 10**12]
