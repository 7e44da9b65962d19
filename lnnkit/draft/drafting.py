"""Writes the program for some tables: declarations, ``load`` statements, one or two queries, and a comment for each
table. Finds the columns that name the entities which the rows of a table describe, and those of several tables that
name entities of one sort; the names of predicates and sorts come from the titles of columns and files. A table whose
rows have no names is copied with a column of ids in front (``row1``, ``row2``, ...)."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import chain, combinations, count
from pathlib import Path

import numpy as np

from lnnkit.data.files import format_of, read_source
from lnnkit.data.load import opened
from lnnkit.draft.survey import Survey, SurveyedColumn, SurveyedColumns
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import AGGREGATES, FUNCTIONS, KEYWORDS, SHOUTED, UNITS, in_digits, is_name, normalise
from lnnkit.syntax.printer import format_predicate, format_statement, format_string, one_line

CATEGORIES = 30
"""The most values of a column of categories. Of 36 tables only Feynman's equations get another draft with another
value from 5 to 500 (`python -m benchmarks.draft_constants`)."""
_FEW = 200  # rows that a query lists in full: one screen or a few; no draft of 36 tables changes from 150 to 400
_VARIABLES = ("X", "Y", "Z", "Row", "Item", "Each", "Other", "Any1", "Any2", "Any3")
_TAKEN = frozenset((*KEYWORDS, *AGGREGATES, *FUNCTIONS, *UNITS, *SHOUTED)) - {"date"}
_ID = re.compile(r"(?:^|[ _-]+)(?:u?ids?|key|code|no|nr|number|name)$", re.IGNORECASE)
_CAMEL_ID = re.compile(r"(?<=[a-z])(?:Ids?|ID|Key|Code|No|Nr|Number|Name)$")
_TITLES = "[ug]?uids?|ids?|key|code|no|nr|number|name|isbn|email|login|user|person"
_ID_TITLE = re.compile(rf"(?i:(?:^|[^a-z])(?:{_TITLES})$)|[a-z](?:Id|ID|Key|Code|No|Nr|Name)$")
_TIME = re.compile(r"(?i)(?:^|[^a-z])(?:year|quarter|month|week|day|hour|date|time|period|season|round|line)$")
# Measured by `python -m benchmarks.draft_constants`: no draft of 36 tables changes with `_MOST` from 2 to 48.
_MOST = 12  # columns that are tried in pairs


def draft(tables: Sequence[Survey], paths: Sequence[str]) -> str:
    """The text of the program for ``tables``, whose files are written as ``paths``; without those that have no key."""
    keys = [keys_of(table) for table in tables]
    sorts, used, variables = Sorts(tables, keys), set[str](), _variables(tables)
    every = zip(tables, paths, keys, strict=True)
    written = [_table(table, path, key, sorts, used, variables) for table, path, key in every if key]
    queries = [*(asked[0] for *_, asked in written), *(query for *_, asked in written for query in asked[1:])]
    names = one_line(", ".join(Path(path).name for path in paths))
    declared = dict.fromkeys(sort for _, mentioned, _ in written for sort in mentioned)
    parts = [
        [f"# Drafted by `lnnkit init` from {names}. Rename things, take out what no rule needs, add rules."],
        [format_statement(ast.SortStatement(sort)) for sort in declared],
        *(lines for lines, *_ in written),
        ["# A rule, to begin with: `rule First(X) & Second(X) -> Third(X)`", *queries[:2]],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _table(
    table: Survey, path: str, keys: SurveyedColumns, sorts: Sorts, used: set[str], variables: Sequence[str]
) -> tuple[list[str], list[str], list[str]]:
    """The statements for a table, the sorts that they mention, and queries; ``used`` are the names of predicates."""
    key_sorts = [sorts.of(key) for key in keys]
    named = " and ".join(f"`{sort}` ({_title(key)})" for sort, key in zip(key_sorts, keys, strict=True))
    lines = [f"# {one_line(Path(path).name)}: {table.rows:,} rows about {named}"]
    mentioned, queries, left = list(key_sorts), list[str](), list[str]()
    arguments = ", ".join(variables[: len(keys)])

    def statements(name: str, signature: Sequence[str], values: SurveyedColumns, numeric: bool) -> list[str]:
        kind = ast.NumberStatement if numeric else ast.PredicateStatement
        loaded = load_text(name, table, path, keys, values, numeric=numeric)
        return [format_statement(kind(name, tuple(signature))), loaded]

    for column in (column for column in table.columns if column not in keys):
        refers = column.kind in ("text", "number") and sorts.reference(column) is not None
        numeric, why = column.kind == "number" and not refers, _left_out(column, table, refers)
        if column.kind in ("empty", "unread"):
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
    if column.kind in ("empty", "unread"):
        return f"not loaded, {one_line(column.reason)}" if column.reason else "empty"
    if column.kind == "text" and not refers:
        if column.distinct > CATEGORIES:
            return f"not loaded: it has {column.distinct:,} different texts"
        if table.rows > 4 and column.distinct > table.rows * 0.8:
            return "not loaded: nearly every row has its own text"
    return None


def load_text(
    name: str, table: Survey, path: str, keys: SurveyedColumns, values: SurveyedColumns, *, numeric: bool
) -> str:
    """The ``load`` statement. Its conditions leave out rows without a key, a truth value or a category."""
    columns = (*keys, *values)
    needed = keys if numeric else columns
    read = tuple(column.column for column in columns)
    where = tuple(ast.Where(column.column, (), "is not null") for column in needed if column.missing)
    marks = tuple(dict.fromkeys(mark for column in columns for mark in column.marks))
    decimal = "," if any(column.commas for column in values) else "."
    clauses = {"header": table.header, "missing": marks, "delimiter": table.delimiter, "decimal": decimal}
    return format_statement(ast.LoadStatement(name, ast.Table(path, read, where, **clauses)))


def _query(name: str, column: SurveyedColumn, table: Survey, arguments: str, numeric: bool) -> str:
    shown, some = format_predicate(name), f"exists {arguments}: "
    if numeric:
        return f"query {some}{shown}({arguments}) >= {in_digits(np.nanmedian(column.numbers))}"
    value = ""
    if column.kind != "truth" and column.distinct:  # the least frequent value of the first CATEGORIES
        commonest = np.argsort(-np.bincount(column.codes[column.codes >= 0]), kind="stable")
        value = f", {format_string(column.names[int(commonest[:CATEGORIES][-1])])}"
    return f"query {some if table.rows > _FEW else ''}{shown}({arguments}{value})"


def _variables(tables: Sequence[Survey]) -> list[str]:
    """Variable names that differ from every entity by more than case, since the check would report those as slips."""
    names = [column.names for table in tables for column in table.columns]
    spelled = ((name, (name, name.lower(), name.upper())) for name in _VARIABLES)
    free = [name for name, forms in spelled if all(entities.find(form) is None for entities in names for form in forms)]
    return [*free, "Variable1", "Variable2", "Variable3"]


def _title(column: SurveyedColumn) -> str:
    return f"column {format_string(one_line(column.title))}"


def copy_name(path: Path) -> str:
    """The name of the copy: ``pima.csv`` gives ``pima.ids.csv``; copies are not compressed."""
    kind = format_of(path)[0]
    return f"{stem_of(path)}.ids.{kind.name if kind.encoded else 'parquet'}"


def with_ids(table: Survey) -> bytes:
    """The bytes of a copy of the table with an id column in front. Raises `Unreadable`."""
    raw = read_source(table.path)
    title = "id" if all(column.title.casefold() != "id" for column in table.columns) else "row-id"
    if raw.format.name == "jsonl":
        objects = [line.strip() for line in raw.data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
        return b"".join(b'{"%s": "row%d", %s\n' % (title.encode(), n, line[1:]) for n, line in enumerate(objects, 1))
    sheet = opened(raw, False, table.delimiter)
    if not sheet.delimiter:
        import pyarrow.parquet as pq

        sink, rows = io.BytesIO(), sheet.to_arrow()
        pq.write_table(rows.add_column(0, title, [[f"row{row + 1}" for row in range(rows.num_rows)]]), sink)
        return sink.getvalue()
    grid, lines = sheet.read(()), raw.data.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True)
    records = sorted([*grid.rows.tolist(), *(line for line, _ in grid.lost)])  # the lines at which rows begin
    for number, line in enumerate(records, 0 if table.header else 1):
        lines[line - 1] = f"{f'row{number}' if number else title}{sheet.delimiter}".encode() + lines[line - 1]
    return b"".join(lines)


# --- names ------------------------------------------------------------------------------------------------------------


def predicate_name(title: str, table: str, numeric: bool, used: set[str]) -> str:
    """A name that needs no quotes, none of those ``used`` so far, to which it is added: lower-case first for a number,
    upper-case first for a truth value; prefixed with the name of the table if another table has a similar one."""
    short, long = _cased(bare(title), numeric), _cased(f"{bare(table)}-{bare(title)}", numeric)
    names = chain([short, long], (f"{long}-{number}" for number in count(2)))
    name = next(name for name in names if name.casefold() not in used)
    used.add(name.casefold())
    return name


def bare(title: str) -> str:
    """The words of a title, joined by hyphens where necessary: ``Größe (cm)`` gives ``Größe-cm``."""
    name = "-".join(re.findall(r"\w+", normalise(title))).strip("_")
    name = name.lower() if name.isupper() and len(name) > 1 else name
    if not is_name(name) and not is_name(name.lower()):
        name = f"column-{name}" if name else "column"
    if {name, name.lower()} & _TAKEN or not is_name(name) or not is_name(name.lower()):
        name = f"{name}-value"
    return name if is_name(name) else "column"


def subject(title: str) -> str:
    """What a column of ids is about: ``customer_id`` gives ``customer``; ``id`` alone gives an empty text."""
    return _CAMEL_ID.sub("", _ID.sub("", title.strip())).strip(" _-")


def singular(stem: str) -> str:
    """The name of one row, made from the name of its table."""
    return re.sub("(?<=..[^sui])s$", "", re.sub("(?<=..)ies$", "y", bare(stem).lower()))


def _cased(name: str, numeric: bool) -> str:
    first = name[0].lower() if numeric else name[0].upper()
    return first + name[1:] if len(first) == 1 and is_name(first + name[1:]) else name


def stem_of(path: Path) -> str:
    """A file's name without its endings."""
    return path.name.split(".")[0] or path.name


