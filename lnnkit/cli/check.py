"""``lnnkit check``: reports what is wrong with a program and its data. Imports neither torch nor networkx."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser
from lnnkit.cli.program_file import base_of, read
from lnnkit.errors import Error
from lnnkit.markup.plain_text import counted
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.syntax.ast import Program

SUMMARY = "say what is wrong with a program and its data"
DESCRIPTION = """\
Reads a program, all that it imports and its tables, and says everything that is wrong with them.
Nothing is inferred. Warnings alone leave the exit code at 0."""
EXAMPLE = """\
example:
  lnnkit check triage.lnn
  lnnkit check triage.lnn --rows person    can each person be decided alone, as `lnnkit score` does?
  lnnkit check triage.lnn --format json | jq '.diagnostics[].message'
"""


def options(parser: CommandParser) -> None:
    parser.choice(
        "--format", ("text", "json"), "text on standard error (default), or one JSON object on standard output"
    )
    said = (
        "also say whether the entities of a sort can be decided one by one, or what links two of them; the tables "
        "about them are not read"
    )
    parser.value("--rows", str, "SORT", said)


def command(arguments: argparse.Namespace) -> int:
    found = diagnostics(arguments.file, arguments.rows)
    if arguments.format == "json":
        streams.write_json({"diagnostics": [finding.as_dict() for finding in found]})
    else:
        streams.findings(found)
        alone = f"; each {arguments.rows} can be decided alone" if arguments.rows and not _count(found, "error") else ""
        streams.write([f"{streams.printable(arguments.file)}: {_summary(found)}{alone}\n"])
    return 1 if _count(found, "error") else 0


def diagnostics(file: str, rows: str | None = None) -> list[Diagnostic]:
    """All findings about a program, in the order of the text; with a sort of ``rows``, what links two of them too."""
    try:
        source = read(file)
    except Error as problem:
        return list(problem.diagnostics)
    from lnnkit.check.checker import check, ordered
    from lnnkit.syntax.parse import parse

    program, found = parse(source.text, source.path)
    checked, more = check(program, base_of(source), streamed=rows)
    found = [*found, *more]
    if rows is not None and checked is not None and not _count(found, "error"):
        found += _links(program, base_of(source), rows)
    return ordered(found, [source.path])


def _links(program: Program, base: Path, rows: str) -> list[Diagnostic]:
    """What links two rows of a sort, in the statements that the queries need."""
    from lnnkit.kb.knowledge_base import KnowledgeBase

    try:
        return KnowledgeBase(program, base, streamed=rows).row_links(rows)
    except Error as problem:
        return list(problem.diagnostics)


def _count(found: Sequence[Diagnostic], severity: str) -> int:
    return sum(finding.severity == severity for finding in found)


def _summary(found: Sequence[Diagnostic]) -> str:
    counts = [(_count(found, severity), severity) for severity in ("error", "warning")]
    shown = [counted(count, word) for count, word in counts if count]
    return ", ".join(shown) or "no problems"
