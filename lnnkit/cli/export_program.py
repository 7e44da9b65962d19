"""``lnnkit export``: a program's classical reading for other solvers."""

from __future__ import annotations

import argparse
from pathlib import Path

from lnnkit.cli import option_values as values
from lnnkit.cli import streams
from lnnkit.cli.program_file import STANDARD_INPUT, load

SUMMARY = "write a program's classical reading as SMT-LIB"
DESCRIPTION = """\
Writes what a program says in first-order logic, with the questions, for other solvers: statements of truth alpha or
more, entities distinct, closed sorts enumerated, open ones open, numbers reals. The questions are FORMULAs without free
variables, or else the program's queries."""
EXAMPLE = """\
example:
  lnnkit export policy.lnn 'Allowed(anna)' -o policy.smt2
"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("formulas", metavar="FORMULA", nargs="*", help="a question, instead of the program's queries")
    parser.add_argument("--format", choices=("smt2",), default="smt2", help="SMT-LIB 2")
    parser.add_argument("-o", "--output", metavar="OUT", help="write this file instead of printing")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.add_argument("--alpha", type=values.alpha, default=1.0, metavar="A", help="what counts as true (default: 1)")


def command(arguments: argparse.Namespace) -> int:
    from lnnkit.output import require_apart, require_free

    output = arguments.output
    if output is not None:
        require_free(output, force=arguments.force)
    kb = load(arguments.file)
    if output is not None:
        own = [] if arguments.file == STANDARD_INPUT else [Path(arguments.file)]
        require_apart(output, [*own, *kb.files])
    text, findings = kb.exported(arguments.formulas or None, alpha=arguments.alpha)
    streams.findings((*kb.warnings, *findings))
    streams.deliver(text, output)
    return 0
