"""``lnnkit eval``: a program's answers against its labels."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from lnnkit.cli import option_values as values
from lnnkit.cli import streams
from lnnkit.cli.program_file import load
from lnnkit.cli.progress import ProgressLine
from lnnkit.cli.threads import use_threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lnnkit.scores import Scores

SUMMARY = "score a program's answers against its labels"
DESCRIPTION = """\
Infers, and says for each predicate that has labels how well its bounds agree with them: accuracy, areas under the ROC
and the precision-recall curve, log loss, Brier score, calibration error, coverage and contradictions."""
EXAMPLE = """\
example:
  lnnkit eval loan.lnn
  lnnkit eval loan.lnn --format json
"""

_COLUMNS = ("n", "accuracy", "auroc", "aupr", "log_loss", "brier", "calibration", "coverage", "contradictions")

_OF_NUMBERS = ("n", "rmse", "mae", "r2", "coverage")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("table", "json"), default="table", help="how to print the scores")
    parser.add_argument(
        "--max-groundings", type=values.count, metavar="N", help="refuse more than N instances of a rule"
    )
    parser.add_argument("--threads", type=values.threads, default=1, metavar="N", help="threads to compute with")
    parser.add_argument(
        "--quiet", action="store_true", help="show no progress; without a terminal there is none anyway"
    )


def command(arguments: argparse.Namespace) -> int:
    with ProgressLine(f"reading {streams.printable(arguments.file, keep='')}", shown=not arguments.quiet):
        kb = load(arguments.file)
    streams.findings(kb.warnings)
    use_threads(arguments.threads)
    with ProgressLine("inferring", shown=not arguments.quiet) as line, kb.watched(line):
        scores = kb.evaluate(max_groundings=arguments.max_groundings)
    if arguments.format == "json":
        streams.in_utf8()
        streams.write([json.dumps(scores.as_dict(), ensure_ascii=False, allow_nan=False), "\n"])
    else:
        streams.write(table(scores))
    return 0


def table(scores: Scores) -> Iterator[str]:
    """A heading and one line for each predicate; the same for numbers."""
    if scores.predicates or not scores.numbers:
        yield from _lines("predicate", _COLUMNS, {name: each.as_dict() for name, each in scores.predicates.items()})
    if scores.predicates and scores.numbers:
        yield "\n"
    if scores.numbers:
        yield from _lines("number", _OF_NUMBERS, {name: each.as_dict() for name, each in scores.numbers.items()})


def _lines(
    heading: str, columns: Sequence[str], scores: Mapping[str, Mapping[str, float | int | None]]
) -> Iterator[str]:
    rows = [(heading, *(name.replace("_", " ") for name in columns))]
    for name, own in scores.items():
        rows.append((streams.printable(name, keep=""), *(_cell(own[column]) for column in columns)))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield "  ".join(cells).rstrip() + "\n"


def _cell(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.4f}"
