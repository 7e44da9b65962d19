"""``lnnkit prove``: what the whole program entails."""

from __future__ import annotations

import argparse
import itertools
import json
from typing import TYPE_CHECKING

from lnnkit.cli import option_values as values
from lnnkit.cli import streams
from lnnkit.cli.program_file import load
from lnnkit.cli.progress import ProgressLine
from lnnkit.interrupt import Interruption, is_pythons_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lnnkit.kb import KnowledgeBase
    from lnnkit.prove.verdict import Proved

SUMMARY = "decide whether formulas follow from all statements together"
DESCRIPTION = """\
Says of formulas whether all statements and facts together entail them, refute them, or neither, with the statements and
facts that suffice, or with a world in which it holds and one in which it does not. Without FORMULA, the program's own
queries are proved; one with free variables for each way to bind them. Needs the extra `prove`:
pip install 'lnnkit[prove]'"""
EXAMPLE = """\
example:
  lnnkit prove policy.lnn 'Refund(order7)'
  lnnkit prove policy.lnn 'forall X: Paid(X) -> Refund(X)' 'Closed(order7)' --format json
  lnnkit prove triage.lnn 'AtRisk(dora)' --exact
"""
STOPPING = "stopping; Ctrl-C again ends at once"
_MANY = 10_000  # from this many instances on, their number is reported


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("formula", metavar="FORMULA", nargs="*", help="what is to be proved, without free variables")
    reading = parser.add_mutually_exclusive_group()
    reading.add_argument(
        "--classical",
        dest="reading",
        action="store_const",
        const="classical",
        help="read what holds to the degree of --alpha or more as first-order logic (default where every statement "
        "and fact is true, false or unknown)",
    )
    reading.add_argument(
        "--exact",
        dest="reading",
        action="store_const",
        const="exact",
        help="the tightest truth bounds that all statements leave together (default elsewhere)",
    )
    parser.add_argument("--alpha", type=values.alpha, default=1.0, metavar="A", help="what counts as true (default: 1)")
    parser.add_argument(
        "--timeout",
        type=values.positive,
        default=60.0,
        metavar="SECONDS",
        help="seconds that the solver may take for each formula (default: 60)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "html"),
        default="text",
        help="text to read (default), one JSON object, or a page by itself",
    )


def command(arguments: argparse.Namespace) -> int:
    kb = load(arguments.file, shown=True)
    # An axiom that passes no bounds on may take part in a proof
    streams.findings([each for each in kb.warnings if each.code != "never-false"])
    with ProgressLine("proving", shown=True) as line:

        def noted() -> None:
            if not line.stop():
                streams.note(STOPPING)

        at_once = None if is_pythons_own() else streams.end_interrupted
        with Interruption(line, noted, at_once) as watch, kb.watched(watch):
            found = _proved(kb, arguments, _told(line))
            first = next(found, None)
            if first is None:
                streams.note("hint: the program has no query; name a formula, as in lnnkit prove FILE 'P(a)'")
            results = _Noted(found if first is None else itertools.chain([first], found))
            _write(iter(results), arguments.format)
    return streams.INTERRUPTED if results.interrupted or watch.asked else 0


class _Noted:
    """Results, and whether one of them was interrupted."""

    def __init__(self, results: Iterator[Proved]) -> None:
        self._results = results
        self.interrupted = False

    def __iter__(self) -> Iterator[Proved]:
        for each in self._results:
            self.interrupted |= each.interrupted
            yield each


def _proved(kb: KnowledgeBase, arguments: argparse.Namespace, tell: Callable[[int, int], None]) -> Iterator[Proved]:
    settings = {"alpha": arguments.alpha, "timeout": arguments.timeout, "reading": arguments.reading, "tell": tell}
    if not arguments.formula:
        return kb.prove_queries(**settings)
    return (kb.prove(text, **settings) for text in arguments.formula)


def _told(line: ProgressLine) -> Callable[[int, int], None]:
    """Report the size of a large translation; on a terminal the line is updated as it goes on."""
    told = False

    def tell(instances: int, atoms: int) -> None:
        nonlocal told
        line.say(f"grounding: {instances:,} instances of statements over {atoms:,} atoms")
        if not told and instances >= _MANY:
            told = True
            streams.note(f"more than {instances:,} instances of statements over {atoms:,} atoms are to be translated")

    return tell


def _write(results: Iterator[Proved], form: str) -> None:
    if form == "text":
        for place, each in enumerate(results):
            streams.write(["\n" if place else "", streams.printable(str(each)), "\n"])
            streams.flush()
        return
    streams.in_utf8()
    if form == "json":
        found = {"results": [each.as_dict() for each in results]}
        streams.write([json.dumps(found, ensure_ascii=False), "\n"])
        return
    from lnnkit.prove.verdict import page

    streams.write([page(list(results))])
