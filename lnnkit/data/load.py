"""What ``load P from "f.csv"`` and ``label P from "f.csv"`` read: a file to a table of facts."""

from __future__ import annotations

from pathlib import Path

from lnnkit.data.choose import choose
from lnnkit.data.facts import facts
from lnnkit.data.sheets import Sheets
from lnnkit.data.table import FactTable
from lnnkit.data.table_fault import Unreadable
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Span

STATEMENT_FAULTS = frozenset({"missing-file", "unknown-format", "wrong-columns", "unknown-column", "ambiguous-column"})
"""What the statement has to change for: these point at it, all others at the file."""


def read_table(
    predicate: str,
    arity: int,
    numeric: bool,
    table: ast.Table,
    base: Path,
    span: Span | None,
    sheets: Sheets | None = None,
) -> tuple[FactTable | None, list[Diagnostic]]:
    """The facts that ``table`` holds for a predicate (or ``numeric`` attribute), and all that is wrong with it.

    ``base`` is the folder that a relative path starts from, ``span`` the statement to point at. Errors that leave
    other rows readable come with the facts of those rows; None means that nothing could be read. Rows of a file are
    reported at their lines, in order; what the statement itself gets wrong points at it. ``sheets`` holds what other
    statements have read already.
    """
    path = base / table.path
    source = str(path)
    try:
        sheet = (sheets or Sheets()).sheet(path, table.header)
        choice = choose(predicate, arity, numeric, sheet, table.columns, table.where)
        return facts(predicate, numeric, sheet, choice, sheet.read(choice.wanted), source, span)
    except Unreadable as problem:
        fault = problem.fault
        in_file = span is None or fault.code not in STATEMENT_FAULTS
        return None, [Diagnostic(fault.code, fault.message, fault.hint, span, file=source if in_file else None)]
    finally:
        if sheets is not None:
            sheets.done(path, table.header)
