"""``lnnkit train``: fit a program's numbers to its labels."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import option_values as values
from lnnkit.cli import streams
from lnnkit.cli.program_file import load
from lnnkit.cli.progress import interruptible
from lnnkit.cli.shared_options import add_max_groundings, add_quiet, add_threads
from lnnkit.cli.threads import use_threads
from lnnkit.data.model_file import is_model
from lnnkit.kb.saving import refuse_moved
from lnnkit.output import require_apart, write_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lnnkit.fit import Fit
    from lnnkit.scores import Epoch

_SETTINGS = (  # options that `fit` takes by the same names
    *("epochs", "rate", "batch", "seed", "restarts", "validation", "only", "freeze", "loss", "balanced", "soft"),
    *("classical", "alpha", "slack", "seconds", "checkpoint", "max_groundings"),
)
_UNTRAINED = ("untrained", "untrained-relation", "untrained-function")  # findings that training resolves

SUMMARY = "fit the numbers of a program's rules to its labels"
DESCRIPTION = """\
Learns weights, biases, truths and the values marked `?` of the rules from the labels, and writes the program with what
it has learned. An axiom learns nothing; a rule that holds a `?` learns only what is so marked. Of an unknown function,
`?f(...)`, the formula is found from the rows in which its value is stated or labelled."""
EXAMPLE = """\
example:
  lnnkit train loan.lnn -o trained.lnn
  lnnkit train loan.lnn -o trained.lnn --report training.html
  lnnkit train loan.lnn -o trained.lnn --only risk --seed 1 --format json
"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="write the trained program here: .lnn, or .safetensors"
    )
    parser.add_argument("--epochs", type=values.count, default=200, metavar="N", help="at most N epochs (default: 200)")
    parser.add_argument("--rate", type=values.positive, default=0.05, metavar="R", help="Adam's step (default: 0.05)")
    parser.add_argument("--batch", type=values.count, metavar="N", help="use N labels in each step (default: all)")
    parser.add_argument(
        "--seed", type=values.seed, default=0, metavar="S", help="seed of all random draws (default: 0)"
    )
    parser.add_argument(
        "--restarts",
        type=values.count,
        default=1,
        metavar="N",
        help="train N times, from different starts (default: once)",
    )
    parser.add_argument(
        "--validation",
        type=values.share,
        default=0.2,
        metavar="V",
        help="share of the labels held out to decide when to stop (default: 0.2)",
    )
    parser.add_argument("--only", action="append", metavar="RULE", help="train this rule alone; may be repeated")
    parser.add_argument(
        "--freeze", action="append", default=[], metavar="RULE", help="train all but this rule; may be repeated"
    )
    parser.add_argument("--loss", choices=("squared", "log"), default="squared", help="distance of bounds from labels")
    parser.add_argument("--balanced", action="store_true", help="give true and false labels the same weight")
    parser.add_argument(
        "--soft", action="store_true", help="train all instances that support a labelled atom, not only the strongest"
    )
    parser.add_argument(
        "--classical",
        action="append",
        default=[],
        metavar="RULE",
        help="keep the neurons of this rule classical; may be repeated",
    )
    parser.add_argument("--alpha", type=values.alpha, default=1.0, metavar="A", help="threshold of --classical")
    parser.add_argument(
        "--slack",
        type=values.positive,
        metavar="PRICE",
        help="let classical neurons leave operands out, at this cost",
    )
    parser.add_argument(
        "--seconds",
        type=values.positive,
        default=30.0,
        metavar="S",
        help="of CPU time to search for the formula of each unknown function, at most (default: 30)",
    )
    parser.add_argument("--checkpoint", metavar="FILE", help="save the state here; a killed run continues from it")
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write a page here: rules before and after, scores, charts; needs lnnkit[report]",
    )
    parser.add_argument("--format", choices=("table", "json"), default="table", help="how to print the scores")
    add_max_groundings(parser)
    add_threads(parser)
    add_quiet(parser)


def command(arguments: argparse.Namespace) -> int:
    _require_outputs(arguments)
    for option, given in (("--alpha", arguments.alpha != 1.0), ("--slack", arguments.slack is not None)):
        if given and not arguments.classical:
            raise streams.UsageError(f"{option} needs --classical")
    if arguments.report is not None:
        from lnnkit.report.figures import require_matplotlib

        require_matplotlib()
    shown = not arguments.quiet
    kb = load(arguments.file, shown=shown)
    for path in filter(None, (arguments.output, arguments.report, arguments.checkpoint)):
        require_apart(path, kb.files)
    refuse_moved(kb.program, kb.base, arguments.output)
    streams.findings(finding for finding in kb.warnings if finding.code not in _UNTRAINED)
    use_threads(arguments.threads)
    with interruptible("training", shown=shown) as (line, watch):

        def listen(epoch: Epoch) -> bool:
            line.say(str(epoch))
            return not watch.asked

        found = kb.fit(**{name: getattr(arguments, name) for name in _SETTINGS}, listen=listen)
    streams.findings(found.warnings)
    kb.save(Path(arguments.output))
    if arguments.report is not None:
        write_text(arguments.report, found.to_html(Path(arguments.file).name))
    if arguments.format == "json":
        streams.write_json(found.as_dict())
    else:
        streams.write(_table(found, arguments.output))
    return streams.INTERRUPTED if found.stopped == "interrupted" else 0


def _require_outputs(arguments: argparse.Namespace) -> None:
    """Raises `UsageError` for output files of other kinds, and for one that is named twice or is the program."""
    if Path(arguments.output).suffix != ".lnn" and not is_model(Path(arguments.output)):
        raise streams.UsageError(f"-o must end in .lnn or .safetensors; got {arguments.output}")
    if arguments.report is not None and Path(arguments.report).suffix.lower() not in ("", ".html", ".htm"):
        raise streams.UsageError(f"--report must end in .html or .htm; got {arguments.report}")
    named = {"-o": arguments.output, "--report": arguments.report, "--checkpoint": arguments.checkpoint}
    places = {option: Path(path).resolve() for option, path in named.items() if path is not None}
    for one, other in itertools.combinations(places, 2):
        if places[one] == places[other]:
            raise streams.UsageError(f"{one} and {other} are the same file")
    read = Path(arguments.file).resolve()
    lost = [option for option, place in places.items() if option != "-o" and place == read]
    if lost:
        raise streams.UsageError(f"{lost[0]} would overwrite the program")


def _table(found: Fit, output: str) -> Iterator[str]:
    terms = ", ".join(f"{name} {value:.4g}" for name, value in found.terms.items())
    epochs = found.history[-1].epoch if found.history else 0
    for each in found.functions:
        yield f"{each.function} = {each.formula}   ({each.rows:,} rows, error {each.shown_error})\n"
    yield f"loss {found.loss:.4g} ({terms}) after {epochs} epochs ({found.stopped})\n"
    for name, scores in (("training labels", found.train), ("validation labels", found.validation)):
        if scores is not None and (scores.predicates or scores.numbers):
            yield f"\n{name}\n"
            yield f"{streams.printable(str(scores))}\n"
    yield f"\nwritten to {streams.printable(output, keep='')}\n"
