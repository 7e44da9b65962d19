"""``lnnkit explain``: the proof of an atom's bounds; ``lnnkit draw``: a picture of it, or of a program's predicates and
rules; ``lnnkit prove``: what the whole program entails."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, count, depth, positive
from lnnkit.cli.streams import ProgressLine, interruptible, load, paint_for
from lnnkit.output import require_apart, write_text
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.explain.proof.explanation import Explanation
    from lnnkit.kb import KnowledgeBase
    from lnnkit.prove.verdict import Proved

STATES = ("true", "false")
_MANY = 10_000  # instances; from so many on, a proof reports their number
_PICTURES = ("svg", "png", "dot", "html")


def add_explain(parent: CommandParser) -> None:
    text = """\
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
    parser = parent.command("explain", _explain, text)
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
    facts = ([*map(str, one.facts())] for one in derivations)
    texts = ("".join(f"{streams.printable(line)}\n" for line in lines) for lines in facts)
    return "\n".join(text or "no facts\n" for text in texts)


def _tree(explanation: Explanation, depth: int | None) -> str:
    """Its lines, in the colour of the side which their conclusions bound."""
    paint, painted = paint_for(sys.stdout), list[str]()
    for rails, said, reason in explanation.lines(depth):
        side = "lower" if " >= " in said else "upper" if " <= " in said else "query" if not rails else ""
        gap = "   " if said and reason else ""
        text = paint(rails, "note") + paint(streams.printable(said), side)
        painted.append((text + paint(gap + streams.printable(reason), "note")).rstrip())
    return "".join(f"{line}\n" for line in painted)


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


def add_draw(parent: CommandParser) -> None:
    text = """\
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
    parser = parent.command("draw", _draw, text)
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
        streams.write_utf8(made)
    else:
        require_apart(arguments.output, [Path(arguments.file), *kb.files])
        write_text(arguments.output, made)
    return 0


def add_prove(parent: CommandParser) -> None:
    text = """\
decide whether formulas follow from all statements together

Says of formulas whether all statements and facts together entail them, refute them, or neither, with the statements and
facts that suffice, or with a world in which it holds and one in which it does not. Without FORMULA, the program's own
queries are proved; one with free variables for each way to bind them. Needs the extra `prove`:
pip install 'lnnkit[prove]'

  lnnkit prove policy.lnn 'Refund(order7)'
  lnnkit prove policy.lnn 'forall X: Paid(X) -> Refund(X)' 'Closed(order7)' --format json
  lnnkit prove triage.lnn 'AtRisk(dora)' --exact
"""
    parser = parent.command("prove", _prove, text)
    parser.today()
    parser.add_argument("formula", metavar="FORMULA", nargs="*", help="what is to be proved, without free variables")
    said = (
        "read what holds to the degree of --alpha or more as first-order logic (default where every statement and fact "
        "is true, false or unknown)"
    )
    reading = parser.add_mutually_exclusive_group()
    reading.add_argument("--classical", dest="reading", action="store_const", const="classical", help=said)
    said = "the tightest truth bounds that all statements leave together (default elsewhere)"
    reading.add_argument("--exact", dest="reading", action="store_const", const="exact", help=said)
    parser.alpha()
    said = "seconds that the solver may take for each formula (default: 60)"
    parser.value("--timeout", positive, "SECONDS", said, 60.0)
    parser.choice("--format", ("text", "json", "html"), "text to read (default), one JSON object, or a page by itself")


def _prove(arguments: argparse.Namespace) -> int:
    kb = load(arguments.file, shown=True, today=arguments.today)
    # An axiom that passes no bounds on may take part in a proof
    streams.findings([warning for warning in kb.warnings if warning.code != "never-false"])
    large = False

    def tell(instances: int, atoms: int) -> None:
        """Report the size of a large translation; on a terminal the line is updated as it goes on."""
        nonlocal large
        size = f"{instances:,} instances of statements over {atoms:,} atoms"
        line.say(f"grounding: {size}")
        if not large and instances >= _MANY:
            large = True
            streams.note(f"more than {size} are to be translated")

    ending = "stopping; Ctrl-C again ends at once"
    with interruptible("proving", shown=True, stopping=ending) as (line, watch), kb.watched(watch):
        settings = {"alpha": arguments.alpha, "timeout": arguments.timeout, "reading": arguments.reading, "tell": tell}
        results = (kb.prove(text, **settings) for text in arguments.formula)
        verdicts = _written(results if arguments.formula else kb.prove_queries(**settings), arguments.format)
    if not verdicts:
        streams.note("hint: the program has no query; name a formula, as in lnnkit prove FILE 'P(a)'")
    return streams.INTERRUPTED if watch.asked or any(verdict.interrupted for verdict in verdicts) else 0


def _written(results: Iterator[Proved], form: str) -> list[Proved]:
    """Write the results, as text each as soon as it is found; returns all."""
    verdicts: list[Proved] = []
    for verdict in results:
        if form == "text":
            streams.write(["\n" if verdicts else "", streams.printable(str(verdict)), "\n"])
            streams.flush()
        verdicts.append(verdict)
    if form == "json":
        streams.write_json({"results": [verdict.as_dict() for verdict in verdicts]})
    elif form == "html":
        from lnnkit.prove.verdict import page

        streams.write_utf8(page(verdicts))
    return verdicts
