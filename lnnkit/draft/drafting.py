"""Writes the program for some tables: declarations, ``load`` statements, one or two queries, and a comment for each
table. A table whose rows have no names is copied with a column of ids in front (``row1``, ``row2``, ...)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from lnnkit.data.files import Unreadable, read_source
from lnnkit.draft.keys import Sorts, keys_of, predicate_name, stem_of
from lnnkit.draft.survey import Survey, SurveyedColumn, SurveyedColumns, dialect, text_rows
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_predicate, format_statement, format_string, one_line

CATEGORIES = 30
"""The most values of a column of categories. Of 36 tables only Feynman's equations get another draft with another
value from 5 to 500 (`python -m benchmarks.draft_constants`)."""
_FEW = 200  # rows that a query lists in full: one screen or a few; no draft of 36 tables changes from 150 to 400
_VARIABLES = ("X", "Y", "Z", "Row", "Item", "Each", "Other", "Any1", "Any2", "Any3")


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a program, and the tables in which no column names the rows."""

    text: str
    keyless: tuple[Path, ...]


def draft(tables: Sequence[Survey], paths: Sequence[str]) -> Draft:
    """The program for ``tables``, whose files are written as ``paths``."""
    keys = [keys_of(table) for table in tables]
    sorts, used, variables = Sorts(tables, keys), set[str](), _variables(tables)
    every = zip(tables, paths, keys, strict=True)
    written = [_table(table, path, key, sorts, used, variables) for table, path, key in every if key]
    queries = [query for *_, asked in written for query in asked[:1]]
    queries += [query for *_, asked in written for query in asked[1:]]
    names = one_line(", ".join(Path(path).name for path in paths))
    declared = dict.fromkeys(sort for _, mentioned, _ in written for sort in mentioned)
    parts = [
        [f"# Drafted by `lnnkit init` from {names}. Rename things, take out what no rule needs, add rules."],
        [format_statement(ast.SortStatement(sort)) for sort in declared],
        *(lines for lines, *_ in written),
        ["# A rule, to begin with: `rule First(X) & Second(X) -> Third(X)`", *queries[:2]],
    ]
    keyless = tuple(table.path for table, key in zip(tables, keys, strict=True) if not key)
    return Draft("\n\n".join("\n".join(part) for part in parts if part) + "\n", keyless)


def _table(
    table: Survey, path: str, keys: SurveyedColumns, sorts: Sorts, used: set[str], variables: Sequence[str]
) -> tuple[list[str], list[str], list[str]]:
    """The statements for one table, the sorts that they mention, and queries; ``used`` are the names of predicates so
    far."""
    key_sorts = [sorts.of(key) for key in keys]
    named = " and ".join(f"`{sort}` ({_title(key)})" for sort, key in zip(key_sorts, keys, strict=True))
    lines = [f"# {one_line(Path(path).name)}: {table.rows:,} rows about {named}"]
    mentioned, queries, left = list(key_sorts), list[str](), list[str]()
    arguments = ", ".join(variables[: len(keys)])

    def statements(name: str, signature: Sequence[str], values: SurveyedColumns, numeric: bool) -> list[str]:
        kind = ast.NumberStatement if numeric else ast.PredicateStatement
        loaded = load_text(name, table, path, keys, values, numeric=numeric)
        return [format_statement(kind(name, tuple(signature))), loaded]

    for column in table.columns:
        if column in keys:
            continue
        refers = column.kind in ("text", "number") and sorts.reference(column) is not None
        numeric, why = column.kind == "number" and not refers, _left_out(column, table, refers)
        if why and (column.kind in ("empty", "unread") or column.names is None):
            left.append(f"# {_title(column)}: {why}")
            continue
        name = predicate_name(column.title, stem_of(table.path), numeric, used)
        more = [] if numeric or column.kind == "truth" else [sorts.of(column)]
        texts = statements(name, [*key_sorts, *more], (column,), numeric)
        if why:
            left += [f"# {_title(column)}: {why}", *(f"# {text}" for text in texts)]
        else:
            lines += texts
            mentioned += more
            queries.append(_query(name, column, table, arguments, numeric))
    if not queries:  # the rows themselves
        name = predicate_name(stem_of(table.path), "", False, used)
        lines += statements(name, key_sorts, (), False)
        queries.append(f"query {format_predicate(name)}({arguments})")
    return [*lines, *left], mentioned, queries


