"""``lnnkit grammar``: the language's grammar, for editors and other tools."""

from __future__ import annotations

import argparse

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser

SUMMARY = "print the grammar of the language, for editors and tools"
DESCRIPTION = """\
Prints the grammar of .lnn files: as a TextMate grammar, which editors such as VS Code colour by, or as the Lark
grammar that lnnkit parses with."""
EXAMPLE = """\
example:
  lnnkit grammar --format textmate > lnn.tmLanguage.json
  lnnkit grammar --format lark
"""


def options(parser: CommandParser) -> None:
    parser.choice("--format", ("textmate", "lark"), "a TextMate grammar in JSON (default), or the Lark grammar")


def command(arguments: argparse.Namespace) -> int:
    from lnnkit.syntax.grammar import grammar_file

    streams.in_utf8()
    name = "lnn.lark" if arguments.format == "lark" else "lnn.tmLanguage.json"
    streams.write([grammar_file(name).read_text(encoding="utf-8")])
    return 0
