"""``lnnkit explain``: the proof of an atom's bounds."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lnnkit.cli import option_values as values
from lnnkit.cli import streams
from lnnkit.cli.painting import shows_colours
from lnnkit.cli.program_file import load
from lnnkit.cli.progress import ProgressLine
from lnnkit.explain.render.proof_text import Line
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.explain.proof.explanation import Explanation
    from lnnkit.kb import KnowledgeBase

SUMMARY = "show why an atom has its bounds, or why there are contradictions"
DESCRIPTION = """\
Infers what follows from a program and its data, and shows how an atom, or a formula without free variables, came to
each of its bounds: the rules and their bindings, what each of them read, down to the rows of files. Without an atom,
the contradictions are shown, with the facts and rules that meet in each."""
EXAMPLE = """\
example:
  lnnkit explain triage.lnn 'AtRisk(dora)'
  lnnkit explain triage.lnn 'AtRisk(dora)' --depth 2
  lnnkit explain triage.lnn 'AtRisk(dora)' --format html > why.html
  lnnkit explain triage.lnn 'AtRisk(emil)' --why-not
  lnnkit explain triage.lnn 'AtRisk(emil)' --exact
  lnnkit explain triage.lnn --minimal
"""
STATES = ("true", "false")
_COLOURS = {"lower": "green", "upper": "red"}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "atom", metavar="ATOM", nargs="?", help="an atom, as 'AtRisk(dora)', or a formula without free variables"
    )
    parser.add_argument(
        "--why-not",
        nargs="?",
        choices=STATES,
        const="true",
        metavar="STATE",
        help="show instead what keeps the atom from being true (default), or false",
    )
    parser.add_argument(
        "--minimal",
        action="store_true",
        help="reduce each contradiction to a minimal set, and rank its repairs",
    )
    parser.add_argument("--depth", type=_depth, metavar="N", help="show at most N nested steps")
    parser.add_argument(
        "--format",
        choices=("text", "json", "html", "dot"),
        default="text",
        help="a tree to read (default), one JSON object, a standalone page, or a graph for Graphviz",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="explain the tightest bounds that all statements leave together, as `lnnkit prove --exact` finds them",
    )
    parser.add_argument("--alpha", type=values.alpha, default=1.0, metavar="A", help="what counts as true (default: 1)")


def command(arguments: argparse.Namespace) -> int:
    asked = arguments.atom is None or arguments.why_not is not None
    if asked and arguments.format not in (("text", "json") if arguments.atom is None else ("text", "json", "html")):
        without = "" if arguments.atom is None else ", and no --why-not"
        streams.note(f"lnnkit explain: error: --format {arguments.format} needs an atom{without}")
        return 2
    if arguments.atom is None and arguments.why_not is not None:
        streams.note("lnnkit explain: error: --why-not needs an atom")
        return 2
    if arguments.exact and asked:
        streams.note("lnnkit explain: error: --exact needs an atom, and no --why-not")
        return 2
    kb = load(arguments.file, shown=True)
    about: tuple[Diagnostic, ...] = ()
    explanation = None
    text, found = "", {}
    with ProgressLine("inferring", shown=True) as line, kb.watched(line):
        if arguments.atom is None:
            text, found = conflict_report(kb, minimal=arguments.minimal)
        elif arguments.why_not is not None:
            goal = arguments.alpha if arguments.why_not == "true" else 1 - arguments.alpha
            side = "lower" if arguments.why_not == "true" else "upper"
            why_not = kb.why_not(arguments.atom, side=side, goal=goal)
            about = why_not.warnings
            text = why_not.to_html().rstrip() if arguments.format == "html" else str(why_not)
            found = why_not.as_dict()
        else:
            explanation = kb.explain(arguments.atom, alpha=arguments.alpha, exact=arguments.exact)
            about = explanation.warnings
    streams.findings((*kb.warnings, *about))
    if explanation is not None:
        return _show(explanation, arguments.format, arguments.depth)
    _write(text, found, arguments.format)
    return 0


def _show(explanation: Explanation, form: str, depth: int | None) -> int:
    if form == "text":
        from lnnkit.explain.render.proof_text import lines

        _print(lines(explanation, depth))
        return 0
    streams.in_utf8()
    if form == "json":
        streams.write([json.dumps(explanation.as_dict(depth), ensure_ascii=False), "\n"])
    else:
        streams.write([explanation.to_html(depth) if form == "html" else explanation.to_dot(depth)])
    return 0


def conflict_report(kb: KnowledgeBase, *, minimal: bool) -> tuple[str, dict[str, object]]:
    """The contradictions as text and as JSON."""
    conflicts = kb.conflicts()
    total = len(kb.contradictions)
    if not total:
        return "no contradictions", {"conflicts": []}
    if not conflicts:  # what holds of no entity whatever has no instance to explain
        told = [f"{each}\n  for every entity: name one to see why" for each in kb.contradictions]
        return "\n\n".join(told), {"conflicts": [], "total": total}
    texts: list[str] = []
    found: list[dict[str, object]] = []
    for each in conflicts:
        conflict = each.minimal() if minimal else each
        repairs = conflict.repairs() if minimal else []
        lines = [str(conflict)]
        if repairs:
            lines += ["  to repair it", *(f"    {repair}" for repair in repairs)]
        texts.append("\n".join(lines))
        shown = conflict.as_dict()
        if minimal:
            shown["repairs"] = [repair.as_dict() for repair in repairs]
        found.append(shown)
    if total > len(conflicts):
        texts.append(f"… and {total - len(conflicts):,} more")
    shown: dict[str, object] = {"conflicts": found, "total": total}
    if minimal:
        sets = kb.repairs()
        several = [f"  {line}" for each in sets if each.count > 1 for line in str(each).splitlines()]
        texts += ["\n".join(["to repair all of a kind", *several])] * bool(several)
        shown["repairs"] = [each.as_dict() for each in sets]
    return "\n\n".join(texts), shown


def _write(text: str, found: dict[str, object], form: str) -> None:
    if form != "text":
        streams.in_utf8()
    said = json.dumps(found, ensure_ascii=False) if form == "json" else streams.printable(text)
    streams.write([said, "\n"])


def _print(lines: Iterable[Line]) -> None:
    """Print lines, in colours if the terminal shows them."""
    if not shows_colours(sys.stdout):
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
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0; got {text!r}")
    return int(text)
