"""``lnnkit draw``: a picture of a program's predicates and rules, or of the derivation of an atom."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lnnkit.cli import streams
from lnnkit.cli.command_parser import Commands, count
from lnnkit.cli.program_file import load
from lnnkit.cli.progress import ProgressLine
from lnnkit.output import require_apart, write_text

FORMATS = ("svg", "png", "dot", "html")

_HELP = """\
draw a program's predicates and rules, or what an atom rests on

Draws the predicates of a program and the rules and axioms that derive one from others; with --formulas, connectives and
their operands instead. With an atom, infers, and draws what its bounds rest on: atoms coloured by their truth, and the
instances of rules between them. A side of the bounds that says nothing is left out. Graphviz lays the picture out where
it is installed. The colours of SVG and HTML follow the reader's light or dark scheme.

  lnnkit draw triage.lnn -o triage.svg
  lnnkit draw triage.lnn --formulas -o formulas.png
  lnnkit draw triage.lnn 'AtRisk(dora)' -o why.html
  lnnkit draw triage.lnn Infected --format dot
"""


def add_draw(commands: Commands) -> None:
    parser = commands.add("draw", _run, _HELP)
    said = "an atom, as 'AtRisk(dora)', or a predicate's name (default: everything)"
    parser.add_argument("atom", metavar="ATOM", nargs="?", help=said)
    parser.add_argument("-o", "--output", metavar="OUT", help="write to this file; its ending names the format")
    said = "svg (default), png (needs lnnkit[report]), dot for Graphviz, or html: a page"
    parser.add_argument("--format", choices=FORMATS, help=said)
    parser.flag("--formulas", "draw connectives and operands instead of rules")
    parser.value("--depth", count, "N", "go up to N instances away from the atom (default: 3)", 3)
    parser.value("--most", count, "N", "draw at most N boxes (default: 60)", 60)


def _run(arguments: argparse.Namespace) -> int:
    suffix = Path(arguments.output).suffix.lstrip(".").lower() if arguments.output else ""
    ending = {"": "svg", "htm": "html", "gv": "dot"}.get(suffix, suffix if suffix in FORMATS else None)
    form = arguments.format or ending
    if suffix and ending not in (None, form):
        raise streams.UsageError(f"{arguments.output} has the ending of {ending}, but --format is {form}")
    if form is None:
        raise streams.UsageError(f"{arguments.output} has none of the endings {', '.join(FORMATS)}; use --format")
    if form == "png":
        if arguments.output is None and sys.stdout is not None and sys.stdout.isatty():
            raise streams.UsageError("PNG is not for a terminal: -o names a file")
        from lnnkit.picture.picture import require_png

        require_png()
    kb = load(arguments.file, shown=True)
    with ProgressLine("drawing", shown=True) as line, kb.watched(line):
        picture = kb.draw(arguments.atom, formulas=arguments.formulas, depth=arguments.depth, most=arguments.most)
        made = {"svg": picture.to_svg, "png": picture.to_png, "dot": picture.to_dot, "html": picture.to_html}[form]()
    streams.findings((*kb.warnings, *picture.warnings))
    if picture.left_out:
        streams.note(f"hint: {picture.left_out:,} more boxes are left out; --most and --depth show more")
    if arguments.output is None:
        streams.write_utf8(made) if isinstance(made, str) else streams.write_bytes(made)
    else:
        require_apart(arguments.output, [Path(arguments.file), *kb.files])
        write_text(arguments.output, made)
    return 0
