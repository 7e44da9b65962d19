"""Rewrites the paths in a program's text for another folder; everything else stays, comments included."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

from lnnkit.syntax import ast
from lnnkit.syntax.fault import Lexeme, lexemes
from lnnkit.syntax.identifiers import shadow
from lnnkit.syntax.printer import format_string


def relocate(program: ast.Program, old: Path, new: Path) -> str:
    """The text of ``program``, whose paths are relative to the folder ``old``, with paths that lead from ``new`` to the
    same files. Absolute paths stay; if no relative path leads from ``new`` to a file, it gets an absolute one."""
    source = program.span.source
    pieces, done = [], 0
    for statement in program.statements:
        if not isinstance(statement, ast.FileStatement):
            continue
        written = _path(statement)
        moved = _moved(written, old, new) if written else written
        if moved != written:
            literal = _literal(statement)
            pieces += [source.text[done : literal.start], format_string(moved)]
            done = literal.end
    return "".join([*pieces, source.text[done:]])


def relative(file: Path, folder: Path) -> str:
    """A path that leads from a folder to a file; an absolute one if none does. ``file`` is resolved."""
    try:
        return Path(os.path.relpath(file, folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return file.as_posix()


def paths(program: ast.Program) -> list[str]:
    """The paths that ``program`` names, as they are written; of a query, every text that may be one."""
    named = [_path(statement) for statement in program.statements if isinstance(statement, ast.FileStatement)]
    quoted = [text.replace("''", "'") for query in queries(program) for text in re.findall(r"'((?:[^']|'')*)'", query)]
    return [path for path in (*named, *quoted) if path]


def queries(program: ast.Program) -> list[str]:
    """The queries that the statements of ``program`` read tables from."""
    tables = (statement.table for statement in program.statements if isinstance(statement, ast.TableStatement))
    return [table.query for table in tables if table.query is not None]


def _path(statement: ast.FileStatement) -> str:
    return statement.path if isinstance(statement, ast.ImportStatement) else statement.table.path


def _moved(path: str, old: Path, new: Path) -> str:
    if Path(path).is_absolute() or old.resolve() == new.resolve():
        return path
    whole = old.resolve() / path
    # `..` after a symbolic link leads elsewhere than its text says
    return relative(whole.parent.resolve() / whole.name, new)


def _literal(statement: ast.FileStatement) -> Lexeme:
    """The string with the path, after ``import``, ``from`` or ``database``."""
    span = statement.span
    code = pairwise(lexemes(span.source.text, shadow(span.source.text), span.start, span.end))
    before = ("import", "from", "database")
    return next(lexeme for word, lexeme in code if word.text in before and lexeme.kind == "string")
