"""``lnnkit --print-completion SHELL``: a script with which a shell completes commands, options and files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

SHELLS = ("bash", "zsh", "fish")
HELP = "print the completion script of a shell; as in `source <(lnnkit --print-completion bash)`"
_PATHS = ("output", "report", "checkpoint")  # options that name any file


class PrintCompletion(argparse.Action):
    """An option that prints the script and exits. Needs the extra `completion`."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        try:
            import shtab
        except ImportError:
            parser.exit(1, f"{parser.prog}: error: {option_string} needs shtab: pip install 'lnnkit[completion]'\n")
        programs = shtab.glob("*.lnn", "*.safetensors")
        for action in _actions(parser):
            if action.dest == "file":
                action.complete = programs  # pyright: ignore[reportAttributeAccessIssue]  # where shtab looks
            elif action.dest in _PATHS:
                action.complete = shtab.FILE  # pyright: ignore[reportAttributeAccessIssue]
        print(shtab.complete(parser, str(values)))
        parser.exit(0)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The options and arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
