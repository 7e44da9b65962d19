"""Tables: the files that ``load`` and ``label ... from`` name, read through ``lnnkit.data``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.check.predicates import arity_of
from lnnkit.check.symbols import Symbols
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

Reading = ast.LoadStatement | ast.LabelTableStatement


def read_tables(symbols: Symbols) -> tuple[Symbols, list[Diagnostic]]:
    """The program with its tables, and what is wrong with the files."""
    wanted = [entry for entry in symbols.entries if isinstance(entry.statement, Reading)]
    if not wanted:
        return symbols, []
    from lnnkit.data.load import read_table  # numpy and Arrow are loaded only by programs with data

    tables: list[FactTable] = []
    labels: list[FactTable] = []
    diagnostics: list[Diagnostic] = []
    arities: dict[str, int] = {}
    complete = True
    for entry in wanted:
        statement = entry.statement
        assert isinstance(statement, Reading)
        name, table = statement.name, statement.table
        arity = arity_of(symbols, name)
        if arity is None:
            arity = arities.setdefault(name, _width(table, entry.base))
        result, found = read_table(name, arity, name in symbols.numbers, table, entry.base, statement.span)
        diagnostics.extend(found)
        if result is None:
            complete = False
        else:
            (tables if isinstance(statement, ast.LoadStatement) else labels).append(result)
    read = replace(symbols, tables=tuple(tables), label_tables=tuple(labels), complete=complete, arities=arities)
    return read, diagnostics


def _width(table: ast.Table, base: Path) -> int:
    """The number of arguments of a predicate that nothing but a table names: all of the columns are arguments."""
    from lnnkit.data.delimited import open_delimited
    from lnnkit.data.grid import Unreadable
    from lnnkit.data.parquet import open_parquet
    from lnnkit.data.source import read_source

    if table.columns is not None:
        return len(table.columns)
    try:
        raw = read_source(base / table.path)
        sheet = open_parquet(raw) if raw.format == "parquet" else open_delimited(raw, table.header)
    except Unreadable:
        return 1  # reading the table reports it
    return len(sheet.names)


def unread(symbols: Symbols) -> Symbols:
    """The program with its files left closed; what they hold is then unknown."""
    loads = [each for each in symbols.statements() if isinstance(each, Reading)]
    arities = {load.name: len(load.table.columns) for load in loads if load.table.columns is not None}
    return replace(symbols, complete=not loads, arities=arities)
