"""Reads typed columns: frames and columns of other libraries through the Arrow interfaces, without importing any of
them; files of Parquet and JSON lines; and with DuckDB ``load P from query "select ..."`` and ``from database
"crm.duckdb" table "transfers"``.

A query may read files in the folder of the program and below it. DuckDB enforces that on the resolved paths: no other
file, no network and no extension is reached, and its configuration is locked. It runs in one thread, so that rows come
in the same order each time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import Column, numbers, without_views
from lnnkit.data.cells.text_values import is_missing
from lnnkit.data.files import Format, RawTable, Unreadable, nearest_file
from lnnkit.data.grid import Grid, Sheet

if TYPE_CHECKING:
    import duckdb

QUERY = Format("query")
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
_ALONE = {
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # a name is no variable of the calling program
    "threads": "1",
}
_SELECTING = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_RUNNING = frozenset({"query", "json_execute_serialized_sql"})
_BESIDE = "a query reads files in the folder of its .lnn file and below; paths are relative to that folder"
_DIALECT = 'a query is in DuckDB\'s SQL; within its quotes `"` is written `\\"`'
_READERS = re.compile(r"read_\w+|parquet_\w+|glob|sniff_csv")  # table functions whose first argument names files
_NAME = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[\w.]+""")


def arrow_sheet(table: Any, source: str, form: Format | None = None, rows: np.ndarray | None = None) -> Sheet:
    """The sheet of any object with an Arrow interface; rows count from 1 if they have no numbers. A named pandas index
    becomes the first columns, as ``reset_index`` does; an unnamed one is ignored."""
    kind = type(table).__name__
    try:
        held = _table(_with_times(table))
    except Exception as error:  # the object's own code runs here: whatever it raises, it is no table
        raise Unreadable("wrong-table", f"a {kind} cannot be read as a table: {error}") from None
    held, order = _ordered(held, type(table).__module__.startswith("pandas"))
    names = tuple(held.column_names[place] for place in order)
    numbered = np.arange(1, held.num_rows + 1, dtype=np.int64) if rows is None else rows

    def read(wanted: Sequence[int]) -> Grid:
        return Grid({place: without_views(held.column(order[place])) for place in wanted}, numbered)

    return Sheet(source, names, True, read, form)


def _with_times(table: Any) -> Any:
    """A pandas frame in which the dates and times of mixed columns are texts."""
    mixed = [n for n in range(table.shape[1]) if _is_mixed(table.iloc[:, n])] if hasattr(table, "isetitem") else []
    if mixed:
        table = table.copy(deep=False)
    for place in mixed:
        table.isetitem(place, [_iso(value) for value in table.iloc[:, place]])
    return table


def _is_mixed(values: Any) -> bool:
    """Whether Python objects are dates, some with a time: Arrow would drop that, or take neither."""
    if str(getattr(values, "dtype", None)) != "object":
        return False
    known = (value for value in values if not is_missing(value))
    first = next(known, None)
    return isinstance(first, date) and any(
        isinstance(value, datetime) != isinstance(first, datetime) for value in known
    )


def _iso(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) and not is_missing(value) else value


def _table(table: Any) -> pa.Table:
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        try:
            return pa.table(table)
        except pa.ArrowInvalid:  # one column: a Series
            return pa.table([pa.chunked_array(table)], ["1"])
    from pyarrow.interchange import from_dataframe

    return from_dataframe(table)


def _ordered(table: pa.Table, pandas: bool) -> tuple[pa.Table, list[int]]:
    """The table with the named index of a frame of pandas as columns, those that pandas describes as a range too, and
    the positions of its columns in the order that the user sees."""
    metadata = (table.schema.metadata or {}).get(b"pandas") if pandas else None
    index: list[str] = []
    for entry in json.loads(metadata)["index_columns"] if metadata else ():
        if isinstance(entry, str):
            index.append(entry)
        elif entry["name"] is not None:
            index.append(str(entry["name"]))
            table = table.append_column(index[-1], numbers(np.arange(entry["start"], entry["stop"], entry["step"])))
    names = table.column_names
    order = list(range(len(names)))
    while order and UNNAMED_INDEX.fullmatch(names[order[-1]]):
        order.pop()
    front = [place for place in order if place >= len(names) - len(index) and names[place] in index]
    return table, front + [place for place in order if place not in front]


