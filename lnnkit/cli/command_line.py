"""All commands, and the script by which a shell completes them. The code of a command is below its help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

from lnnkit import __version__
from lnnkit.cli import explain, from_tables, program_text, run, train
from lnnkit.cli.command_parser import CommandParser

EXAMPLE = """\
example:
  lnnkit run triage.lnn                      answer the queries of triage.lnn
  lnnkit run triage.lnn -q 'AtRisk(X)'       answer this query instead
  lnnkit explain triage.lnn 'AtRisk(dora)'   say why
  lnnkit shell triage.lnn                    ask, state facts and see why, at a prompt
  lnnkit check triage.lnn                    only say what is wrong
  lnnkit init people.csv -o people.lnn       draft a program for a table
  lnnkit train triage.lnn -o trained.lnn     fit its rules to its labels

exit codes: 0 done, 1 the program, its data or its budget is wrong, 2 usage, 130 interrupted
"""


COMMANDS = {
    "run": run.add_run, "score": run.add_score, "shell": run.add_shell,
    "explain": explain.add_explain, "prove": explain.add_prove, "draw": explain.add_draw,
    "check": program_text.add_check, "fmt": program_text.add_fmt, "show": program_text.add_show,
    "train": train.add_train, "eval": train.add_eval,
    "init": from_tables.add_init, "discover": from_tables.add_discover,
    "import": program_text.add_import, "export": program_text.add_export,
    "lsp": program_text.add_lsp, "grammar": program_text.add_grammar,
}  # fmt: skip
HELP = "print the completion script of a shell; as in `source <(lnnkit --print-completion bash)`"
_PATHS = ("output", "report", "checkpoint")  # options that name any file


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The parsed options; ``command`` is the function to call. Raises ``SystemExit`` if there is nothing to run."""
    given = list(sys.argv[1:] if argv is None else argv)
    named = given[0] if given and given[0] in COMMANDS else None
    about = "Rules over tables of facts: truth bounds for answers."
    parser = CommandParser(prog="lnnkit", description=about, epilog=EXAMPLE)
    parser.add_argument("-V", "--version", action="version", version=f"lnnkit {__version__}")
    parser.add_argument("--print-completion", choices=("bash", "zsh", "fish"), action=PrintCompletion, help=HELP)
    for name in COMMANDS if named is None else [named]:  # the parsers of all commands take 10 ms
        COMMANDS[name](parser)
    if not given:
        parser.print_help(sys.stderr)
        raise SystemExit(2)
    if given[0].endswith(".lnn"):
        parser.error(f"name a command first, as in `lnnkit run {given[0]}`")
    if named == "explain":  # the default of a bare `--why-not` is written out: what follows it may be FILE or ATOM
        bare = [text == "--why-not" and after not in explain.STATES for text, after in pairwise([*given, ""])]
        given = ["--why-not=true" if alone else text for text, alone in zip(given, bare, strict=True)]
    if named is not None and "--" not in given:  # parsed separately, so that options may stand between FILE and ATOM
        return parser.commands.choices[named].parse_intermixed_args(given[1:])
    return parser.parse_args(given)


class PrintCompletion(argparse.Action):
    """An option that prints the script and exits. Needs the extra `completion`."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: object, values: Any, option_string: Any = None
    ) -> None:
        try:
            import shtab
        except ImportError:
            parser.exit(1, f"{parser.prog}: error: {option_string} needs shtab: pip install 'lnnkit[completion]'\n")
        programs = shtab.glob("*.lnn", "*.safetensors")
        assert isinstance(parser, CommandParser)
        for action in chain.from_iterable(one._actions for one in (parser, *parser.commands.choices.values())):
            if action.dest == "file":
                action.complete = programs  # pyright: ignore[reportAttributeAccessIssue]  # where shtab looks
            elif action.dest in _PATHS:
                action.complete = shtab.FILE  # pyright: ignore[reportAttributeAccessIssue]
        print(shtab.complete(parser, str(values)))
        parser.exit(0)
