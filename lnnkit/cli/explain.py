"""``lnnkit explain``: the proof of an atom's bounds; ``lnnkit draw``: a picture of it, or of a program's predicates and
rules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, count, depth
from lnnkit.cli.program_file import load
from lnnkit.cli.progress import ProgressLine
from lnnkit.cli.streams import Paint, paint_for
from lnnkit.output import require_apart, write_text
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.explain.proof.explanation import Explanation, ProofLine
    from lnnkit.kb import KnowledgeBase

STATES = ("true", "false")
_PICTURES = ("svg", "png", "dot", "html")

_EXPLAIN_HELP = """\
show why an atom has its bounds, or why there are contradictions

Infers what follows from a program and its data, and shows how an atom, or a formula without free variables, came to
each of its bounds: the rules and their bindings, what each of them read, down to the rows of files. Without an atom,
the contradictions are shown, with the facts and rules that meet in each.

  lnnkit explain triage.lnn 'AtRisk(dora)'
  lnnkit explain triage.lnn 'AtRisk(dora)' --depth 2
  lnnkit explain triage.lnn 'AtRisk(dora)' --format html > why.html
  lnnkit explain triage.lnn 'AtRisk(emil)' --why-not
  lnnkit explain triage.lnn 'AtRisk(emil)' --exact
  lnnkit explain triage.lnn --minimal
"""


def add_explain(parent: CommandParser) -> None:
    parser = parent.command("explain", _explain, _EXPLAIN_HELP)
    parser.today()
    said = "an atom, as 'AtRisk(dora)', or a formula without free variables"
    parser.add_argument("atom", metavar="ATOM", nargs="?", help=said)
    said = "show instead what keeps the atom from being true (default), or false"
    parser.add_argument("--why-not", nargs="?", choices=STATES, const="true", metavar="STATE", help=said)
    parser.flag("--minimal", "reduce each contradiction to a minimal set, and rank its repairs")
    parser.value("--depth", depth, "N", "show at most N nested steps")
    said = "a tree to read (default), one JSON object, a standalone page, or a graph for Graphviz"
    parser.choice("--format", ("text", "json", "html", "dot"), said)
    parser.value("--all", count, "N", "show up to N derivations of the atom, by other instances of rules too")
    parser.flag("--facts", "show only the facts that the bounds rest on")
    said = "explain the tightest bounds that all statements leave together, as `lnnkit prove --exact` finds them"
    parser.flag("--exact", said)
    parser.alpha()


def _explain(arguments: argparse.Namespace) -> int:
    asked = arguments.atom is None or arguments.why_not is not None
    if asked and arguments.format not in (("text", "json") if arguments.atom is None else ("text", "json", "html")):
        without = "" if arguments.atom is None else ", and no --why-not"
        raise streams.UsageError(f"--format {arguments.format} needs an atom{without}")
    if arguments.atom is None and arguments.why_not is not None:
        raise streams.UsageError("--why-not needs an atom")
    for option, given in (("--exact", arguments.exact), ("--all", arguments.all), ("--facts", arguments.facts)):
        if given and (asked or (option != "--exact" and arguments.format not in ("text", "json"))):
            formats = "" if option == "--exact" else ", --format text or json"
            raise streams.UsageError(f"{option} needs an atom{formats}, and no --why-not")
    if arguments.all and arguments.exact:
        raise streams.UsageError("--all shows what inference derives: without --exact")
    kb = load(arguments.file, shown=True, today=arguments.today)
    form, about = arguments.format, tuple[Diagnostic, ...]()
    with ProgressLine("inferring", shown=True) as line, kb.watched(line):
        if arguments.atom is None:
            text, report = conflict_report(kb, minimal=arguments.minimal)
            shown = report if form == "json" else f"{streams.printable(text)}\n"
        elif arguments.why_not is not None:
            wanted = arguments.why_not == "true"
            goal = arguments.alpha if wanted else 1 - arguments.alpha
            why_not = kb.why_not(arguments.atom, side="lower" if wanted else "upper", goal=goal)
            about = why_not.warnings
            text = why_not.to_html().rstrip() if form == "html" else str(why_not)
            shown = why_not.as_dict() if form == "json" else f"{streams.printable(text)}\n"
        else:
            explanation = kb.explain(arguments.atom, alpha=arguments.alpha, exact=arguments.exact)
            about = explanation.warnings
            if arguments.all or arguments.facts:
                shown = _several(explanation.derivations(arguments.all or 1), arguments)
            else:
                made = {"json": explanation.as_dict, "html": explanation.to_html, "dot": explanation.to_dot}
                shown = made.get(form, partial(_tree, explanation))(arguments.depth)
    streams.findings((*kb.warnings, *about))
    if isinstance(shown, dict):
        streams.write_json(shown)
    else:
        streams.write([shown]) if form == "text" else streams.write_utf8(shown)
    return 0


def _several(derivations: Sequence[Explanation], arguments: argparse.Namespace) -> str | dict[str, object]:
    """Derivations of one atom, or the facts of each."""
    from lnnkit.explain.proof.explanation import fact_fields

    if arguments.format == "json":
        facts = [{"facts": [fact_fields(fact) for fact in one.facts()]} for one in derivations]
        return {"derivations": facts if arguments.facts else [one.as_dict(arguments.depth) for one in derivations]}
    if not arguments.facts:
        return "\n".join(_tree(one, arguments.depth) for one in derivations)
    texts = (
        "".join(f"{streams.printable(f'{fact.text}   {fact.file}:{fact.row}')}\n" for fact in one.facts())
        for one in derivations
    )
    return "\n".join(text or "no facts\n" for text in texts)


def _tree(explanation: Explanation, depth: int | None) -> str:
    return "".join(f"{_painted(line, paint_for(sys.stdout))}\n" for line in explanation.lines(depth))


def conflict_report(kb: KnowledgeBase, *, minimal: bool) -> tuple[str, dict[str, object]]:
    """The contradictions as text and as JSON."""
    conflicts, total = kb.conflicts(), len(kb.contradictions)
    if not total:
        return "no contradictions", {"conflicts": []}
    if not conflicts:  # what holds of no entity whatever has no instance to explain
        texts = [f"{contradiction}\n  for every entity: name one to see why" for contradiction in kb.contradictions]
        return "\n\n".join(texts), {"conflicts": [], "total": total}
    texts: list[str] = []
    objects: list[dict[str, object]] = []
    for conflict in conflicts:
        conflict = conflict.minimal() if minimal else conflict
        texts.append(str(conflict))
        objects.append(conflict.as_dict())
        if minimal:
            repairs = conflict.repairs()
            lines = ["  to repair it", *(f"    {repair}" for repair in repairs)] if repairs else []
            texts[-1] = "\n".join([texts[-1], *lines])
            objects[-1]["repairs"] = [repair.as_dict() for repair in repairs]
    if total > len(conflicts):
        texts.append(f"… and {total - len(conflicts):,} more")
    whole: dict[str, object] = {"conflicts": objects, "total": total}
    if minimal:
        sets = kb.repairs()
        several = [f"  {line}" for repair in sets if repair.count > 1 for line in str(repair).splitlines()]
        texts += ["\n".join(["to repair all of a kind", *several])] if several else []
        whole["repairs"] = [repair.as_dict() for repair in sets]
    return "\n\n".join(texts), whole


def _painted(line: ProofLine, paint: Paint) -> str:
    """A line in colours: that of the side which its conclusion bounds."""
    said = line.conclusion
    side = "lower" if " >= " in said else "upper" if " <= " in said else "query" if not line.rails else ""
    gap = "   " if said and line.reason else ""
    painted = paint(line.rails, "note") + paint(streams.printable(said), side)
    return (painted + paint(gap + streams.printable(line.reason), "note")).rstrip()


_DRAW_HELP = """\
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


