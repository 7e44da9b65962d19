"""Tables of any kind as columns of numbers and categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lnnkit.learn.literals import TableColumn
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_statement
from lnnkit.syntax.span import Source, Span

_NOWHERE = Span(Source("", ""), 0, 0)


def columns_of(table: Any) -> list[TableColumn]:
    """The columns of a data frame, by their names, or of a two-dimensional array (``x0``, ``x1``, ...). What is neither
    number nor truth value is a category, told by its text."""
    if hasattr(table, "columns"):
        return [_column(str(name), table[name]) for name in table.columns]
    array = np.asarray(table)
    return [_column(f"x{place}", array[:, place]) for place in range(array.shape[1])]


def declarations(columns: Sequence[TableColumn], sort: str) -> list[str]:
    """A ``number``, or a predicate of a row and a value, for each column."""
    return [
        format_statement(
            ast.NumberStatement(column.name, (sort,), span=_NOWHERE)
            if column.numeric
            else ast.PredicateStatement(column.name, (sort, "entity"), True, span=_NOWHERE)
        )
        for column in columns
    ]


def _column(name: str, values: Any) -> TableColumn:
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind in "fiub":
        return TableColumn(name, np.asarray(values, dtype=np.float64))
    found = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        found[place] = None if value is None or value != value or str(value) == "<NA>" else value
    known = [value for value in found.tolist() if value is not None]
    if known and all(isinstance(value, (int, float, np.number)) for value in known):
        return TableColumn(name, np.array([np.nan if value is None else float(value) for value in found.tolist()]))
    found[:] = [None if value is None else str(value) for value in found.tolist()]
    return TableColumn(name, found)


def in_order(
    columns: Sequence[TableColumn], codes: np.ndarray, weight: np.ndarray
) -> tuple[list[TableColumn], np.ndarray, np.ndarray]:
    """The rows in an order that says nothing of where they came from; rows that count a whole number of times stand
    there as often, rows that count nothing not at all."""
    times = np.ones(len(codes), dtype=int) if (weight % 1).any() else weight.astype(int)
    keys = [codes]
    for column in columns:
        values = column.values
        if not column.numeric:
            values = np.array(["" if value is None else f"={value}" for value in values.tolist()])
        keys.append(values)
    order = np.repeat(np.lexsort(keys), times[np.lexsort(keys)])
    order = order[weight[order] > 0]
    shares = np.ones(len(order)) if not (weight % 1).any() else weight[order]
    return [TableColumn(each.name, each.values[order]) for each in columns], codes[order], shares
