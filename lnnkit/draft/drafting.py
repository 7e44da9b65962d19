"""Writes the program for some tables: declarations, ``load`` statements, one or two queries, and a comment for each
table. A table whose rows have no names is copied with a column of ids in front (``row1``, ``row2``, ...)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lnnkit.data.source import RawTable, Unreadable, read_source
from lnnkit.draft.keys import PredicateNames, Sorts, keys_of, stem_of
from lnnkit.draft.survey import Survey, SurveyedColumn
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_predicate, format_statement, format_string, one_line
from lnnkit.syntax.span import Source, Span

CATEGORIES = 30
"""The most values of a column of categories. Of 36 tables only Feynman's equations get another draft with another
value from 5 to 500 (`python -m benchmarks.draft_constants`)."""
_FEW = 200  # rows that a query lists in full: one screen or a few; no draft of 36 tables changes from 150 to 400
_NOWHERE = Span(Source("", ""), 0, 0)
_VARIABLES = ("X", "Y", "Z", "Row", "Item", "Each", "Other", "Any1", "Any2", "Any3")


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a program, and the tables in which no column names the rows."""

    text: str
    keyless: tuple[Path, ...]


def draft(tables: Sequence[Survey], paths: Sequence[str]) -> Draft:
    """The program for ``tables``, whose files are written as ``paths``."""
    keys = [keys_of(table) for table in tables]
    sorts, naming = Sorts(tables, keys), PredicateNames()
    variables = _variables(tables)
    written = [
        _table(table, path, own, sorts, naming, variables)
        for table, path, own in zip(tables, paths, keys, strict=True)
        if own
    ]
    declared = list(dict.fromkeys(sort for _, own, _ in written for sort in own))
    queries = [query for *_, own in written for query in own[:1]]
    queries += [query for *_, own in written for query in own[1:]]
    names = ", ".join(Path(path).name for path in paths)
    parts = [
        [f"# Drafted by `lnnkit init` from {one_line(names)}. Rename things, take out what no rule needs, add rules."],
        [format_statement(ast.SortStatement(sort, span=_NOWHERE)) for sort in declared],
        *(lines for lines, *_ in written),
        ["# A rule, to begin with: `rule First(X) & Second(X) -> Third(X)`", *queries[:2]],
    ]
    keyless = tuple(table.path for table, own in zip(tables, keys, strict=True) if not own)
    return Draft("\n\n".join("\n".join(part) for part in parts if part) + "\n", keyless)


def _table(
    table: Survey,
    path: str,
    keys: tuple[SurveyedColumn, ...],
    sorts: Sorts,
    naming: PredicateNames,
    variables: Sequence[str],
) -> tuple[list[str], list[str], list[str]]:
    """The statements for one table, the sorts that they mention, and queries."""
    own = [sorts.of(key) for key in keys]
    named = " and ".join(f"`{sort}` ({_title(key)})" for sort, key in zip(own, keys, strict=True))
    lines = [f"# {one_line(Path(path).name)}: {table.rows:,} rows about {named}"]
    used, queries, left = list(own), list[str](), list[str]()
    arguments = ", ".join(variables[: len(keys)])

    def rows_themselves() -> None:
        name = naming.predicate(stem_of(table.path), "", numeric=False)
        lines.extend([declared_text(name, own, numeric=False), load_text(name, table, path, keys, (), numeric=False)])
        queries.append(f"query {format_predicate(name)}({arguments})")

    if len(keys) == len(table.columns):
        rows_themselves()
    for column in table.columns:
        if any(column is key for key in keys):
            continue
        why = _left_out(column, table, sorts)
        numeric, truth = column.kind == "number" and not _refers(column, sorts), column.kind == "truth"
        if why and (column.kind in ("empty", "unread") or column.names is None):
            left.append(f"# {_title(column)}: {why}")
            continue
        name = naming.predicate(column.title, stem_of(table.path), numeric=numeric)
        signature = own if numeric or truth else [*own, sorts.of(column)]
        statements = [
            declared_text(name, signature, numeric=numeric),
            load_text(name, table, path, keys, (column,), numeric=numeric),
        ]
        if why:
            left += [f"# {_title(column)}: {why}", *(f"# {statement}" for statement in statements)]
            continue
        lines += statements
        used += signature[len(own) :]
        queries += _queries(name, column, table, arguments, numeric=numeric, truth=truth)
    if not queries:
        rows_themselves()
    return [*lines, *left], used, queries


