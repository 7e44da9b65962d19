"""``lnnkit init``: a first program for tables."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, require_output
from lnnkit.errors import Error
from lnnkit.markup.plain_text import counted, listed
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.relocate import relative

if TYPE_CHECKING:
    from lnnkit.draft.drafting import Draft
    from lnnkit.draft.survey import Survey

SUMMARY = "draft a program for CSV, TSV, Parquet or JSON lines files"
DESCRIPTION = """\
Reads tables and writes a program that loads them: sorts, numbers, predicates for truths and categories,
`load` statements with what stands for a missing cell and what separates columns, and a query or two. Columns
of several files that name the same entities get one sort. What is left out stands there as a comment."""
EXAMPLE = """\
example:
  lnnkit init people.csv
  lnnkit init people.csv visits.parquet -o visits.lnn
  lnnkit init measurements.csv --ids -o measurements.lnn
"""


def options(parser: CommandParser) -> None:
    said = "a table: .csv, .tsv, .txt, .parquet or .jsonl, compressed or not"
    parser.add_argument("files", metavar="FILE", nargs="+", help=said)
    parser.output()
    said = "give each row an id where no column does: writes a copy beside OUT, as data.ids.csv"
    parser.flag("--ids", said)


def command(arguments: argparse.Namespace) -> int:
    output = arguments.output
    if arguments.ids and output is None:
        raise streams.UsageError("--ids writes files, and needs -o OUT")
    files = list(dict.fromkeys(Path(file) for file in arguments.files))
    require_output(arguments, files)
    base = Path(output).resolve().parent if output is not None else Path.cwd()
    tables = surveyed(files, lenient=True)
    keyless = _draft(tables, base).keyless
    if arguments.ids and keyless:
        tables = [_copied(table, base, arguments.force) if table.path in keyless else table for table in tables]
    text = drafted(tables, base)
    streams.deliver(text, output, f"lnnkit run {output}")
    return 0


def surveyed(files: Sequence[Path], *, lenient: bool = False) -> list[Survey]:
    """What the files hold. Raises `Error` for a file that cannot be read or has no rows; if ``lenient``, only where no
    other can be."""
    from lnnkit.data.source import Unreadable
    from lnnkit.draft.survey import survey

    tables: list[Survey] = []
    problems: list[Diagnostic] = []
    for file in files:
        try:
            table = survey(file)
            if table.rows:
                tables.append(table)
            else:
                hint = "name a file with a header and rows below it"
                problems.append(Diagnostic("no-rows", "there is no row that can be read", hint, file=str(file)))
        except Unreadable as problem:
            fault = problem.fault
            hint = fault.hint.replace("paths are relative to the .lnn file", "paths are relative to the working folder")
            problems.append(Diagnostic(fault.code, fault.message, hint, file=str(file)))
    _report(problems, tables if lenient else [])
    return tables


def _report(problems: Sequence[Diagnostic], others: Sequence[object]) -> None:
    """Raise `Error` for tables that cannot be drafted; if there are ``others``, warn of them."""
    if problems and not others:
        raise Error(problems)
    streams.findings(replace(each, severity="warning") for each in problems)


def drafted(tables: Sequence[Survey], base: Path) -> str:
    """The program for some tables; its paths start from ``base``. Raises `Error` if no column names the rows of any."""
    found = _draft(tables, base)
    _report([_keyless(path) for path in found.keyless], tables[len(found.keyless) :])
    streams.findings(_lost(table) for table in tables if table.lost)
    return found.text


def _draft(tables: Sequence[Survey], base: Path) -> Draft:
    from lnnkit.draft.drafting import draft

    return draft(tables, [relative(table.path.resolve(), base) for table in tables])


def _keyless(path: Path) -> Diagnostic:
    from lnnkit.draft.keys import stem_of

    message = "no column identifies the rows: none has mostly distinct values"
    hint = f"give each row an id: `lnnkit init {path} --ids -o {stem_of(path)}.lnn`"
    return Diagnostic("no-key", message, hint, file=str(path))


def _copied(table: Survey, base: Path, force: bool) -> Survey:
    """The survey of a copy with ids, which is written beside the program."""
    from lnnkit.data.source import Unreadable
    from lnnkit.draft.row_ids import copy_name, with_ids
    from lnnkit.draft.survey import survey
    from lnnkit.output import write_text

    target = base / copy_name(table.path)
    if target.exists() and not force:
        message = f'"{target}" exists already'
        raise Error([Diagnostic("file-exists", message, "take it away, or replace it with --force")])
    try:
        write_text(target, with_ids(table))
        streams.note(f"{target}: written, {table.path.name} with a column of ids")
        return survey(target)
    except Unreadable as problem:
        raise Error([Diagnostic(problem.fault.code, problem.fault.message, file=str(table.path))]) from None


def _lost(table: Survey) -> Diagnostic:
    message = f"{counted(len(table.lost), 'row')} cannot be read: {listed(table.lost)}"
    hint = "`lnnkit check` says what is wrong with each"
    return Diagnostic("bad-row", message, hint, severity="warning", file=str(table.path), row=min(table.lost))
