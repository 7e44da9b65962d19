"""``lnnkit import``: a program for a text with first-order logic."""

from __future__ import annotations

import argparse

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, require_output
from lnnkit.cli.program_file import read

SUMMARY = "write a program for formulas of first-order logic"
DESCRIPTION = """\
Reads formulas of first-order logic as people and language models write them, one a line, and writes a program that
means the same. Each liberty that is taken with the source is a warning, and a comment in the program."""
EXAMPLE = """\
example:
  lnnkit import story.txt -o story.lnn
  lnnkit import claims.txt --skip-errors -o claims.lnn
"""


def options(parser: CommandParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a text with formulas; - reads standard input")
    parser.output()
    parser.flag("--skip-errors", "leave out what cannot be read, instead of writing nothing")


def command(arguments: argparse.Namespace) -> int:
    from lnnkit.interchange.as_program import from_fol

    require_output(arguments, [arguments.file])
    source = read(arguments.file)
    imported = from_fol(source.text, source.path, skip_errors=arguments.skip_errors)
    streams.findings(imported.notes)
    streams.deliver(imported.text, arguments.output, f"lnnkit run {arguments.output}")
    return 0
