"""``lnnkit eval``: a program's answers against its labels."""

from __future__ import annotations

import argparse

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser
from lnnkit.cli.program_file import load
from lnnkit.cli.progress import ProgressLine
from lnnkit.computing import use_threads

SUMMARY = "score a program's answers against its labels"
DESCRIPTION = """\
Infers, and says for each predicate that has labels how well its bounds agree with them: accuracy, areas under the ROC
and the precision-recall curve, log loss, Brier score, calibration error, coverage and contradictions."""
EXAMPLE = """\
example:
  lnnkit eval loan.lnn
  lnnkit eval loan.lnn --format json
"""


def options(parser: CommandParser) -> None:
    parser.choice("--format", ("table", "json"), "how to print the scores")
    parser.work()


def command(arguments: argparse.Namespace) -> int:
    kb = load(arguments.file, shown=not arguments.quiet)
    streams.findings(kb.warnings)
    use_threads(arguments.threads)
    with ProgressLine("inferring", shown=not arguments.quiet) as line, kb.watched(line):
        scores = kb.evaluate(max_groundings=arguments.max_groundings)
    if arguments.format == "json":
        streams.write_json(scores.as_dict())
    else:
        streams.write([streams.printable(str(scores)), "\n"])
    return 0
