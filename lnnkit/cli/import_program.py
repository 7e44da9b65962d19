"""``lnnkit import``: a program for a text in another notation."""

from __future__ import annotations

import argparse
from pathlib import Path

from lnnkit.cli import streams
from lnnkit.cli.program_file import read
from lnnkit.errors import ProgramError

SUMMARY = "write a program for first-order logic, TPTP or a benchmark's logic program"
DESCRIPTION = """\
Reads a text in another notation and writes a program that means the same. The formulas may be first-order logic as
people and language models write it, one a line; TPTP (`fof` and `cnf`: conjectures become queries); a logic program
of ProntoQA or LogicalDeduction as Logic-LM writes them; or a JSON file with examples of these. Each liberty that is
taken with the source is a warning, and a comment in the program."""
EXAMPLE = """\
example:
  lnnkit import story.txt -o story.lnn
  lnnkit import claims.txt --skip-errors -o claims.lnn
  lnnkit import PUZ001+1.p -o puzzle.lnn
  lnnkit import examples.json --id ProntoQA_1 --from prontoqa
"""
FORMATS = ("fol", "tptp", "prontoqa", "logical-deduction")


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
    parser.add_argument("--id", metavar="NAME", help="the example to take, of a JSON file that has several")
    parser.add_argument(
        "--names-may-coincide",
        action="store_true",
        help="allow two names for one individual, as TPTP does; in a text with equations, names become relations",
    )
    parser.add_argument(
        "--skip-errors", action="store_true", help="leave out what cannot be read, instead of writing nothing"
    )


def command(arguments: argparse.Namespace) -> int:
    from lnnkit.interchange.importing import import_text
    from lnnkit.output import require_apart, require_free

    output = arguments.output
    if output is not None:
        require_free(output, force=arguments.force)
        require_apart(output, [Path(arguments.file)])
    source, found = read(arguments.file)
    if source is None:
        raise ProgramError(found)
    imported = import_text(
        source.text,
        source.path,
        arguments.form,
        example=arguments.id,
        skip_errors=arguments.skip_errors,
        unique_names=not arguments.names_may_coincide,
    )
    streams.findings(imported.notes)
    streams.deliver(imported.text, output, f"lnnkit run {output}")
    return 0
