"""Programs with hypothetical facts, for ``kb.assume``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lnnkit.check.program import CheckedProgram, Fact
from lnnkit.data.column import EntityColumn
from lnnkit.explain.provenance.fact_sources import FactSources, fact_text
from lnnkit.syntax.span import Source, Span

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

ASSUMED = "<assumed>"


def assumption(predicate: str, arguments: Sequence[str], lower: float, upper: float, *, numeric: bool) -> Fact:
    """The assumed fact about an atom, or a ``numeric`` attribute. Raises ``ValueError`` for invalid bounds."""
    if numeric and not (lower <= upper and lower < math.inf and upper > -math.inf):
        raise ValueError(f"[{lower}, {upper}] are not the ends of a number: lower must be at most upper")
    if not numeric and not 0 <= lower <= upper <= 1:
        raise ValueError(f"[{lower}, {upper}] are not truth bounds: 0 <= lower <= upper <= 1 must hold")
    text = fact_text(predicate, arguments, lower, upper, numeric=numeric)
    return Fact(predicate, tuple(arguments), lower, upper, Span(Source(ASSUMED, text), 0, len(text)))


def with_facts(program: CheckedProgram, origins: FactSources, facts: Sequence[Fact]) -> CheckedProgram:
    """The program with these facts in place of all its own facts about their atoms."""
    atoms = {(fact.predicate, fact.arguments) for fact in facts}
    kept = tuple(fact for fact in program.facts if (fact.predicate, fact.arguments) not in atoms)
    tables = tuple(
        without_rows(table, {row for fact in facts for row in origins.rows(number, fact.predicate, fact.arguments)})
        for number, table in enumerate(program.tables)
    )
    return replace(program, facts=(*kept, *facts), tables=tables)


def tightens(origins: FactSources, fact: Fact) -> bool:
    """Whether a fact implies all of the program's facts about its atom."""
    said = origins.of(fact.predicate, fact.arguments)
    return all(fact.lower >= each.lower and fact.upper <= each.upper for each in said)


def without_rows(table: FactTable, rows: set[int]) -> FactTable:
    """The table without some rows; the entities that they name remain known."""
    if not rows:
        return table
    import numpy as np

    keep = np.ones(len(table), bool)
    keep[list(rows)] = False
    columns = tuple(EntityColumn(column.codes[keep], column.names) for column in table.columns)
    return replace(table, columns=columns, lower=table.lower[keep], upper=table.upper[keep], rows=table.rows[keep])
