"""The commands and their options. Options that several commands have are alike in name, meaning and help."""

from __future__ import annotations

import argparse
import math
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from lnnkit.answer_table import STATES
from lnnkit.computing import is_device
from lnnkit.output import require_apart, require_free
from lnnkit.syntax.dates import days_of

PROGRAM = "a .lnn program; - reads standard input"
V = TypeVar("V", int, float, str)


def _value(kind: Callable[[str], V], *conditions: tuple[str, Callable[[V], bool]]) -> Callable[[str], V]:
    """A parser of the values of one kind that meet some conditions, each with what is said of a text that does not."""

    def parsed(text: str) -> V:
        try:
            value = kind(text)
        except ValueError:
            raise ArgumentTypeError(f"{conditions[0][0]}; got {text!r}") from None
        for said, holds in conditions:
            if not holds(value):
                raise ArgumentTypeError(f"{said}; got {text!r}")
        return value

    return parsed


_one = ("must be a whole number of at least 1", lambda value: value >= 1)
threshold = _value(float, ("must be above 0.5 and at most 1", lambda value: 0.5 < value <= 1))
positive = _value(float, ("must be a number above 0", lambda value: 0 < value < math.inf))
share = _value(float, ("must be from 0 to below 1", lambda value: 0 <= value < 1))
count = _value(int, _one)
depth = _value(int, ("must be a whole number of at least 0", lambda value: value >= 0))
row_limit = _value(int, ("must be a whole number of at least 0 (0 shows all)", lambda value: value >= 0))
threads = _value(int, _one, ("must be at most 1,024", lambda value: value <= 1024))
seed = _value(int, ("must be a whole number", lambda _: True), ("must fit 64 bits", lambda n: -(2**63) <= n < 2**63))
device = _value(str, ("must be cpu, cuda or cuda:N", is_device))
day = _value(str, ("must be a date, as 2026-11-29", lambda value: days_of(value) is not None))


def states(text: str) -> tuple[str, ...]:
    """States of answers, separated by commas, spelt as in JSON (``likely_true``) or as in tables (``likely true``)."""
    named = [" ".join(part.split()).replace(" ", "_").replace("-", "_").lower() for part in text.split(",")]
    for name in named:
        if name not in STATES:
            raise ArgumentTypeError(f"unknown state {name!r}; the states are {', '.join(STATES)}")
    return tuple(named)


class CommandParser(argparse.ArgumentParser):
    """Options of three forms, and those that commands share. Help says what a default means."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)

    @cached_property
    def commands(self) -> argparse._SubParsersAction[Self]:
        """The commands below this parser; ``choices`` has the parser of each by its name."""
        return self.add_subparsers(title="commands", metavar="COMMAND")

    def command(self, name: str, run: Callable[[argparse.Namespace], int], text: str, file: str = PROGRAM) -> Self:
        """The parser of a command that ``run`` performs, with its exit code. The ``text`` of its help is a summary, a
        description and examples, after empty lines. ``file`` is the help of its argument FILE; without, it has none."""
        summary, description, example = text.split("\n\n")
        parser = self.commands.add_parser(name, help=summary, description=description, epilog=f"example:\n{example}")
        if file:
            parser.add_argument("file", metavar="FILE", help=file)
        parser.set_defaults(command=run, prog=parser.prog)
        return parser

    def flag(self, name: str, said: str) -> None:
        """An option without a value."""
        self.add_argument(name, action="store_true", help=said)

    def choice(self, name: str, known: Sequence[str], said: str, default: str | None = None) -> None:
        """An option with one of the ``known`` words as its value, by default the first."""
        self.add_argument(name, choices=known, default=default or known[0], help=said)

    def value(self, name: str, kind: Callable[[str], object], sign: str, said: str, default: object = None) -> None:
        """An option with a value of some ``kind``, shown as ``sign`` in the help."""
        self.add_argument(name, type=kind, metavar=sign, default=default, help=said)

    def output(self, said: str = "write this .lnn file instead of printing") -> None:
        self.add_argument("-o", "--output", metavar="OUT", help=said)
        self.flag("--force", "replace OUT if it exists")

    def queries(self) -> None:
        said = "answer this instead of the program's own queries; may be given several times"
        self.add_argument("-q", "--query", action="append", metavar="QUERY", help=said)

    def alpha(self, said: str = "what counts as true (default: 1)") -> None:
        self.value("--alpha", threshold, "A", said, 1.0)

    def today(self) -> None:
        self.value("--today", day, "DATE", "the date of `today` where the program declares it, as 2026-11-29")

    def work(self) -> None:
        """How an inference may use the machine, and whether it shows progress."""
        said = "refuse to make more than N instances of one rule or query (default: what half of the free memory holds)"
        self.value("--max-groundings", count, "N", said)
        self.value("--threads", threads, "N", "threads to compute with (default: 1)", 1)
        self.quiet()

    def quiet(self) -> None:
        self.flag("--quiet", "show no progress; without a terminal there is none anyway")


def require_output(arguments: argparse.Namespace, read: Iterable[str | Path]) -> None:
    """Raises `Error` if OUT cannot be written, or is one of the files that are ``read``."""
    if arguments.output is not None:
        require_free(arguments.output, force=arguments.force)
        require_apart(arguments.output, map(Path, read))
