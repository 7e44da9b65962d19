"""Reads the file of ``load P from "f.csv"`` or ``label P from "f.csv"`` into a table of facts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from lnnkit.data.cells.marks import meant_cells
from lnnkit.data.choose import choose
from lnnkit.data.facts import Gaps, facts
from lnnkit.data.readers.sheets import Sheets
from lnnkit.data.source import Unreadable
from lnnkit.data.table import FactTable
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Span

_OF_THE_FILE = frozenset(("unreadable-file", "empty-file", "bad-column", "bad-number"))
"""The errors that are reported in the file; all others are to be fixed in the statement, and are reported there."""

_BELOW_ONE = 1 - 2.0**-53  # the greatest truth below 1


def read_table(
    predicate: str,
    arity: int,
    numeric: bool,
    table: ast.Table,
    base: Path,
    span: Span | None,
    sheets: Sheets | None = None,
    negated: bool = False,
    *,
    gaps: Gaps = "unknown",
) -> tuple[FactTable | None, list[Diagnostic]]:
    """The facts that ``table`` holds for a predicate (or ``numeric`` attribute), and all its errors.

    ``base`` is the folder of relative paths, ``span`` the statement to point at. Errors that leave other rows readable
    come with the facts of those rows; None means that nothing could be read. Faulty rows are reported by line, in
    order; errors of the statement itself are reported at ``span``. ``sheets`` holds what other statements have read
    already. For a ``negated`` predicate the truth of each row is that of the negation; ``gaps`` says what an empty
    truth is.
    """
    source = table.origin if table.query is not None else str(base / table.origin)
    try:
        sheet = (sheets or Sheets()).sheet(table, base)
        choice = choose(predicate, arity, numeric, sheet, table.read, table.where, table.missing)
        grid = meant_cells(sheet.read(choice.wanted), table, choice)
        read, diagnostics = facts(predicate, numeric, sheet, choice, grid, source, span, gaps=gaps)
        read = replace(read, trust=1.0 if table.trust is None else float(table.trust))
        return (denied(read) if negated and not numeric else read), diagnostics
    except Unreadable as problem:
        fault = problem.fault
        in_file = span is None or fault.code in _OF_THE_FILE
        at = problem.span or span
        return None, [Diagnostic(fault.code, fault.message, fault.hint, at, file=source if in_file else None)]
    finally:
        if sheets is not None:
            sheets.done(table, base)


def denied(table: FactTable) -> FactTable:
    """The facts of the negation: ``[1 - U, 1 - L]``; as for ``fact ~P``, a lower end is 1 only if ``U`` is 0."""
    lower = np.where(table.upper == 0, 1.0, np.minimum(1 - table.upper, _BELOW_ONE))
    return replace(table, lower=lower, upper=1 - table.lower)
