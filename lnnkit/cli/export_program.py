"""``lnnkit export``: a program's classical reading for other solvers."""

from __future__ import annotations

import argparse

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, require_output
from lnnkit.cli.program_file import load

SUMMARY = "write a program's classical reading as SMT-LIB"
DESCRIPTION = """\
Writes what a program says in first-order logic, with the questions, for other solvers: statements of truth alpha or
more, entities distinct, closed sorts enumerated, open ones open, numbers reals. The questions are FORMULAs without free
variables, or else the program's queries."""
EXAMPLE = """\
example:
  lnnkit export policy.lnn 'Allowed(anna)' -o policy.smt2
"""


def options(parser: CommandParser) -> None:
    parser.add_argument("formulas", metavar="FORMULA", nargs="*", help="a question, instead of the program's queries")
    parser.choice("--format", ("smt2",), "SMT-LIB 2")
    parser.output("write this file instead of printing")
    parser.alpha()


def command(arguments: argparse.Namespace) -> int:
    require_output(arguments, [arguments.file])
    kb = load(arguments.file)
    require_output(arguments, kb.files)
    text, findings = kb.exported(arguments.formulas or None, alpha=arguments.alpha)
    streams.findings((*kb.warnings, *findings))
    streams.deliver(text, arguments.output)
    return 0