def column_of(values: Any, title: str) -> Column:
    """One column: an Arrow array if the values are one or a numeric array, otherwise a list."""
    problem: object = f"it is a {type(values).__name__}"
    try:
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            return without_views(values)
        if _is_mixed(values):
            return [_iso(value) for value in values]
        if hasattr(values, "__arrow_c_stream__"):
            return without_views(pa.chunked_array(values))
        if hasattr(values, "__arrow_c_array__"):
            return without_views(pa.array(values))
        if hasattr(values, "__array__"):
            return _from_array(values)
        if isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping)):
            return list(values)
    except Exception as error:  # as above: the object's own code
        problem = error
    hint = 'a mapping is read as columns: {"person": ["anna", "bob"], "age": [34, 27]}'
    raise Unreadable("wrong-table", f"{title} is not a sequence of values: {problem}", hint)


def _from_array(values: Any) -> Column:
    if isinstance(values, np.ma.MaskedArray) and values.ndim == 1:
        return values.tolist()  # what is masked is None
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"it has {array.ndim} dimensions")
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
    if array.dtype.kind not in "fiu":
        return array.tolist()
    return numbers(array, array.dtype.newbyteorder("="))


# --- files of typed columns -------------------------------------------------------------------------------------------


def parquet_file(path: Path, source: Any, **options: Any) -> tuple[Any, list[str]]:
    """The Parquet file of a path, opened from a source, and the names of its columns. Raises ``Unreadable``, and
    ``FileNotFoundError``."""
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source, **options)
        return file, list(file.schema_arrow.names)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unreadable("unreadable-file", f'"{path}" is not a Parquet file: {error}') from None


def open_parquet(raw: RawTable) -> Sheet:
    """The sheet of a Parquet file; rows count from 1. An unnamed pandas index at its end is ignored."""
    file, names = parquet_file(raw.path, pa.BufferReader(raw.data))
    while names and UNNAMED_INDEX.fullmatch(names[-1]):
        names.pop()

    def read(wanted: Sequence[int]) -> Grid:
        chosen = [names[position] for position in wanted]
        plain = len(set(file.schema_arrow.names)) == len(file.schema_arrow.names) and not any("." in n for n in chosen)
        try:
            table = file.read(columns=chosen if plain else None)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise Unreadable("unreadable-file", f'"{raw.path}" cannot be read: {error}') from None
        rows = np.arange(1, file.metadata.num_rows + 1, dtype=np.int64)
        return Grid({at: without_views(table.column(names[at] if plain else at)) for at in wanted}, rows)

    return Sheet(f'"{raw.path}"', tuple(names), True, read, raw.format)


def open_json_lines(raw: RawTable) -> Sheet:
    """The sheet of a file of JSON lines; rows count as the lines do. The columns are the keys of all objects, a key
    that an object lacks is a missing cell, and dates stay text."""
    from pyarrow import json

    def parsed(schema: pa.Schema | None) -> pa.Table:
        reading = json.ReadOptions(use_threads=False, block_size=min(len(raw.data) + 1, 2**31 - 1))
        parsing = json.ParseOptions(explicit_schema=schema)
        return json.read_json(pa.BufferReader(raw.data.removeprefix(b"\xef\xbb\xbf")), reading, parsing)

    try:
        table = parsed(None)
        dated = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
        if dated:
            table = parsed(pa.schema([(name, pa.string()) for name in dated]))
    except (pa.ArrowException, OSError, ValueError) as error:
        hint = "each line is one object, whose values under one key are of one type"
        raise Unreadable("unreadable-file", f'"{raw.path}" cannot be read as JSON lines: {error}', hint) from None
    lines = [number for number, line in enumerate(raw.data.split(b"\n"), start=1) if line.strip()]
    rows = np.array(lines, np.int64) if len(lines) == table.num_rows else None
    return arrow_sheet(table, f'"{raw.path}"', raw.format, rows)


READERS: dict[str, Callable[[RawTable], Sheet]] = {"parquet": open_parquet, "jsonl": open_json_lines}
"""What makes the sheet of a file of typed columns, by the name of its `Format`."""


# --- queries and databases -------------------------------------------------------------------------------------------


def open_query(sql: str, base: Path, source: str) -> Sheet:
    """The rows of one ``select`` over files in the folder ``base``; they count from 1. Raises ``Unreadable``."""
    database = _duckdb()
    folder = os.path.realpath(base)
    with database.connect(config=_ALONE) as connection:
        try:
            _lock(connection, folder)
            statements = connection.extract_statements(sql)
            tree = json.loads(connection.execute("select json_serialize_sql(?::varchar)", [sql]).fetchall()[0][0])
            if len(statements) != 1 or not _selects(tree):
                message = "a query is one `select`, which reads and returns rows, and this is not"
                raise Unreadable("bad-query", message, "write one `select`; nothing is written or set")
            anchored = connection.sql(_anchored(sql, tree, folder))
            return arrow_sheet(anchored.to_arrow_table(), source, QUERY)
        except database.Error as problem:
            reading = isinstance(problem, (database.IOException, database.PermissionException))
            raise Unreadable("bad-query", _said(problem, folder), _BESIDE if reading else _DIALECT) from None


