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
    numbers = np.full(len(values), np.nan)
    numeric = True
    for place, value in enumerate(values):
        missing = value is None or value != value or str(value) == "<NA>"
        found[place] = None if missing else str(value)
        if not missing:
            try:
                numbers[place] = float(value)
            except (TypeError, ValueError):
                numeric = False
            numeric = numeric and not isinstance(value, str)
    return TableColumn(name, numbers) if numeric else TableColumn(name, found)
