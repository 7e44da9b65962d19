"""Reads ``load P from query "select ..."`` and ``from database "crm.duckdb" table "transfers"`` with DuckDB.

A query may read files in the folder of the program and below it. DuckDB enforces that on the resolved paths: no other
file, no network and no extension is reached, and its configuration is locked. It runs in one thread, so that rows come
in the same order each time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnnkit.data.grid import Sheet
from lnnkit.data.readers.frames import arrow_sheet
from lnnkit.data.source import Unreadable, nearest_file

if TYPE_CHECKING:
    import duckdb

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
            return _sheet(connection, _anchored(sql, tree, folder), source)
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
            return _sheet(connection, f"select * from {name}", source)
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


def _sheet(connection: duckdb.DuckDBPyConnection, sql: str, source: str) -> Sheet:
    return replace(arrow_sheet(connection.sql(sql).to_arrow_table(), source), format="query")


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
