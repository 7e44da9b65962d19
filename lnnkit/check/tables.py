"""Reads the tables that ``load`` and ``label ... from`` name, through ``lnnkit.data``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.check.predicates import arity_of
from lnnkit.check.symbols import Entry, Symbols
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.data.readers.sheets import Sheets
    from lnnkit.data.table import FactTable

Reading = ast.LoadStatement | ast.LabelTableStatement
READING = frozenset({"load", "from"})
"""Keywords of statements that read tables; a statement with a syntax error that contains one may have named a table."""


def read_tables(symbols: Symbols, left: Collection[str] = ()) -> tuple[Symbols, list[Diagnostic]]:
    """The program with its tables, and the findings about the files. Files of the predicates in ``left`` are not
    opened."""
    every = [entry for entry in symbols.entries if isinstance(entry.statement, Reading)]
    wanted = [entry for entry in every if _name(entry) not in left]
    if len(wanted) < len(every):
        symbols = unread(symbols)
    if not wanted:
        return symbols, []
    from lnnkit.data.load import read_table  # numpy and Arrow are loaded only by programs with data
    from lnnkit.data.readers.sheets import Sheets, key_of

    tables: list[FactTable] = []
    labels: list[FactTable] = []
    diagnostics: list[Diagnostic] = []
    arities: dict[str, int] = dict(symbols.arities)
    complete = symbols.complete
    sheets = Sheets(key_of(each.statement.table, each.base) for each in wanted if isinstance(each.statement, Reading))
    for entry in wanted:
        statement = entry.statement
        assert isinstance(statement, Reading)
        name, table = statement.name, statement.table
        arity = arity_of(symbols, name)
        if arity is None:
            arity = arities.setdefault(name, _width(table, entry.base, sheets))
        gaps = "unknown"
        if isinstance(statement, ast.LabelTableStatement):
            gaps = "skipped"
        elif name in symbols.declared and symbols.declared[name].closed:
            gaps = "refused"
        numeric, negated = name in symbols.numbers, statement.negated
        result, found = read_table(name, arity, numeric, table, entry.base, statement.span, sheets, negated, gaps=gaps)
        diagnostics.extend(found)
        complete = complete and not any(finding.severity == "error" for finding in found)
        if result is not None:
            (tables if isinstance(statement, ast.LoadStatement) else labels).append(result)
    read = replace(symbols, tables=tuple(tables), label_tables=tuple(labels), complete=complete, arities=arities)
    return read, _distinct(diagnostics)


def _name(entry: Entry) -> str:
    assert isinstance(entry.statement, Reading)
    return entry.statement.name


def _distinct(found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings about a file, each once, however many statements read the file."""
    kept: dict[Diagnostic, Diagnostic] = {}
    for finding in found:
        kept.setdefault(finding if finding.file is None else replace(finding, span=None), finding)
    return list(kept.values())


def _width(table: ast.Table, base: Path, sheets: Sheets) -> int:
    """The arity of a predicate that only a table mentions: all columns are arguments."""
    from lnnkit.data.source import Unreadable

    if table.read is not None:
        return len(table.read)
    try:
        return len(sheets.sheet(table, base).names)
    except Unreadable:
        return 1  # reading the table reports it


def unread(symbols: Symbols) -> Symbols:
    """The program without opening its files; their contents count as unknown."""
    loads = [each for each in symbols.statements() if isinstance(each, Reading)]
    arities = {load.name: len(load.table.read) for load in loads if load.table.read is not None}
    return replace(symbols, complete=symbols.complete and not loads, arities=arities)