def _left_out(column: SurveyedColumn, table: Survey, refers: bool) -> str | None:
    """Why a column is not loaded; None if it is."""
    if column.kind == "unread":
        return f"not loaded, {one_line(column.reason)}"
    if column.kind == "empty":
        return "empty"
    if column.kind == "text" and not refers:
        if column.distinct > CATEGORIES:
            return f"not loaded: it has {column.distinct:,} different texts"
        if table.rows > 4 and column.distinct > table.rows * 0.8:
            return "not loaded: nearly every row has its own text"
    return None


def load_text(
    name: str, table: Survey, path: str, keys: SurveyedColumns, values: SurveyedColumns, *, numeric: bool
) -> str:
    """The ``load`` statement. Its conditions leave out rows that state nothing: those without a key, a truth value or a
    category."""
    columns = (*keys, *values)
    needed = keys if numeric else columns
    read = ast.Table(
        path,
        tuple(column.column for column in columns),
        tuple(ast.Where(column.column, (), "is not null") for column in needed if column.missing),
        header=table.header,
        missing=tuple(dict.fromkeys(mark for column in columns for mark in column.marks)),
        delimiter=table.delimiter,
        decimal="," if any(column.commas for column in values) else ".",
    )
    return format_statement(ast.LoadStatement(name, read))


def _query(name: str, column: SurveyedColumn, table: Survey, arguments: str, numeric: bool) -> str:
    shown, some = format_predicate(name), f"exists {arguments}: "
    if numeric:
        median = float(np.nanmedian(column.in_floats))
        middle = int(median) if median.is_integer() else float(f"{median:.12g}")
        return f"query {some}{shown}({arguments}) >= {middle!r}"
    value = ""
    if column.kind != "truth" and column.names is not None:  # the least frequent value of the first CATEGORIES
        commonest = np.argsort(-np.bincount(column.codes[column.codes >= 0]), kind="stable")
        value = f", {format_string(column.names[int(commonest[:CATEGORIES][-1])])}"
    return f"query {some if table.rows > _FEW else ''}{shown}({arguments}{value})"


def _variables(tables: Sequence[Survey]) -> list[str]:
    """Variable names that differ from every entity by more than case, since the check would report those as slips."""
    lists = [column.names for table in tables for column in table.columns if column.names is not None]

    def free(name: str) -> bool:
        spelled = (name, name.lower(), name.upper())
        return not any(names.find(form) is not None for names in lists for form in spelled)

    return [name for name in _VARIABLES if free(name)] or ["Variable1", "Variable2", "Variable3"]


def _title(column: SurveyedColumn) -> str:
    return f"column {format_string(one_line(column.title))}"


def copy_name(path: Path) -> str:
    """The name of the copy: ``pima.csv`` gives ``pima.ids.csv``; copies are not compressed."""
    stem, kind = path.name.split(".")[0], read_source(path).format
    return f"{stem}.ids.{kind}"


def with_ids(table: Survey) -> bytes:
    """The bytes of a copy of the table with an id column in front. Raises `Unreadable`."""
    raw = read_source(table.path)
    title = "id" if all(column.title.casefold() != "id" for column in table.columns) else "row-id"
    if raw.format == "jsonl":
        objects = [line.strip() for line in raw.data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
        return b"".join(b'{"%s": "row%d", %s\n' % (title.encode(), n, line[1:]) for n, line in enumerate(objects, 1))
    if raw.format == "parquet":
        import pyarrow.parquet as pq

        rows, sink = pq.read_table(pa.BufferReader(raw.data)), io.BytesIO()
        pq.write_table(rows.add_column(0, title, [[f"row{row + 1}" for row in range(rows.num_rows)]]), sink)
        return sink.getvalue()
    try:
        rows = list(text_rows(raw, raw.data.decode("utf-8-sig"), table.delimiter))
    except (UnicodeDecodeError, csv.Error) as error:
        raise Unreadable("unreadable-file", f'"{raw.path}" cannot be copied: {error}') from None
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\n", **dialect(raw, table.delimiter))
    for number, row in enumerate(rows, start=0 if table.header else 1):
        writer.writerow([title if number == 0 else f"row{number}", *row])
    return sink.getvalue().encode()
