"""``lnnkit show``: the rules of a program, its learnable values as they are."""

from __future__ import annotations

import argparse

from lnnkit.cli import streams
from lnnkit.cli.program import read
from lnnkit.errors import ProgramError

SUMMARY = "print the rules as they stand, with their values in place"
DESCRIPTION = """\
Prints the rules and axioms of a program and of what it imports, one on a line, each learnable value replaced by
the value that it has: what was learned, to be read. One that has no value yet stays a `?`."""
EXAMPLE = """\
example:
  lnnkit show trained.lnn
"""


def options(parser: argparse.ArgumentParser) -> None:
    """None but the file."""


def command(arguments: argparse.Namespace) -> int:
    source, found = read(arguments.file)
    if source is None:
        raise ProgramError(found)
    from lnnkit.check import check
    from lnnkit.check.settle import settled
    from lnnkit.syntax.parse import parse
    from lnnkit.syntax.printer import format_statement

    program, found = parse(source.text, source.path)
    _, more = check(program, source.base, read_data=False)
    errors = [finding for finding in (*found, *more) if finding.severity == "error"]
    if errors:
        raise ProgramError(errors)
    streams.write(f"{format_statement(rule, as_written=True)}\n" for rule in settled(program, source.base))
    return 0