# --- keys -------------------------------------------------------------------------------------------------------------


def is_id(title: str) -> bool:
    """Whether a title suggests names or numbers of entities: ``id``, ``customer_id``, ``orderNo``."""
    return _ID_TITLE.search(title) is not None


def keys_of(table: Survey) -> SurveyedColumns:
    """The column, or pair of columns, that distinguishes all rows; empty if there is none. In a table of two or three
    text columns and nothing else, every column is a key."""
    able = [column for column in table.columns if column.distinct and column.kind in ("text", "number")]
    able = [column for column in able if column.missing <= table.rows / 2]
    names = [column for column in able if column.kind == "text" or is_id(column.title)]
    if len(names) == len(table.columns) and len(names) in (2, 3):
        return tuple(names)
    whole = [column for column in able if not len(column.names.texts)]
    unique = [column for column in able if column.distinct == table.rows - column.missing]
    likely = [column for column in unique if is_id(column.title)]
    likely += [column for column in unique if column.kind == "text"]
    likely += [column for column in table.columns[:1] if column in unique and column in whole]
    titled = [column for column in names if is_id(column.title)]
    times = [column for column in whole if _TIME.search(column.title) and column not in names]
    pairs = (_pair(some, table.rows) for some in (titled, names, [*names, *times]))
    single, single_number = tuple(likely[:1]), tuple(column for column in unique if column in whole)[:1]
    return single or next(filter(None, pairs), ()) or single_number or _pair(whole, table.rows)


