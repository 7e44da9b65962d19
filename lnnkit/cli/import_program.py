"""``lnnkit import``: a program for a text in another notation."""

from __future__ import annotations

import argparse
from pathlib import Path

from lnnkit.cli import streams
from lnnkit.cli.program_file import read
from lnnkit.errors import Error, ProgramError
from lnnkit.syntax.diagnostic import Diagnostic

SUMMARY = "write a program for first-order logic that people or language models wrote"
DESCRIPTION = """\
Reads a text in another notation and writes a program that means the same. The formulas may be first-order logic as
people and language models write it, one a line. Each liberty that is taken with the source is a warning, and a comment
in the program."""
EXAMPLE = """\
example:
  lnnkit import story.txt -o story.lnn
  lnnkit import claims.txt --skip-errors -o claims.lnn
"""
FORMATS = ("fol",)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a text in another notation; - reads standard input")
    parser.add_argument("-o", "--output", metavar="OUT", help="write this .lnn file instead of printing")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.add_argument(
        "--from",
        dest="form",
        choices=FORMATS,
        help="the notation (default: what the file looks to be in)",
    )
    parser.add_argument(
        "--skip-errors", action="store_true", help="leave out what cannot be read, instead of writing nothing"
    )


def command(arguments: argparse.Namespace) -> int:
    from lnnkit.interchange.importing import format_of, import_text
    from lnnkit.output import require_apart, require_writable, write_text

    output = arguments.output
    if output is not None:
        if Path(output).exists() and not arguments.force:
            message = f'"{output}" exists already'
            raise Error([Diagnostic("file-exists", message, "name another file, or replace it with --force")])
        require_writable(output)
        require_apart(output, [Path(arguments.file)])
    source, found = read(arguments.file)
    if source is None:
        raise ProgramError(found)
    form = arguments.form or format_of(source.text, source.path)
    imported = import_text(source.text, source.path, form, skip_errors=arguments.skip_errors)
    streams.findings(imported.notes)
    if output is None:
        streams.in_utf8()
        streams.write([imported.text])
        return 0
    write_text(output, imported.text)
    streams.note(f"{output}: written; try `lnnkit run {output}`")
    return 0
