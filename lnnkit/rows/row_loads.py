"""The ``load`` statements whose table is replaced by a stream of rows, and the columns that they choose from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lnnkit.check.named_files import merge
from lnnkit.check.program import Predicate
from lnnkit.data.choose import ColumnChoice, choose
from lnnkit.data.facts import Gaps
from lnnkit.data.grid import Sheet
from lnnkit.data.source import Unreadable
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_string
from lnnkit.syntax.span import Span


@dataclass(frozen=True, slots=True)
class RowLoad:
    """A statement that loads a predicate, or number, of rows. ``place`` is the position of the row among its arguments;
    ``base`` the folder of the program."""

    predicate: str
    arity: int
    numeric: bool
    gaps: Gaps
    place: int
    table: ast.Table
    negated: bool
    span: Span
    base: Path

    @property
    def path(self) -> Path:
        """Where its rows come from; a query has a path of its own, where no file is."""
        return self.base / self.table.origin

    def choice(self, sheet: Sheet) -> ColumnChoice:
        """The columns that it reads. Raises `Unreadable`."""
        table = self.table
        return choose(self.predicate, self.arity, self.numeric, sheet, table.read, table.where, table.missing)


def row_loads(
    program: ast.Program, base: Path, predicates: Mapping[str, Predicate], sort: str
) -> tuple[list[RowLoad], dict[str, Span]]:
    """The loads, in a program and its imports, of predicates with one argument of the sort; and the predicates with
    several such arguments, each with the position of a load of it."""
    loads: list[RowLoad] = []
    pairs: dict[str, Span] = {}
    for entry in merge(program, base).entries:
        statement = entry.statement
        if not isinstance(statement, ast.LoadStatement) or statement.name not in predicates:
            continue
        predicate = predicates[statement.name]
        places = [place for place, other in enumerate(predicate.sorts) if other == sort]
        if len(places) > 1:
            pairs.setdefault(predicate.name, statement.span)
        if len(places) == 1:
            loads.append(
                RowLoad(
                    predicate.name,
                    predicate.arity,
                    predicate.numeric,
                    "refused" if predicate.closed else "unknown",
                    places[0],
                    statement.table,
                    statement.negated,
                    statement.span,
                    entry.base,
                )
            )
    return loads, pairs


def streamed(loads: Sequence[RowLoad], sort: str, stream: Path | None = None) -> tuple[list[RowLoad], list[RowLoad]]:
    """The loads of the table that a ``stream`` replaces, and the loads of other tables about the same entities, which
    are read whole. If there are several tables, the stream must have the name of one of them. Raises `Unreadable`."""
    paths = list(dict.fromkeys(load.path.resolve() for load in loads))
    if len(paths) < 2:
        return list(loads), []
    chosen = [path for path in paths if stream is not None and path == stream.resolve()]
    chosen = chosen or [path for path in paths if stream is not None and path.name == stream.name]
    if len(chosen) != 1:
        listed = " and ".join(dict.fromkeys(format_string(load.table.origin) for load in loads))
        message = f"the program loads facts about `{sort}` from {len(paths)} tables: {listed}"
        hint = "put these columns into one table, or give the stream the file name of the table that it replaces"
        raise Unreadable("several-row-tables", message, hint)
    return (
        [load for load in loads if load.path.resolve() == chosen[0]],
        [load for load in loads if load.path.resolve() != chosen[0]],
    )


def key_of(
    loads: Sequence[RowLoad], choices: Sequence[ColumnChoice], sheet: Sheet
) -> tuple[int | None, list[Diagnostic]]:
    """The position of the column that names the row, which all loads share; otherwise the errors."""
    keys = {choice.keys[load.place]: load for load, choice in zip(loads, choices, strict=True)}
    if len(keys) < 2:
        return next(iter(keys), None), []
    (first, one), (second, other) = list(keys.items())[:2]
    message = f"rows are named by {sheet.title(first)} in `{one.predicate}`, and by {sheet.title(second)} here"
    hint = "a row is one entity: name it by one column in all statements that load it"
    return None, [Diagnostic("linked-rows", message, hint, other.span)]


def wanted(choices: Collection[ColumnChoice]) -> tuple[int, ...]:
    """The columns that any of them reads."""
    return tuple(dict.fromkeys(position for choice in choices for position in choice.wanted))
