"""``lnnkit explain``: the proof of an atom's bounds."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable

from lnnkit.cli import streams
from lnnkit.cli.program import load
from lnnkit.cli.progress import ProgressLine
from lnnkit.explain.as_text import Line

SUMMARY = "show why an atom has its bounds"
DESCRIPTION = """\
Infers what follows from a program and its data, and shows how an atom, or a formula without free variables, came to
each of its bounds: the rules and their bindings, what each of them read, down to the rows of files."""
EXAMPLE = """\
example:
  lnnkit explain triage.lnn 'AtRisk(dora)'
  lnnkit explain triage.lnn 'AtRisk(dora)' --depth 2
  lnnkit explain triage.lnn 'AtRisk(dora)' --format html > why.html
"""
_COLOURS = {"lower": "green", "upper": "red"}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("atom", metavar="ATOM", help="an atom, as 'AtRisk(dora)', or a formula without free variables")
    parser.add_argument("--depth", type=_depth, metavar="N", help="show no more than N steps behind each other")
    parser.add_argument(
        "--format",
        choices=("text", "json", "html", "dot"),
        default="text",
        help="a tree to read (default), one JSON object, a page by itself, or a graph for Graphviz",
    )
    parser.add_argument("--alpha", type=float, default=1.0, metavar="A", help="what counts as true (default: 1)")


def command(arguments: argparse.Namespace) -> int:
    with ProgressLine("inferring", shown=True):
        kb = load(arguments.file)
        explanation = kb.explain(arguments.atom, alpha=arguments.alpha)
    streams.findings(kb.warnings)
    depth = arguments.depth
    if arguments.format == "text":
        from lnnkit.explain.as_text import lines

        _print(lines(explanation, depth))
        return 0
    streams.in_utf8()
    if arguments.format == "json":
        streams.write([json.dumps(explanation.as_dict(depth), ensure_ascii=False), "\n"])
    else:
        streams.write([explanation.to_html(depth) if arguments.format == "html" else explanation.to_dot(depth)])
    return 0


def _print(lines: Iterable[Line]) -> None:
    """In colours where there is a terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        streams.write(f"{streams.printable(line.plain)}\n" for line in lines)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True, highlight=False)
    for line in lines:
        said = Text(line.rails, style="dim")
        said.append(streams.printable(line.conclusion), style=_style(line))
        if line.reason:
            said.append(f"   {streams.printable(line.reason)}", style="dim")
        console.print(said)


def _style(line: Line) -> str:
    side = "lower" if " >= " in line.conclusion else "upper" if " <= " in line.conclusion else ""
    return _COLOURS.get(side, "bold" if not line.rails else "")


def _depth(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)
