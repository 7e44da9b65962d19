"""What a told table changes in a program that is checked already: only the entities that it brings."""

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
    """``checked`` with one more table, about a predicate that it has, behind its own; no file is read again.

    The errors are those of statements whose variables equal an entity of the table but for case: had the program
    named the table, its check would have had them.
    """
    said: tuple[Assertion | Query, ...] = (*checked.assertions, *checked.queries)
    entries = [
        Entry(ast.QueryStatement(cast(ast.Expression, each.formula), span=each.span), Path(), each.logic)
        for each in said
    ]
    symbols = replace(gather(entries, declared=checked.predicates, told=[table]), complete=False)
    found = [finding for finding in entities(symbols) if finding.code == "variable-like-entity"]
    return replace(checked, tables=(*checked.tables, table)), found
