"""Commands between notations: ``import`` of first-order logic, and ``export`` for other solvers."""

from __future__ import annotations

import argparse

from lnnkit.cli import streams
from lnnkit.cli.command_parser import Commands, require_output
from lnnkit.cli.program_file import load, read

_IMPORT_HELP = """\
write a program for formulas of first-order logic

Reads formulas of first-order logic as people and language models write them, one a line, and writes a program that
means the same. Each liberty that is taken with the source is a warning, and a comment in the program.

  lnnkit import story.txt -o story.lnn
  lnnkit import claims.txt --skip-errors -o claims.lnn
"""


def add_import(commands: Commands) -> None:
    parser = commands.add("import", _import, _IMPORT_HELP, "a text with formulas; - reads standard input")
    parser.output()
    parser.flag("--skip-errors", "leave out what cannot be read, instead of writing nothing")


def _import(arguments: argparse.Namespace) -> int:
    from lnnkit.interchange.as_program import from_fol

    require_output(arguments, [arguments.file])
    source = read(arguments.file)
    imported = from_fol(source.text, source.path, skip_errors=arguments.skip_errors)
    streams.findings(imported.notes)
    streams.deliver(imported.text, arguments.output, f"lnnkit run {arguments.output}")
    return 0


_EXPORT_HELP = """\
write a program's classical reading as SMT-LIB

Writes what a program says in first-order logic, with the questions, for other solvers: statements of truth alpha or
more, entities distinct, closed sorts enumerated, open ones open, numbers reals. The questions are FORMULAs without free
variables, or else the program's queries.

  lnnkit export policy.lnn 'Allowed(anna)' -o policy.smt2
"""


def add_export(commands: Commands) -> None:
    parser = commands.add("export", _export, _EXPORT_HELP)
    parser.add_argument("formulas", metavar="FORMULA", nargs="*", help="a question, instead of the program's queries")
    parser.choice("--format", ("smt2",), "SMT-LIB 2")
    parser.output("write this file instead of printing")
    parser.alpha()


def _export(arguments: argparse.Namespace) -> int:
    require_output(arguments, [arguments.file])
    kb = load(arguments.file)
    require_output(arguments, kb.files)
    text, findings = kb.exported(arguments.formulas or None, alpha=arguments.alpha)
    streams.findings((*kb.warnings, *findings))
    streams.deliver(text, arguments.output)
    return 0
