"""The model of rows that a knowledge base decides one by one: streamed tables, and those that are held."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lnnkit.check.checker import unknown_sort
from lnnkit.check.program import fractional
from lnnkit.data.files import Unreadable
from lnnkit.data.load import TOLD, read_table
from lnnkit.errors import DataError, ProgramError
from lnnkit.kb.theory import Theory
from lnnkit.rows.scorer import RowModel
from lnnkit.rows.strip_facts import RowLoad, row_loads, streamed
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic


def row_model(
    theory: Theory, file: ast.Program, base: Path, rows: str, stream: Path | None = None, *, strict: bool = True
) -> RowModel:
    """The program about rows, with the tables of everything else. Unless ``strict`` it may have no query, and load
    nothing about rows. Raises `ProgramError` and `DataError`."""
    theory.require_evaluated()
    program = theory.bound(theory.settled())
    about_rows = {name for name, predicate in program.predicates.items() if rows in predicate.sorts}
    if not about_rows:
        raise ProgramError([unknown_sort(rows, program.predicates)])
    loads, pairs = row_loads(file, base, program.predicates, rows)
    others: list[RowLoad] = []
    try:
        if strict:
            loads, others = streamed(loads, rows, stream)
    except Unreadable as problem:
        raise ProgramError([problem.fault]) from None
    if strict and not loads:
        hint = 'load one, whose rows the stream stands in for: load P from "rows.parquet" (key, column)'
        raise ProgramError([Diagnostic("no-row-table", f"the program loads no table about the sort `{rows}`", hint)])
    if strict and not program.queries:
        hint = "add a query, or give one: -q 'P(X)'"
        raise ProgramError([Diagnostic("no-query", "there is nothing to score: the program has no query", hint)])
    sides = [table for table in program.tables if table.predicate in about_rows and table.source.startswith(TOLD)]
    errors: list[Diagnostic] = []
    for load in others:
        table, findings = read_table(load)
        errors += [finding for finding in findings if finding.severity == "error"]
        sides += [table] if table is not None else []
    if errors:
        raise DataError(errors)
    later = {load.predicate: True for load in loads if load.numeric}
    lean = replace(
        program,
        tables=tuple(table for table in program.tables if table.predicate not in about_rows),
        label_tables=tuple(table for table in program.label_tables if table.predicate not in about_rows),
        labels=tuple(label for label in program.labels if label.predicate not in about_rows),
        read_later={table.predicate: table.predicate in fractional((), sides) for table in sides} | later,
    )
    return RowModel(lean, rows, tuple(loads), tuple(sides), pairs)
