"""``lnnkit import``: a program for a text with first-order logic."""

from __future__ import annotations

import argparse
from pathlib import Path

from lnnkit.cli import streams
from lnnkit.cli.program_file import read
from lnnkit.errors import ProgramError

SUMMARY = "write a program for formulas of first-order logic"
DESCRIPTION = """\
Reads formulas of first-order logic as people and language models write them, one a line, and writes a program that
means the same. Each liberty that is taken with the source is a warning, and a comment in the program."""
EXAMPLE = """\
example:
  lnnkit import story.txt -o story.lnn
  lnnkit import claims.txt --skip-errors -o claims.lnn
"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a text with formulas; - reads standard input")
    parser.add_argument("-o", "--output", metavar="OUT", help="write this .lnn file instead of printing")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.add_argument(
        "--skip-errors", action="store_true", help="leave out what cannot be read, instead of writing nothing"
    )


def command(arguments: argparse.Namespace) -> int:
    from lnnkit.interchange.importing import from_fol
    from lnnkit.output import require_apart, require_free

    output = arguments.output
    if output is not None:
        require_free(output, force=arguments.force)
        require_apart(output, [Path(arguments.file)])
    source, found = read(arguments.file)
    if source is None:
        raise ProgramError(found)
    imported = from_fol(source.text, source.path, skip_errors=arguments.skip_errors)
    streams.findings(imported.notes)
    streams.deliver(imported.text, output, f"lnnkit run {output}")
    return 0