def _left_out(column: SurveyedColumn, table: Survey, sorts: Sorts) -> str | None:
    """Why a column is not loaded; None if it is."""
    if column.kind == "unread":
        return f"not loaded, {one_line(column.reason)}"
    if column.kind == "empty":
        return "empty"
    if column.kind == "text" and column.distinct > CATEGORIES and not _refers(column, sorts):
        return f"not loaded: it has {column.distinct:,} different texts"
    if column.kind == "text" and table.rows > 4 and column.distinct > table.rows * 0.8 and not _refers(column, sorts):
        return "not loaded: nearly every row has its own text"
    return None


def _refers(column: SurveyedColumn, sorts: Sorts) -> bool:
    """Whether a column names entities that are the rows of a table."""
    return column.names is not None and column.kind in ("text", "number") and sorts.reference(column) is not None


def declared_text(name: str, signature: Sequence[str], *, numeric: bool) -> str:
    kind = ast.NumberStatement if numeric else ast.PredicateStatement
    return format_statement(kind(name, tuple(signature), span=_NOWHERE))


def load_text(
    name: str,
    table: Survey,
    path: str,
    keys: Sequence[SurveyedColumn],
    values: Sequence[SurveyedColumn],
    *,
    numeric: bool,
) -> str:
    """The ``load`` statement. Its conditions leave out rows that state nothing: those without a key, a truth value or a
    category."""
    columns = (*keys, *values)
    needed = [*keys, *([] if numeric else values)]
    where = [ast.Where(c.column, (), "is not null", span=_NOWHERE) for c in needed if c.missing]
    marks = dict.fromkeys(mark for column in columns for mark in column.marks)
    read = ast.Table(
        path,
        tuple(column.column for column in columns),
        tuple(where),
        header=table.header,
        missing=tuple(marks),
        delimiter=table.delimiter,
        decimal="," if any(column.commas for column in values) else ".",
        span=_NOWHERE,
    )
    return format_statement(ast.LoadStatement(name, read, span=_NOWHERE))


def _queries(
    name: str, column: SurveyedColumn, table: Survey, arguments: str, *, numeric: bool, truth: bool
) -> Iterator[str]:
    shown = format_predicate(name)
    head = f"exists {arguments}: " if table.rows > _FEW else ""
    if truth:
        yield f"query {head}{shown}({arguments})"
    elif numeric:
        middle = int(column.median) if column.median.is_integer() else float(f"{column.median:.12g}")
        yield f"query exists {arguments}: {shown}({arguments}) >= {middle!r}"
    else:
        rarest = column.commonest(CATEGORIES)[-1]
        yield f"query {head}{shown}({arguments}, {format_string(rarest)})"


def _variables(tables: Sequence[Survey]) -> list[str]:
    """Variable names that differ from every entity by more than case, since the check would report those as slips."""
    lists = [column.names for table in tables for column in table.columns if column.names is not None]

    def free(name: str) -> bool:
        spelled = (name, name.lower(), name.upper())
        return not any(names.find(each) is not None for names in lists for each in spelled)

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
        return b"".join(b'{"%s": "row%d", %s\n' % (title.encode(), n, each[1:]) for n, each in enumerate(objects, 1))
    return _parquet(raw, title) if raw.format == "parquet" else _text(raw, table, title)


def _parquet(raw: RawTable, title: str) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    held = pq.read_table(pa.BufferReader(raw.data))
    sink = io.BytesIO()
    pq.write_table(held.add_column(0, title, [[f"row{row + 1}" for row in range(held.num_rows)]]), sink)
    return sink.getvalue()


def _text(raw: RawTable, table: Survey, title: str) -> bytes:
    mark = table.delimiter or ("\t" if raw.format == "tsv" else ",")
    plain = raw.format == "tsv" and mark == "\t"  # without quoting
    try:
        text = raw.data.decode("utf-8-sig")
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark, quoting=csv.QUOTE_NONE if plain else 0)
        filled = [row for row in rows if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise Unreadable("unreadable-file", f'"{raw.path}" cannot be copied: {error}') from None
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, delimiter=mark, lineterminator="\n")
    for number, row in enumerate(filled, start=0 if table.header else 1):
        cells = [title if number == 0 else f"row{number}", *row]
        if plain:
            sink.write(mark.join(cells) + "\n")
        else:
            writer.writerow(cells)
    return sink.getvalue().encode()
