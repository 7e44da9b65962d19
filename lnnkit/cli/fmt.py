"""``lnnkit fmt``: formats a program's text."""

from __future__ import annotations

import argparse
from pathlib import Path

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser
from lnnkit.cli.program_file import STANDARD_INPUT, read
from lnnkit.data.model_file import is_model
from lnnkit.errors import ProgramError

SUMMARY = "print a program tidied, or write it back"
DESCRIPTION = """\
Prints a program in its canonical form: spacing, connectives and line breaks are made even, comments and
blank lines kept. A program with syntax errors is left alone."""
EXAMPLE = """\
example:
  lnnkit fmt triage.lnn            print the tidied program
  lnnkit fmt triage.lnn --write    tidy the file itself
"""


def options(parser: CommandParser) -> None:
    parser.flag("--write", "write FILE instead of printing, if it changes")


def command(arguments: argparse.Namespace) -> int:
    if arguments.write and arguments.file == STANDARD_INPUT:
        raise streams.UsageError("--write needs a FILE: standard input cannot be written")
    if arguments.write and is_model(Path(arguments.file)):
        raise streams.UsageError("--write cannot write a model file: its exact numbers would be lost")
    source = read(arguments.file)
    from lnnkit.syntax.tidy import tidy

    tidied, found = tidy(source.text, source.path)
    if found:
        raise ProgramError(found)
    if not arguments.write:
        streams.write([tidied])
    elif tidied != source.text:
        from lnnkit.output import write_text

        write_text(source.path, tidied)
        streams.note(f"{source.path}: tidied")
    else:
        streams.note(f"{source.path}: tidy already, not written")
    return 0