def _pair(columns: Sequence[SurveyedColumn], rows: int) -> SurveyedColumns:
    """The first two columns without gaps that together distinguish all rows."""
    pairs = combinations([column for column in columns[:_MOST] if not column.missing], 2)
    coded = ((pair, pair[0].codes.astype(np.int64) * (pair[1].distinct + 1) + pair[1].codes) for pair in pairs)
    return next((pair for pair, codes in coded if len(np.unique(codes)) == rows), ())


class Sorts:
    """The sort of each column that names entities."""

    def __init__(self, tables: Sequence[Survey], keys: Sequence[SurveyedColumns]) -> None:
        self._keys: dict[SurveyedColumn, tuple[str, str]] = {}  # with their sorts, and the names of their tables
        for table, key in zip(tables, keys, strict=True):
            stem = stem_of(table.path)
            whole = len(key) == len(table.columns) > 1  # a relation: its columns may name entities of one kind
            for place, column in enumerate(key):
                alike = whole and any(overlap(key[0], other) for other in ((column,) if place else key[1:]))
                sort = self.reference(column, stem) or (self.of(key[0]) if alike and place else None)
                about = subject(column.title) or (stem if len(key) == 1 else column.title)
                fresh = f"{singular(stem)}-entity" if alike else singular(about)
                self._keys[column] = sort or self._free(fresh), stem

    def of(self, column: SurveyedColumn) -> str:
        """The sort of a column: for a key or a reference to one, that of the key; for a category, one of its own."""
        if column in self._keys:
            return self._keys[column][0]
        return self.reference(column) or self._free(bare(column.title).lower())

    def reference(self, column: SurveyedColumn, stem: str = "") -> str | None:
        """The sort of the key that a column refers to; None if it refers to none. The key has the same title and shares
        values, or its table is named by the column's title. Two columns called ``id`` refer to each other only if both
        are of one table, or one has all values of the other. Texts that all occur in a key refer to it whatever their
        title. ``stem`` names the table of a column that is a key itself."""
        about = bare(subject(column.title)).lower() if subject(column.title) else ""
        for key, (sort, table) in self._keys.items():
            same = key.title.casefold() == column.title.casefold()
            named = bool(about) and (about == sort or bare(table).lower().startswith(about))
            refers = (same or named) and overlap(column, key, 0.5 if about or table == stem else 1.0)
            texts = column.kind == key.kind == "text" and column.distinct > 1
            if key is not column and (refers or (texts and {*column.names} <= {*key.names})):
                return sort
        return None

    def _free(self, name: str) -> str:
        """A name for a sort that is not taken by another key; ``entity`` is the sort of everything."""
        taken = {sort for sort, _ in self._keys.values()} | {"entity"}
        while name in taken:
            name = f"{name}-value"
        return name


def overlap(one: SurveyedColumn, other: SurveyedColumn, share: float = 0.5) -> bool:
    """Whether two columns share at least this share of the values of the one with fewer values."""
    return len({*one.names} & {*other.names}) >= share * min(one.distinct, other.distinct) > 0
