"""The sources of facts: the rows of files, and the statements, about an atom.

Tables keep their row numbers, so nothing else is stored; a table is sorted by its first column on the first query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lnnkit.check.program import CheckedProgram, Fact
from lnnkit.explain.proof.proof import GivenFact
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import in_digits
from lnnkit.syntax.printer import format_expression, one_line

if TYPE_CHECKING:
    import numpy as np

    from lnnkit.data.table import FactTable


class FactSources:
    """The facts of a program by atom."""

    def __init__(self, program: CheckedProgram) -> None:
        self._stated: dict[tuple[str, tuple[str, ...]], list[Fact]] = {}
        for fact in program.facts:
            self._stated.setdefault((fact.predicate, fact.arguments), []).append(fact)
        self._every = [_Table(table, program.predicates[table.predicate].numeric) for table in program.tables]
        self._tables: dict[str, list[_Table]] = {}
        for table in self._every:
            self._tables.setdefault(table.facts.predicate, []).append(table)

    def of(self, predicate: str, arguments: Sequence[str]) -> list[GivenFact]:
        """All facts about an atom: those of the program's text, then those of its tables, in their order."""
        stated, tables = self._stated.get((predicate, tuple(arguments)), ()), self._tables.get(predicate, ())
        return [*map(_stated, stated), *(table.given(row) for table in tables for row in table.rows(arguments))]

    def every(self, predicate: str) -> Iterator[GivenFact]:
        """All facts of a predicate: those of the program's text, then those of its tables."""
        for (name, _), facts in self._stated.items():
            yield from map(_stated, facts if name == predicate else ())
        for table in self._tables.get(predicate, ()):
            yield from map(table.given, range(len(table.facts)))

    def rows(self, table: int, predicate: str, arguments: Sequence[str]) -> list[int]:
        """The positions in one of the program's tables of the facts about an atom."""
        lookup = self._every[table]
        return lookup.rows(arguments) if lookup.facts.predicate == predicate else []

    def entities(self, predicate: str) -> set[str]:
        """All entities that facts of a predicate mention."""
        entities = {text for name, arguments in self._stated if name == predicate for text in arguments}
        return entities.union(*(table.facts.names for table in self._tables.get(predicate, ())))


@dataclass
class _Table:
    """A table of ``facts``, with its order by the first column."""

    facts: FactTable
    numeric: bool
    _sorted: tuple[np.ndarray, np.ndarray] | None = None

    def rows(self, arguments: Sequence[str]) -> list[int]:
        """The positions of the facts about these entities."""
        import numpy as np

        if not arguments:
            return list(range(len(self.facts)))
        codes = [code for text in arguments if (code := self.facts.names.find(text)) is not None]
        if len(codes) < len(arguments):
            return []
        columns = [column.codes for column in self.facts.columns]
        if self._sorted is None:
            order = np.argsort(columns[0], kind="stable")
            self._sorted = order, columns[0].take(order)
        order, first = self._sorted
        low, high = np.searchsorted(first, np.array((codes[0], codes[0] + 1), first.dtype))
        rows = order[low:high]
        for column, code in zip(columns[1:], codes[1:], strict=True):
            rows = rows[column.take(rows) == code]
        return rows.tolist()

    def given(self, row: int) -> GivenFact:
        """The fact in a row."""
        facts = self.facts
        lower, upper = float(facts.lower[row]), float(facts.upper[row])
        arguments = [column[row] for column in facts.columns]
        text = fact_text(facts.predicate, arguments, lower, upper, numeric=self.numeric)
        if facts.trust != 1:
            text += f" trust {in_digits(facts.trust)}"
        return GivenFact(lower, upper, facts.source, int(facts.rows[row]), text, facts.trust)


def _stated(fact: Fact) -> GivenFact:
    span = fact.span
    return GivenFact(fact.lower, fact.upper, span.source.path, span.line, one_line(span.text), fact.trust)


def ground_atom(predicate: str, arguments: Sequence[str]) -> ast.Atom:
    """The atom of a predicate about these entities."""
    return ast.Atom(predicate, tuple(map(ast.Constant, arguments)))


def ground_key(formula: object) -> tuple[str, tuple[str, ...]] | None:
    """The predicate and the entities of an atom; None of any other formula, and of an atom with variables."""
    if not isinstance(formula, ast.Atom):
        return None
    texts = tuple(argument.text for argument in formula.arguments if isinstance(argument, ast.Constant))
    return (formula.name, texts) if len(texts) == len(formula.arguments) else None


def fact_text(predicate: str, arguments: Sequence[str], lower: float, upper: float, *, numeric: bool = False) -> str:
    """The fact as a statement would put it."""
    atom = format_expression(ground_atom(predicate, arguments))
    if not numeric and (lower, upper) == (1.0, 1.0):
        return f"fact {atom}"
    if not numeric and (lower, upper) == (0.0, 0.0):
        return f"fact ~{atom}"
    low, high = in_digits(lower), in_digits(upper)
    return f"fact {atom} = {low}" if lower == upper else f"fact {atom} in [{low}, {high}]"
