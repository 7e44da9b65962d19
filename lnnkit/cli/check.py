"""``lnnkit check``: reports what is wrong with a program and its data. Imports neither torch nor networkx."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from lnnkit.cli import streams
from lnnkit.cli.program_file import read
from lnnkit.syntax.diagnostic import Diagnostic

SUMMARY = "say what is wrong with a program and its data"
DESCRIPTION = """\
Reads a program, all that it imports and its tables, and says everything that is wrong with them.
Nothing is inferred. Warnings alone leave the exit code at 0."""
EXAMPLE = """\
example:
  lnnkit check triage.lnn
  lnnkit check triage.lnn --format json | jq '.diagnostics[].message'
"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text on standard error (default), or one JSON object on standard output",
    )


def command(arguments: argparse.Namespace) -> int:
    found = diagnostics(arguments.file)
    if arguments.format == "json":
        streams.in_utf8()
        listed = [finding.as_dict() for finding in found]
        streams.write([json.dumps({"diagnostics": listed}, ensure_ascii=False), "\n"])
    else:
        streams.findings(found)
        streams.write([f"{streams.printable(arguments.file)}: {_summary(found)}\n"])
    return 1 if _count(found, "error") else 0


def diagnostics(file: str) -> list[Diagnostic]:
    """All findings about a program, in the order of the text."""
    source, found = read(file)
    if source is None:
        return found
    from lnnkit.check.checker import check, ordered
    from lnnkit.syntax.parse import parse

    program, found = parse(source.text, source.path)
    _, more = check(program, source.base)
    return ordered([*found, *more], [source.path])


def _count(found: Sequence[Diagnostic], severity: str) -> int:
    return sum(finding.severity == severity for finding in found)


def _summary(found: Sequence[Diagnostic]) -> str:
    counts = [(_count(found, severity), severity) for severity in ("error", "warning")]
    shown = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts if count]
    return ", ".join(shown) or "no problems"
