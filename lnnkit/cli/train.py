"""Fits a program's numbers to its labels (``train``), and scores its answers against them (``eval``)."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, count, positive, seed, share
from lnnkit.cli.streams import ProgressLine, interruptible, load
from lnnkit.computing import use_threads
from lnnkit.data.files import is_model
from lnnkit.kb.saving import refuse_moved
from lnnkit.markup.pages import require
from lnnkit.output import require_apart, write_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lnnkit.report.training_page import Fit
    from lnnkit.scores import Epoch

_SETTINGS = (  # options that `fit` takes by the same names
    *("epochs", "rate", "batch", "seed", "restarts", "validation", "only", "freeze", "loss", "balanced", "soft"),
    *("classical", "alpha", "slack", "seconds", "checkpoint", "max_groundings"),
)
_UNTRAINED = ("untrained", "untrained-relation", "untrained-function")  # findings that training resolves


def add_train(parent: CommandParser) -> None:
    text = """\
fit the numbers of a program's rules to its labels

Learns weights, biases, truths and the values marked `?` of the rules from the labels, and writes the program with what
it has learned. An axiom learns nothing; a rule that holds a `?` learns only what is so marked. Of an unknown function,
`?f(...)`, the formula is found from the rows in which its value is stated or labelled.

  lnnkit train loan.lnn -o trained.lnn
  lnnkit train loan.lnn -o trained.lnn --report training.html
  lnnkit train loan.lnn -o trained.lnn --only risk --seed 1 --format json
"""
    parser = parent.command("train", _train, text)
    parser.today()
    said = "write the trained program here: .lnn, or .safetensors"
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=said)
    parser.value("--epochs", count, "N", "at most N epochs (default: 200)", 200)
    parser.value("--rate", positive, "R", "Adam's step (default: 0.05)", 0.05)
    parser.value("--batch", count, "N", "use N labels in each step (default: all)")
    parser.value("--seed", seed, "S", "seed of all random draws (default: 0)", 0)
    parser.value("--restarts", count, "N", "train N times, from different starts (default: once)", 1)
    parser.value("--validation", share, "V", "share of the labels held out to decide when to stop (default: 0.2)", 0.2)
    parser.add_argument("--only", action="append", metavar="RULE", help="train this rule alone; may be repeated")
    said = "train all but this rule; may be repeated"
    parser.add_argument("--freeze", action="append", default=[], metavar="RULE", help=said)
    parser.choice("--loss", ("squared", "log"), "distance of bounds from labels")
    parser.flag("--balanced", "give true and false labels the same weight")
    parser.flag("--soft", "train all instances that support a labelled atom, not only the strongest")
    said = "keep the neurons of this rule classical; may be repeated"
    parser.add_argument("--classical", action="append", default=[], metavar="RULE", help=said)
    parser.alpha("threshold of --classical")
    parser.value("--slack", positive, "PRICE", "let classical neurons leave operands out, at this cost")
    said = "of CPU time to search for the formula of each unknown function, at most (default: 30)"
    parser.value("--seconds", positive, "S", said, 30.0)
    parser.value("--checkpoint", str, "FILE", "save the state here; a killed run continues from it")
    said = "write a page here: rules before and after, scores, charts; needs lnnkit[report]"
    parser.value("--report", str, "FILE", said)
    parser.choice("--format", ("table", "json"), "how to print the scores")
    parser.work()


def _train(arguments: argparse.Namespace) -> int:
    _require_outputs(arguments)
    for option, given in (("--alpha", arguments.alpha != 1.0), ("--slack", arguments.slack is not None)):
        if given and not arguments.classical:
            raise streams.UsageError(f"{option} needs --classical")
    if arguments.report is not None:
        require("a report of training", "matplotlib")
    shown = not arguments.quiet
    kb = load(arguments.file, shown=shown, today=arguments.today)
    for path in filter(None, (arguments.output, arguments.report, arguments.checkpoint)):
        require_apart(path, kb.files)
    refuse_moved(kb.program, kb.base, arguments.output)
    streams.findings(finding for finding in kb.warnings if finding.code not in _UNTRAINED)
    use_threads(arguments.threads)
    with interruptible("training", shown=shown) as (line, watch):

        def listen(epoch: Epoch) -> bool:
            line.say(str(epoch))
            return not watch.asked

        fit = kb.fit(**{name: getattr(arguments, name) for name in _SETTINGS}, listen=listen)
    streams.findings(fit.warnings)
    kb.save(Path(arguments.output))
    if arguments.report is not None:
        write_text(arguments.report, fit.to_html(Path(arguments.file).name))
    streams.write_either(arguments.format, fit.as_dict, lambda: "".join(_table(fit, arguments.output)))
    return streams.INTERRUPTED if fit.stopped == "interrupted" else 0


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
    for option, place in places.items():
        if option != "-o" and place == Path(arguments.file).resolve():
            raise streams.UsageError(f"{option} would overwrite the program")


def _table(fit: Fit, output: str) -> Iterator[str]:
    terms = ", ".join(f"{name} {value:.4g}" for name, value in fit.terms.items())
    epochs = fit.history[-1].epoch if fit.history else 0
    for learned in fit.functions:
        yield f"{learned.function} = {learned.formula}   ({learned.rows:,} rows, error {learned.shown_error})\n"
    yield f"loss {fit.loss:.4g} ({terms}) after {epochs} epochs ({fit.stopped})\n"
    for name, scores in (("training labels", fit.train), ("validation labels", fit.validation)):
        if scores is not None and (scores.predicates or scores.numbers):
            yield f"\n{name}\n{streams.printable(str(scores))}\n"
    yield f"\nwritten to {streams.printable(output, keep='')}\n"


def add_eval(parent: CommandParser) -> None:
    text = """\
score a program's answers against its labels

Infers, and says for each predicate that has labels how well its bounds agree with them: accuracy, areas under the ROC
and the precision-recall curve, log loss, Brier score, calibration error, coverage and contradictions.

  lnnkit eval loan.lnn
  lnnkit eval loan.lnn --format json
"""
    parser = parent.command("eval", _eval, text)
    parser.today()
    parser.choice("--format", ("table", "json"), "how to print the scores")
    parser.work()


def _eval(arguments: argparse.Namespace) -> int:
    kb = load(arguments.file, shown=not arguments.quiet, today=arguments.today)
    streams.findings(kb.warnings)
    use_threads(arguments.threads)
    with ProgressLine("inferring", shown=not arguments.quiet) as line, kb.watched(line):
        scores = kb.evaluate(max_groundings=arguments.max_groundings)
    streams.write_either(arguments.format, scores.as_dict, lambda: f"{streams.printable(str(scores))}\n")
    return 0
