"""``lnnkit prove``: what the whole program entails."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, positive
from lnnkit.cli.program_file import load
from lnnkit.cli.progress import ProgressLine, interruptible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lnnkit.prove.verdict import Proved

STOPPING = "stopping; Ctrl-C again ends at once"
_MANY = 10_000  # from this many instances on, their number is reported

_HELP = """\
decide whether formulas follow from all statements together

Says of formulas whether all statements and facts together entail them, refute them, or neither, with the statements and
facts that suffice, or with a world in which it holds and one in which it does not. Without FORMULA, the program's own
queries are proved; one with free variables for each way to bind them. Needs the extra `prove`:
pip install 'lnnkit[prove]'

  lnnkit prove policy.lnn 'Refund(order7)'
  lnnkit prove policy.lnn 'forall X: Paid(X) -> Refund(X)' 'Closed(order7)' --format json
  lnnkit prove triage.lnn 'AtRisk(dora)' --exact
"""


def add_prove(parent: CommandParser) -> None:
    parser = parent.command("prove", _run, _HELP)
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


def _run(arguments: argparse.Namespace) -> int:
    kb = load(arguments.file, shown=True, today=arguments.today)
    # An axiom that passes no bounds on may take part in a proof
    streams.findings([warning for warning in kb.warnings if warning.code != "never-false"])
    with interruptible("proving", shown=True, stopping=STOPPING) as (line, watch), kb.watched(watch):
        settings = {"alpha": arguments.alpha, "timeout": arguments.timeout, "reading": arguments.reading}
        settings["tell"] = _reporter(line)
        results = (kb.prove(text, **settings) for text in arguments.formula)
        verdicts = _written(results if arguments.formula else kb.prove_queries(**settings), arguments.format)
    if not verdicts:
        streams.note("hint: the program has no query; name a formula, as in lnnkit prove FILE 'P(a)'")
    return streams.INTERRUPTED if watch.asked or any(verdict.interrupted for verdict in verdicts) else 0


def _reporter(line: ProgressLine) -> Callable[[int, int], None]:
    """Report the size of a large translation; on a terminal the line is updated as it goes on."""
    noted = False

    def tell(instances: int, atoms: int) -> None:
        nonlocal noted
        line.say(f"grounding: {instances:,} instances of statements over {atoms:,} atoms")
        if not noted and instances >= _MANY:
            noted = True
            streams.note(f"more than {instances:,} instances of statements over {atoms:,} atoms are to be translated")

    return tell


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
