"""``lnnkit draw``: a picture of a program's formulas, or of what an atom depends on."""

from __future__ import annotations

import argparse
from pathlib import Path

from lnnkit.cli import option_values as values
from lnnkit.cli import streams
from lnnkit.cli.program_file import load
from lnnkit.cli.progress import ProgressLine
from lnnkit.output import require_apart, write_text

SUMMARY = "draw a program's formulas, or what an atom depends on"
DESCRIPTION = """\
Draws the graph of a program's formulas: predicates, connectives, statements. With an atom, infers, and draws what its
bounds rest on: atoms coloured by their truth, and the instances of rules between them. Graphviz lays it out where it is
installed."""
EXAMPLE = """\
example:
  lnnkit draw triage.lnn -o triage.svg
  lnnkit draw triage.lnn 'AtRisk(dora)' -o why.html
  lnnkit draw triage.lnn Infected --format dot
"""
FORMATS = ("svg", "dot", "html")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "atom",
        metavar="ATOM",
        nargs="?",
        help="an atom, as 'AtRisk(dora)', or a predicate's name (default: everything)",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="write to this file; its ending names the format")
    parser.add_argument("--format", choices=FORMATS, help="svg (default), dot for Graphviz, or html: a standalone page")
    parser.add_argument(
        "--depth",
        type=values.count,
        default=3,
        metavar="N",
        help="go up to N instances away from the atom (default: 3)",
    )
    parser.add_argument("--most", type=values.count, default=60, metavar="N", help="draw at most N boxes (default: 60)")


def command(arguments: argparse.Namespace) -> int:
    ending = _ending(arguments.output)
    form = arguments.format or ending
    if arguments.output and Path(arguments.output).suffix and ending not in (None, form):
        streams.note(f"lnnkit draw: error: {arguments.output} has the ending of {ending}, but --format is {form}")
        return 2
    if form is None:
        known = ", ".join(FORMATS)
        streams.note(f"lnnkit draw: error: {arguments.output} has none of the endings {known}; use --format")
        return 2
    with ProgressLine(f"reading {streams.printable(arguments.file, keep='')}", shown=True):
        kb = load(arguments.file)
    with ProgressLine("drawing", shown=True) as line, kb.watched(line):
        picture = kb.draw(arguments.atom, depth=arguments.depth, most=arguments.most)
        text = {"svg": picture.to_svg, "dot": picture.to_dot, "html": picture.to_html}[form]()
    streams.findings((*kb.warnings, *picture.warnings))
    if picture.left_out:
        streams.note(f"hint: {picture.left_out:,} more boxes are left out; --most and --depth show more")
    if arguments.output is None:
        streams.in_utf8()
        streams.write([text])
    else:
        require_apart(arguments.output, [Path(arguments.file), *kb.files])
        write_text(arguments.output, text)
    return 0


def _ending(output: str | None) -> str | None:
    """The format that a file name's ending stands for: svg if it has none, None if the format is unknown."""
    ending = Path(output).suffix.lstrip(".").lower() if output else ""
    return {"": "svg", "htm": "html", "gv": "dot"}.get(ending, ending if ending in FORMATS else None)
