"""Adds a told table to a program that is already checked; only its entities need checking."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from lnnkit.check.entity_names import entities
from lnnkit.check.gather import gather
from lnnkit.check.program import Assertion, CheckedProgram, Query
from lnnkit.check.symbols import Entry
from lnnkit.data.table import FactTable
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic


def add_told(checked: CheckedProgram, table: FactTable) -> tuple[CheckedProgram, list[Diagnostic]]:
    """``checked`` with one more table, after its own, for a predicate that it has; no file is read again.

    A statement with a variable that differs only in case from an entity of the table gets an error, as if the program
    had named the table.
    """
    said: tuple[Assertion | Query, ...] = (*checked.assertions, *checked.queries)
    entries = [
        Entry(ast.QueryStatement(cast(ast.Expression, each.formula), span=each.span), Path(), each.logic)
        for each in said
    ]
    symbols = replace(gather(entries, declared=checked.predicates, told=[table]), complete=False)
    found = [finding for finding in entities(symbols) if finding.code == "variable-like-entity"]
    return replace(checked, tables=(*checked.tables, table)), found
