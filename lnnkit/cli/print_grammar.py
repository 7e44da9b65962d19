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
    streams.in_utf8()
    if arguments.format == "lark":
        from lnnkit.syntax.grammar import grammar_text

        streams.write([grammar_text()])
    else:
        from lnnkit.highlighting.textmate import textmate_text

        streams.write([textmate_text()])
    return 0