def add_draw(parent: CommandParser) -> None:
    parser = parent.command("draw", _draw, _DRAW_HELP)
    parser.today()
    said = "an atom, as 'AtRisk(dora)', or a predicate's name (default: everything)"
    parser.add_argument("atom", metavar="ATOM", nargs="?", help=said)
    parser.add_argument("-o", "--output", metavar="OUT", help="write to this file; its ending names the format")
    said = "svg (default), png (needs lnnkit[report]), dot for Graphviz, or html: a page"
    parser.add_argument("--format", choices=_PICTURES, help=said)
    parser.flag("--formulas", "draw connectives and operands instead of rules")
    parser.value("--depth", count, "N", "go up to N instances away from the atom (default: 3)", 3)
    parser.value("--most", count, "N", "draw at most N boxes (default: 60)", 60)


def _draw(arguments: argparse.Namespace) -> int:
    suffix = Path(arguments.output).suffix.lstrip(".").lower() if arguments.output else ""
    ending = {"": "svg", "htm": "html", "gv": "dot"}.get(suffix, suffix if suffix in _PICTURES else None)
    form = arguments.format or ending
    if suffix and ending not in (None, form):
        raise streams.UsageError(f"{arguments.output} has the ending of {ending}, but --format is {form}")
    if form is None:
        raise streams.UsageError(f"{arguments.output} has none of the endings {', '.join(_PICTURES)}; use --format")
    if form == "png":
        if arguments.output is None and sys.stdout is not None and sys.stdout.isatty():
            raise streams.UsageError("PNG is not for a terminal: -o names a file")
        from lnnkit.picture.picture import require_png

        require_png()
    kb = load(arguments.file, shown=True, today=arguments.today)
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
