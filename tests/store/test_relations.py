"""Relations: what their rows read as."""

from __future__ import annotations

import math

import numpy as np

from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import Relation, Relations, Schema


def numbers(lower: list[float], upper: list[float]) -> tuple[Relations, Relation]:
    relations = Relations(10)
    table = relations.add(Schema("age", ("person",), (-math.inf, math.inf)))
    ids = np.arange(len(lower), dtype=np.int32)
    relations.load(table, [ids], Bounds(np.array(lower), np.array(upper)))
    return relations, table


def test_ends_that_were_written_are_read() -> None:
    _, table = numbers([1.0, 2.0], [1.0, 2.5])
    assert [end.tolist() for end in table.read(range(2))] == [[1.0, 2.0], [1.0, 2.5]]
    _, table = numbers([1.0, 2.0], [1.0, 2.0])
    table.writable(1)[1] = 4.0
    assert [end.tolist() for end in table.read(range(2))] == [[1.0, 2.0], [1.0, 4.0]]


def test_rows_added_later_and_reserved_rows_are_at_their_default() -> None:
    relations, table = numbers([1.0, 2.0], [1.0, 2.0])
    rows = relations.add_new(table, [np.array([5], np.int32)], 1)
    assert rows == range(2, 3)
    assert [end.tolist() for end in table.read(range(3))] == [[1.0, 2.0, -math.inf], [1.0, 2.0, math.inf]]
    assert [end.tolist() for end in table.read(np.array([0, -1]))] == [[1.0, -math.inf], [1.0, math.inf]]
