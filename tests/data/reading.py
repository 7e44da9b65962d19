"""How the tests of this folder state a table and look at what came."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lnnkit.data.table import FactTable
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Source, Span

STATEMENT = Span(Source("p.lnn", "load P from ..."), 0, 4)


@dataclass(frozen=True)
class Read:
    """A table and its diagnostics, in plain values."""

    table: FactTable | None
    diagnostics: list[Diagnostic]

    @property
    def facts(self) -> list[tuple[object, ...]]:
        """Each fact as its arguments, its lower and its upper end."""
        assert self.table is not None
        columns = [list(column) for column in self.table.columns]
        return list(zip(*columns, self.table.lower.tolist(), self.table.upper.tolist(), strict=True))

    @property
    def keys(self) -> list[tuple[object, ...]]:
        return [fact[:-2] for fact in self.facts]

    @property
    def rows(self) -> list[int]:
        assert self.table is not None
        return self.table.rows.tolist()

    @property
    def found(self) -> list[tuple[str, int | None]]:
        return [(diagnostic.code, diagnostic.row) for diagnostic in self.diagnostics]

    @property
    def errors(self) -> list[tuple[str, int | None]]:
        return [(d.code, d.row) for d in self.diagnostics if d.severity == "error"]

    def only(self) -> Diagnostic:
        assert len(self.diagnostics) == 1, self.diagnostics
        return self.diagnostics[0]


def statement(
    path: str,
    columns: tuple[ast.ColumnReference, ...] | None = None,
    where: dict[ast.ColumnReference, str] | None = None,
    header: bool = True,
) -> ast.Table:
    filters = tuple(ast.Where(column=c, values=(v,), span=STATEMENT) for c, v in (where or {}).items())
    return ast.Table(path=path, columns=columns, where=filters, header=header, span=STATEMENT)


def in_order(texts: Iterable[str]) -> list[str]:
    """Distinct texts as entities are numbered: whole numbers that fit 64 bits by value, then texts by code point. A
    whole number is what Python reads as one and prints the same."""

    def place(text: str) -> tuple[int, int, str]:
        try:
            number = int(text)
        except ValueError:
            return (1, 0, text)
        return (0, number, "") if str(number) == text and -(2**63) <= number <= 2**63 - 1 else (1, 0, text)

    return sorted(set(texts), key=place)


Reader = Callable[..., Read]
