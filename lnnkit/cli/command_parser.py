"""The parser of a command's options, and the options that several commands have: alike in name, meaning and help."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lnnkit.cli import option_values as values


class CommandParser(argparse.ArgumentParser):
    """Options of three forms, and those that commands share. Help says what a default means."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)

    def flag(self, name: str, said: str) -> None:
        """An option without a value."""
        self.add_argument(name, action="store_true", help=said)

    def choice(self, name: str, known: Sequence[str], said: str, default: str | None = None) -> None:
        """An option with one of the ``known`` words as its value, by default the first."""
        self.add_argument(name, choices=known, default=default or known[0], help=said)

    def value(
        self, name: str, kind: Callable[[str], object], sign: str, said: str, default: float | None = None
    ) -> None:
        """An option with a value of some ``kind``, shown as ``sign`` in the help."""
        self.add_argument(name, type=kind, metavar=sign, default=default, help=said)

    def output(self, said: str = "write this .lnn file instead of printing") -> None:
        self.add_argument("-o", "--output", metavar="OUT", help=said)
        self.flag("--force", "replace OUT if it exists")

    def queries(self) -> None:
        said = "answer this instead of the program's own queries; may be given several times"
        self.add_argument("-q", "--query", action="append", metavar="QUERY", help=said)

    def alpha(self, said: str = "what counts as true (default: 1)") -> None:
        self.value("--alpha", values.alpha, "A", said, 1.0)

    def bounds_alpha(self) -> None:
        self.alpha("a lower bound from A on counts as true, an upper bound up to 1 - A as false (default: 1)")

    def work(self) -> None:
        """How an inference may use the machine, and whether it shows progress."""
        self.groundings()
        self.threads()
        self.quiet()

    def groundings(self) -> None:
        said = "refuse to make more than N instances of one rule or query (default: what half of the free memory holds)"
        self.value("--max-groundings", values.count, "N", said)

    def threads(self) -> None:
        self.value("--threads", values.threads, "N", "threads to compute with (default: 1)", 1)

    def quiet(self) -> None:
        self.flag("--quiet", "show no progress; without a terminal there is none anyway")


def require_output(arguments: argparse.Namespace, read: Iterable[str | Path]) -> None:
    """Raises `Error` if OUT cannot be written, or is one of the files that are ``read``."""
    from lnnkit.output import require_apart, require_free

    if arguments.output is not None:
        require_free(arguments.output, force=arguments.force)
        require_apart(arguments.output, map(Path, read))
