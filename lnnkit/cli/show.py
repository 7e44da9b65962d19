"""``lnnkit show``: prints the rules of a program with the current values of its learnable numbers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser
from lnnkit.cli.program_file import base_of, read
from lnnkit.errors import ProgramError

if TYPE_CHECKING:
    from lnnkit.syntax import ast

SUMMARY = "print the rules as they stand, with their values in place"
DESCRIPTION = """\
Prints the rules and axioms of a program and of what it imports, one on a line, each learnable value replaced by its
value, so that you can read what was learned. One that has no value yet stays a `?`. Arithmetic units appear as
arithmetic, debt(X) / income(X), and status registers as comparisons; where weights are not round, or truths of a
register neither 0 nor 1, the largest gap follows as the residual."""
EXAMPLE = """\
example:
  lnnkit show trained.lnn
"""


def options(_parser: CommandParser) -> None:
    """Add nothing: FILE is the only argument."""


def command(arguments: argparse.Namespace) -> int:
    source = read(arguments.file)
    from lnnkit.check import check
    from lnnkit.syntax.parse import parse

    program, found = parse(source.text, source.path)
    base = base_of(source)
    _, more = check(program, base, read_data=False)
    errors = [finding for finding in (*found, *more) if finding.severity == "error"]
    if errors:
        raise ProgramError(errors)
    streams.write(_lines(program, base))
    return 0


def _lines(program: ast.Program, base: Path) -> Iterator[str]:
    from lnnkit.check.learnables import settled
    from lnnkit.learn.parameters.unit_readout import readable
    from lnnkit.syntax.printer import format_statement

    residuals: list[float] = []

    def read_out(node: ast.Expression) -> ast.Expression:
        shown, residual = readable(node)
        residuals.append(residual)
        return shown

    for rule in settled(program, base, read_out):
        residual = max(residuals, default=0.0)
        residuals.clear()
        note = f"  # residual {residual:.2g}" if residual else ""
        yield f"{format_statement(rule, as_written=True)}{note}\n"
