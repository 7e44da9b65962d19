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