def open_database(path: Path, table: str, source: str) -> Sheet:
    """The rows of a table or view in a DuckDB file, which is opened for reading alone. Raises ``Unreadable``."""
    database = _duckdb()
    if not path.is_file():
        raise Unreadable("missing-file", f'no file "{path}"', nearest_file(path))
    try:
        connection = database.connect(str(path), read_only=True, config=_ALONE)
    except database.Error as problem:
        hint = "name a DuckDB file that no one writes; from Python, `kb.tell` takes a relation of an open connection"
        raise Unreadable("unreadable-file", f'"{path}" cannot be opened: {_said(problem)}', hint) from None
    with connection:
        try:
            _lock(connection)
            name = ".".join(_quoted(part, '"') for part in table.split("."))
            return arrow_sheet(connection.sql(f"select * from {name}").to_arrow_table(), source, QUERY)
        except database.Error as problem:
            raise Unreadable("bad-query", _said(problem), f'name a table or a view of "{path.name}"') from None


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        message = "a query or a database needs duckdb, which is not installed"
        raise Unreadable("missing-extra", message, "install it with `pip install 'lnnkit[sql]'`") from None
    return duckdb


def _lock(connection: duckdb.DuckDBPyConnection, *folders: str) -> None:
    listed = ", ".join(_quoted(folder, "'") for folder in folders)
    settings = f"allowed_directories = [{listed}]", "temp_directory = ''", "TimeZone = 'UTC'"
    for setting in (*settings, "enable_external_access = false", "lock_configuration = true"):
        connection.execute(f"set {setting}")


def _quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, mark * 2) + mark


def _said(problem: Exception, folder: str = "") -> str:
    """What DuckDB says, without its excerpt of the query."""
    text = " ".join(str(problem).partition("\n\nLINE ")[0].split())
    return text.replace(f"{folder}{os.sep}", "") if folder else text


# --- the tree of a query ----------------------------------------------------------------------------------------------


def _selects(tree: dict[str, Any]) -> bool:
    """Whether a query and all within it read alone: a `with` can hold statements that write, and two functions run
    queries that are texts."""
    nodes = [(str(node.get("type")), str(node.get("function_name")).lower()) for node in _every(tree)]
    reading = all(kind in _SELECTING or not kind.endswith("_NODE") for kind, _ in nodes)
    return reading and _RUNNING.isdisjoint(function for _, function in nodes) and not tree["error"]


def _anchored(sql: str, tree: dict[str, Any], folder: str) -> str:
    """The query with its relative paths under ``folder``: DuckDB takes them from the working folder of the process."""
    code, done, pieces = sql.encode(), 0, list[str]()
    for start in sorted(_places(tree)):
        name = _NAME.match(code[start:].decode())
        if name is None:
            continue
        path = name[0] if name[0][0] not in "'\"" else name[0][1:-1].replace(name[0][0] * 2, name[0][0])
        whole = os.path.join(folder, path)
        if "://" in path or whole == path or not (name[0][0] == "'" or os.path.isfile(whole)):
            continue
        pieces += [code[done:start].decode(), _quoted(whole, "'")]
        done = start + len(name[0].encode())
    return "".join([*pieces, code[done:].decode()])


def _places(tree: dict[str, Any]) -> Iterator[int]:
    """The offsets, in bytes, of what may be a path: a table, or a text that a reader is given."""
    for node in _every(tree):
        function = node.get("function")
        if node.get("type") == "BASE_TABLE":
            yield node["query_location"]
        elif isinstance(function, dict) and _READERS.fullmatch(str(function.get("function_name")).lower()):
            given = (argument["expression"] for argument in function["arguments"])  # options are comparisons
            texts = [t for t in given if t["type"] == "VALUE_CONSTANT" or t.get("function_name") == "list_value"]
            yield from (leaf["query_location"] for leaf in _every(texts) if leaf.get("type") == "VALUE_CONSTANT")


def _every(tree: object) -> Iterator[dict[str, Any]]:
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            yield node
            todo += node.values()
        elif isinstance(node, list):
            todo += node
